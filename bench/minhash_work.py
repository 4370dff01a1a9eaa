"""What of MinHash runs in a process of its own to be measured. Each command prints one JSON object.

`cpu` of a stage is what it took without the start of Python.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from corpus_assets import readers
from corpus_assets.core.run import run_plan
from corpus_assets.core.table import Table
from corpus_assets.dedup.adopt import adopt_signatures
from corpus_assets.dedup.buckets import minhash_buckets
from corpus_assets.dedup.clusters import minhash_clusters, united, write_lists
from corpus_assets.dedup.config import DedupConfig
from corpus_assets.dedup.settings import ClusterConfig, MinhashConfig, SignatureConfig
from corpus_assets.dedup.signatures import minhash_signatures, prepare_signing
from corpus_assets.engines.local import LocalEngine
from corpus_assets.filters import filtered_docs, recipe_of
from corpus_assets.readers import RawConfig
from corpus_assets.readers.config import ReadConfig
from corpus_assets.readers.inputs import find_files


def documents(folder: str, out: str) -> dict[str, int]:
    """Make the table of a folder's documents, and the same as JSON Lines, a file for each rank."""
    config = ReadConfig(source_id="s", license_spdx="CC0-1.0", url="https://example.org/")
    files = find_files((folder,), Path(), config)
    target = Path(out)
    with LocalEngine(2) as engine:
        raw = run_plan(
            readers.raw_docs(files, RawConfig(max_bad_fraction=1)), target / "raw", engine
        )
        # As datatrove's reader, which drops empty texts, and only them.
        recipe = recipe_of([{"length": {"min_chars": 1}}])
        table = run_plan(filtered_docs(raw, recipe), target / "documents", engine)
    lines = target / "lines"
    lines.mkdir()
    for rank in table.ranks:
        with (lines / f"{rank.number:05d}.jsonl").open("wb") as stream:
            for frame in table.frames(rank, columns=["id", "text"]):
                for record in frame.iter_rows(named=True):
                    stream.write(orjson.dumps(record) + b"\n")
    return {"documents": table.rows, "ranks": len(table.ranks)}


def stage(name: str, table: str, out: str, settings: str, *more: str) -> dict[str, float]:
    """Run one stage on the table `documents`, and on the stage before it in `out`.

    `more` are folders to run it into again, in the same process: the last is what `cpu` says.
    """
    source = Table.open(Path(table))
    config = dedup_config(settings)
    cpu = 0.0
    made = source
    for folder in (Path(out), *map(Path, more)):
        if name == "signatures":
            plan = minhash_signatures(source, config.signing(), exact_first=False)
        elif name == "buckets":
            plan = minhash_buckets(Table.open(Path(out, "signatures")), config.bucketing())
        else:
            plan = minhash_clusters(Table.open(Path(out, "buckets")), source, config.clustering())
        start = time.process_time()
        with LocalEngine(0) as engine:
            made = run_plan(plan, folder / name, engine)
        cpu = time.process_time() - start
    return {"cpu": cpu, "kept": sum(rank.counts["kept"] for rank in made.ranks)}


def dedup_config(settings: str) -> DedupConfig:
    """Return datatrove's settings, exact duplicates left to MinHash."""
    values = json.loads(settings)
    workers = values.pop("workers_per_bucket", 1)
    signing = SignatureConfig(**values)
    return DedupConfig(exact=False, minhash=signing, workers_per_bucket=workers)


@dataclass(frozen=True)
class Lists:
    """Where `write_lists` writes."""

    folder: Path

    def create(self, _role: str, name: str) -> Path:
        """Return the path of a list."""
        return self.folder / name

    def note_rows(self, _role: str, _rows: int) -> None:
        """Take note of nothing."""


def union(buckets: str, out: str) -> dict[str, float]:
    """Make datatrove's lists of a table of pairs, and nothing of what it has not."""
    table, config = Table.open(Path(buckets)), ClusterConfig(minhash=MinhashConfig())
    cpu = 0.0
    for folder in (Path(out, "first"), Path(out, "clusters")):
        folder.mkdir(parents=True)
        start = time.process_time()
        members = united(table, table, config)
        lists: Any = Lists(folder)
        write_lists(lists, members, members.roots)
        cpu = time.process_time() - start
    return {"cpu": cpu}


def adopt(folder: str, out: str, settings: str) -> dict[str, int]:
    """Take over datatrove's signatures as the stage `signatures` of `out`."""
    config = dedup_config(settings).signing()
    return {"ranks": len(adopt_signatures(Path(folder), Path(out, "signatures"), config).ranks)}


def compiled() -> dict[str, float]:
    """Compile the kernels, or load them where they are cached."""
    start = time.process_time()
    prepare_signing()
    return {"cpu": time.process_time() - start}


COMMANDS: dict[str, Callable[..., object]] = {
    "documents": documents,
    "stage": stage,
    "union": union,
    "adopt": adopt,
    "compiled": compiled,
}


def main() -> None:
    """Run a command and print what it returns."""
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))


if __name__ == "__main__":
    main()
