"""MinHash beside datatrove 0.10.1: first the same bytes, then the figures.

    python -m bench.minhash --documents 20000

Needs an environment with datatrove and spaCy; `make parity` makes it, and PEER names another.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.debian_docs import LONG_TEXT, make_adversarial, make_documents
from bench.measure import MIB, BenchError, Cost, cost_of, machine, peer
from bench.report import Figure, at_least, write_report

STAGES = ("signatures", "buckets", "clusters")
SUFFIXES = (".sig", ".dups", ".remove", ".clusters", ".sizes")
GROWTH_LIMIT, GROWTH_MIB = 1.15, 32
"""Most memory that ten times the documents may take: this factor and this much more."""

FINEWEB = {"hash_fc": "sha1", "precision": 64}
CASES: tuple[dict[str, Any], ...] = (
    {"hash_fc": "sha1", "precision": 32},
    {"hash_fc": "xxhash", "precision": 64, "workers_per_bucket": 2},
    {"hash_fc": "xxhash", "precision": 32},
    {"n_grams": 3, "num_buckets": 5, "hashes_per_bucket": 4, "seed": 7, **FINEWEB},
    {"language": "deu_Latn", **FINEWEB},
    {"language": "rus_Cyrl", **FINEWEB},
)
"""Settings that the made-up documents alone are compared with."""


@dataclass(frozen=True)
class Run:
    """Both tools' files of one set of settings, and what each stage took."""

    settings: dict[str, Any]
    ours: dict[str, Cost]
    theirs: dict[str, Cost]


@dataclass(frozen=True)
class Bench:
    """Where things lie, and the Python that holds datatrove."""

    folder: Path
    peer: str

    def ours(self, *words: str) -> Cost:
        """Run a command of `bench.minhash_work`."""
        return cost_of(("-m", "bench.minhash_work", *words))

    def datatrove(self, stage: str, lines: Path, out: Path, settings: dict[str, Any]) -> Cost:
        """Run a stage of datatrove on what its stage before left in `out`."""
        tasks = len(list(lines.iterdir()))
        script = str(Path(__file__).with_name("minhash_peer.py"))
        words = (script, stage, str(lines), str(out), str(tasks), json.dumps(settings))
        return cost_of(words, self.peer)


def compared(bench: Bench, name: str, inputs: Path, settings: dict[str, Any]) -> Run:
    """Run both tools on a folder of documents, and each tool's later stages on the other's files.

    Raises:
        BenchError: A file differs.
    """
    root = bench.folder / f"{name} run"
    count = bench.ours("documents", str(inputs), str(root)).said["documents"]
    table, lines, text = root / "documents", root / "lines", json.dumps(settings)
    ours, theirs = root / "ours", root / "theirs"
    run = Run(settings, {}, {})
    for stage in STAGES:
        run.theirs[stage] = bench.datatrove(stage, lines, theirs, settings)
        run.ours[stage] = bench.ours("stage", stage, str(table), str(ours), text)
        files = require_same(ours / stage, theirs / stage)
        say(f"{name}: {stage} of {count:,} documents: {files} files, the same bytes")
    ours_on_theirs, theirs_on_ours = root / "ours-on-theirs", root / "theirs-on-ours"
    bench.ours("adopt", str(theirs / "signatures"), str(ours_on_theirs), text)
    theirs_on_ours.mkdir()
    (theirs_on_ours / "signatures").symlink_to(version_folder(ours / "signatures"))
    for stage in STAGES[1:]:
        bench.ours("stage", stage, str(table), str(ours_on_theirs), text)
        bench.datatrove(stage, lines, theirs_on_ours, settings)
        require_same(ours_on_theirs / stage, theirs / stage)
        require_same(theirs_on_ours / stage, ours / stage)
    say(f"{name}: either tool's later stages on the other's files: the same bytes")
    return run


def require_same(*folders: Path) -> int:
    """Return how many files two stages have in common; refuse any that differs.

    Raises:
        BenchError: As said.
    """
    ours, theirs = (stage_files(folder) for folder in folders)
    names = sorted(ours.keys() | theirs.keys())
    different = [name for name in names if _bytes(ours, name) != _bytes(theirs, name)]
    if different or not names:
        message = f"{len(different)} of {len(names)} files differ: {different[:5]}, in {folders}."
        raise BenchError(message)
    return len(names)


def stage_files(folder: Path) -> dict[str, Path]:
    """Return the files of datatrove's formats below a folder, by bucket and name."""
    files = (path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return {
        f"{path.parent.name if path.suffix == '.sig' else ''}/{path.name}": path for path in files
    }


def version_folder(stage: Path) -> Path:
    """Return the folder in a table's that is datatrove's."""
    return next(stage.rglob("bucket_000")).parent


def _bytes(files: dict[str, Path], name: str) -> bytes | None:
    return files[name].read_bytes() if name in files else None


def signing(bench: Bench, run: Run, documents: int) -> Iterator[Figure]:
    """Yield what signatures take beside datatrove, on the files that were compared."""
    root = bench.folder / "real run"
    words = ("signatures", str(root / "documents"), str(root / "ours"), json.dumps(run.settings))
    again = str(root / "again"), str(root / "once more")
    ours = bench.ours("stage", *words, *again).said["cpu"]
    require_same(root / "once more" / "signatures", root / "theirs" / "signatures")
    yield from beside("signatures", documents, ours, run.theirs["signatures"].said["cpu"], 40)
    ours, theirs = run.ours["signatures"].cpu, run.theirs["signatures"].cpu
    yield Figure("signatures, whole process with cold caches: ours", documents, ours, "s")
    name = "signatures, whole process with cold caches: times as fast"
    yield at_least(name, documents, theirs / ours, 20)
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty}
        words = ("-m", "bench.minhash_work", "compiled")
        once = cost_of(words, environment=environment).said["cpu"]
        again = cost_of(words, environment=environment).said["cpu"]
    yield Figure("kernels: compiled, once on a machine", 0, once, "s")
    yield Figure("kernels: loaded from their cache", 0, again, "s")


