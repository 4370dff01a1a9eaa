"""The figures, a function each. What a figure counts was checked before it is returned."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.measure import BenchError, Cost, cost_of
from bench.report import Figure

CLI = ("-c", "from corpus_assets.cli import main; main()")

SPEC = """\
type: corpus_assets.CorpusComponent
attributes:
  name: bench
  sources:
    - {id: bench, license_spdx: CC0-1.0, url: "https://example.org/", inputs: documents}
  recipe: [non_empty]
"""

COPY_LIMIT = 3.0
"""Most CPU that the corpus step may take, in copies of its rows."""

GROWTH_LIMIT, GROWTH_MIB = 1.15, 32
"""Most memory that ten times the rows may take: this factor and this much more."""

RERUN_LIMIT = 0.05
"""Most CPU that a run which changes nothing may take, as a share of the first."""


@dataclass(frozen=True)
class Corpus:
    """Documents to measure with, in a folder of their own, and what is known of them."""

    folder: Path
    documents: int
    distinct: int
    text_bytes: int
    sha256: str


@dataclass(frozen=True)
class Chain:
    """What it took to build a corpus from its Parquet files, and to find it unchanged."""

    corpus: Corpus
    first: Cost
    second: Cost
    copy: float
    """CPU seconds of a copy of the input."""


@dataclass(frozen=True)
class Step:
    """What the corpus step alone took."""

    corpus: Corpus
    cpu: float
    """CPU seconds without start-up, all in one process, the median of the runs."""
    ratio: float
    """The same in copies of its rows, the median of the pairs."""
    inline_peak: float
    """Memory of the one process, in MiB, the most of the runs."""
    worker_peak: float
    """Memory of the largest of several processes, in MiB, the most of the runs."""


def make(folder: Path, documents: int) -> Corpus:
    """Write a corpus of so many documents into a folder, with the spec that builds it."""
    folder.mkdir(parents=True)
    made = ("-m", "bench.make_corpus", str(folder / "documents"), "--documents", str(documents))
    cost_of(made)
    facts = json.loads((folder / "documents" / "_facts.json").read_text())
    (folder / "defs.yaml").write_text(SPEC)
    return Corpus(folder, **facts)


def measure_chain(corpus: Corpus) -> Chain:
    """Build a corpus twice and copy its input once; its tables stay for `measure_step`.

    Raises:
        BenchError: The corpus does not hold each distinct text once, or differs from its manifest.
    """
    root = corpus.folder / "root"
    build = (*CLI, "build", str(corpus.folder / "defs.yaml"), "--root", str(root))
    first, second = cost_of(build), cost_of(build)
    copy = copied(corpus.folder / "documents", corpus.folder / "copy")
    cost_of((*CLI, "verify", str(root / "bench")))
    require_same_rows(root / "bench" / "scrubbed_docs", root / "bench" / "corpus")
    manifest = json.loads((root / "bench" / "corpus" / "_MANIFEST.json").read_text())
    if manifest["n_docs"] != corpus.distinct:
        message = f"{manifest['n_docs']} documents in the corpus, {corpus.distinct} texts differ."
        raise BenchError(message)
    return Chain(corpus, first, second, copy)


def measure_step(corpus: Corpus, cores: int, pairs: int) -> Step:
    """Make the corpus of the scrubbed table anew, in turn with a copy of that table's rows."""
    table = corpus.folder / "root" / "bench" / "scrubbed_docs"
    copies: list[float] = []
    inline: list[Cost] = []
    workers: list[Cost] = []
    for _ in range(pairs):
        copies.append(copied(table, corpus.folder / "copy"))
        inline.append(stepped(table, corpus.folder / "inline", 0))
        workers.append(stepped(table, corpus.folder / "workers", cores))
    seconds: list[float] = [cost.said["cpu"] for cost in inline]
    return Step(
        corpus,
        cpu=median(seconds),
        ratio=median(step / copy for step, copy in zip(seconds, copies, strict=True)),
        inline_peak=max(cost.peak for cost in inline),
        worker_peak=max(cost.peak for cost in workers),
    )


