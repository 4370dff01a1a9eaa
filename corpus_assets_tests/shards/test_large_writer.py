"""§10: the large writer gives the bytes of the in-memory one, and leaves nothing else behind."""

import os
import random
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import DocumentError, LockedError, TableError, TargetError
from corpus_assets.core.files import locked
from corpus_assets.core.schema import CLUSTER_COLUMNS, DOCUMENT_COLUMNS, schema_of
from corpus_assets.core.table import Table
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii.scrubbing import MANIFEST_COLUMNS, PII_COLUMNS, SCRUBBED
from corpus_assets.shards import Doc, order, write_shards
from corpus_assets.shards.build import CorpusPlan, build_corpus_shards
from corpus_assets.shards.manifest import checked_settings
from corpus_assets_tests.scenario import document, table_of
from corpus_assets_tests.shards.scenario import MANIFEST, files_of, manifest_of, names_in, tree

INLINE = LocalEngine(0)
ARGUMENTS = {"dataset": "tales", "version": "1", "shard_rows": 2}
NO_PII = dict.fromkeys(PII_COLUMNS, 0)

# Few different characters, of one to four UTF-8 bytes and at the edges, so that ids share prefixes
# and their order by code point is not that of UTF-16.
strings = st.text(
    st.sampled_from("\x00 a\x7f\u0080\u07ff\u0800\ud7ff\ue000\ufffd\U00010000\U0001f600\U0010ffff"),
    max_size=4,
)
filled = strings.filter(lambda value: value.strip())
clusters = st.none() | st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])
rows = st.fixed_dictionaries(
    {
        "name": strings.filter(len),
        "text": strings,
        "source_id": filled,
        "url": filled,
        "license_spdx": filled,
        "lang": filled,
        "minhash_cluster": clusters,
        "pii_redactions": st.integers(0, 2**31 - 1),
        **{name: st.integers(0, 9) for name in PII_COLUMNS if name != "pii_redactions"},
    }
).map(lambda fields: document(**fields))
unique_rows = st.lists(rows, max_size=12, unique_by=lambda row: row["id"])


def doc_of(row):
    """The same document as the in-memory writer takes it."""
    names = ("url", "license_spdx", "lang", "minhash_cluster")
    meta = {name: row[name] for name in names}
    meta["pii_redactions"] = row.get("pii_redactions")
    meta["pii"] = {kind: row.get(column, 0) for kind, column in MANIFEST_COLUMNS.items()}
    return Doc(row["id"], row["source_id"], row["text"], meta)


def in_ranks(documents, ranks, choices):
    """The documents in so many files, each in the one that its choice says."""
    files = [[] for _ in range(ranks)]
    for number, row in zip(choices, documents, strict=True):
        files[number].append(row)
    return files


def plan_of(table, **arguments):
    kept = {**ARGUMENTS, **arguments}
    columns = MANIFEST_COLUMNS if table.name == "scrubbed_docs" else {}
    return CorpusPlan(table, checked_settings(**kept), columns)


def scrubbed(directory, *ranks):
    full = [[{**NO_PII, **row} for row in rank] for rank in ranks]
    return table_of(directory, *full, schema=SCRUBBED)


def build(table, out, engine=INLINE, range_bytes=1 << 20, **arguments):
    return build_corpus_shards(plan_of(table, **arguments), out, engine, range_bytes=range_bytes)


def tales(*names, **fields):
    return [document(name, f"Tale of {name}.", **fields) for name in names]


def left_beside(out):
    """What lies beside a corpus, but for the table it was made of."""
    return [name for name in names_in(out.parent) if name not in {out.name, "table"}]


def check_equal(documents, files, engine, range_bytes, **arguments):
    """Write the documents both ways and compare every file."""
    with tempfile.TemporaryDirectory() as directory:
        table, out = scrubbed(Path(directory) / "table", *files), Path(directory) / "large"
        corpus = build(table, out, engine, range_bytes, **arguments)
        docs = [doc_of(row) for row in documents]
        manifest = write_shards(docs, Path(directory) / "small", **{**ARGUMENTS, **arguments})
        assert corpus.manifest == manifest
        assert files_of(out) == files_of(Path(directory) / "small")
        assert names_in(Path(f"{out}.work")) == ["receipt.json"]


