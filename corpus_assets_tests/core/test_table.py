"""A table is exactly what its list says; anything else is refused with path and remedy."""

import json
import os
import shutil

import pytest

from corpus_assets.core.errors import TableError
from corpus_assets.core.table import TABLE_FILE, Table
from corpus_assets_tests.scenario import document, table_of

SECRET = "Zebra-Quartz"


@pytest.fixture
def table(tmp_path):
    first = [document("a", SECRET), document("b")]
    return table_of(tmp_path / "t", first, [document("c")])


def rows(table):
    return [row for rank in table.ranks for f in table.frames(rank) for row in f["id"]]


def test_what_is_saved_is_what_is_opened(table):
    opened = Table.open(table.directory)
    assert opened == table
    assert opened.digest == table.digest
    assert rows(opened) == ["a", "b", "c"]
    assert (opened.rows, opened.counts) == (3, {"kept": 3})
    assert opened.rank_names == {0: "tales/0", 1: "tales/1"}
    assert opened.bytes == sum(p.stat().st_size for p in table.directory.rglob("*.parquet"))


def test_a_folder_without_a_list_is_no_table(tmp_path):
    with pytest.raises(TableError, match=r"no table here.*materialize it first") as error:
        Table.open(tmp_path)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"format": 1}',
        b'{"format": 1, "name": "t", "ranks": [{}]}',
        b"\xff",
    ],
)
def test_a_list_that_cannot_be_read_is_refused_with_path_and_remedy(table, content):
    (table.directory / TABLE_FILE).write_bytes(content)
    with pytest.raises(TableError, match=r"cannot be read .*; materialize t again") as error:
        Table.open(table.directory)
    assert str(table.directory / TABLE_FILE) in str(error.value)


def test_a_list_of_another_format_is_refused(table):
    path = table.directory / TABLE_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2}))
    with pytest.raises(TableError, match="format 2, this version reads 1"):
        Table.open(table.directory)


def test_a_missing_file_is_named_with_the_remedy(table):
    path = table.directory / "tales/1.parquet"
    path.unlink()
    with pytest.raises(TableError, match="missing; materialize scrubbed_docs again") as error:
        Table.open(table.directory)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_size_is_named_with_both_sizes(table, change):
    path = table.directory / "tales/0.parquet"
    size = path.stat().st_size
    os.truncate(path, size + change)
    with pytest.raises(TableError, match=f"{size + change} bytes.*lists {size}") as error:
        Table.open(table.directory)
    assert str(path) in str(error.value)
    assert "Materialize scrubbed_docs again" in str(error.value)


def test_an_edit_that_keeps_the_size_is_found_when_the_file_is_read(table):
    path = table.directory / "tales/0.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    opened = Table.open(table.directory)
    with pytest.raises(TableError, match=r"changed after it was made. Materialize") as error:
        rows(opened)
    assert str(path) in str(error.value)
    assert SECRET not in str(error.value)
    assert [row for f in opened.frames(opened.ranks[1]) for row in f["id"]] == ["c"]


def test_a_file_that_goes_after_opening_is_named(table):
    (table.directory / "tales/0.parquet").unlink()
    with pytest.raises(TableError, match="missing; materialize scrubbed_docs again"):
        rows(table)


def test_a_file_that_is_not_listed_is_no_part_of_the_table(table):
    shutil.copy(table.directory / "tales/0.parquet", table.directory / "tales/2.parquet")
    assert rows(Table.open(table.directory)) == ["a", "b", "c"]


def test_equal_tables_have_one_digest_wherever_they_lie(tmp_path):
    one = table_of(tmp_path / "one", [document("a")])
    two = table_of(tmp_path / "deep/two", [document("a")])
    other = table_of(tmp_path / "three", [document("a", "Other.")])
    assert one.digest == two.digest != other.digest
    assert hash(one) != hash(two)


def test_head_takes_the_first_rows_over_all_ranks(table):
    assert table.head(1)["id"].to_list() == ["a"]
    assert table.head(3)["id"].to_list() == ["a", "b", "c"]
    assert table.head(9)["id"].to_list() == ["a", "b", "c"]


def test_head_of_empty_ranks_has_columns_and_no_row(tmp_path):
    table = table_of(tmp_path, [], [])
    assert table.head(2).height == 0
    assert "text" in table.head(2).columns
    assert table_of(tmp_path / "b", [], [document("z")]).head(2)["id"].to_list() == ["z"]


def test_head_of_a_role_that_no_rank_has_is_empty(table):
    assert table.head(3, "excluded").is_empty()


def test_frames_can_be_read_by_column(table):
    frames = list(table.frames(table.ranks[0], columns=["id"]))
    assert [frame.columns for frame in frames] == [["id"]]
