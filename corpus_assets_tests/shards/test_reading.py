"""§8: what a reader checks, when, and what it yields."""

import gc
import json
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.shards import Doc, read_shards
from corpus_assets_tests.shards.scenario import (
    COLUMNS,
    MANIFEST,
    digest_of,
    doc,
    docs_of,
    encode,
    expected_rows,
    files_of,
    manifest_of,
    open_files,
    seal,
    tree,
    unusual_docs,
    watched,
    write,
    write_manifest,
)

FIRST = "shard-00000-of-00003.parquet"
SECOND = "shard-00001-of-00003.parquet"
needs_inotify = pytest.mark.skipif(sys.platform != "linux", reason="needs inotify")
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")


def three_shards(tmp_path, **arguments):
    """Five documents d000 to d004 in three shards."""
    out = tmp_path / "corpus"
    write(docs_of("one", "two", "three", "four", "five"), out, shard_rows=2, **arguments)
    return out


def changed(out, change):
    manifest = manifest_of(out)
    change(manifest)
    write_manifest(out, manifest)


def ids_until_error(out, split=None, errors=(ValueError,)):
    """The ids yielded before the error, and the error's text."""
    reader = read_shards(out, split)
    ids = []
    with pytest.raises(errors) as caught:  # noqa: PT012
        for document in reader:
            ids.append(document.id)  # noqa: PERF401
    return ids, str(caught.value)


def flip_byte(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


def test_a_document_read_back_has_these_values(tmp_path):
    docs = [
        doc(
            "b",
            "Mia naps.",
            "src",
            lang="en",
            minhash_cluster="k",
            pii_redactions=2,
            pii={"ip": 1},
            more=1,
        ),
        doc("a", "", minhash_cluster="k"),
        doc("c", "\U0001f600"),
    ]
    write(docs, tmp_path / "corpus", val_permille=249)
    read = list(read_shards(tmp_path / "corpus"))
    assert all(type(document) is Doc for document in read)
    assert [document.id for document in read] == ["a", "b", "c"]
    assert read[1] == Doc(
        "b",
        "src",
        "Mia naps.",
        {
            "url": "https://example.org/1",
            "license_spdx": "CC0-1.0",
            "lang": "en",
            "n_chars": 9,
            "sha256": digest_of_text("Mia naps."),
            "minhash_cluster": 0,
            "pii_redactions": 2,
            "split": "val",
            "shard": "shard-00000-of-00002.parquet",
            "row": 1,
        },
    )
    assert (read[2].meta["shard"], read[2].meta["row"]) == ("shard-00001-of-00002.parquet", 0)
    assert {type(read[1].meta[key]) for key in ("n_chars", "minhash_cluster", "row")} == {int}


def digest_of_text(text):
    return expected_rows([doc(text=text)])[0]["sha256"].hex()


def test_every_value_comes_back(tmp_path):
    out = tmp_path / "corpus"
    write(unusual_docs(), out, shard_rows=3, row_group_bytes=20, val_permille=500)
    read = list(read_shards(out))
    expected = expected_rows(unusual_docs(), 500)
    assert len(read) == len(expected)
    for index, (document, row) in enumerate(zip(read, expected, strict=True)):
        fields = {"id": document.id, "text": document.text, "source_id": document.source_id}
        meta = dict(document.meta)
        assert meta.pop("shard") == f"shard-{index // 3:05d}-of-00004.parquet"
        assert meta.pop("row") == index % 3
        assert {**fields, **meta} == {**row, "sha256": row["sha256"].hex()}


@pytest.mark.parametrize("split", ["train", "val"])
def test_a_split_is_filtered_and_rows_are_counted_before_the_filter(split, tmp_path):
    out = tmp_path / "corpus"
    docs = docs_of(*(f"text {number}" for number in range(40)))
    write(docs, out, shard_rows=7, row_group_bytes=20, val_permille=500)
    everything = list(read_shards(out))
    chosen = [document for document in everything if document.meta["split"] == split]
    assert 0 < len(chosen) < 40
    assert list(read_shards(out, split)) == chosen
    assert list(read_shards(out, split=split)) == chosen


def test_an_empty_corpus_yields_nothing(tmp_path):
    write([], tmp_path / "corpus")
    for split in (None, "train", "val"):
        assert list(read_shards(tmp_path / "corpus", split)) == []


def test_a_reader_is_an_iterator(tmp_path):
    reader = read_shards(three_shards(tmp_path))
    assert isinstance(reader, Iterator)
    assert iter(reader) is reader


def test_a_string_path_is_read(tmp_path):
    assert len(list(read_shards(str(three_shards(tmp_path))))) == 5


@pytest.mark.parametrize("split", ["test", "", "Train", "train ", 0, True, b"val", ["val"]])
def test_another_split_is_an_error_at_the_call(split, tmp_path):
    out = three_shards(tmp_path)
    with pytest.raises((ValueError, TypeError)):
        read_shards(out, split)


@pytest.mark.parametrize("there", ["nothing", "empty", "shards"])
def test_no_manifest_is_file_not_found_at_the_call(there, tmp_path):
    out = tmp_path / "corpus"
    if there != "nothing":
        out.mkdir()
    if there == "shards":
        encode([], out / "shard-00000-of-00001.parquet")
    with pytest.raises(FileNotFoundError):
        read_shards(out)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"not json",
        b"\xff\xfe{}",
        b'{"n_docs": 0, "x": "\xff"}',
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"{}",
        b"{} {}",
        '{"n_shards": 1}'.encode("utf-16"),
    ],
)
def test_a_manifest_that_is_no_json_object_in_utf8_is_an_error_at_the_call(content, tmp_path):
    out = three_shards(tmp_path)
    (out / MANIFEST).write_bytes(content)
    with pytest.raises(ValueError):  # noqa: PT011
        read_shards(out)