@st.composite
def cases(draw):
    """Documents, the same in files in another order, and arguments."""
    documents = draw(unique_rows)
    ranks = draw(st.integers(1, 4))
    shuffled = draw(st.permutations(documents))
    size = len(documents)
    choices = draw(st.lists(st.integers(0, ranks - 1), min_size=size, max_size=size))
    range_bytes = draw(st.sampled_from([1, 3, 700, 5_000, 64 << 20]))
    arguments = {
        "shard_rows": draw(st.integers(1, 6) | st.just(100_000)),
        "row_group_bytes": draw(st.integers(1, 20) | st.just(64 << 20)),
        "val_permille": draw(st.sampled_from([0, 5, 500, 1000])),
    }
    return documents, in_ranks(shuffled, ranks, choices), range_bytes, arguments


@settings(max_examples=30, deadline=None, derandomize=True, phases=[Phase.generate])
@given(cases(), st.sampled_from([1, 2, 4_000_000]))
def test_any_documents_files_ranges_and_cuts_give_the_bytes_of_the_small_writer(case, per_slice):
    documents, files, range_bytes, arguments = case
    with pytest.MonkeyPatch.context() as patch:
        # A limit of memory, too large to be passed by a small corpus.
        patch.setattr(order, "KEYS_PER_SLICE", per_slice)
        check_equal(documents, files, INLINE, range_bytes, **arguments)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None)
@given(cases(), st.sampled_from([1, 2, 4_000_000]))
def test_very_many_corpora_are_the_bytes_of_the_small_writer(case, per_slice):
    documents, files, range_bytes, arguments = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "KEYS_PER_SLICE", per_slice)
        check_equal(documents, files, INLINE, range_bytes, **arguments)


