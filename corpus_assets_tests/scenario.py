"""Plain functions that make small documents and tables for tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from corpus_assets.core.files import digest_of_file
from corpus_assets.core.parquet import GroupedWriter, to_table
from corpus_assets.core.schema import CLUSTER_COLUMNS, DOCUMENT_COLUMNS, schema_of
from corpus_assets.core.table import FileRecord, RankRecord, Table

SCRUBBED = schema_of(DOCUMENT_COLUMNS, CLUSTER_COLUMNS)


def document(name: str, text: str = "Mia naps.", **fields: Any) -> dict[str, Any]:
    """Return one document's columns."""
    return {
        "id": name,
        "text": text,
        "source_id": "tales",
        "url": "https://example.org/tales",
        "license_spdx": "CC0-1.0",
        "lang": "en",
        "metadata": "{}",
        "minhash_cluster": None,
        **fields,
    }


def table_of(directory: Path, *ranks: Sequence[dict[str, Any]], schema: Any = SCRUBBED) -> Table:
    """Write documents as a table, a rank for each sequence."""
    records = []
    for number, documents in enumerate(ranks):
        path = directory / f"tales/{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [d | {"rank": number, "row": i} for i, d in enumerate(documents)]
        frame = pl.DataFrame(rows, schema=pl.DataFrame(schema.empty_table()).schema)
        writer = GroupedWriter(path, schema)
        writer.write(to_table(frame))
        writer.close()
        file = FileRecord(
            f"tales/{number}.parquet", path.stat().st_size, digest_of_file(path), len(rows)
        )
        records.append(RankRecord(number, f"tales/{number}", {"kept": file}, {"kept": len(rows)}))
    table = Table(directory, "scrubbed_docs", tuple(records))
    table.save()
    return table
