"""What the asset catalog shows of a table and a corpus: numbers, columns, funnel, first rows."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from corpus_assets.core.run import Progress
from corpus_assets.core.schema import CLUSTER_COLUMNS, DOCUMENT_COLUMNS, Columns
from corpus_assets.core.table import Table
from corpus_assets.datasheet import CARD_FILE
from corpus_assets.defs.filter_metadata import filter_metadata
from corpus_assets.defs.markdown import funnel_plot, markdown_table, plain
from corpus_assets.defs.minhash_metadata import ENTRIES, minhash_metadata
from corpus_assets.funnel import Funnel, funnel_of
from corpus_assets.ledger import LEDGER_FILE, read_ledger
from corpus_assets.pii.samples import samples
from corpus_assets.pii.scrubbing import PII_COLUMNS
from corpus_assets.shards.build import Corpus
from corpus_assets.shards.layout import SHARD_COLUMNS

PREVIEW_ROWS = 5
SAMPLED_ROWS = 2_000
SAMPLES_PER_KIND = 5
INLINE_SHARDS = 50
"""Dagster stores each JSON value four times and fetches it again with every page."""

INLINE_CHARS = 20_000
"""Of a text file, for the same reason."""

MEANINGS = {
    name: meaning
    for columns in (DOCUMENT_COLUMNS, CLUSTER_COLUMNS, PII_COLUMNS)
    for name, (_, meaning) in columns.items()
}


def table_metadata(table: Table, progress: Progress | None) -> dict[str, Any]:
    """Return the catalog entry of a table."""
    if table.name in ENTRIES:
        return minhash_metadata(table, progress)
    metadata: dict[str, Any] = {
        "dagster/row_count": table.rows,
        "dagster/size_bytes": table.bytes,
        "dagster/column_schema": column_schema(table),
        "documents in and out": dg.MetadataValue.md(stage_table(funnel_of([table]))),
        "first rows": dg.MetadataValue.md(preview(table.head(PREVIEW_ROWS))),
        "folder": dg.MetadataValue.path(str(table.directory)),
        "digest": table.digest,
        "input files": len(table.ranks),
    }
    if table.name == "filtered_docs":
        metadata |= filter_metadata(table)
    if progress is not None:
        metadata["files made in this run"] = progress.done
        metadata["files taken over unchanged"] = progress.reused
    for name, number in table.counts.items():
        kind, _, rest = name.partition("/")
        if kind in {"dropped", "rejected", "pii"}:
            metadata[f"{kind}: {rest}"] = number
    if any(name.startswith("pii/") for name in table.counts):
        metadata["personal data by source"] = dg.MetadataValue.md(pii_by_source(table))
        metadata["samples"] = dg.MetadataValue.md(pii_samples(table.head(SAMPLED_ROWS)))
    return metadata


def pii_by_source(table: Table) -> str:
    """Return what was replaced in each source, a column per kind, as a Markdown table."""
    rows: dict[str, dict[str, int]] = {}
    for name, number in table.counts.items():
        if name.startswith("pii_by_source/"):
            _, source, kind = name.split("/", 2)
            rows.setdefault(source, {})[kind] = number
    kinds = [name.removeprefix("pii/") for name in table.counts if name.startswith("pii/")]
    cells = [(source, *(f"{row.get(k, 0):,}" for k in kinds)) for source, row in rows.items()]
    return markdown_table(("source", *kinds), sorted(cells))


def pii_samples(frame: pl.DataFrame) -> str:
    """Return places where something was replaced, for reviewers, as Markdown.

    They are cut from scrubbed texts: every value found is masked, those around included.
    """
    rows = [
        (kind, plain(name), plain(context))
        for kind, name, context in samples(frame, SAMPLES_PER_KIND)
    ]
    return (
        markdown_table(("kind", "id", "replaced in"), rows) if rows else "None in the first rows."
    )


def column_schema(table: Table) -> dg.TableSchema:
    """Return names, types and meanings of a table's columns."""
    frame = table.head(1)
    kinds = {name: str(kind).lower() for name, kind in frame.schema.items()}
    return dg.TableSchema([dg.TableColumn(n, kind, MEANINGS.get(n)) for n, kind in kinds.items()])