@pytest.mark.parametrize("range_bytes", [200_000, 64 << 20])
def test_two_workers_give_the_bytes_of_the_small_writer(range_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr("corpus_assets.core.run.INLINE_BYTES", 0)
    chance = random.Random(range_bytes)
    documents = [
        document(
            f"{chance.random()}",
            chance.choice(["", "\x00", "\U0001f600 smiles. ", "Mia naps. "])
            * chance.randint(1, 99),
            minhash_cluster=chance.choice([None, -7, -1, 0, 5]),
            pii_redactions=1,
            pii_email=1,
            pii_ip=0,
        )
        for _ in range(300)
    ]
    files = [documents[:120], [], documents[120:121], documents[121:]]
    with LocalEngine(2) as engine:
        check_equal(documents, files, engine, range_bytes, shard_rows=70, row_group_bytes=5_000)


def test_a_table_without_pii_columns_gives_the_bytes_of_the_small_writer(tmp_path):
    documents = tales("b", "c", "a")
    schema = schema_of(DOCUMENT_COLUMNS, CLUSTER_COLUMNS)
    table = table_of(tmp_path / "table", documents[:1], documents[1:], schema=schema)
    plan = CorpusPlan(table, checked_settings(**ARGUMENTS), {})
    build_corpus_shards(plan, tmp_path / "large", INLINE, range_bytes=1)
    write_shards([doc_of(row) for row in documents], tmp_path / "small", **ARGUMENTS)
    assert files_of(tmp_path / "large") == files_of(tmp_path / "small")


def test_ids_with_one_long_prefix_and_one_huge_document_give_the_same_bytes():
    prefix = "x" * 500
    documents = [document(f"{prefix}{i:03d}", "short") for i in range(40)]
    documents[17]["text"] = "Mia naps. " * 200_000
    files = [documents[::-1], [], documents[:0]]
    check_equal(documents, files, INLINE, 100_000, shard_rows=7, row_group_bytes=30)


def test_a_range_that_came_out_too_large_is_cut_into_pieces_and_gives_the_same_bytes():
    documents = [document(f"{i:04d}", "x" * (i > 99) * (4_000 + i)) for i in range(120)]
    turned = documents[::-1]
    # Ranges are chosen by even numbers of rows: the last hold 40 kB, pieces at most 16 kB.
    check_equal(documents, [turned[:45], turned[45:]], INLINE, 8_000, shard_rows=33)


def test_a_row_group_out_of_several_ranges_has_the_pages_of_one_out_of_one():
    # Rows are written 1 024 at a time, fewer at the end of a chunk; a page ends after 1 MiB.
    documents = [document(f"{i:05d}", f"{i} " * 120) for i in range(5_000)]
    check_equal(documents, [documents[::2], documents[1::2]], INLINE, 400_000, shard_rows=4_500)


@pytest.mark.parametrize("range_bytes", [1, 64 << 20])
def test_no_documents_give_one_empty_shard(range_bytes):
    check_equal([], [[], []], INLINE, range_bytes)


@pytest.mark.parametrize("range_bytes", [1, 64 << 20])
def test_a_repeated_id_names_both_documents_and_leaves_nothing(range_bytes, tmp_path):
    table = scrubbed(tmp_path / "table", tales("a", "b"), tales("c"), tales("d", "b"))
    out = tmp_path / "new" / "parents" / "corpus"
    with pytest.raises(DocumentError, match=r"'b' repeats: tales/0 row 1 and tales/2 row 1"):
        build(table, out, range_bytes=range_bytes)
    assert names_in(tmp_path) == ["table"]


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"url": " \x1c"}, "url"),
        ({"lang": None}, "lang"),
        ({"name": ""}, "id"),
        ({"pii_redactions": -1}, "pii_redactions"),
    ],
)
def test_a_rejected_run_leaves_the_old_corpus_and_nothing_beside_it(bad, field, tmp_path):
    out = tmp_path / "corpus"
    build(scrubbed(tmp_path / "table", tales("a", "b", "c")), out)
    before = tree(tmp_path / "corpus")
    worse = document(**{"name": "x", "text": "secret", **bad})
    table = scrubbed(tmp_path / "table", tales("a", "b"), [worse])
    with pytest.raises(DocumentError, match=rf"\(rank 1, row 0\): {field}") as caught:
        build(table, out)
    assert "secret" not in str(caught.value)
    assert tree(tmp_path / "corpus") == before
    assert left_beside(out) == ["corpus.work"]
    assert names_in(tmp_path / "corpus.work") == ["receipt.json"]


def test_too_many_shards_are_refused_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("corpus_assets.shards.write.MAX_SHARDS", 2)
    table = scrubbed(tmp_path / "table", tales("a", "b", "c"))
    with pytest.raises(DocumentError, match="choose 2 or more"):
        build(table, tmp_path / "corpus", shard_rows=1)
    assert names_in(tmp_path) == ["table"]


def test_an_unchanged_corpus_is_left_as_it_is_and_no_document_is_read(tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("c", "a"), tales("b")), tmp_path / "corpus"
    build(table, out)
    before = tree(out), tree(tmp_path / "corpus.work")
    for file in table.files():
        table.path(file).unlink()
    build(table, out)
    assert (tree(out), tree(tmp_path / "corpus.work")) == before


def test_another_version_rewrites_the_manifest_alone(tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("c", "a"), tales("b")), tmp_path / "corpus"
    build(table, out)
    before = tree(out)
    for file in table.files():
        table.path(file).unlink()
    changed = {"version": "2", "config_sha256": "1" * 64, "filters": {"length": 4}}
    corpus = build(table, out, **changed)
    after = tree(out)
    assert {n: v for n, v in after.items() if n != MANIFEST} == {
        n: v for n, v in before.items() if n != MANIFEST
    }
    write_shards([doc_of(d) for d in tales("a", "b", "c")], tmp_path / "x", **ARGUMENTS | changed)
    assert corpus.manifest == manifest_of(out) == manifest_of(tmp_path / "x")
    assert left_beside(out) == ["corpus.work", "x"]


