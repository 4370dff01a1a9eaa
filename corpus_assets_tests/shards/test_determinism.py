"""§9: the same documents and arguments give the same bytes."""

import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.shards import Doc, read_shards
from corpus_assets_tests.shards.children import call
from corpus_assets_tests.shards.scenario import (
    COLUMNS,
    DEFAULTS,
    GOOD_META,
    MANIFEST,
    content_digest,
    expected_cuts,
    expected_files,
    expected_groups,
    expected_rows,
    files_of,
    group_sizes,
    manifest_of,
    rows_of,
    unusual_docs,
    write,
)

# The unusual corpus with val_permille 500, by the reference: the same under every pyarrow.
GOLDEN_DIGEST = "9fed0d1a2b99411b4ff6c17642bae3d13e8674c93e2414409a7c00cc6e3dbfe2"

# Few different characters, of one to four UTF-8 bytes and at the edges, so that ids share prefixes.
strings = st.text(
    st.sampled_from("\x00 a\x7f\u0080\u07ff\u0800\ud7ff\ue000\ufffd\U00010000\U0001f600\U0010ffff"),
    max_size=4,
)
filled = strings.filter(lambda value: value.strip())
metas = st.fixed_dictionaries(
    {"url": filled, "license_spdx": filled},
    optional={
        "lang": st.none() | filled,
        "minhash_cluster": st.none() | st.integers(0, 3) | st.sampled_from(["", "0", "1", " "]),
        "pii_redactions": st.none() | st.integers(0, 2**31 - 1),
        "pii": st.none()
        | st.dictionaries(
            st.sampled_from(["email", "phone", "card", "ip", "key"]), st.integers(0, 9)
        ),
        "ignored": st.integers(),
    },
)
documents = st.builds(Doc, strings.filter(len), filled, strings, metas)
corpora = st.lists(documents, max_size=12, unique_by=lambda document: document.id)
modest = settings(max_examples=60, deadline=None, derandomize=True)


@modest
@given(
    docs=corpora,
    shard_rows=st.integers(1, 6),
    row_group_bytes=st.integers(1, 20),
    val_permille=st.sampled_from([0, 5, 300, 500, 999, 1000]),
)
def test_the_output_is_that_of_the_reference(docs, shard_rows, row_group_bytes, val_permille):
    arguments = {
        **DEFAULTS,
        "shard_rows": shard_rows,
        "row_group_bytes": row_group_bytes,
        "val_permille": val_permille,
    }
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "corpus"
        write(docs, out, **arguments)
        rows = expected_rows(docs, val_permille)
        assert rows_of(out) == rows
        cuts = [expected_groups(cut, row_group_bytes) for cut in expected_cuts(rows, shard_rows)]
        assert group_sizes(out) == [[len(group) for group in cut] for cut in cuts]
        assert files_of(out) == expected_files(docs, directory, **arguments)


@modest
@given(docs=corpora, seed=st.randoms(use_true_random=False), shard_rows=st.integers(1, 6))
def test_any_order_of_documents_gives_the_same_bytes(docs, seed, shard_rows):
    shuffled = list(docs)
    seed.shuffle(shuffled)
    with tempfile.TemporaryDirectory() as directory:
        write(docs, Path(directory) / "a", shard_rows=shard_rows)
        write(shuffled, Path(directory) / "b", shard_rows=shard_rows)
        assert files_of(Path(directory) / "a") == files_of(Path(directory) / "b")


@settings(modest, max_examples=30)
@given(docs=corpora, shard_rows=st.integers(1, 6))
def test_reading_gives_what_was_written(docs, shard_rows):
    with tempfile.TemporaryDirectory() as directory:
        write(docs, Path(directory) / "a", shard_rows=shard_rows)
        read = list(read_shards(Path(directory) / "a"))
        ordered = sorted(docs, key=lambda document: document.id)
        for field in ("id", "source_id", "text"):
            assert [getattr(d, field) for d in read] == [getattr(d, field) for d in ordered]
        write(read, Path(directory) / "b", shard_rows=shard_rows)
        shards = [files_of(Path(directory) / name) for name in "ab"]
        for files in shards:
            del files[MANIFEST]
        assert shards[0] == shards[1]


