"""Measure the figures and report them: `python -m bench`, from the top of the repository."""

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench import figures
from bench.measure import machine
from bench.report import Figure, write_report


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
    print(write_report("figures", facts, found))
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


if __name__ == "__main__":
    sys.exit(main())