def edit(path, part=0.5):
    """Change one byte, in place, and leave the size."""
    data = bytearray(path.read_bytes())
    data[int(len(data) * part)] ^= 1
    path.write_bytes(data)


def forget(path):
    path.unlink()


def cut(path):
    os.truncate(path, path.stat().st_size - 1)


@pytest.mark.parametrize("name", ["shard-00001-of-00002.parquet", MANIFEST])
@pytest.mark.parametrize("damage", [edit, forget, cut])
def test_a_damaged_corpus_is_remade_by_the_next_build(name, damage, tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("c", "a"), tales("b")), tmp_path / "corpus"
    build(table, out)
    before = files_of(out)
    damage(out / name)
    build(table, out)
    assert files_of(out) == before


def test_a_touched_shard_is_recognised_by_its_digest(tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("c", "a"), tales("b")), tmp_path / "corpus"
    build(table, out)
    for file in table.files():
        table.path(file).unlink()
    before = files_of(out)
    os.utime(out / "shard-00000-of-00002.parquet", ns=(1, 1))
    build(table, out)
    assert files_of(out) == before


@pytest.mark.parametrize("receipt", ["", "{}", "[]", '{"shards": 1}'])
def test_a_broken_receipt_costs_a_rebuild_and_no_more(receipt, tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("c", "a"), tales("b")), tmp_path / "corpus"
    build(table, out)
    before = files_of(out)
    (tmp_path / "corpus.work" / "receipt.json").write_text(receipt)
    build(table, out)
    assert files_of(out) == before


def test_fewer_documents_leave_no_shard_of_the_former_version(tmp_path):
    out = tmp_path / "corpus"
    build(scrubbed(tmp_path / "table", tales(*"abcdefg")), out)
    build(scrubbed(tmp_path / "table", tales("a")), out)
    assert names_in(out) == [MANIFEST, "shard-00000-of-00001.parquet"]
    assert pq.read_table(out / "shard-00000-of-00001.parquet")["id"].to_pylist() == ["a"]
    assert left_beside(out) == ["corpus.work"]


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "shard-00002-of-00002.parquet"])
def test_a_folder_that_is_no_corpus_is_refused_and_left_alone(name, tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("a")), tmp_path / "corpus"
    out.mkdir()
    (out / name).write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(TargetError, match="left alone"):
        build(table, out)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["corpus.tmp", "corpus.old"])
def test_a_reserved_name_is_refused(name, tmp_path):
    table = scrubbed(tmp_path / "table", tales("a"))
    with pytest.raises(ValueError, match="reserved"):
        build(table, tmp_path / name)
    assert names_in(tmp_path) == ["table"]


def test_a_link_is_refused_and_not_followed(tmp_path):
    table = scrubbed(tmp_path / "table", tales("a"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "corpus").symlink_to("elsewhere")
    with pytest.raises(TargetError, match="not a folder of its own"):
        build(table, tmp_path / "corpus")
    assert names_in(tmp_path) == ["corpus", "elsewhere", "table"]


def test_a_second_writer_is_refused_while_the_first_is_at_work(tmp_path):
    table, out = scrubbed(tmp_path / "table", tales("a")), tmp_path / "corpus"
    with locked(tmp_path / "corpus.work"), pytest.raises(LockedError, match="another run"):
        build(table, out)
    build(table, out)
    assert manifest_of(out)["n_docs"] == 1


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.999])
def test_a_table_edited_by_hand_is_named_and_the_old_corpus_stays(part, tmp_path):
    out = tmp_path / "corpus"
    build(scrubbed(tmp_path / "table", tales("a", "b")), out)
    before = tree(out)
    table = scrubbed(tmp_path / "table", tales("a", "c"))
    edit(table.path(table.ranks[0].files["kept"]), part)
    with pytest.raises(TableError, match=r"tales/0\.parquet: SHA-256"):
        build(Table.open(table.directory), out, range_bytes=1)
    assert tree(out) == before
