"""The audit of a corpus: for each law a corpus that breaks it, and nothing else finds fault."""

import hashlib
import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.checks.corpus import CHECKS, audit_results, corpus_audit, shard_results
from corpus_assets.checks.verify import verify_corpus
from corpus_assets.core.errors import DocumentError
from corpus_assets.core.run import run_plan
from corpus_assets.engines.local import LocalEngine
from corpus_assets.shards import SCHEMA, Doc, split_of, write_shards

INLINE = LocalEngine(0)
SECRET = "Zebra-Quartz"
PERMILLE = 100
LICENCES = {("tales", "CC0-1.0")}


@pytest.fixture
def corpus(tmp_path):
    """Sixty documents in three shards."""
    meta = {"url": "https://example.org", "license_spdx": "CC0-1.0"}
    docs = [Doc(f"d{n:02d}", "tales", f"{SECRET} {n}", meta) for n in range(60)]
    out = tmp_path / "corpus"
    write_shards(docs, out, dataset="tiny", version="1", shard_rows=20, val_permille=PERMILLE)
    return out


def manifest_of(out):
    return json.loads((out / "_MANIFEST.json").read_text())


def shards_of(out):
    return [out / shard["name"] for shard in manifest_of(out)["shards"]]


def seal(out):
    """Make the manifest's digests and counts those of the shards as they are."""
    manifest = manifest_of(out)
    for shard in manifest["shards"]:
        path = out / shard["name"]
        shard["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        shard["rows"] = pq.read_metadata(path).num_rows
    manifest["n_docs"] = sum(shard["rows"] for shard in manifest["shards"])
    (out / "_MANIFEST.json").write_text(json.dumps(manifest))


def rewrite(out, index, change, **options):
    """Change the rows of one shard, and the manifest with it."""
    path = shards_of(out)[index]
    frame = change(pl.DataFrame(pq.read_table(path)))
    columns = frame.to_arrow().select(SCHEMA.names)
    arrays = [array.cast(field.type) for array, field in zip(columns, SCHEMA, strict=True)]
    pq.write_table(pa.table(arrays, SCHEMA), path, **options)
    seal(out)


def results(out, permille=PERMILLE, licences=LICENCES):
    plan = corpus_audit(out, manifest_of(out), permille)
    table = run_plan(plan, out.parent / "audit", INLINE)
    return {result.name: result for result in audit_results(table, permille, licences)}


def failed(out, **options):
    found = results(out, **options)
    assert SECRET not in "".join(result.summary for result in found.values())
    return {name: result.summary for name, result in found.items() if not result.passed}


def with_row(frame, row, **values):
    """The frame with other values in one row."""
    return frame.with_columns(
        pl.when(pl.int_range(frame.height) == row)
        .then(pl.lit(value, dtype=frame[name].dtype))
        .otherwise(pl.col(name))
        .alias(name)
        for name, value in values.items()
    )


def test_a_good_corpus_passes_every_check(corpus):
    found = results(corpus)
    assert list(found) == list(CHECKS)
    assert all(result.passed for result in found.values())
    assert found["manifest"].facts["rows_checked"] == 60
    manifest, differences = verify_corpus(corpus, INLINE)
    assert (manifest["n_docs"], differences) == (60, [])


def test_bytes_that_were_changed_are_found(corpus):
    path = shards_of(corpus)[1]
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    _, differences = verify_corpus(corpus, INLINE)
    assert any(f"SHA-256 of {path.name}" in line for line in differences)


def test_a_shard_of_another_writer_has_another_digest(corpus):
    path = shards_of(corpus)[0]
    pq.write_table(pq.read_table(path), path, compression="snappy")
    assert list(failed(corpus)) == ["manifest"]


@pytest.mark.parametrize("data", [b"", b"no Parquet at all"])
def test_what_is_no_parquet_is_named(corpus, data):
    path = shards_of(corpus)[2]
    path.write_bytes(data)
    assert f"{path.name} is no Parquet file" in failed(corpus)["manifest"]


def test_rows_that_the_manifest_does_not_count_are_found(corpus):
    manifest = manifest_of(corpus)
    manifest["shards"][0]["rows"] += 1
    manifest["n_docs"] += 1
    (corpus / "_MANIFEST.json").write_text(json.dumps(manifest))
    found = failed(corpus)
    assert list(found) == ["manifest"]
    assert "rows of shard-00000" in found["manifest"]


def test_another_schema_is_found(corpus):
    path = shards_of(corpus)[0]
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "text", table["text"].cast(pa.large_string())), path)
    seal(corpus)
    assert "schema of shard-00000" in failed(corpus)["schema"]


def test_a_row_that_breaks_the_schema_is_named_by_its_id(corpus):
    rewrite(corpus, 1, lambda frame: with_row(frame, 3, url=" "))
    assert failed(corpus) == {"schema": "schema of url (not_blank): 1 rows, such as id 'd23'"}


def test_a_missing_id_is_a_finding_and_no_crash(corpus):
    rewrite(corpus, 1, lambda frame: with_row(frame, 0, id=None))
    assert "schema" in failed(corpus)
    rewrite(corpus, 1, lambda frame: with_row(frame, 19, id=None), row_group_size=7)
    assert "schema" in failed(corpus)
    rewrite(corpus, 1, lambda frame: with_row(frame, 7, id=None), row_group_size=7)
    assert "schema" in failed(corpus)


def test_a_missing_split_is_a_finding_and_no_crash(corpus):
    rewrite(corpus, 1, lambda frame: with_row(frame, 0, split=None))
    assert "schema" in failed(corpus)


