"""A receipt: what made one rank, what came out, and whether that still stands.

The fingerprint names what decides a rank's bytes: functions with their VERSION, configs, schema and
the digests of the inputs. Times and paths of this machine stand in receipts only, to recognise a
file without reading it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from corpus_assets.core import plan as plan_module
from corpus_assets.core.files import (
    digest_of_file,
    digest_of_json,
    link_or_copy,
    read_json,
    write_json,
)
from corpus_assets.core.plan import Step
from corpus_assets.core.table import FileRecord, RankRecord, Table
from corpus_assets.core.writers import FrameWriter

RECEIPTS = "_receipts"


@dataclass(frozen=True)
class Stamp:
    """What recognises a file without reading it."""

    bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the stamp of a file as it is now."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns)


@dataclass(frozen=True)
class SourceFile:
    """One input file of a rank; `sha256` is None for a raw file, known once it was read."""

    path: Path
    name: str
    sha256: str | None
    table: str = ""
    """Name of the table it belongs to."""


@dataclass(frozen=True)
class RankTask:
    """All that a worker needs to make one rank; plain pickle carries it."""

    directory: Path
    number: int
    name: str
    source: SourceFile | None
    table: Path | None
    """Folder of the source table, for an exchange."""
    side: Path | None
    """Folder of the side table."""
    references: tuple[Table, ...]
    upstream: Mapping[str, str]
    """Digests of the tables that are read whole or by slice."""
    reader: Step
    steps: tuple[Step, ...]
    schema: pa.Schema
    writer: type[FrameWriter] | None
    mark: str | None
    """Folder of this version of a table whose functions name their files themselves."""
    conserves: bool

    @property
    def receipt_path(self) -> Path:
        """Return where the rank's receipt lies."""
        return self.directory / RECEIPTS / f"{self.name}.json"

    def fingerprint(self, source_sha256: str | None) -> str:
        """Return the fingerprint of the rank, given the digest of its source file."""
        source = self.source and [self.source.name, source_sha256]
        schema = [[field.name, str(field.type)] for field in self.schema]
        makers = [step.identity() for step in (self.reader, *self.steps)]
        kind = [plan_module.VERSION, self.writer.IDENTITY if self.writer else "own files"]
        return digest_of_json(
            [kind, self.number, self.name, source, dict(self.upstream), makers, schema]
        )


@dataclass(frozen=True)
class Receipt:
    """The record of one finished rank."""

    fingerprint: str
    number: int
    name: str
    source: dict[str, Any] | None
    """The raw file's name, stamp and digest."""
    files: Mapping[str, FileRecord]
    stamps: Mapping[str, Stamp]
    counts: Mapping[str, int]

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Return the receipt at a path; None where there is none that can be read."""
        try:
            value = read_json(path)
            value["files"] = {k: FileRecord(**v) for k, v in value["files"].items()}
            value["stamps"] = {k: Stamp(**v) for k, v in value["stamps"].items()}
            return cls(**value)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, path: Path) -> None:
        """Write the receipt whole."""
        write_json(path, asdict(self))

    def record(self) -> RankRecord:
        """Return what the table lists of the rank."""
        source = self.source and {k: v for k, v in self.source.items() if k != "mtime_ns"}
        return RankRecord(self.number, self.name, self.files, self.counts, source)


def still_valid(task: RankTask, *, deep: bool) -> Receipt | None:
    """Return a rank's receipt if making it again would give the files that are there.

    A file whose size and time are the recorded ones is taken as unchanged. One whose time alone
    moved is digested, but only when `deep`, since that reads it.
    """
    receipt = Receipt.load(task.receipt_path)
    if receipt is None:
        return None
    source = _source_digest(task, receipt, deep=deep)
    if receipt.fingerprint != task.fingerprint(source["sha256"] if source else None):
        return None
    stamps = {
        role: _output_stamp(task.directory / record.path, record, receipt.stamps[role], deep=deep)
        for role, record in receipt.files.items()
    }
    known = {role: stamp for role, stamp in stamps.items() if stamp is not None}
    if len(known) < len(stamps):
        return None
    refreshed = replace(
        receipt,
        stamps=known,
        source=source if receipt.source else None,
        files=_moved(task, receipt.files),
    )
    if refreshed != receipt:
        refreshed.save(task.receipt_path)
    return refreshed


def _moved(task: RankTask, files: Mapping[str, FileRecord]) -> Mapping[str, FileRecord]:
    """Give files that stand in the folder of another version a name in that of this one."""
    if task.mark is None:
        return files
    moved: dict[str, FileRecord] = {}
    for role, record in files.items():
        path = "/".join((task.mark, *record.path.split("/")[1:]))
        target = task.directory / path
        if path != record.path and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(task.directory / record.path, target)
        moved[role] = replace(record, path=path)
    return moved


def _source_digest(task: RankTask, receipt: Receipt, *, deep: bool) -> dict[str, Any] | None:
    """Return name, stamp and digest of the source as it is now, if that can be known."""
    if task.source is None:
        return None
    if task.source.sha256 is not None:
        return {"sha256": task.source.sha256}
    known, stamp = receipt.source or {}, Stamp.of(task.source.path)
    if asdict(stamp).items() <= known.items():
        return known
    if deep and known.get("bytes") == stamp.bytes:
        return known | asdict(stamp) | {"sha256": digest_of_file(task.source.path)}
    return {"sha256": ""}


def _output_stamp(path: Path, record: FileRecord, known: Stamp, *, deep: bool) -> Stamp | None:
    """Return the stamp of an output that is what its record says, else None."""
    if not path.is_file():
        return None
    stamp = Stamp.of(path)
    if stamp == known:
        return stamp
    same = deep and stamp.bytes == record.bytes and digest_of_file(path) == record.sha256
    return stamp if same else None