def put(*path_and_value):
    """A change of one value of a manifest."""
    *path, key, value = path_and_value

    def change(manifest):
        for step in path:
            manifest = manifest[step]
        manifest[key] = value

    return change


def drop(*path_and_key):
    *path, key = path_and_key

    def change(manifest):
        for step in path:
            manifest = manifest[step]
        del manifest[key]

    return change


INCONSISTENT = {
    "no shards": drop("shards"),
    "shards is an object": put("shards", {}),
    "shards is null": put("shards", None),
    "shards is empty": lambda m: m.update(shards=[], n_shards=0, n_docs=0),
    "an entry is a string": put("shards", 1, "shard-00001-of-00003.parquet"),
    "an entry is a list": put("shards", 1, []),
    "an entry is null": put("shards", 1, None),
    "no n_shards": drop("n_shards"),
    "n_shards is less": put("n_shards", 2),
    "n_shards is more": put("n_shards", 4),
    "n_shards is a string": put("n_shards", "3"),
    "n_shards is null": put("n_shards", None),
    "one shard fewer": drop("shards", 2),
    "no name": drop("shards", 1, "name"),
    "a name is null": put("shards", 1, "name", None),
    "a name is a number": put("shards", 1, "name", 1),
    "a name leads out": put("shards", 1, "name", "../other/shard-00001-of-00003.parquet"),
    "a name is absolute": put("shards", 1, "name", "/etc/passwd"),
    "a name leads round": put("shards", 1, "name", "./shard-00001-of-00003.parquet"),
    "a name twice": put("shards", 1, "name", "shard-00000-of-00003.parquet"),
    "a name of another number": put("shards", 1, "name", "shard-00001-of-00004.parquet"),
    "entries in another order": lambda m: m["shards"].reverse(),
    "no sha256": drop("shards", 1, "sha256"),
    "a sha256 in upper case": put("shards", 1, "sha256", "A" * 64),
    "a short sha256": put("shards", 1, "sha256", "0" * 63),
    "a long sha256": put("shards", 1, "sha256", "0" * 64 + "\n"),
    "a sha256 that is no hex": put("shards", 1, "sha256", "g" * 64),
    "a sha256 is null": put("shards", 1, "sha256", None),
    "a sha256 is a number": put("shards", 1, "sha256", 0),
    "no rows": drop("shards", 1, "rows"),
    "rows below zero": lambda m: (m["shards"][0].update(rows=6), m["shards"][1].update(rows=-2)),
    "rows is true": lambda m: (m["shards"][1].update(rows=True), m.update(n_docs=4)),
    "rows is a fraction": put("shards", 1, "rows", 2.5),
    "rows is a string": put("shards", 1, "rows", "2"),
    "rows is null": put("shards", 1, "rows", None),
    "no n_docs": drop("n_docs"),
    "n_docs is not the sum": put("n_docs", 6),
    "n_docs is a string": put("n_docs", "5"),
    "n_docs is null": put("n_docs", None),
    "format 2": put("format", 2),
    "format 0": put("format", 0),
    "format as a string": put("format", "1"),
    "format as an object": put("format", {}),
}