def stage_table(funnel: Funnel) -> str:
    """Return what one stage did as a Markdown table; numbers first, as the page cuts wide ones."""
    rows = [(funnel.came_in, "came in")]
    rows += [(drop.documents, f"dropped: `{drop.reason}`") for drop in funnel.drops]
    rows += [(funnel.kept, "kept")]
    return markdown_table(("documents", ""), [(f"{number:,}", what) for number, what in rows])


def shard_schema(columns: Columns = SHARD_COLUMNS) -> dg.TableSchema:
    """Return names, types and meanings of a shard's columns."""
    unique = dg.TableColumnConstraints(nullable=False, unique=True)
    plain = dg.TableColumnConstraints(nullable=False)
    return dg.TableSchema(
        [
            dg.TableColumn(name, str(kind), meaning, constraints=unique if name == "id" else plain)
            for name, (kind, meaning) in columns.items()
        ]
    )


def preview(frame: pl.DataFrame) -> str:
    """Return first rows as Markdown; what looks like personal data is masked before it is cut."""
    if frame.is_empty():
        return "No rows."
    rows = [
        (
            plain(row["id"]),
            plain(row["lang"]),
            plain(row["license_spdx"]),
            f"{len(row['text']):,}",
            plain(row["text"]),
        )
        for row in frame.select("id", "lang", "license_spdx", "text").iter_rows(named=True)
    ]
    return markdown_table(("id", "lang", "licence", "characters", "text begins"), rows)


def text_metadata(path: Path, text: str) -> dict[str, Any]:
    """Return the catalog entry of a text file."""
    shown = CONTENTS[path.name](text)
    if len(shown) > INLINE_CHARS:
        shown = f"{shown[:INLINE_CHARS]}…\n\nThe whole text is in the file."
    return {
        "content": dg.MetadataValue.md(shown),
        "file": dg.MetadataValue.path(str(path)),
        "bytes": len(text.encode()),
    }


def _ledger_table(text: str) -> str:
    head = ("source", "licences and their documents", "files", "bytes")
    rows = [
        (
            f"[{entry['title']}]({entry['url']})",
            ", ".join(f"{licence} ({number:,})" for licence, number in entry["licenses"].items()),
            f"{entry['files']:,}",
            f"{entry['bytes']:,}",
        )
        for entry in read_ledger(text)
    ]
    return markdown_table(head, rows)


def _without_front_matter(text: str) -> str:
    return text.split("\n---\n", 1)[-1].lstrip()


CONTENTS: dict[str, Callable[[str], str]] = {
    LEDGER_FILE: _ledger_table,
    CARD_FILE: _without_front_matter,
}
"""What the catalog shows of a text file, as Markdown, by the file's name."""


def corpus_metadata(
    corpus: Corpus, first: pl.DataFrame, funnel: Funnel, progress: Progress | None
) -> dict[str, Any]:
    """Return the catalog entry of a corpus."""
    manifest = corpus.manifest
    size = sum((corpus.directory / shard["name"]).stat().st_size for shard in manifest["shards"])
    return {
        "dagster/row_count": manifest["n_docs"],
        "dagster/size_bytes": size,
        "dagster/column_schema": shard_schema(),
        "manifest": dg.MetadataValue.json(inline_manifest(manifest)),
        "funnel": dg.MetadataValue.md(f"{funnel_plot(funnel)}\n\n{funnel.markdown()}"),
        "first rows": dg.MetadataValue.md(preview(first)),
        "folder": dg.MetadataValue.path(str(corpus.directory)),
        "manifest sha256": corpus.digest,
        "shards": manifest["n_shards"],
        "shards made in this run": progress.done if progress else 0,
        **{f"pii: {kind}": number for kind, number in manifest["pii"].items() if number},
    }


def inline_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with at most `INLINE_SHARDS` shards; the whole one lies in the folder."""
    shown = dict(manifest)
    hidden = len(manifest["shards"]) - INLINE_SHARDS
    if hidden > 0:
        shown["shards"] = [*manifest["shards"][:INLINE_SHARDS], f"… and {hidden} more"]
    return shown
