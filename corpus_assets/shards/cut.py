"""Third pass of the large writer: each shard cut out of the sorted ranges, any shard by any worker.

A range is held in pieces of bounded text, so that one that came out too large costs time, not
memory.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.core.parquet import RowGroups, to_frame
from corpus_assets.core.plan import Config, Counts, RankInput
from corpus_assets.core.slices import slice_batches
from corpus_assets.core.table import Table
from corpus_assets.shards.layout import SCHEMA, WRITER_OPTIONS, group_budget

VERSION = 1


class CutConfig(Config):
    """Where ranges start and how rows are cut."""

    starts: tuple[int, ...]
    n_docs: int
    shard_rows: int
    val_permille: int
    row_group_bytes: int
    piece_bytes: int


class ShardWriter:
    """Writes tables that are row groups already."""

    SUFFIX: ClassVar[str] = "parquet"
    IDENTITY: ClassVar[str] = f"shard 1, pyarrow {pa.__version__}"

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Open `path` for writing."""
        self._writer, self.rows = pq.ParquetWriter(path, schema, **WRITER_OPTIONS), 0

    def write(self, frame: pl.DataFrame | pa.Table) -> None:
        """Add one row group."""
        self._writer.write_table(frame, row_group_size=len(frame))
        self.rows += len(frame)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


def cut_shard(rank: RankInput, config: CutConfig, counts: Counts) -> Iterator[pa.Table]:
    """Yield the row groups of shard `rank.number`."""
    start = rank.number * config.shard_rows
    stop = min(start + config.shard_rows, config.n_docs)
    groups = RowGroups(SCHEMA, group_budget(config.row_group_bytes), None)
    for rows in rows_between(rank.table, rank.side(), config, start, stop):
        yield from groups.add(rows)
    yield from groups.rest()


def rows_between(
    runs: Table, places: Table, config: CutConfig, start: int, stop: int
) -> Iterator[pl.DataFrame]:
    """Yield the sorted rows with index `start` to `stop - 1`, as stored but for the cut."""
    bounds = (*config.starts, config.n_docs)
    first = max(0, int(np.searchsorted(bounds, start, side="right")) - 1)
    for number in range(first, len(config.starts)):
        if bounds[number] >= stop:
            return
        low, high = max(start - bounds[number], 0), min(stop, bounds[number + 1]) - bounds[number]
        for piece_start, piece_stop in pieces(load_places(places, number), config.piece_bytes):
            begin, end = max(low, piece_start), min(high, piece_stop)
            if begin < end:
                piece = load_piece(
                    runs, places, number, piece_start, piece_stop, config.val_permille
                )
                yield piece.slice(begin - piece_start, end - begin)


def pieces(places: pl.DataFrame, budget: int) -> list[tuple[int, int]]:
    """Return the bounds of runs of rows that hold at most about `budget` bytes of text."""
    if places.is_empty():
        return []
    before = places["text_bytes"].cum_sum() - places["text_bytes"]
    starts = (before // max(budget, 1)).rle_id().to_frame("piece").with_row_index("row")
    firsts = starts.group_by("piece", maintain_order=True).first()["row"].to_list()
    return list(zip(firsts, [*firsts[1:], places.height], strict=True))


@lru_cache(maxsize=2)
def load_places(places: Table, number: int) -> pl.DataFrame:
    """Return order, lengths and clusters of one range; the last two are kept for the next shard."""
    frames = list(places.frames(places.ranks[number]))
    return pl.concat(frames) if frames else pl.DataFrame(schema=places_schema())


def places_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of a range without rows."""
    return {"position": pl.Int64, "text_bytes": pl.Int64, "minhash_cluster": pl.Int64}


@lru_cache(maxsize=1)
def load_piece(
    runs: Table, places: Table, number: int, start: int, stop: int, val_permille: int
) -> pl.DataFrame:
    """Return rows `start` to `stop - 1` of a sorted range; kept, since shards share ranges."""
    load_piece.cache_clear()  # The piece before is not held while this one is read.
    placed = load_places(places, number)
    wanted = placed["position"][start:stop].to_numpy()
    found = np.sort(wanted)
    parts: list[pa.RecordBatch] = []
    before = 0
    for batch in slice_batches(runs, number):
        low, high = np.searchsorted(found, (before, before + len(batch)))
        # `take` copies, so that the rows of other pieces do not stay in memory with these.
        whole = high - low == len(batch)
        parts.append(batch if whole else batch.take(pa.array(found[low:high] - before)))
        before += len(batch)
    # Without `rechunk`, which copies no text, picking rows out of many chunks would.
    rows = to_frame(pa.Table.from_batches(parts)).rechunk()[np.searchsorted(found, wanted)]
    return stored(rows.with_columns(placed["minhash_cluster"][start:stop]), val_permille)


def stored(rows: pl.DataFrame, val_permille: int) -> pl.DataFrame:
    """Return rows with the columns of a shard; they are cast when the row group is cut."""
    data = b"".join(rows["sha256"])
    heads = np.frombuffer(data, dtype=">u8").reshape(-1, 4)[:, 0]
    is_val = pl.Series(heads % 1000 < val_permille)
    split = pl.select(pl.when(is_val).then(pl.lit("val")).otherwise(pl.lit("train"))).to_series()
    return rows.with_columns(split.alias("split")).select(SCHEMA.names)
