"""Measure language identification and URL lists: `python -m bench.filters_lang_url`.

Results are compared first: scores with fastText's own, lookups with the entries that were listed.
Ends with code 1 where they differ or a limit does not hold.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.measure import BenchError, cost_of, machine, peak_mib
from bench.real_texts import real_texts
from corpus_assets.core.plan import Config
from corpus_assets.core.texts import string_buffers
from corpus_assets.filters import RULES, opened, recipe_of
from corpus_assets.filters.files import located
from corpus_assets.filters.language import BUNDLED_PATH
from corpus_assets.filters.rules import Batch
from corpus_assets.filters.url_index import CACHE

DOCUMENTS_A_SECOND = 3_000
OPEN_SECONDS = 0.05
URLS_A_SECOND = 22_000
"""What datatrove 0.10.1 does once it has loaded its lists."""

WORKERS = 2
URLS = 50_000
MODULE = "bench.filters_lang_url"


def main() -> int:
    """Measure, print a line of JSON for each subject; return 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=6_000)
    parser.add_argument("--entries", type=int, default=4_500_000)
    parser.add_argument("--job", choices=("build", "look"), help=argparse.SUPPRESS)
    parser.add_argument("--lists", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job == "build":
        return build(arguments.lists)
    if arguments.job == "look":
        return look(arguments.lists, arguments.entries)
    print(json.dumps({"machine": machine()}))
    found = [language(arguments.documents), urls(arguments.entries)]
    for figure in found:
        print(json.dumps(figure))
    return int(not all(figure["holds"] for figure in found))


def config_of(recipe: list[Any], base: Path) -> Config:
    """Return the config of a recipe's one rule, with its files."""
    (rule,) = opened(recipe_of(recipe), base).rules
    return rule.config


def language(documents: int) -> dict[str, Any]:
    """Return documents a second and core, ours and fastText's, on the same real texts.

    Raises:
        BenchError: A label or a score differs.
    """
    import fasttext  # noqa: PLC0415

    from corpus_assets.filters.fasttext_model import load_model  # noqa: PLC0415 - numba

    texts = real_texts(documents)
    path = located(BUNDLED_PATH, Path())
    theirs = fasttext.load_model(str(path))
    model = load_model(path)
    buffers = string_buffers(pl.Series("text", texts))
    scores = model.scores(*buffers)
    lines = [text.replace("\n", " ") for text in texts]
    start = time.process_time()
    expected = [theirs.predict(line) for line in lines]
    fasttexts = time.process_time() - start
    for row, (labels, values) in zip(scores, expected, strict=True):
        found = int(row.argmax())
        if labels and (f"__label__{model.labels[found]}", row[found]) != (
            labels[0], np.float32(values[0])
        ):  # fmt: skip
            message = f"fastText says {labels[0]} {values[0]}, not {model.labels[found]}."
            raise BenchError(message)
    start = time.process_time()
    model.scores(*buffers)
    ours = time.process_time() - start
    config = config_of(["language"], Path())
    frame = pl.DataFrame({"text": texts}).with_columns(lang=pl.lit("und"), metadata=pl.lit("{}"))
    start = time.process_time()
    RULES["language"].judge(Batch(frame), config)
    rule = time.process_time() - start
    speed = len(texts) / rule
    return {
        "language": "documents a second and core",
        "documents": len(texts),
        "mean_characters": round(sum(map(len, texts)) / len(texts)),
        "rule": round(speed),
        "scores_alone": round(len(texts) / ours),
        "fasttext": round(len(texts) / fasttexts),
        "differences": 0,
        "holds": speed >= DOCUMENTS_A_SECOND,
    }


def entry(number: int) -> str:
    """Return a domain; even numbers are listed."""
    return f"site-{number:x}.org"


def urls(entries: int) -> dict[str, Any]:
    """Return what it costs to index a list once, and to open and use it in two workers."""
    with tempfile.TemporaryDirectory() as scratch:
        lists = Path(scratch) / "lists"
        lists.mkdir()
        with (lists / "domains").open("w", encoding="ascii") as stream:
            stream.writelines(f"{entry(2 * number)}\n" for number in range(entries))
        os.environ[CACHE] = scratch
        common = ["-m", MODULE, "--lists", str(lists), "--entries", str(entries)]
        building = cost_of([*common, "--job", "build"])
        index = sum(path.stat().st_size for path in Path(scratch).glob("url-lists/*.npy"))
        workers = list(both_at_once([sys.executable, *common, "--job", "look"]))
    opening = max(worker["open_seconds"] for worker in workers)
    slowest = min(worker["urls_a_second"] for worker in workers)
    return {
        "url": "lists",
        "entries": entries,
        "build_cpu_seconds": round(building.cpu, 1),
        **building.said,
        "index_mib": round(index / 2**20, 1),
        "workers": workers,
        "wrong_lookups": sum(worker["wrong"] for worker in workers),
        "holds": opening < OPEN_SECONDS
        and slowest >= URLS_A_SECOND
        and not any(worker["wrong"] for worker in workers),
    }


def both_at_once(command: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what workers say that hold the index at the same time."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(WORKERS)]
    for step in ("look", "measure", "end"):
        for process in running:
            process.stdin.write(f"{step}\n")  # pyright: ignore[reportOptionalMemberAccess]
            process.stdin.flush()  # pyright: ignore[reportOptionalMemberAccess]
        said = [process.stdout.readline() for process in running]  # pyright: ignore[reportOptionalMemberAccess]
        if step == "measure":
            yield from map(json.loads, said)
    for process in running:
        process.wait()


def build(lists: Path) -> int:
    """Index the lists."""
    prepare = RULES["url"].prepare
    before = peak_mib()
    if prepare is not None:
        prepare(config_of([{"url": {"lists": [str(lists)]}}], Path()))
    print(json.dumps({"build_mib_more": round(peak_mib() - before)}))
    return 0


def look(lists: Path, entries: int) -> int:
    """Open the index and judge URLs, half of them listed; then say what that took."""
    from corpus_assets.filters.url_index import open_index  # noqa: PLC0415

    config: Any = config_of([{"url": {"lists": [str(lists)]}}], Path())
    numbers = np.random.default_rng(os.getpid()).integers(0, 2 * entries, URLS)
    frame = pl.DataFrame({"url": [f"https://www.{entry(n)}/a/{n}" for n in numbers.tolist()]})
    judge = RULES["url"].judge
    judge(
        Batch(frame[:1].with_columns(url=pl.lit("x"))),
        config_of([{"url": {"domains": ["a.b"]}}], Path()),
    )
    sys.stdin.readline()
    before = private_mib()
    start = time.perf_counter()
    open_index(config.files, config.fold_case)
    opening = time.perf_counter() - start
    start = time.process_time()
    verdict = judge(Batch(frame), config)
    seconds = time.process_time() - start
    listed = verdict.first_failures(URLS) == 0
    print("ready", flush=True)
    sys.stdin.readline()
    said = {
        "open_seconds": round(opening, 4),
        "urls_a_second": round(URLS / seconds),
        "private_mib_more": round(private_mib() - before, 1),
        "peak_mib": round(peak_mib()),
        "wrong": int((listed != (numbers % 2 == 0)).sum()),
    }
    print(json.dumps(said), flush=True)
    sys.stdin.readline()
    return 0


def private_mib() -> float:
    """Return the memory of this process that it shares with no other, in MiB."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    sizes = [int(line.split()[1]) for line in lines if line.startswith("Private_")]
    return sum(sizes) / 1024


if __name__ == "__main__":
    sys.exit(main())