@pytest.mark.parametrize("change", INCONSISTENT)
def test_an_inconsistent_manifest_is_an_error_at_the_call(change, tmp_path):
    out = three_shards(tmp_path)
    changed(out, INCONSISTENT[change])
    with pytest.raises(ValueError):  # noqa: PT011
        read_shards(out)


def test_more_than_99_999_entries_are_an_error_at_the_call(tmp_path):
    out = three_shards(tmp_path)
    entry = {"name": "shard-00000-of-100000.parquet", "sha256": "0" * 64, "rows": 0}
    shards = [{**entry, "name": f"shard-{index:05d}-of-100000.parquet"} for index in range(100_000)]
    write_manifest(out, {"n_docs": 0, "n_shards": 100_000, "shards": shards})
    with pytest.raises(ValueError):  # noqa: PT011
        read_shards(out)


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("split", [None, "val"])
def test_a_missing_shard_is_an_error_at_the_call(split, index, tmp_path):
    out = three_shards(tmp_path)
    (out / f"shard-0000{index}-of-00003.parquet").unlink()
    with pytest.raises((FileNotFoundError, ValueError)):
        read_shards(out, split)


@pytest.mark.parametrize("split", [None, "val"])
def test_a_reader_changes_nothing(split, tmp_path):
    out = three_shards(tmp_path)
    before = tree(tmp_path)
    list(read_shards(out, split))
    assert tree(tmp_path) == before


def test_key_order_white_space_and_unknown_keys_are_not_checked(tmp_path):
    out = three_shards(tmp_path)
    expected = list(read_shards(out))
    manifest = manifest_of(out)
    manifest["shards"] = [
        {"bytes": 7, **dict(reversed(entry.items())), "\u00fc": None}
        for entry in manifest["shards"]
    ]
    other = {"later": {"deep": [1]}, **dict(reversed(manifest.items())), "shard_rows": "x"}
    text = json.dumps(other, indent=7, separators=(" , ", " : "), ensure_ascii=False)
    (out / MANIFEST).write_text(f"\r\n {text}\n\n", encoding="utf-8")
    assert list(read_shards(out)) == expected


def test_only_what_consistency_names_is_needed(tmp_path):
    out = three_shards(tmp_path)
    expected = list(read_shards(out))
    manifest = manifest_of(out)
    write_manifest(out, {key: manifest[key] for key in ("n_docs", "n_shards", "shards")})
    assert list(read_shards(out)) == expected


def test_values_that_consistency_does_not_name_are_not_checked(tmp_path):
    out = three_shards(tmp_path)
    changed(out, lambda m: m.update(dataset="Any Name", filters=None, dedup=[], pii={}, version=7))
    assert len(list(read_shards(out))) == 5


def test_format_1_is_read(tmp_path):
    out = three_shards(tmp_path)
    changed(out, put("format", 1))
    assert len(list(read_shards(out))) == 5


def test_other_files_are_ignored(tmp_path):
    out = three_shards(tmp_path)
    (out / "_SUCCESS").write_bytes(b"")
    (out / "shard-00003-of-00004.parquet").write_bytes(b"junk")
    (out / "notes").mkdir()
    assert len(list(read_shards(out))) == 5


@pytest.mark.parametrize("offset", [0, 4, 100, -100, -1])
def test_a_changed_byte_is_an_error_that_names_the_shard(offset, tmp_path):
    out = three_shards(tmp_path)
    flip_byte(out / FIRST, offset)
    ids, message = ids_until_error(out)
    assert ids == []
    assert FIRST in message


@pytest.mark.parametrize("change", ["truncated", "longer", "empty", "another shard"])
def test_other_bytes_are_an_error_that_names_the_shard(change, tmp_path):
    out = three_shards(tmp_path)
    data = (out / SECOND).read_bytes()
    other = {"truncated": data[:-1], "longer": data + b"\0", "empty": b""}
    (out / SECOND).write_bytes(other.get(change, (out / FIRST).read_bytes()))
    ids, message = ids_until_error(out)
    assert SECOND in message
    assert set(ids) <= {"d000", "d001"}


def test_no_row_of_a_shard_is_yielded_before_all_its_bytes_are_verified(tmp_path):
    out = tmp_path / "corpus"
    texts = [letter * 50 for letter in "abcdef"]
    write(docs_of(*texts), out, shard_rows=3, row_group_bytes=1)
    flip_byte(out / "shard-00001-of-00002.parquet", -1)
    ids, message = ids_until_error(out)
    assert set(ids) <= {"d000", "d001", "d002"}
    assert "shard-00001-of-00002.parquet" in message