def copied(source: Path, target: Path) -> float:
    """Return the CPU seconds of a plain copy, which is compared and removed."""
    seconds: float = cost_of(("-m", "bench.work", "copy", str(source), str(target))).said["cpu"]
    require_same_rows(source, target)
    shutil.rmtree(target)
    return seconds


def stepped(table: Path, out: Path, workers: int) -> Cost:
    """Return the cost of the corpus step; what it made is verified, compared and removed."""
    cost = cost_of(("-m", "bench.work", "corpus", str(table), str(out), str(workers)))
    cost_of((*CLI, "verify", str(out)))
    require_same_rows(table, out)
    shutil.rmtree(out)
    shutil.rmtree(f"{out}.work")
    return cost


def require_same_rows(*folders: Path) -> None:
    """Refuse folders whose Parquet files do not hold the same rows, in whatever order.

    Raises:
        BenchError: As said.
    """
    found: dict[str, Any] = cost_of(("-m", "bench.work", "rows", *map(str, folders))).said
    if len(set(found.values())) > 1:
        message = f"the rows differ: {found}."
        raise BenchError(message)


def chain_figures(small: Chain, large: Chain) -> list[Figure]:
    """Return the CPU per document from Parquet to corpus, beside a copy of the same rows."""
    figures: list[Figure] = []
    for chain in (small, large):
        n = chain.corpus.documents
        figures += [
            Figure("Parquet to corpus, all stages and start-up", n, per(chain.first.cpu, n), "µs"),
            Figure("the same in copies of the input", n, chain.first.cpu / chain.copy, "x"),
            Figure("a copy of the input", n, per(chain.copy, n), "µs"),
        ]
    more = large.corpus.documents - small.corpus.documents
    slope = per(large.first.cpu - small.first.cpu, more)
    name = "Parquet to corpus without start-up (slope over both sizes)"
    return [*figures, Figure(name, large.corpus.documents, slope, "µs")]


def step_figures(steps: Sequence[Step]) -> list[Figure]:
    """Return the CPU of the corpus step alone, in copies of its rows."""
    figures: list[Figure] = []
    for step in steps:
        n, limit = step.corpus.distinct, f"at most {COPY_LIMIT:g}"
        holds = step.ratio <= COPY_LIMIT
        figures += [
            Figure("corpus step alone", n, per(step.cpu, n), "µs"),
            Figure("corpus step in copies of its rows", n, step.ratio, "x", holds, limit),
        ]
    return figures


def memory_figures(small: Step, large: Step) -> list[Figure]:
    """Return the peak memory of the corpus step at both sizes."""
    figures: list[Figure] = []
    for name, before, after in (
        ("in one process", small.inline_peak, large.inline_peak),
        ("with workers", small.worker_peak, large.worker_peak),
    ):
        limit = GROWTH_LIMIT * before + GROWTH_MIB
        title, holds = f"peak memory of the corpus step {name}", after <= limit
        figures += [
            Figure(title, small.corpus.distinct, before, "MiB"),
            Figure(title, large.corpus.distinct, after, "MiB", holds, f"at most {limit:.0f}"),
        ]
    return figures


def rerun_figures(chain: Chain) -> list[Figure]:
    """Return the CPU of the first run, and of a second that finds nothing to do."""
    n, share = chain.corpus.documents, chain.second.cpu / chain.first.cpu
    limit = f"under {RERUN_LIMIT:.0%}"
    return [
        Figure("first run", n, chain.first.cpu, "s"),
        Figure("second run, nothing changed", n, chain.second.cpu, "s"),
        Figure("second run by the first", n, 100 * share, "%", share < RERUN_LIMIT, limit),
    ]


def per(seconds: float, documents: int) -> float:
    """Return microseconds per document."""
    return 1e6 * seconds / documents
