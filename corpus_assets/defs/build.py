"""Building a corpus in this process, through the same assets, checks and IO managers as the UI."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from corpus_assets.core.table import Table
from corpus_assets.defs.assets import build_assets
from corpus_assets.defs.checks import build_checks
from corpus_assets.defs.corpus import RESOURCES
from corpus_assets.defs.io_managers import PROGRESS_LOG, TABLES
from corpus_assets.defs.resources import CorpusStore
from corpus_assets.funnel import funnel_of
from corpus_assets.shards.build import Corpus
from corpus_assets.spec import CorpusSpec

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Dagster's own log is for its UI; a terminal gets one progress line and the outcome."""

MADE = ("files made in this run", "shards made in this run")


STOPPED = {"KeyboardInterrupt", "DagsterExecutionInterruptedError"}
"""Errors by which Dagster tells that a signal came."""


@dataclass(frozen=True)
class Outcome:
    """What a build came to, for people."""

    summary: str
    failures: tuple[str, ...]


def build_here(
    spec: CorpusSpec,
    base: Path,
    root: Path,
    workers: int | None,
    select: str | None,
    *,
    show: bool,
) -> Outcome:
    """Materialize a corpus, or one asset with all it is made of, checks included.

    The run is recorded in the instance of `DAGSTER_HOME` where that is set, and appears in its UI.

    Args:
        spec: The corpus.
        base: Folder at which its relative inputs start.
        root: Folder of all corpora.
        workers: Worker processes, 0 for none, None for the number of cores.
        select: Asset to build; all by default.
        show: Whether to show progress on stderr.

    Raises:
        KeyboardInterrupt: The run was interrupted or terminated.
    """
    store = CorpusStore(root=str(root.absolute()), workers=workers)
    with instance() as recording, progress(show=show):
        result = dg.materialize(
            [*build_assets(spec, base), *build_checks(spec, base)],
            selection=selection(spec, select),
            resources=RESOURCES | {"corpora": store},
            instance=recording,
            run_config=QUIET,
            raise_on_error=False,
        )
    if was_stopped(result):
        raise KeyboardInterrupt
    failures = tuple(failures_of(result))
    folder = root.absolute() / spec.name
    return Outcome("" if failures else summary(folder, result), failures)


def selection(spec: CorpusSpec, select: str | None) -> dg.AssetSelection | None:
    """Return an asset and all above it, with their checks; None selects everything."""
    if select is None:
        return None
    return dg.AssetSelection.assets(dg.AssetKey([spec.name, select])).upstream()


@contextmanager
def instance() -> Iterator[dg.DagsterInstance]:
    """Yield the instance of `DAGSTER_HOME`, or one that leaves nothing behind."""
    if os.environ.get("DAGSTER_HOME"):
        with dg.DagsterInstance.get() as kept:
            yield kept
    else:
        with dg.DagsterInstance.ephemeral() as passing:
            yield passing


@contextmanager
def progress(*, show: bool) -> Iterator[None]:
    """Show progress as one line on stderr that is written over."""
    handler = logging.StreamHandler(sys.stderr)
    handler.terminator = "\n"
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    if show:
        PROGRESS_LOG.addHandler(handler)
        PROGRESS_LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        PROGRESS_LOG.removeHandler(handler)


def was_stopped(result: dg.ExecuteInProcessResult) -> bool:
    """Return whether a signal ended a step."""
    errors = [e.step_failure_data.error for e in result.all_events if e.is_step_failure]
    return any(error is not None and error.cls_name in STOPPED for error in errors)


def failures_of(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    """Yield what went wrong: errors of steps, and checks that do not hold."""
    for evaluation in result.get_asset_check_evaluations():
        if not evaluation.passed:
            key = evaluation.asset_key.to_user_string()
            yield f"check {evaluation.check_name} of {key} failed: {evaluation.description}"
    for event in result.all_events:
        if event.is_step_failure and event.step_key:
            data = event.step_failure_data
            if data.user_failure_data is not None:
                yield f"{event.step_key.replace('__', '/')}: {data.user_failure_data.description}"
            elif data.error is not None and "AssetCheckFailed" not in str(data.error.cls_name):
                cause = data.error.cause or data.error
                yield f"{event.step_key.replace('__', '/')}: {cause.message.strip()}"


def summary(folder: Path, result: dg.ExecuteInProcessResult) -> str:
    """Return totals, funnel, where the files are, and how much had to be made."""
    lines: list[str] = []
    tables = [Table.open(folder / name) for name in TABLES if (folder / name).is_dir()]
    if tables:
        lines.append(funnel_lines(tables))
    if (folder / "corpus").is_dir():
        manifest = Corpus.open(folder / "corpus").manifest
        lines.append(
            f"corpus {manifest['dataset']} {manifest['version']}: {manifest['n_docs']:,} documents "
            f"in {manifest['n_shards']} shards; replaced: {replaced(tables) or 'no personal data'}"
        )
        lines.append(f"manifest: {folder / 'corpus' / '_MANIFEST.json'}")
    lines.append(f"files: {folder}")
    made = files_made(result)
    lines.append(f"made {made} files" if made else "nothing had to be redone: all is up to date")
    return "\n".join(lines)


def replaced(tables: list[Table]) -> str:
    """Return how much personal data was replaced, by kind: the manifest counts five of them."""
    counts = [(name, number) for table in tables for name, number in table.counts.items()]
    kinds = [(name.removeprefix("pii/"), n) for name, n in counts if name.startswith("pii/") and n]
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds)


def funnel_lines(tables: list[Table]) -> str:
    """Return the funnel as aligned text."""
    funnel = funnel_of(tables)
    rows = [("documents in", funnel.came_in)]
    rows += [(f"  {drop.stage}: {drop.reason}", -drop.documents) for drop in funnel.drops]
    rows += [("kept", funnel.kept)]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}} {number:>12,}" for name, number in rows)


def files_made(result: dg.ExecuteInProcessResult) -> int:
    """Return how many files of tables and shards the run made."""
    made = 0
    for event in result.all_events:
        if event.is_step_materialization:
            metadata = event.step_materialization_data.materialization.metadata
            made += sum(int(metadata[name].value) for name in MADE if name in metadata)  # pyright: ignore[reportArgumentType]
    return made
