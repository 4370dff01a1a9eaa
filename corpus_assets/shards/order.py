"""Second pass of the large writer: the order of rows in each range, and the cluster of each row.

Reads no text. `order` sorts a range by id and finds repeated ids; `keys`, `clusters` and `place`
give every row of a cluster the smallest row index of it, over all ranges (format 1, section 10).
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import DocumentError
from corpus_assets.core.plan import Config, Counts, RankInput
from corpus_assets.core.schema import schema_of
from corpus_assets.core.slices import SLICE, read_slice
from corpus_assets.core.texts import repeated_id_message

VERSION = 1

KEYS_PER_SLICE = 4_000_000
"""Cluster keys that one rank of the reduction holds: about 100 MB."""

ORDER_COLUMNS = {
    "position": (pa.int64(), "Place of the row among the unsorted rows of its range."),
    "text_bytes": (pa.int64(), "UTF-8 bytes of its text."),
    "cluster": (pa.int64(), "Key of its cluster; null when it has none."),
}
KEY_COLUMNS = {
    "key": (pa.int64(), "Key of a cluster."),
    "range": (pa.int32(), "Range in which the cluster has rows."),
    "first": (pa.int64(), "Smallest row index of the cluster there."),
}
PLACE_COLUMNS = {
    "position": ORDER_COLUMNS["position"],
    "text_bytes": ORDER_COLUMNS["text_bytes"],
    "minhash_cluster": (pa.int64(), "Smallest row index of the cluster over the whole corpus."),
}
ORDER, KEYS, PLACE = (schema_of(c) for c in (ORDER_COLUMNS, KEY_COLUMNS, PLACE_COLUMNS))


class RangeConfig(Config):
    """Row index at which each range starts, and the number of slices of the key reduction."""

    starts: tuple[int, ...]
    into: int = 1


def order_rows(rank: RankInput, config: None, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the rows of one range in order of id.

    Raises:
        DocumentError: Two documents have one id; the message names both.
    """
    columns = ["id", "text_bytes", "cluster", "rank", "row"]
    rows = read_slice(rank.table, rank.number, columns).with_row_index("position").sort("id")
    repeated = rows.filter(pl.col("id") == pl.col("id").shift(1))
    if repeated.height:
        both = rows.filter(pl.col("id") == repeated["id"][0])
        raise DocumentError(repeated_id_message(rank.table.rank_names, both))
    counts["keyed"] += rows.height - rows["cluster"].null_count()
    yield rows.select(pl.col("position").cast(pl.Int64), "text_bytes", "cluster")


def key_rows(rank: RankInput, config: RangeConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield each cluster of one range with its first row index, sliced by a hash of the key."""
    start = config.starts[rank.number]
    for frame in rank.frames(["cluster"]):
        keyed = frame.with_row_index("first").filter(pl.col("cluster").is_not_null())
        start_here, start = start, start + frame.height
        yield (
            keyed.group_by(pl.col("cluster").alias("key"), maintain_order=True)
            .agg(
                pl.lit(rank.number, dtype=pl.Int32).first().alias("range"),
                (pl.col("first").min().cast(pl.Int64) + start_here),
            )
            .with_columns((pl.col("key") % config.into).cast(pl.Int32).alias(SLICE))
        )


def first_rows(rank: RankInput, config: RangeConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield, for each range and key, the first row index of the key over all ranges."""
    keys = read_slice(rank.table, rank.number)
    first = keys.group_by("key", "range").agg(pl.len()).drop("len")
    least = keys.group_by("key").agg(pl.col("first").min())
    yield (
        first.join(least, on="key")
        .sort("range", "key")
        .select("key", "range", "first", pl.col("range").alias(SLICE))
    )


def place_rows(rank: RankInput, config: RangeConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the rows of one range with the final value of their cluster column."""
    start = config.starts[rank.number]
    firsts = read_slice(rank.side(), rank.number).select(pl.col("key").alias("cluster"), "first")
    for frame in rank.frames():
        index = pl.Series("index", np.arange(start, start + frame.height), dtype=pl.Int64)
        start += frame.height
        placed = frame.with_columns(index).join(
            firsts, on="cluster", how="left", maintain_order="left"
        )
        yield placed.select(
            "position", "text_bytes", pl.coalesce("first", "index").alias("minhash_cluster")
        )
