"""Parquet files: a row is a record, its columns are the fields."""

from collections.abc import Iterator
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
    number = -1
    try:
        for number, record in enumerate(_records(rank, config)):
            counts["in"] += 1
            kept = dict(record)
            try:
                yield from batcher.add(kept, number)
            except RejectedError as error:
                content = orjson.dumps(record, default=str).decode()
                rank.reject(
                    {"file": rank.name, "row": number, "reason": str(error), "content": content}
                )
    except (OSError, pa.ArrowInvalid) as error:
        message = f"{rank.name}: cannot be read as Parquet after row {number} ({error})."
        raise InputError(message) from error
    yield from batcher.rest()


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
                yield from batch.slice(start, RECORDS_AT_ONCE).to_pylist()
