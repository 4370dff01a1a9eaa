"""Parquet: a row is a record, whatever its columns' types."""

import datetime as dt
import decimal
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.core.errors import InputError
from corpus_assets.readers import parquet
from corpus_assets_tests.readers.scenario import read, rejected, rows, write_jsonl


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def write(folder, table, **options):
    pq.write_table(pa.table(table), folder / "a.parquet", **options)
    return folder


def bad_utf8(*values):
    """A string array of bytes that need not be UTF-8."""
    return pa.Array.from_buffers(pa.string(), len(values), pa.array(values, pa.binary()).buffers())


def test_a_row_reads_like_the_same_json_line(folder, tmp_path):
    records = [{"id": "1", "text": "a", "n": 1, "url": "https://x"}, {"id": "2", "text": "b"}]
    write_jsonl(tmp_path / "lines/a.jsonl", records[0], records[1] | {"n": None, "url": None})
    write(folder, pa.Table.from_pylist(records))
    assert rows(read(folder)) == rows(read(tmp_path / "lines"))


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()],
)
def test_the_text_may_be_any_kind_of_string(folder, kind):
    plain = pa.array(["a", "é", "a"])
    text = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind)
    write(folder, {"text": text})
    assert [row["text"] for row in rows(read(folder))] == ["a", "é", "a"]


def test_values_that_json_has_no_word_for_become_strings(folder):
    day = dt.date(2020, 2, 29)
    columns = {
        "text": ["a"],
        "bytes": [b"\x00\xff"],
        "time": [dt.datetime(2020, 2, 29, 12, 0, 1, 500, tzinfo=dt.UTC)],
        "day": [day],
        "price": [decimal.Decimal("1.20")],
        "list": [[1, None]],
        "struct": [{"x": [{"y": b"\x01"}]}],
        "half": pa.array([1.5], pa.float32()),
        "nan": [float("nan")],
        "big": pa.array([2**64 - 1], pa.uint64()),
        "flag": [True],
        "null": pa.nulls(1),
        "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
    }
    write(folder, columns)
    (row,) = rows(read(folder))
    assert json.loads(row["metadata"]) == {
        "bytes": "00ff",
        "time": "2020-02-29T12:00:01.000500+00:00",
        "day": "2020-02-29",
        "price": "1.20",
        "list": [1, None],
        "struct": {"x": [{"y": "01"}]},
        "half": 1.5,
        "nan": None,
        "big": 2**64 - 1,
        "flag": True,
        "null": None,
        "map": [["k", 1]],
    }


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        (pa.timestamp("ns"), 1_700_000_000_123_456_789, "2023-11-14 22:13:20.123456789"),
        (pa.time64("ns"), 1, "00:00:00.000000001"),
        (pa.duration("ns"), 1, 1),
    ],
)
def test_nanoseconds_are_kept(folder, kind, value, written):
    write(
        folder,
        {"text": ["a"], "x": pa.array([value], kind), "y": pa.array([[value]], pa.list_(kind))},
    )
    (row,) = rows(read(folder))
    assert json.loads(row["metadata"]) == {"x": written, "y": [written]}


def test_a_row_that_is_no_utf8_is_rejected_alone(folder):
    text = bad_utf8(b"a", b"caf\xe9", b"c")
    write(folder, {"text": text, "n": [1, 2, 3]})
    table = read(folder)
    assert [row["text"] for row in rows(table)] == ["a", "c"]
    (record,) = rejected(table)
    assert record == {
        "file": "tales/a.parquet",
        "row": 1,
        "reason": "text_is_not_a_string",
        "content": json.dumps({"text": r"b'caf\xe9'", "n": 2}, separators=(",", ":")),
    }


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: pa.ListArray.from_arrays([0, 1, 2], a)])
def test_another_field_that_is_no_utf8_is_kept_as_hex(folder, wrap):
    write(folder, {"text": ["a", "b"], "x": wrap(bad_utf8(b"\xff", b"fine"))})
    found = [json.loads(row["metadata"])["x"] for row in rows(read(folder))]
    assert found in (["ff", "fine"], [["ff"], ["fine"]])


