"""Scrubbing beside datatrove's PIIFormatter: same texts, CPU seconds of one thread each.

    python -m bench.pii_speed --documents 20000

Measured on Debian documentation and on documents of the sample's paragraphs, 3 % of each with
personal data put in, and on hostile lines of a megabyte. Needs an environment with datatrove;
`make parity` makes it, and PEER names another. Outputs of `mode: datatrove` must be datatrove's,
text by text, before a figure counts. What a process does once, such as to load the kernel and to
build the automaton of phone labels, is in the figure `first in a process` alone.
"""

import argparse
import base64
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import orjson

os.environ["POLARS_MAX_THREADS"] = "1"

import polars as pl

from bench.debian_docs import make_documents
from bench.make_corpus import PERSONAL, make_corpus
from bench.measure import BenchError, cost_of, machine, peer
from bench.report import Figure, at_least, write_report
from corpus_assets.pii import PiiConfig, scrub
from corpus_assets.pii.datatrove import Rotation, rotate
from corpus_assets.pii.scrubbing import scrub_texts

ALL_KINDS, DATATROVE_MODE, LONGEST = 15, 8, 0.5
"""Least times as fast as datatrove, and most seconds of a hostile line."""

ROUNDS = 5
"""Of either tool, in turn, for a machine's speed drifts; the median of their ratios counts."""


class Round(NamedTuple):
    """CPU seconds of datatrove, of all default kinds, and of `mode: datatrove`."""

    theirs: float
    ours: float
    parity: float


def debian_texts(folder: Path, documents: int, downloads: Path) -> pl.Series:
    """Return Debian's documentation, with an e-mail and an address put into 3 % of the texts."""
    make_documents(folder, documents, downloads)
    texts: list[str] = []
    rng = random.Random(0)  # noqa: S311 - it must repeat
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.open(encoding="utf-8"):
            text = json.loads(line)["text"]
            if rng.random() < PERSONAL:
                host = rng.randrange(1, 255)
                note = f"Write to user{host}@example{host}.org or look at 62.8.{host}.{host}."
                cut = text.find("\n") + 1
                text = f"{text[:cut]}{note}\n{text[cut:]}"
            texts.append(text)
    return pl.Series("text", texts)


def sample_texts(folder: Path, documents: int) -> pl.Series:
    """Return documents of the sample's paragraphs, 3 % of them with personal data."""
    make_corpus(folder, documents, 0)
    return pl.read_parquet(folder / "*.parquet")["text"].rechunk()


def beside(name: str, folder: Path, texts: pl.Series) -> Iterator[Figure]:
    """Yield the figures of both tools on some texts.

    Raises:
        BenchError: `mode: datatrove` differs from datatrove.
    """
    folder.mkdir()
    with (folder / "texts.jsonl").open("wb") as out:
        out.writelines(orjson.dumps(text) + b"\n" for text in texts)
    mode = PiiConfig(mode="datatrove")
    first, (_, found) = seconds_of(lambda: scrub_texts(texts, PiiConfig()))
    made, _ = rotate(texts, Rotation(mode))
    rounds = [
        Round(
            peer_seconds(folder),
            warm_seconds_of(lambda: scrub_texts(texts, PiiConfig())),
            warm_seconds_of(lambda: rotate(texts, Rotation(mode))),
        )
        for _ in range(ROUNDS)
    ]
    with (folder / "made.jsonl").open(encoding="utf-8") as lines:
        if [json.loads(line) for line in lines] != made.to_list():
            message = f"{name}: mode datatrove differs from datatrove."
            raise BenchError(message)
    theirs, ours, parity = (median(column) for column in zip(*rounds, strict=True))
    faster = median(one.theirs / one.ours for one in rounds)
    faster_mode = median(one.theirs / one.parity for one in rounds)
    count, megabytes = len(texts), int(texts.str.len_bytes().sum()) / 1e6
    replaced = sum(counts.total() for counts in found.values())
    yield Figure(f"{name}: text", count, megabytes, "MB")
    yield Figure(f"{name}: replaced", count, replaced, "values")
    yield Figure(f"{name}: datatrove", count, megabytes / theirs, "MB/s")
    yield Figure(f"{name}: all default kinds", count, megabytes / ours, "MB/s")
    yield Figure(f"{name}: all default kinds, first in a process", count, megabytes / first, "MB/s")
    yield Figure(f"{name}: mode datatrove", count, megabytes / parity, "MB/s")
    yield at_least(f"{name}: all default kinds: times as fast", count, faster, ALL_KINDS)
    yield at_least(f"{name}: mode datatrove: times as fast", count, faster_mode, DATATROVE_MODE)


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of some work, and what it returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def warm_seconds_of(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of some work right after the same: as in a run, batch upon batch."""
    work()
    return seconds_of(work)[0]


def peer_seconds(folder: Path) -> float:
    """Return the CPU seconds of datatrove's formatter; its output lies in `made.jsonl`.

    Raises:
        BenchError: datatrove's environment is not there, or fails.
    """
    script = Path(__file__).with_name("pii_peer.py")
    files = [str(folder / name) for name in ("texts.jsonl", "made.jsonl")]
    return cost_of([str(script), *files], peer()).said["cpu"]


def hostile_lines() -> dict[str, str]:
    """Return lines of a megabyte on which searches that go back take hours."""
    rng = random.Random(0)  # noqa: S311 - it must repeat
    size = 1_000_000
    repeated = ("a-", "a.", "1.", "1-", "@", ":", "+", "a")
    return {
        **{piece * 3 + "…": piece * (size // len(piece)) for piece in repeated},
        "base64": base64.b64encode(rng.randbytes(size * 3 // 4)).decode(),
        "hex": rng.randbytes(size // 2).hex(),
    }


def long_lines() -> Iterator[Figure]:
    """Yield the CPU of each hostile line, by `scrub` and by the batch step."""
    for name, line in hostile_lines().items():
        one, _ = seconds_of(lambda line=line: scrub(line))
        batch, _ = seconds_of(lambda line=line: scrub_texts(pl.Series([line]), PiiConfig()))
        took = max(one, batch)
        limit = f"below {LONGEST}"
        yield Figure(f"a line of {name}", 1, took, "s", took < LONGEST, limit)


def main() -> int:
    """Measure, print, write `results/pii.*`; return 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--downloads", type=Path, default=Path("corpora/debian-packages"))
    arguments = parser.parse_args()
    facts = {"date": datetime.now(UTC).isoformat(timespec="seconds"), **machine()}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        debian = debian_texts(
            folder / "debian", arguments.documents, arguments.downloads.absolute()
        )
        sample = sample_texts(folder / "sample", arguments.documents)
        found = [
            *beside("Debian documentation", folder / "beside debian", debian),
            *beside("the sample's paragraphs", folder / "beside sample", sample),
            *long_lines(),
        ]
    print(write_report("pii", facts, found))
    return int(any(figure.holds is False for figure in found))


if __name__ == "__main__":
    sys.exit(main())