def test_every_shard_is_verified_whatever_the_split(tmp_path):
    for split, permille in (("val", 0), ("train", 1000)):
        out = three_shards(tmp_path, val_permille=permille)
        assert list(read_shards(out, split)) == []
        flip_byte(out / SECOND, 50)
        ids, message = ids_until_error(out, split)
        assert ids == []
        assert SECOND in message


def test_an_empty_shard_is_verified_too(tmp_path):
    write([], tmp_path / "corpus")
    flip_byte(tmp_path / "corpus" / "shard-00000-of-00001.parquet", 10)
    _, message = ids_until_error(tmp_path / "corpus")
    assert "shard-00000-of-00001.parquet" in message


def test_other_row_counts_are_an_error_that_names_the_shard(tmp_path):
    out = three_shards(tmp_path)

    def shift(manifest):
        manifest["shards"][1]["rows"] = 1
        manifest["shards"][2]["rows"] = 2

    changed(out, shift)
    ids, message = ids_until_error(out)
    assert set(ids) <= {"d000", "d001"}
    assert SECOND in message


def without_column(table):
    return table.drop_columns(["lang"])


def with_column(table):
    return table.append_column("more", pa.nulls(len(table), pa.string()))


def in_other_order(table):
    return table.select([*table.column_names[1:], table.column_names[0]])


def with_large_strings(table):
    return table.set_column(1, "text", table["text"].cast(pa.large_string()))


def with_wide_counts(table):
    return table.set_column(6, "n_chars", table["n_chars"].cast(pa.int64()))


def with_plain_binary(table):
    return table.set_column(7, "sha256", table["sha256"].cast(pa.binary()))


def with_another_name(table):
    return table.rename_columns([*table.column_names[:-1], "Split"])


@pytest.mark.parametrize(
    "change",
    [
        without_column,
        with_column,
        in_other_order,
        with_large_strings,
        with_wide_counts,
        with_plain_binary,
        with_another_name,
    ],
)
def test_another_schema_is_an_error_that_names_the_shard(change, tmp_path):
    out = three_shards(tmp_path)
    pq.write_table(change(pq.ParquetFile(out / SECOND).read()), out / SECOND)
    seal(out)
    ids, message = ids_until_error(out)
    assert set(ids) <= {"d000", "d001"}
    assert SECOND in message


def test_a_shard_that_is_no_parquet_is_an_error_even_with_its_hash(tmp_path):
    out = three_shards(tmp_path)
    (out / SECOND).write_bytes(b"not parquet at all")
    seal(out)
    ids, _ = ids_until_error(out, errors=(ValueError, OSError))
    assert set(ids) <= {"d000", "d001"}


def test_shards_encoded_in_another_way_are_read(tmp_path):
    out = three_shards(tmp_path)
    expected = list(read_shards(out))
    for entry in manifest_of(out)["shards"]:
        table = pq.ParquetFile(out / entry["name"]).read()
        pq.write_table(table, out / entry["name"], compression="snappy", row_group_size=1)
    seal(out)
    assert list(read_shards(out)) == expected


def test_empty_shards_anywhere_and_cuts_at_any_row_are_read(tmp_path):
    rows = expected_rows(docs_of(*"abcde"))
    cuts = [[], rows[:1], [], rows[1:4], rows[4:], []]
    out = tmp_path / "corpus"
    out.mkdir()
    shards = []
    for index, cut in enumerate(cuts):
        name = f"shard-{index:05d}-of-00006.parquet"
        encode([cut] if cut else [], out / name)
        shards.append({"name": name, "rows": len(cut), "sha256": digest_of(out / name)})
    write_manifest(out, {"n_docs": 5, "n_shards": 6, "shards": shards})
    read = list(read_shards(out))
    assert [document.id for document in read] == [row["id"] for row in rows]
    places = [(document.meta["shard"][:11], document.meta["row"]) for document in read]
    assert places == [
        ("shard-00001", 0),
        ("shard-00003", 0),
        ("shard-00003", 1),
        ("shard-00003", 2),
        ("shard-00004", 0),
    ]


