"""Measure the rules of FineWeb's chain against datatrove 0.10.1 on the same texts.

    python -m bench.filters_speed [--documents N]

Gopher repetition and quality, C4 and FineWeb quality, one process each; the results must be the
same before anything is measured. CPU is user and system time of the process. Needs the environment
of `filters_parity`. Ends with code 1 if a limit does not hold.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from bench.filters_parity import CHAINS, by_peer, by_us
from bench.measure import BenchError, Cost, cost_of, peak_mib
from bench.real_texts import prose, real_texts
from corpus_assets.filters import apply_recipe, prepare, recipe_of
from corpus_assets.filters.rules import RecipeConfig

CHAIN = CHAINS["the whole chain"]
BATCH = 2_000
WARM, COLD = 25, 15
"""datatrove's CPU by ours: at least so much on texts met before, and of whole processes."""
GROWTH = 1.15
"""Peak memory of ten times the documents by that of the documents: at most so much."""


def main() -> int:
    """Measure and print; return 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=8_000)
    parser.add_argument("--judge", type=Path, help="A file of texts: judge them, in this process.")
    parser.add_argument("--times", type=int, default=1, help="How often to judge the file.")
    arguments = parser.parse_args()
    if arguments.judge:
        judge(arguments.judge, arguments.times)
        return 0
    prepare(recipe())
    count = arguments.documents
    found = real_texts(count)
    candidates = real_texts(4 * count) + prose(count)
    kept = [
        text
        for text, (reason, _) in zip(candidates, by_us(candidates, CHAIN), strict=True)
        if reason is None
    ]
    with tempfile.TemporaryDirectory() as scratch:
        holds = [compared("real texts", found, Path(scratch))]
        holds.append(compared("texts that are kept", kept[:count], Path(scratch)))
        holds.append(memory(found, Path(scratch)))
    return int(not all(holds))


def recipe() -> RecipeConfig:
    """Return the chain as a recipe."""
    return recipe_of([{rule: {**settings, "language": "eng"}} for rule, settings in CHAIN])


def compared(name: str, texts: Sequence[str], scratch: Path) -> bool:
    """Print datatrove's cost by ours, warm and cold; return whether both limits hold.

    Raises:
        BenchError: The results differ.
    """
    theirs, slow = by_peer(texts, scratch, {"chain": CHAIN})
    found = by_us(texts, CHAIN)
    if [result["chain"] for result in theirs] != found:
        message = f"{name}: results differ from datatrove's; see bench.filters_parity."
        raise BenchError(message)
    path = scratch / "texts.jsonl"
    cold, warm = run(path, 1), run(path, 3)
    rows = [
        ("warm", slow.said["cpu"], warm.said["last"], WARM),
        ("cold, whole process", slow.cpu, cold.cpu, COLD),
    ]
    kept = sum(reason is None for reason, _ in found)
    print(f"{name}: {len(texts):,} documents of {path.stat().st_size / len(texts):,.0f} bytes, "
          f"{kept:,} kept, results the same")  # fmt: skip
    for which, theirs_cpu, ours_cpu, limit in rows:
        print(
            f"  {which}: datatrove {theirs_cpu / len(texts) * 1e6:,.0f} µs a document, "
            f"ours {ours_cpu / len(texts) * 1e6:,.0f}: {theirs_cpu / ours_cpu:.1f} times "
            f"(at least {limit})"
        )
    return all(theirs_cpu >= limit * ours_cpu for _, theirs_cpu, ours_cpu, limit in rows)


def memory(texts: Sequence[str], scratch: Path) -> bool:
    """Print the peak memory of one, four and ten times the texts; return whether it is flat."""
    path = scratch / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, texts)) + "\n")
    peaks = [run(path, times).said["peak"] for times in (1, 4, 10)]
    shown = ", ".join(f"{peak:,.0f}" for peak in peaks)
    print(f"peak memory of 1, 4 and 10 times {len(texts):,} documents: {shown} MiB")
    return peaks[-1] <= GROWTH * peaks[0]


def run(path: Path, times: int) -> Cost:
    """Return the cost of a process that judges a file of texts so often."""
    return cost_of(["-m", "bench.filters_speed", "--judge", str(path), "--times", str(times)])


def judge(path: Path, times: int) -> None:
    """Judge a file of texts and print the CPU seconds of the last time, with the peak."""
    chosen, spent = recipe(), 0.0
    for _ in range(times):
        spent = 0.0
        for texts in batches(path):
            frame = pl.DataFrame({"text": texts})
            start = time.process_time()
            apply_recipe(frame, chosen, Counter())
            spent += time.process_time() - start
    print(json.dumps({"last": spent, "peak": peak_mib()}))


def batches(path: Path) -> Iterator[list[str]]:
    """Yield the texts of a file, some at a time."""
    with path.open(encoding="utf-8") as lines:
        while texts := [json.loads(line) for line in islice(lines, BATCH)]:
            yield texts


if __name__ == "__main__":
    sys.exit(main())
