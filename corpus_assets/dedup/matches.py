"""Which document of an index a document matched: what datatrove's sentinel does not say."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from corpus_assets.core.table import Table
from corpus_assets.dedup.index import index_runs

MATCHES = {"node": pl.UInt64, "match": pl.String, "matched_index": pl.String}
"""Document (rank and place in one integer), id of the match where it is known, index."""


def index_matches(
    buckets: Table,
    references: Sequence[Table],
    names: tuple[str, ...],
    documents: Sequence[int],
) -> pl.DataFrame:
    """Return the match of each document that has one, in the first bucket that shows one.

    Args:
        buckets: The pairs, and the matches beside them.
        references: The indexes, then tables of their documents.
        names: Name of each index.
        documents: For each index the number of its table of documents, -1 where there is none.

    Returns:
        Columns `MATCHES`; no rows where no index is named.
    """
    if not names:
        return pl.DataFrame(schema=MATCHES)
    indexes, tables = references[: len(names)], references[len(names) :]
    parts = [pl.DataFrame(schema={"node": pl.UInt64, "index": pl.Int64, **_PLACE})]
    for entry in buckets.ranks:
        if "matches" in entry.files:
            bucket = int(buckets.path(entry.files["pairs"]).name.split("_")[0])
            found = np.load(buckets.path(entry.files["matches"]))
            parts.append(_placed(found, indexes, bucket))
    first = pl.concat(parts).unique("node", keep="first", maintain_order=True)
    named = [
        _named(part, names[number], tables[documents[number]] if documents[number] >= 0 else None)
        for (number,), part in first.group_by("index", maintain_order=True)
    ]
    return pl.concat([pl.DataFrame(schema=MATCHES), *named])


_PLACE = {"rank": pl.Int64, "place": pl.Int64}


def _placed(found: np.ndarray, indexes: Sequence[Table], bucket: int) -> pl.DataFrame:
    """Return matches of one bucket with the number of the index and the place in it."""
    runs = index_runs(indexes, bucket)
    numbers = np.array([[indexes.index(table), rank.number] for _, table, rank in runs], np.int64)
    at = found[:, 2] + len(runs)
    where = numbers.reshape(-1, 2)[at]
    node = (found[:, 0].astype(np.uint64) << np.uint64(32)) | found[:, 1].astype(np.uint64)
    return pl.DataFrame(
        {"node": node, "index": where[:, 0], "rank": where[:, 1], "place": found[:, 3]}
    )


def _named(matches: pl.DataFrame, name: str, documents: Table | None) -> pl.DataFrame:
    """Return matches with one index, with the ids of its documents if it has a table of them."""
    if documents is None:
        ids = matches.select("node", pl.lit(None, dtype=pl.String).alias("match"))
    else:
        parts = [
            _with_ids(part, documents, int(str(rank)))
            for (rank,), part in matches.group_by("rank", maintain_order=True)
        ]
        ids = pl.concat(parts)
    return ids.with_columns(pl.lit(name).alias("matched_index"))


def _with_ids(matches: pl.DataFrame, documents: Table, rank: int) -> pl.DataFrame:
    entry = next(entry for entry in documents.ranks if entry.number == rank)
    ids = pl.concat(list(documents.frames(entry, columns=["id"])))["id"]
    return matches.select("node", ids.gather(matches["place"]).alias("match"))
