"""MinHash stage 4: documents without exact and near duplicates, each with its cluster."""

from collections.abc import Iterator

import polars as pl

from corpus_assets.core.plan import Counts, Plan, RankInput, map_ranks
from corpus_assets.core.schema import DEDUPED
from corpus_assets.core.table import Table
from corpus_assets.dedup.removal import NEAR, drop_listed
from corpus_assets.dedup.settings import check_documents

VERSION = 1


def without_duplicates(filtered_docs: Table, signatures: Table, clusters: Table) -> Plan:
    """Return the plan of the documents that stay.

    Args:
        filtered_docs: All documents.
        signatures: Their signatures, which list the exact duplicates.
        clusters: Their clusters.

    Raises:
        TableError: One of them was made of other documents.
    """
    for stage in (signatures, clusters):
        check_documents(stage, filtered_docs)
    return map_ranks(
        filtered_docs,
        "deduped_docs",
        remove_duplicates,
        None,
        DEDUPED,
        side=clusters,
        references=(signatures,),
    )


def remove_duplicates(rank: RankInput, config: None, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a rank's documents, duplicates with their reason; see `removal.drop_listed`."""
    (signatures,) = rank.references
    exact = pl.read_parquet(signatures.path(signatures.ranks[rank.number].files["exact"]))
    clusters = rank.side()
    members = pl.scan_parquet(clusters.path(clusters.ranks[0].files["members"]))
    near = members.filter(pl.col("rank") == rank.number).select(list(NEAR)).collect()
    return drop_listed(rank, exact, near)
