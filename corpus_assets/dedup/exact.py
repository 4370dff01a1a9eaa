"""Exact duplicates: documents with the same SHA-256 of the text; the first by (rank, row) stays.

Index, repeats, removal. The index of a rank is cut into slices by digest, so that equal texts meet
in one slice, whatever their ranks; the memory is that of a slice. The same pass finds repeated ids,
long before the corpus would be sorted by them.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import DocumentError
from corpus_assets.core.plan import Config, Counts, Plan, RankInput, exchange, map_ranks
from corpus_assets.core.schema import DEDUPED, schema_of
from corpus_assets.core.slices import SLICE, SliceWriter, read_slice
from corpus_assets.core.table import Table
from corpus_assets.core.texts import repeated_id_message, text_digests
from corpus_assets.dedup.removal import EXACT, NEAR, drop_listed

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


class IndexConfig(Config):
    """Number of slices of the index, and whether texts are indexed beside ids."""

    into: int
    texts: bool


def without_exact_duplicates(filtered_docs: Table, *, exact: bool = True) -> Plan:
    """Return the plan of the documents that stay where there is no MinHash.

    With `exact` off every document stays; repeated ids are looked for all the same.
    """
    removals = removals_plan(filtered_docs, texts=exact)
    return map_ranks(filtered_docs, "deduped_docs", remove_duplicates, None, DEDUPED, side=removals)


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


def remove_duplicates(rank: RankInput, config: None, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a rank's documents, exact duplicates with their reason; see `removal.drop_listed`."""
    return drop_listed(rank, exact_list(rank), pl.DataFrame(schema=NEAR))


def exact_list(rank: RankInput) -> pl.DataFrame:
    """Return the exact duplicates of a rank, from the side table of removals."""
    return read_slice(rank.side(), rank.number).select(list(EXACT))


def removals_plan(filtered_docs: Table, *, texts: bool) -> Plan:
    """Return the plan of the lists of exact duplicates, sliced by their rank.

    Without `texts` it lists none, and only looks for repeated ids.
    """
    into = 1 + filtered_docs.rows // ROWS_PER_SLICE
    index = map_ranks(
        filtered_docs,
        "index",
        index_documents,
        IndexConfig(into=into, texts=texts),
        INDEX,
        writer=SliceWriter,
        conserves=False,
    )
    return exchange(index, "removals", into, find_repeats, None, REMOVALS, writer=SliceWriter)
