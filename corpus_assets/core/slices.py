"""Rank files that are read by slice: rank k of an exchange reads slice k of every file.

One Arrow IPC file (lz4) holds record batches of one slice each; a `.npy` beside it says which.
Frames are cut a few at a time, so writing one holds these in memory, whatever the rank's size.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import ipc

from corpus_assets.core.parquet import to_frame, to_table
from corpus_assets.core.table import Table

SLICE = "slice"
"""Name of the int32 column by which frames are cut; it is not stored."""

ENTRY = np.dtype([("slice", "<i4"), ("rows", "<i8"), ("bytes", "<i8")])


CUT_BYTES = 48 << 20
"""Rows that wait to be cut together: the more, the larger are the batches of a slice."""


class SliceWriter:
    """Write frames with a `slice` column; rows of a slice keep their order."""

    SUFFIX: ClassVar[str] = "arrow"
    IDENTITY: ClassVar[str] = "slices 2"

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Open `path`; `schema` is that of the rows without the slice column."""
        self.rows, self._schema = 0, schema
        self._entries: list[tuple[int, int, int]] = []
        self._pending: list[pl.DataFrame] = []
        self._pending_bytes = 0
        options = ipc.IpcWriteOptions(compression="lz4")
        self._writer = ipc.new_file(str(path), schema, options=options)

    def write(self, frame: pl.DataFrame | pa.Table) -> None:
        """Take rows, in order; cut them when there are enough for slices of a good size."""
        frame = frame if isinstance(frame, pl.DataFrame) else to_frame(frame)
        self._pending.append(frame)
        self._pending_bytes += frame.estimated_size()
        self.rows += frame.height
        if self._pending_bytes >= CUT_BYTES:
            self._cut()

    def _cut(self) -> None:
        """Cut what is pending by its slice column and write a batch for each slice in it."""
        frame = pl.concat(self._pending, rechunk=True).sort(SLICE, maintain_order=True)
        self._pending, self._pending_bytes = [], 0
        sizes = frame.group_by(SLICE, maintain_order=True).len()
        table = to_table(frame.select(self._schema.names)).cast(self._schema).combine_chunks()
        start = 0
        for number, rows in sizes.iter_rows():
            batch = table.slice(start, rows).to_batches()[0]
            self._writer.write_batch(batch)
            self._entries.append((number, rows, batch.get_total_buffer_size()))
            start += rows

    def close(self) -> np.ndarray:
        """Finish the file and return its entries, shape (batches,), dtype `ENTRY`."""
        if self._pending:
            self._cut()
        self._writer.close()
        return np.array(self._entries, dtype=ENTRY)


def read_slice(table: Table, number: int, columns: list[str] | None = None) -> pl.DataFrame:
    """Return slice `number` of every rank, in rank order, as one frame."""
    batches = list(slice_batches(table, number, columns))
    return to_frame(pa.Table.from_batches(batches)).rechunk()


def slice_batches(
    table: Table, number: int, columns: list[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one slice, rank by rank; at least one, which may be empty.

    Only the named columns are decompressed.
    """
    for rank in table.ranks:
        entries = np.load(table.path(rank.files["slices"]))
        wanted = np.flatnonzero(entries["slice"] == number)
        with pa.memory_map(str(table.path(rank.files["kept"]))) as source:
            reader = ipc.open_file(source)
            if columns is not None:
                fields = [reader.schema.get_field_index(name) for name in columns]
                options = ipc.IpcReadOptions(included_fields=fields)
                reader = ipc.open_file(source, options=options)
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
            for index in wanted:
                yield reader.get_batch(int(index))
