"""Measure the figures and report them: `python -m bench`, from the top of the repository."""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import figures
from bench.figures import Figure
from bench.measure import machine

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Measure, print, write `results/figures.md` and `.json`; return 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=60_000, help="The small size.")
    parser.add_argument("--times", type=int, default=10, help="The large size by the small one.")
    parser.add_argument("--pairs", type=int, default=3, help="Runs of each thing set in ratio.")
    parser.add_argument(
        "--scratch", type=Path, help="Folder for 8 kB a document of the large size."
    )
    arguments = parser.parse_args()
    facts = {"date": datetime.now(UTC).isoformat(timespec="seconds"), **machine()}
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        sizes = arguments.documents, arguments.documents * arguments.times
        found = measure(Path(scratch), sizes, facts["cores"], arguments.pairs)
    RESULTS.mkdir(exist_ok=True)
    text = markdown(facts, found)
    (RESULTS / "figures.md").write_text(text, encoding="utf-8")
    value = {"machine": facts, "figures": [asdict(figure) for figure in found]}
    (RESULTS / "figures.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    print(text)
    return int(any(figure.holds is False for figure in found))


def measure(scratch: Path, sizes: tuple[int, int], cores: int, pairs: int) -> list[Figure]:
    """Return all figures of a small and a large corpus."""
    chains: list[figures.Chain] = []
    steps: list[figures.Step] = []
    for documents in sizes:
        say(f"{documents:,} documents: making them")
        corpus = figures.make(scratch / str(documents), documents)
        say(f"{documents:,} documents (SHA-256 {corpus.sha256}): the whole chain")
        chains.append(figures.measure_chain(corpus))
        say(f"{documents:,} documents: the corpus step alone")
        steps.append(figures.measure_step(corpus, cores, pairs))
    return [
        *figures.chain_figures(*chains),
        *figures.step_figures(steps),
        *figures.memory_figures(*steps),
        *figures.rerun_figures(chains[-1]),
    ]


def say(line: str) -> None:
    """Show how far it is."""
    print(line, file=sys.stderr, flush=True)


def markdown(facts: Mapping[str, Any], found: Sequence[Figure]) -> str:
    """Return machine, versions and figures as Markdown."""
    head = ", ".join(f"{name} {value}" for name, value in facts.items())
    lines = ["| figure | documents | value | limit | holds |", "|---|---:|---:|---|---|"]
    for figure in found:
        holds = {None: "", True: "yes", False: "**no**"}[figure.holds]
        value = f"{figure.value:,.2f} {figure.unit}"
        lines.append(
            f"| {figure.name} | {figure.documents:,} | {value} | {figure.limit} | {holds} |"
        )
    note = "CPU is user and system time; per document in µs. Peak is that of the largest process."
    return "\n".join([head, "", *lines, "", note]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