def test_order_of_keys_in_meta_has_no_part_in_it(tmp_path):
    meta = {**GOOD_META, "lang": "de", "pii": {"ip": 1, "email": 2}, "minhash_cluster": 1}
    turned = {**dict(reversed(meta.items())), "pii": {"email": 2, "ip": 1}}
    write([Doc("d", "s", "t", meta)], tmp_path / "a")
    write([Doc("d", "s", "t", turned)], tmp_path / "b")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


@pytest.mark.parametrize(
    ("cpus", "pool", "environment"),
    [
        (1, "system_memory_pool", {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}),
        (
            7,
            "default_memory_pool",
            {
                "PYTHONHASHSEED": "4242",
                "LC_ALL": "C",
                "PYTHONUTF8": "0",
                "PYTHONCOERCECLOCALE": "0",
                "TZ": "Asia/Tokyo",
                "ARROW_DEFAULT_MEMORY_POOL": "mimalloc",
                "PYTHONOPTIMIZE": "1",
            },
        ),
    ],
)
def test_another_process_writes_the_same_bytes(cpus, pool, environment, tmp_path):
    write(unusual_docs(), tmp_path / "here", filters={"\u00fc": 1})
    digest = call("write_unusual", str(tmp_path / "there"), cpus, pool, **environment)
    assert files_of(tmp_path / "here") == files_of(tmp_path / "there")
    assert digest == content_digest(rows_of(tmp_path / "here"))


def test_another_run_and_place_and_time_gives_the_same_bytes(tmp_path):
    outputs = []
    for name in ("a", "b/c"):
        docs = unusual_docs()
        random.Random(name).shuffle(docs)
        write(docs, tmp_path / name)
        outputs.append(files_of(tmp_path / name))
    write(unusual_docs(), tmp_path / "a")
    assert outputs[0] == outputs[1] == files_of(tmp_path / "a")


def test_the_number_of_threads_and_the_memory_pool_have_no_part_in_it(tmp_path):
    cpus = pa.cpu_count()
    try:
        pa.set_cpu_count(1)
        write(unusual_docs(), tmp_path / "one", shard_rows=100)
        pa.set_cpu_count(8)
        write(unusual_docs(), tmp_path / "eight", shard_rows=100)
    finally:
        pa.set_cpu_count(cpus)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "eight")


@pytest.mark.parametrize(("shard_rows", "row_group_bytes"), [(100, 10**9), (3, 7), (1, 1)])
def test_the_content_digest_is_the_same_however_rows_are_cut(shard_rows, row_group_bytes, tmp_path):
    write(
        unusual_docs(),
        tmp_path / "corpus",
        shard_rows=shard_rows,
        row_group_bytes=row_group_bytes,
        val_permille=500,
    )
    assert content_digest(rows_of(tmp_path / "corpus")) == GOLDEN_DIGEST
    assert content_digest(expected_rows(unusual_docs(), 500)) == GOLDEN_DIGEST


def test_the_content_digest_can_be_had_from_the_reader(tmp_path):
    write(unusual_docs(), tmp_path / "corpus", val_permille=500)
    rows = []
    for document in read_shards(tmp_path / "corpus"):
        row = {"id": document.id, "text": document.text, "source_id": document.source_id}
        row |= {name: document.meta[name] for name in COLUMNS.names[3:]}
        rows.append({**row, "sha256": bytes.fromhex(row["sha256"])})
    assert content_digest(rows) == GOLDEN_DIGEST


def test_only_hashes_of_shards_may_depend_on_the_version_of_pyarrow(tmp_path):
    write(unusual_docs(), tmp_path / "corpus", shard_rows=4)
    manifest = manifest_of(tmp_path / "corpus")
    for entry in manifest["shards"]:
        del entry["sha256"]
    assert manifest["shards"] == [
        {"name": "shard-00000-of-00003.parquet", "rows": 4},
        {"name": "shard-00001-of-00003.parquet", "rows": 4},
        {"name": "shard-00002-of-00003.parquet", "rows": 3},
    ]
