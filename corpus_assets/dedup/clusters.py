"""MinHash stage 3: clusters of near-duplicates, and which document of each stays."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from corpus_assets.core.parquet import to_table
from corpus_assets.core.plan import Counts, Plan, RankInput, exchange
from corpus_assets.core.table import Table
from corpus_assets.dedup.columns import MEMBERS
from corpus_assets.dedup.matches import index_matches
from corpus_assets.dedup.nodes import PLACE, rows_of
from corpus_assets.dedup.settings import COMPILING, ClusterConfig, VerifyConfig, check_documents
from corpus_assets.dedup.union import SENTINEL, Clusters, Members, node, read_pairs
from corpus_assets.dedup.verify import ShingleSets

VERSION = 1


def minhash_clusters(
    buckets: Table,
    filtered_docs: Table,
    config: ClusterConfig,
    indexes: tuple[Table, ...] = (),
    index_documents: tuple[Table, ...] = (),
) -> Plan:
    """Return the plan of clusters: one rank in all, since the order of pairs decides.

    Raises:
        TableError: The pairs are of other documents.
    """
    check_documents(buckets, filtered_docs)
    return exchange(
        buckets,
        "minhash_clusters",
        1,
        find_clusters,
        config,
        pa.schema([]),
        side=filtered_docs,
        references=(*indexes, *index_documents),
        writer=None,
        conserves=False,
        facts=config.minhash.facts_of(filtered_docs.digest),
        prepare=(COMPILING, prepare_uniting),
    )


def find_clusters(rank: RankInput, config: ClusterConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Write `.remove`, `.clusters` and `.sizes` of every rank with duplicates, and the members."""
    config.minhash.check_same(rank.table)
    documents = rank.side()
    members = united(rank.table, documents, config)
    facts = Facts(documents, members.nodes, config.keep)
    kept = survivors(members, facts.scores())
    write_lists(rank, members, kept)
    matches = index_matches(rank.table, rank.references, config.index_names, config.index_documents)
    write_members(rank, facts, matches, members, kept)
    is_document = members.nodes != SENTINEL
    counts["kept"] += int(is_document.sum())
    counts["clusters"] += members.clusters
    counts["removed"] += int((is_document & (members.nodes != kept)).sum())
    return iter(())


def united(buckets: Table, documents: Table, config: ClusterConfig) -> Members:
    """Return the clusters of all pairs; large ones, if they are to be checked, pair by pair."""
    clusters = Clusters()
    for pairs in all_pairs(buckets):
        clusters.add(pairs, ignore_index=config.ignore_index_matches)
    members, verify = clusters.members(), config.verify
    if verify is None:
        return members
    is_doubtful = (members.sizes > verify.above_size) & (members.roots != SENTINEL)
    doubtful = members.nodes[is_doubtful]
    sets = ShingleSets(documents, doubtful, config.minhash)
    checked = Clusters()
    for pairs in all_pairs(buckets):
        good = ~is_refuted(pairs, sets, verify)
        checked.add(pairs[good], ignore_index=config.ignore_index_matches)
    return checked.members()


def is_refuted(
    pairs: NDArray[np.uint32], sets: ShingleSets, verify: VerifyConfig
) -> NDArray[np.bool_]:
    """Return which pairs are in a doubtful cluster and not similar enough."""
    ends = np.stack([node(pairs[:, 0], pairs[:, 1]), node(pairs[:, 2], pairs[:, 3])], 1)
    doubtful = np.flatnonzero(np.isin(ends, sets.nodes).all(axis=1))
    refuted = np.zeros(len(pairs), np.bool_)
    refuted[doubtful] = ~sets.are_similar(ends[doubtful], verify.min_jaccard)
    return refuted


def all_pairs(buckets: Table) -> Iterator[NDArray[np.uint32]]:
    """Yield the pairs of all buckets, in datatrove's order of file names."""
    files = [buckets.path(entry.files["pairs"]) for entry in buckets.ranks]
    for path in sorted(files, key=lambda path: path.name):
        yield from read_pairs(path)


def survivors(members: Members, scores: NDArray[np.float64] | None) -> NDArray[np.uint64]:
    """Return for each node the document of its cluster that stays.

    Args:
        members: All nodes.
        scores: Score of each node, of which the highest stays, ties to the lowest node; None keeps
            the roots.
    """
    if scores is None:
        return members.roots
    columns = {"root": members.roots, "node": members.nodes, "score": scores}
    best = pl.DataFrame(columns).with_columns(
        pl.when(pl.col("root") == int(SENTINEL))
        .then(pl.lit(int(SENTINEL), dtype=pl.UInt64))
        .otherwise(
            pl.col("node").sort_by("score", "node", descending=[True, False]).first().over("root")
        )
        .alias("kept")
    )
    return best["kept"].to_numpy()


