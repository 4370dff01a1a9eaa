"""`run_plan`: skip the finished ranks, run the others on an engine, publish the table."""

import errno
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from corpus_assets.core.errors import CorpusError, InputError, TargetError
from corpus_assets.core.files import digest_of_json, locked, remove_tree
from corpus_assets.core.plan import Plan, Step
from corpus_assets.core.rank import RankReader, run_steps
from corpus_assets.core.receipt import (
    RECEIPTS,
    RankTask,
    Receipt,
    SourceFile,
    Stamp,
    still_valid,
)
from corpus_assets.core.table import TABLE_FILE, Table
from corpus_assets.core.writers import RankOutput, check_counts

NO_SPACE = {
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "no space left in the quota",
    errno.EFBIG: "no space left below the limit on a file's size",
}

STAGES = "_stages"
"""Folder of the tables that a plan makes for itself on the way."""

INLINE_BYTES = 8 << 20
"""A plan whose sources are smaller runs in this process: starting two workers costs 2 s of CPU."""

PROGRESS_SECONDS = 5.0

OURS = re.compile(r"\.[0-9a-f]{8}\.(parquet|arrow|npy|jsonl)$|^\..*\.[0-9]+\.tmp$")
"""Names of files that a table may remove when its list does not name them."""


VERSION_FOLDER = re.compile("[0-9a-f]{8}")
"""Name of the folder that `version_mark` gives."""


class Engine(Protocol):
    """Where ranks run."""

    def map_unordered(
        self, function: Callable[[Any], Any], items: Iterable[Any], *, inline: bool = False
    ) -> Iterator[Any]:
        """Yield `function(item)` for every item as they finish; the first error ends it all."""
        ...


@dataclass(frozen=True)
class Progress:
    """How far a plan is."""

    table: str
    total: int
    reused: int
    done: int
    rows: int
    note: str = ""
    """What is being done before the ranks."""


Report = Callable[[Progress], None]


def run_plan(plan: Plan, directory: Path, engine: Engine, report: Report | None = None) -> Table:
    """Make the table that a plan describes, or what of it is missing.

    Until the new list is written, readers see the table as it was. Finished ranks stay, whatever
    stops the run, and the next one takes them over.

    Args:
        plan: What to make.
        directory: Folder of the table.
        engine: Where to run the ranks.
        report: Called after a rank is done, every few seconds, and at the end.

    Raises:
        TargetError: The folder holds something else than a table.
        LockedError: Another run is writing it.
        CorpusError: What a rank found wrong.
    """
    refuse_foreign(directory)
    with locked(directory):
        # The mark by which a rerun knows the folder as its own, before anything else is in it.
        (directory / RECEIPTS).mkdir(exist_ok=True)
        source = _resolve(plan.source, directory, engine, report)
        side = _resolve(plan.side, directory, engine, report)
        tasks = tuple(rank_tasks(plan, directory, source, side))
        receipts = _run_ranks(plan, tasks, engine, report)
        table = Table(directory, plan.name, tuple(r.record() for r in receipts), plan.facts)
        if plan.audit is not None:
            plan.audit.function(table, plan.audit.config)
        table.save()
        remove_unlisted(table)
    return table


def refuse_foreign(directory: Path) -> None:
    """Refuse a folder that is neither absent, empty nor a table.

    Raises:
        TargetError: As said.
    """
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        message = f"{directory}: is not a folder; choose another root or move it away."
        raise TargetError(message)
    marks = {TABLE_FILE, RECEIPTS, STAGES}
    names = {path.name for path in directory.iterdir()} if directory.exists() else set()
    if names and not names & marks:
        message = (
            f"{directory}: holds files but no {TABLE_FILE}, so it is not a table of ours and is "
            f"left alone; choose another root or move it away."
        )
        raise TargetError(message)


def _resolve(source: Any, directory: Path, engine: Engine, report: Report | None) -> Any:
    """Run a source that is itself a plan; return the table, or what was given."""
    if isinstance(source, Plan):
        return run_plan(source, directory / STAGES / source.name, engine, report)
    return source


def rank_tasks(plan: Plan, directory: Path, source: Any, side: Table | None) -> Iterator[RankTask]:
    """Yield the task of every rank, in order."""
    shared: dict[str, Any] = {
        "directory": directory,
        "side": side and side.directory,
        "references": plan.references,
        "reader": plan.reader,
        "steps": plan.steps,
        "schema": plan.schema,
        "writer": plan.writer,
        "conserves": plan.conserves,
        "mark": None if plan.writer else version_mark(plan, source, side),
    }
    upstream = {f"reference {i}": table.digest for i, table in enumerate(plan.references)}
    upstream |= {"side": side.digest} if side else {}
    if plan.into is not None:
        upstream |= {"table": source.digest}
        names = plan.rank_names or tuple(f"{k:05d}" for k in range(plan.into))
        for number, name in enumerate(names):
            yield RankTask(
                number=number,
                name=name,
                source=None,
                table=source.directory,
                upstream=upstream,
                **shared,
            )
        return
    for number, file, reader in _sources(source, plan.reader):
        shared |= {"reader": reader, "source": file, "name": file.name}
        yield RankTask(number=number, table=None, upstream=upstream, **shared)