def test_an_empty_row_group_is_read(tmp_path):
    out = three_shards(tmp_path)
    expected = list(read_shards(out))
    table = pq.ParquetFile(out / SECOND).read()
    with pq.ParquetWriter(out / SECOND, COLUMNS) as writer:
        writer.write_table(table[:0])
        writer.write_table(table)
    seal(out)
    assert list(read_shards(out)) == expected


@needs_inotify
@pytest.mark.parametrize("split", [None, "val"])
def test_a_file_is_hashed_and_parsed_through_one_open_file(split, tmp_path):
    out = three_shards(tmp_path, row_group_bytes=1)
    reader = read_shards(out, split)
    with watched(out / SECOND) as opens:
        list(reader)
        assert opens() == 1


@needs_proc
def test_a_reader_closes_its_files_at_its_end(tmp_path):
    out = three_shards(tmp_path)
    reader = read_shards(out)
    assert len(list(reader)) == 5
    assert open_files(tmp_path) == []


@needs_proc
@pytest.mark.parametrize("taken", [0, 1, 2, 3])
def test_a_reader_closes_its_files_when_it_is_closed(taken, tmp_path):
    reader = read_shards(three_shards(tmp_path))
    for _ in range(taken):
        next(reader)
    reader.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert open_files(tmp_path) == []
    assert next(reader, None) is None


@needs_proc
@pytest.mark.parametrize("fault", ["hash", "rows", "schema", "parquet"])
def test_a_reader_closes_its_files_when_it_fails(fault, tmp_path):
    out = three_shards(tmp_path)
    if fault == "hash":
        flip_byte(out / SECOND, 50)
    elif fault == "rows":
        changed(out, lambda m: (m["shards"][1].update(rows=1), m["shards"][2].update(rows=2)))
    elif fault == "schema":
        pq.write_table(pq.ParquetFile(out / SECOND).read().drop_columns(["lang"]), out / SECOND)
        seal(out)
    else:
        (out / SECOND).write_bytes(b"PAR1 not parquet PAR1")
        seal(out)
    gc.collect()
    reader = read_shards(out)
    with pytest.raises((ValueError, OSError)):
        list(reader)
    assert open_files(tmp_path) == []


@needs_proc
def test_a_refused_call_leaves_no_file_open(tmp_path):
    out = three_shards(tmp_path)
    changed(out, put("n_docs", 6))
    with pytest.raises(ValueError):  # noqa: PT011
        read_shards(out)
    assert open_files(tmp_path) == []


@needs_proc
def test_a_reader_has_one_shard_open_at_most(tmp_path):
    out = tmp_path / "corpus"
    write(docs_of(*"abcdefgh"), out, shard_rows=2)
    for _ in read_shards(out):
        assert len([path for path in open_files(out) if path.endswith(".parquet")]) <= 1


def test_a_reader_holds_at_most_one_row_group(tmp_path):
    group, groups = 2_000_000, 10
    out = tmp_path / "corpus"
    texts = [chr(ord("a") + index) * group for index in range(groups)]
    write(docs_of(*texts), out, shard_rows=groups, row_group_bytes=group)
    del texts
    gc.collect()
    arrow = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        for document in read_shards(out):
            assert len(document.text) == group
            assert pa.total_allocated_bytes() - arrow < 4 * group
        assert tracemalloc.get_traced_memory()[1] < 5 * group
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shard_rows", [1, 3, 100])
def test_what_is_read_is_written_again_to_the_same_bytes(shard_rows, tmp_path):
    arguments = {"shard_rows": shard_rows, "row_group_bytes": 30, "val_permille": 500}
    counts = {"filters": {"short": 3}, "dedup": {"bands": 4}}
    write(unusual_docs(), tmp_path / "a", **arguments, **counts)
    write(read_shards(tmp_path / "a"), tmp_path / "b", **arguments, **counts)
    first, second = files_of(tmp_path / "a"), files_of(tmp_path / "b")
    manifests = [json.loads(files.pop(MANIFEST)) for files in (first, second)]
    assert first == second
    assert manifests[0].pop("pii")["emails"] == 3
    assert set(manifests[1].pop("pii").values()) == {0}
    assert manifests[0] == manifests[1]


def test_a_second_round_gives_the_same_bytes_whole(tmp_path):
    write(read_shards_of(unusual_docs(), tmp_path), tmp_path / "a")
    write(read_shards(tmp_path / "a"), tmp_path / "b")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def read_shards_of(docs, tmp_path):
    write(docs, tmp_path / "first")
    return read_shards(tmp_path / "first")