SENTINEL_RANK = 0xFFFFFFFF
"""Rank of the sentinel, which has no documents to remove."""


class Facts:
    """What the filtered documents say of the nodes: ids, and scores to choose by."""

    def __init__(self, documents: Table, nodes: NDArray[np.uint64], keep: str) -> None:
        """Read the rows of the nodes, a batch at a time."""
        self._keep, self._nodes = keep, len(nodes)
        columns = ["id", *({"longest": ["text"]}.get(keep, []))]
        if keep.startswith("metadata:"):
            columns.append("metadata")
        # The stage after this compares the digest of what it drops from, and every id.
        frames = [
            rows.select(pl.Series("node", found), "id", self._score().alias("score"))
            for found, rows in rows_of(documents, nodes, columns, verify=False)
        ]
        empty = pl.DataFrame(schema={"node": pl.UInt64, "id": pl.String, "score": pl.Float64})
        self.frame = pl.concat([empty, *frames])

    def _score(self) -> pl.Expr:
        if self._keep == "longest":
            return pl.col("text").str.len_chars().cast(pl.Float64)
        if self._keep.startswith("metadata:"):
            path = f"$['{self._keep.removeprefix('metadata:')}']"
            number = pl.col("metadata").str.json_path_match(path).cast(pl.Float64, strict=False)
            return pl.when(number.is_finite()).then(number).fill_null(-np.inf)
        return pl.lit(0.0)

    def scores(self) -> NDArray[np.float64] | None:
        """Return the score of each node, the index last; None where datatrove's survivor stays."""
        if self._keep == "datatrove":
            return None
        scores = self.frame["score"].to_numpy()
        return np.append(scores, np.zeros(self._nodes - len(scores)))


def write_lists(rank: RankInput, members: Members, kept: NDArray[np.uint64]) -> None:
    """Write datatrove's three lists of each rank that has nodes; all integers 32-bit."""
    nodes = members.nodes
    places = (nodes & PLACE).astype("<u4")
    numbers, starts = np.unique(nodes >> np.uint64(32), return_index=True)
    for number, start, stop in zip(numbers.tolist(), starts, [*starts, None][1:], strict=True):
        mine = slice(start, stop)
        removed = nodes[mine] != kept[mine]
        lists = {
            "clusters": np.stack([places[mine], members.numbers[mine].astype("<u4")], 1),
            "sizes": np.stack([places[mine], members.sizes[mine].astype("<u4")], 1),
        }
        if removed.any() and number != SENTINEL_RANK:
            lists["remove"] = places[mine][removed]
        for kind, values in lists.items():
            role = f"{kind}/{number:06d}"
            values.tofile(rank.create(role, f"{number:06d}.{kind}"))
            rank.note_rows(role, len(values))


def write_members(
    rank: RankInput,
    facts: Facts,
    matches: pl.DataFrame,
    members: Members,
    kept: NDArray[np.uint64],
) -> None:
    """Write the table of all cluster members."""
    ids = facts.frame.select("node", "id")
    columns = {"cluster": members.numbers, "size": members.sizes}
    table = (
        pl.DataFrame({"node": members.nodes, "keeper": kept, **columns})
        .filter(pl.Series(members.nodes != SENTINEL))
        .join(ids, on="node", how="left", maintain_order="left")
        .join(
            ids.rename({"id": "representative", "node": "keeper"}),
            on="keeper",
            how="left",
            maintain_order="left",
        )
        .join(matches, on="node", how="left", maintain_order="left")
        .select(
            "id",
            (pl.col("node") // 2**32).cast(pl.Int32).alias("rank"),
            (pl.col("node") % 2**32).cast(pl.Int64).alias("place"),
            "cluster",
            "size",
            (pl.col("node") == pl.col("keeper")).alias("kept"),
            pl.coalesce("match", "representative").alias("representative"),
            "matched_index",
        )
    )
    path = rank.create("members", "members.parquet")
    # A dictionary of ids, which hardly repeat, would take longer than all the rest.
    options: Any = {"compression": "zstd", "use_dictionary": ["matched_index"]}
    pq.write_table(to_table(table).cast(MEMBERS), path, **options)
    rank.note_rows("members", table.height)


def prepare_uniting() -> None:
    """Compile, or load, the kernels of this stage."""
    clusters = Clusters()
    clusters.add(np.zeros((1, 4), np.uint32))
    clusters.members()
