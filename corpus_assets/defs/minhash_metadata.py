"""What the asset catalog shows of the stages of MinHash."""

from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg
import polars as pl

from corpus_assets.core.run import Progress
from corpus_assets.core.table import Table
from corpus_assets.dedup.columns import MEMBER_COLUMNS
from corpus_assets.dedup.settings import MinhashConfig
from corpus_assets.defs.markdown import markdown_table, picture, plain

LARGEST = 10
"""Clusters that the catalog names."""


def minhash_metadata(table: Table, progress: Progress | None) -> dict[str, Any]:
    """Return the catalog entry of a stage of MinHash."""
    metadata: dict[str, Any] = {
        "dagster/row_count": table.rows,
        "dagster/size_bytes": table.bytes,
        **ENTRIES[table.name](table),
        "folder": dg.MetadataValue.path(str(stage_folder(table))),
        "digest": table.digest,
    }
    if progress is not None:
        metadata["files made in this run"] = progress.done
        metadata["files taken over unchanged"] = progress.reused
    return metadata


def stage_folder(table: Table) -> Any:
    """Return the folder to give datatrove: the one of this version of the table."""
    first = next(iter(table.files()), None)
    return table.directory if first is None else table.directory / first.path.split("/")[0]


def _signatures(table: Table) -> dict[str, Any]:
    settings = {k: v for k, v in table.facts["minhash"].items() if k != "unicode"}
    config = MinhashConfig(**settings)
    return {
        "detection": dg.MetadataValue.md(f"{detection_plot(config)}\n\n{detection_table(config)}"),
        "settings": dg.MetadataValue.json(table.facts["minhash"]),
        "documents with a signature": table.rows,
        "exact duplicates": table.counts.get("exact_duplicates", 0),
        "too short for a signature": table.counts.get("without_shingles", 0),
    }


def _buckets(table: Table) -> dict[str, Any]:
    return {
        "pairs": table.rows,
        "matches with an index": table.counts.get("index_matches", 0),
        "settings": dg.MetadataValue.json(table.facts["minhash"]),
    }


def _clusters(table: Table) -> dict[str, Any]:
    members = pl.scan_parquet(table.path(table.ranks[0].files["members"]))
    largest = (
        members.filter("kept")
        .sort("size", "cluster", descending=[True, False])
        .select("size", "id")
        .head(LARGEST)
        .collect()
    )
    first = members.sort("cluster", "rank", "place").head(LARGEST).collect()
    columns = [dg.TableColumn(n, str(k), text) for n, (k, text) in MEMBER_COLUMNS.items()]
    return {
        "dagster/column_schema": dg.TableSchema(columns),
        "clusters": table.counts.get("clusters", 0),
        "near-duplicates to drop": table.counts.get("removed", 0),
        "largest clusters": dg.MetadataValue.md(
            markdown_table(
                ("documents", "the one that stays"),
                [(f"{size:,}", plain(name)) for size, name in largest.iter_rows()],
            )
        ),
        "first members": dg.MetadataValue.md(
            markdown_table(
                ("cluster", "id", "stays", "duplicate of"),
                [
                    (row["cluster"], plain(row["id"]), row["kept"], plain(row["representative"]))
                    for row in first.iter_rows(named=True)
                ],
            )
        ),
    }


ENTRIES: Mapping[str, Callable[[Table], dict[str, Any]]] = {
    "minhash_signatures": _signatures,
    "minhash_buckets": _buckets,
    "minhash_clusters": _clusters,
}
"""What each stage shows beside the usual, by its name."""


def detection_table(config: MinhashConfig) -> str:
    """Return the chance that a pair is found, by its similarity, as a Markdown table."""
    rows = [(f"{s / 100:.2f}", f"{config.detection(s / 100):.1%}") for s in range(50, 100, 5)]
    return markdown_table(("Jaccard similarity", "pairs found"), rows)


def detection_plot(config: MinhashConfig) -> str:
    """Return the curve of `MinhashConfig.detection` as a Markdown image."""
    # matplotlib takes 0.4 s to import, and the code location needs it only here.
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot()
    similarities = [i / 200 for i in range(201)]
    axes.plot(similarities, [config.detection(s) for s in similarities], color="#3b6fb6")
    axes.axvline(config.threshold, color="#d9803b", linestyle="--")
    axes.set_xlabel("Jaccard similarity of two documents' shingles")
    axes.set_ylabel("chance to be found")
    axes.spines[["top", "right"]].set_visible(False)
    return picture(figure, "chance that a pair is found")