def beside(name: str, documents: int, ours: float, theirs: float, limit: float) -> Iterator[Figure]:
    """Yield the CPU of both tools for each document, without start-up, and their ratio."""
    yield Figure(f"{name}: datatrove", documents, 1e6 * theirs / documents, "µs")
    yield Figure(f"{name}: ours", documents, 1e6 * ours / documents, "µs")
    yield at_least(f"{name}: times as fast", documents, theirs / ours, limit)


def pairing(bench: Bench, root: Path, documents: int) -> Iterator[Figure]:
    """Yield what buckets and clusters take beside datatrove, both on our signatures."""
    theirs, text = root / "theirs", json.dumps(FINEWEB)
    theirs.mkdir()
    (theirs / "signatures").symlink_to(version_folder(root / "out" / "signatures"))
    took = {
        stage: bench.datatrove(stage, root / "lines", theirs, FINEWEB).said["cpu"]
        for stage in STAGES[1:]
    }
    ours: dict[str, float] = {}
    for stage in STAGES[1:]:
        words = (stage, str(root / "documents"), str(root / "out"), text, str(root / "again"))
        ours[stage] = bench.ours("stage", *words).said["cpu"]
        require_same(root / "again" / stage, theirs / stage)
    lists = bench.ours("union", str(root / "out" / "buckets"), str(root / "union")).said["cpu"]
    require_same(root / "union" / "clusters", theirs / "clusters")
    yield from beside("buckets", documents, ours["buckets"], took["buckets"], 15)
    yield from beside("clusters, datatrove's lists", documents, lists, took["clusters"], 10)
    whole = 1e6 * ours["clusters"] / documents
    yield Figure("clusters, with the table of members and their ids: ours", documents, whole, "µs")


def growth(bench: Bench, documents: int) -> Iterator[Figure]:
    """Yield the peak of each stage at once, four and ten times so many documents, and speeds.

    The smallest must fill a batch of each file (16 MiB of text), or memory grows up to there.
    """
    settings = json.dumps({**FINEWEB, "sort_buffer_mb": 8})
    costs: dict[str, list[Cost]] = {stage: [] for stage in STAGES}
    sizes = [documents * times for times in (1, 4, 10)]
    root = bench.folder
    for size in sizes:
        root = bench.folder / f"made-{size}"
        cost_of(("-m", "bench.make_corpus", str(root / "in"), "--documents", str(size)))
        bench.ours("documents", str(root / "in"), str(root))
        for stage in STAGES:
            words = (stage, str(root / "documents"), str(root / "out"), settings)
            costs[stage].append(bench.ours("stage", *words))
        say(f"memory: {size:,} documents measured")
    yield from pairing(bench, root, sizes[-1])
    for stage, found in costs.items():
        yield from peaks(stage, sizes, [cost.peak for cost in found])
    first, last = costs["clusters"][0], costs["clusters"][-1]
    more = last.said["kept"] - first.said["kept"]
    grown = (last.peak - first.peak) * MIB / more
    yield Figure(f"clusters: memory for each of {more:,} duplicates", sizes[-1], grown, "bytes")


def peaks(stage: str, sizes: list[int], found: list[float]) -> Iterator[Figure]:
    """Yield the peak memory of a stage at each size; clusters hold every duplicate."""
    limit = GROWTH_LIMIT * found[0] + GROWTH_MIB
    for size, peak in zip(sizes, found, strict=True):
        if size == sizes[0] or stage == "clusters":
            yield Figure(f"{stage}: peak memory", size, peak, "MiB")
        else:
            holds, text = peak <= limit, f"at most {limit:.0f}"
            yield Figure(f"{stage}: peak memory", size, peak, "MiB", holds, text)


def say(line: str) -> None:
    """Show how far it is."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Compare, measure, print, write `results/minhash.*`; return 1 if a limit does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000, help="Real ones to compare.")
    parser.add_argument(
        "--growth", type=int, default=0, help="Also measure with once, four and ten times these."
    )
    parser.add_argument("--downloads", type=Path, default=Path("corpora/debian-packages"))
    arguments = parser.parse_args()
    facts = {"date": datetime.now(UTC).isoformat(timespec="seconds"), **machine()}
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Path(scratch), peer())
        real, hard, short = (bench.folder / name for name in ("real", "hard", "short"))
        made = make_documents(real, arguments.documents, arguments.downloads.absolute())
        make_adversarial(hard)
        make_adversarial(short, LONG_TEXT)
        for number, settings in enumerate(CASES, 1):
            compared(bench, f"made up, settings {number}", short, settings)
        compared(bench, "made up", hard, FINEWEB)
        run = compared(bench, "real", real, FINEWEB)
        found = list(signing(bench, run, made))
        if arguments.growth:
            found += growth(bench, arguments.growth)
    print(write_report("minhash", facts, found))
    return int(any(figure.holds is False for figure in found))


if __name__ == "__main__":
    sys.exit(main())
