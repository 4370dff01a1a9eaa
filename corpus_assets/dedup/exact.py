"""Exact duplicates: documents with the same SHA-256 of the text; the first by (rank, row) stays.

Index, repeats, removal. The index of a rank is cut into slices by digest, so that equal texts meet
in one slice, whatever their ranks; the memory is that of a slice. The same pass finds repeated ids,
long before the corpus would be sorted by them.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import DocumentError, LawError, TableError
from corpus_assets.core.plan import Config, Counts, Plan, RankInput, exchange, map_ranks
from corpus_assets.core.schema import DEDUPED, schema_of
from corpus_assets.core.slices import SLICE, SliceWriter, read_slice
from corpus_assets.core.table import Table
from corpus_assets.core.texts import repeated_id_message, text_digests

VERSION = 1

ROWS_PER_SLICE = 1_000_000
"""Documents whose digests one worker compares at a time: about 200 MB."""

IS_ID, IS_TEXT = 0, 1

INDEX = schema_of(
    {
        "kind": (pa.int8(), "0 for the digest of an id, 1 for that of a text."),
        "digest": (pa.large_binary(), "SHA-256 of the id or the text."),
        "id": (pa.large_string(), "Id of the document."),
        "rank": (pa.int32(), "Its rank."),
        "row": (pa.int64(), "Its row in that rank."),
    }
)
REMOVALS = schema_of(
    {
        "rank": (pa.int32(), "Rank of a duplicate."),
        "row": (pa.int64(), "Its row in that rank."),
        "id": (pa.large_string(), "Its id, which removal compares."),
        "duplicate_of": (pa.large_string(), "Id of the document that stays."),
    }
)


class DedupConfig(Config):
    """What counts as a duplicate."""

    exact: bool = True
    """Drop documents whose text is that of an earlier one."""


class IndexConfig(Config):
    """Number of slices of the index, and whether texts are indexed beside ids."""

    into: int
    texts: bool


def deduped_docs(filtered_docs: Table, config: DedupConfig) -> Plan:
    """Return the plan of the table of documents without duplicates."""
    into = 1 + filtered_docs.rows // ROWS_PER_SLICE
    index_config = IndexConfig(into=into, texts=config.exact)
    index = map_ranks(
        filtered_docs,
        "index",
        index_documents,
        index_config,
        INDEX,
        writer=SliceWriter,
        conserves=False,
    )
    removals = exchange(index, "removals", into, find_repeats, None, REMOVALS, writer=SliceWriter)
    return map_ranks(
        filtered_docs, "deduped_docs", remove_duplicates, config, DEDUPED, side=removals
    )


def index_documents(rank: RankInput, config: IndexConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the digests of a rank's ids and texts, sliced by digest."""
    for frame in rank.frames(["id", "text", "rank", "row"]):
        yield _digests(frame, "id", IS_ID, config.into)
        if config.texts:
            yield _digests(frame, "text", IS_TEXT, config.into)


def _digests(frame: pl.DataFrame, column: str, kind: int, into: int) -> pl.DataFrame:
    digests = text_digests(frame[column])
    heads = np.frombuffer(b"".join(digests), dtype=">u8").reshape(-1, 4)[:, 0]
    return frame.select(
        pl.lit(kind, dtype=pl.Int8).alias("kind"),
        pl.Series("digest", digests, dtype=pl.Binary),
        *("id", "rank", "row"),
        pl.Series(SLICE, (heads % into).astype(np.int32)),
    )


def find_repeats(rank: RankInput, config: None, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the duplicates of one slice, sliced by their rank.

    Raises:
        DocumentError: Two documents have one id; the message names both.
    """
    rows = read_slice(rank.table, rank.number).sort("digest", "rank", "row")
    ids = rows.filter(pl.col("kind") == IS_ID)
    repeated = ids.filter(pl.col("digest") == pl.col("digest").shift(1))
    if repeated.height:
        both = ids.filter(pl.col("digest") == repeated["digest"][0])
        raise DocumentError(repeated_id_message(rank.table.rank_names, both))
    texts = rows.filter(pl.col("kind") == IS_TEXT)
    first = pl.col("id").first().over("digest")
    yield (
        texts.with_columns(first.alias("duplicate_of"))
        .filter(~pl.col("digest").is_first_distinct())
        .sort("rank", "row")
        .select("rank", "row", "id", "duplicate_of", pl.col("rank").alias(SLICE))
    )


def remove_duplicates(
    rank: RankInput, config: DedupConfig, counts: Counts
) -> Iterator[pl.DataFrame]:
    """Yield a rank's documents, duplicates with their reason.

    Raises:
        TableError: The document at a listed place is another than the one listed.
        LawError: A listed duplicate was not met.
    """
    listed = read_slice(rank.side(), rank.number).select(
        "row", pl.col("id").alias("listed_id"), "duplicate_of"
    )
    met = 0
    for frame in rank.frames():
        joined = frame.join(listed, on="row", how="left", maintain_order="left")
        removed = joined.filter(pl.col("listed_id").is_not_null())
        wrong = removed.filter(pl.col("listed_id") != pl.col("id"))
        if wrong.height:
            message = (
                f"rank {rank.name} row {wrong['row'][0]}: {wrong['listed_id'][0]!r} is listed as "
                f"a duplicate, but {wrong['id'][0]!r} stands there; materialize filtered_docs and "
                f"deduped_docs again."
            )
            raise TableError(message)
        met += removed.height
        is_duplicate = pl.col("listed_id").is_not_null()
        yield joined.with_columns(
            pl.lit(None, dtype=pl.Int64).alias("minhash_cluster"),
            pl.when(is_duplicate).then(pl.lit("exact_duplicate")).alias("drop_reason"),
            pl.when(is_duplicate).then(pl.lit("dedup")).alias("drop_rule"),
        ).drop("listed_id")
    if met != listed.height:
        message = f"rank {rank.name}: {listed.height} duplicates are listed, {met} were met."
        raise LawError(message)