def version_mark(plan: Plan, source: Any, side: Table | None) -> str:
    """Return the name of the folder for one version of a table with a layout of its own."""
    used = (source, side, *plan.references)
    tables = [table.digest for table in used if isinstance(table, Table)]
    return digest_of_json([tables, plan.reader.identity(), plan.into])[:8]


def _sources(source: Any, reader: Step) -> Iterator[tuple[int, SourceFile, Step]]:
    """Yield number, file and reader of each rank of a table, or of raw files."""
    if isinstance(source, Table):
        for rank in source.ranks:
            kept = rank.files["kept"]
            path = source.path(kept)
            yield rank.number, SourceFile(path, rank.name, kept.sha256, source.name), reader
    else:
        for number, raw in enumerate(source):
            configured = replace(reader, config=raw.config)
            yield number, SourceFile(raw.path, raw.name, None), configured


def _run_ranks(
    plan: Plan, tasks: tuple[RankTask, ...], engine: Engine, report: Report | None
) -> list[Receipt]:
    """Return the receipts of all ranks, in order, after making those that do not stand."""
    receipts: dict[int, Receipt] = {}
    for task in tasks:
        if receipt := still_valid(task, deep=False):
            receipts[task.number] = receipt
    missing = [task for task in tasks if task.number not in receipts]
    rows = sum(receipt.counts.get("kept", 0) for receipt in receipts.values())
    reused, done, last, table = len(receipts), 0, time.monotonic(), plan.name
    if missing and plan.prepare is not None:
        note, prepare = plan.prepare
        if report:
            report(Progress(table, len(tasks), reused, done, rows, note))
        prepare()
    for receipt, fresh in engine.map_unordered(run_rank, missing, inline=_is_small(missing)):
        receipts[receipt.number] = receipt
        reused, done = reused + (not fresh), done + fresh
        rows += receipt.counts.get("kept", 0)
        if report and time.monotonic() - last > PROGRESS_SECONDS:
            report(Progress(table, len(tasks), reused, done, rows))
            last = time.monotonic()
    if report:
        report(Progress(table, len(tasks), reused, done, rows))
    return [receipts[task.number] for task in tasks]


def _is_small(tasks: list[RankTask]) -> bool:
    sources = {task.source.path for task in tasks if task.source}
    tables = {task.table for task in tasks if task.table}
    size = sum(path.stat().st_size for path in sources if path.exists())
    return size + sum(Table.open(table).bytes for table in tables) < INLINE_BYTES


def run_rank(task: RankTask) -> tuple[Receipt, bool]:
    """Make one rank in this process, unless a closer look shows that it stands.

    Returns:
        The receipt, and whether the rank was made now.

    Raises:
        CorpusError: What is wrong; the message names the rank.
    """
    if receipt := still_valid(task, deep=True):
        return receipt, False
    output = RankOutput(task.directory, task.name, task.schema, task.writer, task.mark)
    counts: Counter[str] = Counter()
    reader = RankReader(task, output, counts)
    try:
        before = Stamp.of(task.source.path) if task.source else None
        run_steps(task, reader, output, counts)
        rows = output.close()
        counts["kept"] = rows.get("kept", counts["kept"])
        if task.conserves:
            check_counts(task.name, counts)
        digest = reader.source_digest()
        if task.source and Stamp.of(task.source.path) != before:
            message = f"{task.source.path}: changed while it was read; run again when it is whole."
            raise InputError(message)
        fingerprint = task.fingerprint(digest)
        files = output.publish(fingerprint, rows)
    except OSError as error:
        if error.errno in NO_SPACE and error.errno is not None:
            message = (
                f"{task.directory}: {NO_SPACE[error.errno]} while writing rank {task.name}; free "
                f"some and run again: finished ranks are kept."
            )
            raise CorpusError(message) from error
        raise
    finally:
        reader.close()
        output.discard()
    stamps = {role: Stamp.of(task.directory / record.path) for role, record in files.items()}
    raw = task.source is not None and task.source.sha256 is None
    source = {"name": task.name, **asdict(before), "sha256": digest} if raw and before else None
    receipt = Receipt(
        fingerprint, task.number, task.name, source, files, stamps, dict(sorted(counts.items()))
    )
    receipt.save(task.receipt_path)
    return receipt, True


def remove_unlisted(table: Table) -> None:
    """Remove files of former versions and of killed runs from a table's folder."""
    listed = {table.path(record) for record in table.files()}
    receipts = {table.directory / RECEIPTS / f"{rank.name}.json" for rank in table.ranks}
    for path in sorted(table.directory.rglob("*")):
        inside = path.relative_to(table.directory).parts
        if inside[0] == STAGES or path in listed or path in receipts or path.is_dir():
            continue
        if OURS.search(path.name) or inside[0] == RECEIPTS or VERSION_FOLDER.fullmatch(inside[0]):
            remove_tree(path)
