"""Parquet files: a row is a record, its columns are the fields."""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.core.errors import InputError
from corpus_assets.core.parquet import batch_rows
from corpus_assets.core.plan import Counts, RankInput
from corpus_assets.readers.config import ReadConfig
from corpus_assets.readers.documents import Batcher, RejectedError

VERSION = 1

RECORDS_AT_ONCE = 2_048
"""Rows that become Python objects at a time."""


def read_parquet(rank: RankInput, config: ReadConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the documents of a file; rows that are none are rejected with a reason.

    Raises:
        InputError: It is no Parquet file, is damaged, or has no text column.
    """
    batcher = Batcher(rank, config, counts)
    counts["in"] += 0
    for number, record in enumerate(_readable(rank, config)):
        counts["in"] += 1
        kept = dict(record)
        try:
            yield from batcher.add(kept, number)
        except RejectedError as error:
            content = orjson.dumps(record, default=str).decode()
            rank.reject(
                {"file": rank.name, "row": number, "reason": str(error), "content": content}
            )
    yield from batcher.rest()


def _readable(rank: RankInput, config: ReadConfig) -> Iterator[dict[str, Any]]:
    number = 0
    try:
        for number, record in enumerate(_records(rank, config), 1):  # noqa: B007
            yield record
    except (OSError, pa.ArrowInvalid) as error:
        message = f"{rank.name}: cannot be read as Parquet after {number} rows ({error})."
        raise InputError(message) from error


def _records(rank: RankInput, config: ReadConfig) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(rank.open(), pre_buffer=False) as file:
        names = file.schema_arrow.names
        if config.text_key not in names:
            message = (
                f"{rank.name}: no column {config.text_key!r}; it has {', '.join(names)}. Set "
                f"`text_key` to the column that holds the text."
            )
            raise InputError(message)
        if not file.metadata.num_rows:
            return
        for batch in file.iter_batches(batch_rows(file), use_threads=False):
            for start in range(0, batch.num_rows, RECORDS_AT_ONCE):
                yield from rows_of(batch.slice(start, RECORDS_AT_ONCE))


def rows_of(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows as Python objects.

    Python has no value for times finer than a microsecond, which become strings (durations their
    number of ticks), nor for strings that are no UTF-8, which become bytes; so a text that is none
    is rejected, and stops no file.
    """
    try:
        return batch.to_pylist()
    except (ValueError, OverflowError):
        columns = [_values(column) for column in batch.columns]
        names = batch.schema.names
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.Array) -> list[Any]:
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):
        exact = column.cast(_with_exact_times(column.type))
        return [_value(exact.slice(i, 1)) for i in range(len(exact))]


def _value(one: pa.Array) -> Any:
    try:
        return one.to_pylist()[0]
    except UnicodeDecodeError:
        return one.cast(_with_bytes(one.type)).to_pylist()[0]


def _with_exact_times(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_date(kind):
        return pa.string()
    if pa.types.is_duration(kind):
        return pa.int64()
    return _inside(kind, _with_exact_times)


def _with_bytes(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_binary()
    return _inside(kind, _with_bytes)


def _inside(kind: Any, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return a nested type with its innermost types changed."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(change(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(change(field.type)) for field in kind.fields])
    if pa.types.is_map(kind):
        return pa.map_(change(kind.key_type), change(kind.item_type))
    if pa.types.is_dictionary(kind):
        return change(kind.value_type)
    return kind
