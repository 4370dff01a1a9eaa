"""Dropping the documents that deduplication listed: by place, each checked by its id."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from corpus_assets.core.errors import LawError, TableError
from corpus_assets.core.plan import RankInput

EXACT = {"row": pl.Int64, "id": pl.String, "duplicate_of": pl.String}
"""Columns of a rank's list of exact duplicates."""

NEAR = {
    "place": pl.Int64,
    "id": pl.String,
    "cluster": pl.Int64,
    "kept": pl.Boolean,
    "representative": pl.String,
}
"""Columns of a rank's list of cluster members; places count the documents of the rank from 0."""


def drop_listed(rank: RankInput, exact: pl.DataFrame, near: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield a rank's documents with their cluster, those to drop with reason and duplicate.

    Args:
        rank: The rank.
        exact: Its exact duplicates, columns `EXACT`.
        near: Its cluster members, columns `NEAR`.

    Raises:
        TableError: The document at a listed place is another than the one listed.
        LawError: A listed document was not met.
    """
    exact = exact.select("row", exact_id="id", exact_of="duplicate_of")
    near = near.rename({"id": "near_id"})
    first = met = 0
    for frame in rank.frames():
        place = pl.Series("place", np.arange(first, first + frame.height), dtype=pl.Int64)
        first += frame.height
        joined = (
            frame.with_columns(place)
            .join(exact, on="row", how="left", maintain_order="left")
            .join(near, on="place", how="left", maintain_order="left")
        )
        check_identity(rank.name, joined)
        met += joined.height * 2 - joined["exact_id"].null_count() - joined["near_id"].null_count()
        yield _with_reasons(joined).drop(HELPERS)
    listed = exact.height + near.height
    if met != listed:
        message = f"rank {rank.name}: {listed} documents are listed, {met} were met."
        raise LawError(message)


HELPERS = ("place", "exact_id", "exact_of", "near_id", "cluster", "kept", "representative")


def check_identity(name: str, joined: pl.DataFrame) -> None:
    """Refuse documents that are not the ones listed for their places.

    Raises:
        TableError: As said.
    """
    for column in ("exact_id", "near_id"):
        wrong = joined.filter(pl.col(column) != pl.col("id"))
        if wrong.height:
            message = (
                f"rank {name} row {wrong['row'][0]}: {wrong[column][0]!r} is listed there, but "
                f"{wrong['id'][0]!r} stands there; the documents changed after duplicates were "
                f"looked for. Materialize filtered_docs and all below it again."
            )
            raise TableError(message)


def _with_reasons(joined: pl.DataFrame) -> pl.DataFrame:
    is_exact = pl.col("exact_id").is_not_null()
    is_near = pl.col("kept").eq_missing(pl.lit(value=False))
    return joined.with_columns(
        pl.col("cluster").alias("minhash_cluster"),
        pl.when(is_exact | is_near).then(pl.lit("dedup")).alias("drop_rule"),
        pl.when(is_exact)
        .then(pl.lit("exact_duplicate"))
        .when(is_near)
        .then(pl.lit("near_duplicate"))
        .alias("drop_reason"),
        pl.when(is_exact)
        .then(pl.col("exact_of"))
        .when(is_near)
        .then(pl.col("representative"))
        .alias("duplicate_of"),
    )
