"""Plain functions that make small documents and tables for tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from corpus_assets.cli import cli, guarded
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


def write_documents(path: Path, *records: dict[str, Any] | bytes) -> Path:
    """Write records, or raw lines given as bytes, as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in records]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def write_spec(path: Path, **attributes: Any) -> Path:
    """Write the spec of a corpus `tiny`: one source, `data/` beside it; no retries, no MinHash."""
    source = {
        "id": "tales",
        "license_spdx": "CC0-1.0",
        "url": "https://example.org/tales",
        "inputs": "data",
    }
    given = {
        "name": "tiny",
        "sources": [source],
        "dedup": {"minhash": None},
        "retry": {"max_retries": 0},
    } | attributes
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {"type": "corpus_assets.CorpusComponent", "attributes": given}
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")
    return path


def run_cli(*arguments: Any) -> int:
    """Run the command line in this process; return its exit code."""
    words = [str(argument) for argument in arguments]
    return guarded(lambda: cli.main(words, standalone_mode=False))


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder by relative name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
