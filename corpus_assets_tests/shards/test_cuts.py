"""§4: how rows are cut into shards and row groups, and how a shard is encoded."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from corpus_assets.shards import DEFAULT_ROW_GROUP_BYTES, shard_name
from corpus_assets_tests.shards.scenario import (
    MANIFEST,
    Index,
    doc,
    docs_of,
    encode,
    expected_cuts,
    expected_groups,
    expected_rows,
    group_sizes,
    manifest_of,
    names_in,
    rows_of,
    unusual_docs,
    write,
)


@pytest.mark.parametrize(
    ("rows", "shard_rows", "cut"),
    [
        (0, 1, [0]),
        (0, 5, [0]),
        (1, 1, [1]),
        (1, 5, [1]),
        (4, 5, [4]),
        (5, 5, [5]),
        (6, 5, [5, 1]),
        (10, 5, [5, 5]),
        (11, 5, [5, 5, 1]),
        (3, 1, [1, 1, 1]),
        (3, 10**30, [3]),
    ],
)
def test_all_shards_but_the_last_are_full(rows, shard_rows, cut, tmp_path):
    docs = docs_of(*(str(number) for number in range(rows)))
    manifest = write(docs, tmp_path / "corpus", shard_rows=shard_rows)
    assert [entry["rows"] for entry in manifest["shards"]] == cut
    for entry in manifest["shards"]:
        assert pq.read_metadata(tmp_path / "corpus" / entry["name"]).num_rows == entry["rows"]
    assert [row["id"] for row in rows_of(tmp_path / "corpus")] == [d.id for d in docs]


@pytest.mark.parametrize(
    ("index", "of", "name"),
    [
        (0, 1, "shard-00000-of-00001.parquet"),
        (2, 3, "shard-00002-of-00003.parquet"),
        (99_998, 99_999, "shard-99998-of-99999.parquet"),
    ],
)
def test_the_name_tells_the_index_and_the_number(index, of, name):
    assert shard_name(index, of) == name


def test_the_directory_holds_shards_and_manifest_and_nothing_else(tmp_path):
    write(docs_of(*"abcde"), tmp_path / "corpus")
    shards = [f"shard-0000{index}-of-00003.parquet" for index in range(3)]
    assert names_in(tmp_path / "corpus") == [MANIFEST, *shards]
    assert names_in(tmp_path) == ["corpus"]


def test_an_empty_corpus_has_one_shard_without_rows_or_groups(tmp_path):
    manifest = write([], tmp_path / "corpus")
    (entry,) = manifest["shards"]
    assert (entry["name"], entry["rows"]) == ("shard-00000-of-00001.parquet", 0)
    metadata = pq.read_metadata(tmp_path / "corpus" / entry["name"])
    assert (metadata.num_rows, metadata.num_row_groups) == (0, 0)


def test_more_than_99_999_shards_are_an_error_before_anything_is_written(tmp_path):
    docs = (doc(f"{number:06d}", "") for number in range(100_000))
    with pytest.raises(ValueError, match=r"99[ ,_]?999|shard_rows"):
        write(docs, tmp_path / "deep" / "corpus", shard_rows=1)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("value", [0, -1, np.int64(0)])
@pytest.mark.parametrize("argument", ["shard_rows", "row_group_bytes"])
def test_a_size_below_one_is_an_error(argument, value, tmp_path):
    with pytest.raises(ValueError, match=argument):
        write([], tmp_path / "corpus", **{argument: value})


@pytest.mark.parametrize("value", [True, 2.0, "2", None, np.float64(2)])
@pytest.mark.parametrize("argument", ["shard_rows", "row_group_bytes", "val_permille"])
def test_a_number_that_is_no_integer_is_an_error(argument, value, tmp_path):
    with pytest.raises((ValueError, TypeError), match=argument):
        write([], tmp_path / "corpus", **{argument: value})


@pytest.mark.parametrize("value", [-1, 1001, np.int64(-1)])
def test_val_permille_out_of_range_is_an_error(value, tmp_path):
    with pytest.raises(ValueError, match="val_permille"):
        write([], tmp_path / "corpus", val_permille=value)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint16, Index])
def test_any_integer_type_is_an_integer(kind, tmp_path):
    write(
        docs_of(*"abcde"),
        tmp_path / "corpus",
        shard_rows=kind(3),
        row_group_bytes=kind(2),
        val_permille=kind(5),
    )
    assert group_sizes(tmp_path / "corpus") == [[2, 1], [2]]


def test_the_default_budget_is_64_mib():
    assert DEFAULT_ROW_GROUP_BYTES == 64 * 1024 * 1024


@pytest.mark.parametrize(
    ("texts", "budget", "sizes"),
    [
        (["aa", "bb"], 4, [2]),  # exactly the budget
        (["aa", "bbb"], 4, [1, 1]),
        (["aaaa", "", "", "b"], 4, [3, 1]),  # an empty text always fits
        (["", "", ""], 1, [3]),
        (["aaaaaa"], 4, [1]),
        (["aaaaaa", ""], 4, [1, 1]),  # longer than the budget: alone
        (["", "aaaaaa"], 4, [1, 1]),
        (["a", "bbbbbb", "c", "d"], 4, [1, 1, 2]),
        (["aaaaa", "bbbbb"], 4, [1, 1]),
        (["\u00e9\u00e9", "a"], 4, [1, 1]),  # bytes, not characters
        (["\U0001f600", "a"], 4, [1, 1]),
        (["\u00e9", "\u00e9"], 4, [2]),
        (["a", "b", "c"], 1, [1, 1, 1]),
        (["aaa", "bb", "bb", "c"], 4, [1, 2, 1]),  # greedy, not balanced
        (["a"] * 9, 10**30, [9]),
        (["a"] * 9, 2**31, [9]),
    ],
)
def test_a_row_group_takes_rows_while_their_texts_fit(texts, budget, sizes, tmp_path):
    write(docs_of(*texts), tmp_path / "corpus", shard_rows=100, row_group_bytes=budget)
    assert group_sizes(tmp_path / "corpus") == [sizes]


def test_only_text_counts_for_the_budget(tmp_path):
    docs = [doc(f"{'x' * 100}{number}", "a", url="u" * 100) for number in range(4)]
    write(docs, tmp_path / "corpus", shard_rows=100, row_group_bytes=4)
    assert group_sizes(tmp_path / "corpus") == [[4]]


def test_row_groups_begin_anew_in_each_shard(tmp_path):
    write(docs_of("a", "b", "c", "d", "e"), tmp_path / "corpus", shard_rows=3, row_group_bytes=2)
    assert group_sizes(tmp_path / "corpus") == [[2, 1], [2]]


def test_row_groups_do_not_change_rows(tmp_path):
    for budget in (1, 7, 10**6):
        out = tmp_path / str(budget)
        write(unusual_docs(), out, shard_rows=4, row_group_bytes=budget)
        assert rows_of(out) == expected_rows(unusual_docs())


def test_a_row_group_may_have_many_rows(tmp_path):
    docs = [doc(f"{number:06d}", "") for number in range(3000)]
    write(docs, tmp_path / "corpus", shard_rows=3000, row_group_bytes=1)
    assert group_sizes(tmp_path / "corpus") == [[3000]]


@pytest.mark.parametrize("shard_rows", [1, 4, 100])
@pytest.mark.parametrize("budget", [1, 40, 10**9])
def test_another_encoding_with_pyarrow_defaults_gives_the_same_bytes(shard_rows, budget, tmp_path):
    out = tmp_path / "corpus"
    write(unusual_docs(), out, shard_rows=shard_rows, row_group_bytes=budget)
    for entry, rows in zip(
        manifest_of(out)["shards"],
        expected_cuts(expected_rows(unusual_docs()), shard_rows),
        strict=True,
    ):
        encode(expected_groups(rows, budget), tmp_path / "reference")
        assert (out / entry["name"]).read_bytes() == (tmp_path / "reference").read_bytes()


def test_an_empty_shard_is_encoded_with_pyarrow_defaults_too(tmp_path):
    write([], tmp_path / "corpus")
    encode([], tmp_path / "reference")
    written = tmp_path / "corpus" / "shard-00000-of-00001.parquet"
    assert written.read_bytes() == (tmp_path / "reference").read_bytes()


def test_a_group_of_several_pages_is_encoded_with_pyarrow_defaults_too(tmp_path):
    # More than 20,000 rows a page, more than 1 MiB of dictionary, more than 1 MiB of a page.
    docs = [
        doc(f"{number:06d}", f"{number:040d}", minhash_cluster=number // 3)
        for number in range(45_000)
    ]
    write(docs, tmp_path / "corpus", shard_rows=45_000)
    encode([expected_rows(docs)], tmp_path / "reference")
    written = tmp_path / "corpus" / "shard-00000-of-00001.parquet"
    assert written.read_bytes() == (tmp_path / "reference").read_bytes()


def test_the_encoding_is_zstd_dictionary_and_statistics(tmp_path):
    write(docs_of("one", "two"), tmp_path / "corpus")
    metadata = pq.read_metadata(tmp_path / "corpus" / "shard-00000-of-00001.parquet")
    assert metadata.format_version == "2.6"
    for index in range(metadata.num_columns):
        chunk = metadata.row_group(0).column(index)
        assert chunk.compression == "ZSTD"
        assert chunk.is_stats_set
        assert chunk.has_dictionary_page
        assert not chunk.has_column_index
        assert not chunk.has_offset_index
    assert metadata.row_group(0).sorting_columns == ()
    assert list(metadata.metadata or {}) == [b"ARROW:schema"]
