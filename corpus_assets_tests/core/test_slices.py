"""Rank files that are read by slice."""

from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pytest

from corpus_assets.core.plan import exchange, map_ranks
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import schema_of
from corpus_assets.core.slices import SLICE, SliceWriter, read_slice
from corpus_assets.core.table import Table
from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.scenario import document, table_of

VERSION = 1
ROWS = schema_of({"id": (pa.large_string(), ""), "row": (pa.int64(), "")})


def by_first_letter(rank, config, counts) -> Iterator[pl.DataFrame]:
    """Yield ids, `a…` in slice 0, `b…` in slice 1, and so on."""
    for frame in rank.frames():
        letters = frame["id"].str.slice(0, 1)
        numbers = [ord(letter) - ord("a") for letter in letters]
        yield frame.select("id", "row", pl.Series(SLICE, numbers, dtype=pl.Int32))


def one_slice(rank, config, counts) -> Iterator[pl.DataFrame]:
    """Yield what slice k of every rank holds."""
    yield read_slice(rank.table, rank.number)


@pytest.fixture
def sliced(tmp_path):
    names = (["b1", "a1", "b2"], [], ["a2", "d1"])
    source = table_of(tmp_path / "in", *([document(n) for n in part] for part in names))
    plan = map_ranks(source, "cut", by_first_letter, None, ROWS, writer=SliceWriter)
    return run_plan(plan, tmp_path / "cut", LocalEngine(0))


def test_a_slice_is_read_from_every_rank_in_order(sliced):
    assert read_slice(sliced, 0)["id"].to_list() == ["a1", "a2"]
    assert read_slice(sliced, 1)["id"].to_list() == ["b1", "b2"]
    assert read_slice(sliced, 3)["id"].to_list() == ["d1"]


def test_a_slice_without_rows_has_the_columns(sliced):
    empty = read_slice(sliced, 2)
    assert (empty.height, empty.columns) == (0, ["id", "row"])


def test_columns_can_be_chosen(sliced):
    assert read_slice(sliced, 1, ["row"]).to_dict(as_series=False) == {"row": [0, 2]}


def test_an_exchange_makes_a_rank_of_each_slice_and_conserves_no_count(sliced, tmp_path):
    plan = exchange(sliced, "letters", 4, one_slice, None, ROWS)
    table = run_plan(plan, tmp_path / "letters", LocalEngine(0))
    assert [rank.files["kept"].rows for rank in table.ranks] == [2, 2, 0, 1]
    assert [rank.name for rank in table.ranks] == ["00000", "00001", "00002", "00003"]
    assert Table.open(tmp_path / "letters").rows == 5