def test_ids_out_of_order_in_a_shard_are_found(corpus):
    rewrite(corpus, 0, lambda frame: frame.reverse())
    assert list(failed(corpus)) == ["ids_sorted_unique"]


def test_an_id_that_repeats_in_a_shard_is_found(corpus):
    rewrite(corpus, 0, lambda frame: with_row(frame, 5, id="d04"))
    assert failed(corpus) == {"ids_sorted_unique": "ids_sorted_unique: 1 rows, such as id 'd04'"}


def test_ids_out_of_order_across_row_groups_are_found(corpus):
    halves = [slice(10, 20), slice(0, 10)]
    rewrite(corpus, 0, lambda f: pl.concat(f[half] for half in halves), row_group_size=10)
    assert list(failed(corpus)) == ["ids_sorted_unique"]


@pytest.mark.parametrize("ids", [("d19",), ("d00",)])
def test_ids_out_of_order_across_shards_are_found(corpus, ids):
    rewrite(corpus, 1, lambda frame: with_row(frame, 0, id=ids[0]))
    assert list(failed(corpus)) == ["ids_sorted_unique"]


@pytest.mark.parametrize(
    "values",
    [{"n_chars": 1}, {"sha256": b"\0" * 32}, {"text": "another text"}],
    ids=["n_chars", "sha256", "text"],
)
def test_a_digest_or_length_that_is_not_the_texts_is_found(corpus, values):
    rewrite(corpus, 1, lambda frame: with_row(frame, 2, **values))
    found = failed(corpus)
    assert list(found) == ["split_rule"]
    assert "such as id 'd22'" in found["split_rule"]


def other_split(frame):
    split = "train" if frame["split"][2] == "val" else "val"
    return with_row(frame, 2, split=split)


def test_a_row_in_the_wrong_split_is_found_with_and_without_the_permille(corpus):
    rewrite(corpus, 1, other_split)
    assert "split_rule" in failed(corpus)
    _, differences = verify_corpus(corpus, INLINE)
    assert any("no val_permille gives this split" in line for line in differences)


def test_a_split_by_another_permille_is_found_where_the_permille_is_known(corpus):
    def resplit(frame):
        return frame.with_columns(pl.Series("split", [split_of(s, 500) for s in frame["sha256"]]))

    for index in range(3):
        rewrite(corpus, index, resplit)
    assert set(failed(corpus)) == {"split_rule", "val_share"}
    assert verify_corpus(corpus, INLINE)[1] == []


def test_a_share_of_val_far_from_its_rule_is_found(corpus):
    found = results(corpus, permille=900)["val_share"]
    assert not found.passed
    assert "of 60 documents are in val, 54.0 expected, standard deviation 2.3" in found.summary


@pytest.mark.parametrize("permille", [0, 5, 500, 1000])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_the_share_of_a_tiny_corpus_is_never_far_off(tmp_path, rows, permille):
    meta = {"url": "https://example.org", "license_spdx": "CC0-1.0"}
    docs = [Doc(f"d{n}", "tales", f"{n}", meta) for n in range(rows)]
    out = tmp_path / "corpus"
    write_shards(docs, out, dataset="tiny", version="1", shard_rows=2, val_permille=permille)
    assert failed(out, permille=permille) == {}


@pytest.mark.parametrize("column", ["source_id", "license_spdx"])
def test_a_source_or_licence_outside_the_ledger_is_named(corpus, column):
    rewrite(corpus, 2, lambda frame: with_row(frame, 0, **{column: "MIT"}))
    pair = "MIT: CC0-1.0" if column == "source_id" else "tales: MIT"
    assert failed(corpus) == {"sources_in_ledger": f"Not in the ledger: {pair}."}
    assert failed(corpus, licences={*LICENCES, tuple(pair.split(": "))}) == {}


def test_an_unchanged_shard_is_not_read_again(corpus):
    results(corpus)
    audit = corpus.parent / "audit"
    before = {path: path.stat().st_mtime_ns for path in audit.rglob("*.parquet")}
    rewrite(corpus, 1, lambda frame: with_row(frame, 0, url=""))
    assert "schema" in failed(corpus)
    after = {path: path.stat().st_mtime_ns for path in audit.rglob("*.parquet")}
    assert len(before.items() & after.items()) == 2


def test_verify_names_a_missing_shard(corpus):
    path = shards_of(corpus)[1]
    path.unlink()
    assert verify_corpus(corpus, INLINE)[1] == [f"{path}: listed but missing"]


def test_verify_needs_a_consistent_manifest(corpus, tmp_path):
    with pytest.raises(FileNotFoundError):
        verify_corpus(tmp_path / "nowhere", INLINE)
    manifest = manifest_of(corpus)
    (corpus / "_MANIFEST.json").write_text(json.dumps(manifest | {"n_docs": 1}))
    with pytest.raises(DocumentError, match="n_docs is 1, but the shards have 60 rows"):
        verify_corpus(corpus, INLINE)


def test_verify_leaves_the_corpus_alone_and_reads_the_old_version_of_a_broken_one(corpus):
    before = {path.name: path.read_bytes() for path in corpus.iterdir()}
    corpus.rename(corpus.with_name("corpus.old"))
    corpus.mkdir()
    assert verify_corpus(corpus, INLINE)[1] == []
    old = corpus.with_name("corpus.old")
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before
    assert list(corpus.iterdir()) == []


def test_the_results_of_shards_alone_need_no_ledger(corpus):
    table = run_plan(corpus_audit(corpus, manifest_of(corpus), None), corpus.parent / "x", INLINE)
    names = [result.name for result in shard_results(table)]
    assert names == ["manifest", "schema", "ids_sorted_unique", "split_rule"]
