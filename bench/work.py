"""What runs in a process of its own to be measured, and the checks of what it wrote.

Each command prints one JSON object; `cpu` is what the work took without the start of Python.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.core.table import Table
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii.scrubbing import MANIFEST_COLUMNS
from corpus_assets.shards.build import CorpusPlan, build_corpus_shards
from corpus_assets.shards.manifest import checked_settings


def copy(source: str, target: str) -> dict[str, float]:
    """Copy the rows of a folder's Parquet files: read, write zstd level 3, nothing else."""
    pa.set_cpu_count(1)
    Path(target).mkdir(parents=True)
    start = time.process_time()
    for path in parquet_files(Path(source)):
        with pq.ParquetFile(path, pre_buffer=False) as file:
            options = {"compression": "zstd", "compression_level": 3}
            name = Path(target, path.name)
            with pq.ParquetWriter(name, file.schema_arrow, use_dictionary=False, **options) as out:
                for batch in file.iter_batches(8_192, use_threads=False):
                    out.write_batch(batch)
    return {"cpu": time.process_time() - start}


def corpus(table: str, target: str, workers: str) -> dict[str, float]:
    """Make the corpus of a table of scrubbed documents; nothing of an earlier run is used."""
    settings = checked_settings(dataset="bench", version="1", shard_rows=100_000)
    plan = CorpusPlan(Table.open(Path(table)), settings, MANIFEST_COLUMNS)
    start = time.process_time()
    with LocalEngine(int(workers)) as engine:
        build_corpus_shards(plan, Path(target), engine)
    return {"cpu": time.process_time() - start}


def rows(*folders: str) -> dict[str, str]:
    """Return for each folder the number of its rows and a digest of them, in whatever order."""
    return {folder: rows_digest(parquet_files(Path(folder))) for folder in folders}


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files of a table, a corpus or a plain folder, but for the dropped rows."""
    files = sorted(folder.rglob("*.parquet"))
    return [path for path in files if "excluded" not in path.relative_to(folder).parts]


def rows_digest(files: Iterable[Path]) -> str:
    """Return the number of rows and the sum of the SHA-256 of each row's id and text."""
    count = total = 0
    for path in files:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(8_192, columns=["id", "text"], use_threads=False):
                for name, text in zip(
                    *(column.to_pylist() for column in batch.columns), strict=True
                ):
                    total += int.from_bytes(sha256(f"{name}\n{text}".encode()).digest())
                count += batch.num_rows
    return f"{count} rows, {total % 2**256:064x}"


COMMANDS: dict[str, Callable[..., object]] = {"copy": copy, "corpus": corpus, "rows": rows}


def main() -> None:
    """Run a command and print what it returns."""
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))


if __name__ == "__main__":
    main()