@pytest.mark.parametrize("kind", [pa.timestamp("ms"), pa.date64()])
def test_a_time_beyond_pythons_calendar_stops_no_file(folder, kind):
    write(folder, {"text": ["a"], "x": pa.array([86_400_000 * 10**7], pa.int64()).cast(kind)})
    assert rows(read(folder))[0]["text"] == "a"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"text": pa.array([None], pa.string())}, "missing_text"),
        ({"text": [5]}, "text_is_not_a_string"),
        ({"text": [b"a"]}, "text_is_not_a_string"),
        ({"text": ["a"], "id": [1.5]}, "id_is_not_a_string_or_integer"),
        ({"text": ["a"], "license_spdx": ["Whatever"]}, "license_is_not_spdx"),
    ],
)
def test_a_row_that_is_no_document_is_kept_with_file_row_and_reason(folder, columns, reason):
    write(folder, columns)
    table = read(folder)
    (record,) = rejected(table)
    assert (record["file"], record["row"], record["reason"]) == ("tales/a.parquet", 0, reason)
    assert set(json.loads(record["content"])) == set(columns)
    assert (table.counts["in"], table.counts["kept"]) == (1, 0)


def test_rows_are_numbered_through_all_row_groups(folder, monkeypatch):
    monkeypatch.setattr(parquet, "RECORDS_AT_ONCE", 2)
    write(folder, {"text": [f"t{n}" for n in range(7)]}, row_group_size=3)
    found = rows(read(folder))
    assert [row["text"] for row in found] == [f"t{n}" for n in range(7)]
    assert [row["row"] for row in found] == list(range(7))
    assert found[6]["id"] == "tales:a.parquet/6"


def test_row_groups_change_no_document(folder, tmp_path):
    columns = {"text": [f"t{n}" for n in range(7)], "n": list(range(7))}
    write(folder, columns, row_group_size=2)
    whole = tmp_path / "whole"
    whole.mkdir()
    write(whole, columns)
    first, second = read(folder), read(whole)
    assert rows(first) == rows(second)
    assert first.digest == second.digest


def test_an_empty_file_is_a_rank_without_documents(folder):
    write(folder, {"text": pa.array([], pa.string())})
    table = read(folder)
    assert (rows(table), table.counts["in"]) == ([], 0)


def test_a_file_without_the_text_column_names_those_it_has(folder):
    write(folder, {"body": ["a"], "n": [1]})
    with pytest.raises(
        InputError, match=r"tales/a.parquet: no column 'text'; it has body, n. Set `text_key`"
    ):
        read(folder)
    assert rows(read(folder, text_key="body"))[0]["text"] == "a"


@pytest.mark.parametrize("damage", ["empty", "text", "cut"])
def test_what_is_no_parquet_is_named(folder, damage):
    write(folder, {"text": ["Zebra"] * 9})
    path = folder / "a.parquet"
    data = {
        "empty": b"",
        "text": b"Zebra and more than twelve bytes",
        "cut": path.read_bytes()[:-9],
    }
    path.write_bytes(data[damage])
    with pytest.raises(
        InputError, match=r"tales/a.parquet: cannot be read as Parquet after"
    ) as error:
        read(folder)
    assert "Zebra" not in str(error.value)


def test_a_format_can_be_chosen_against_the_name(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    pq.write_table(pa.table({"text": ["a"]}), folder / "part-0")
    assert [row["text"] for row in rows(read(folder, format="parquet"))] == ["a"]


def test_formats_stand_side_by_side(folder):
    write(folder, {"text": ["a"]})
    write_jsonl(folder / "b.jsonl.gz", {"text": "b"})
    assert [row["id"] for row in rows(read(folder))] == ["tales:a.parquet/0", "tales:b.jsonl.gz/0"]
