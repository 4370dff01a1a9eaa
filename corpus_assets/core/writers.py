"""How a rank's frames reach the disk: the kept ones, the dropped ones, the rejected records."""

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import orjson
import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import LawError
from corpus_assets.core.files import (
    canonical_json,
    digest_of_file,
    put_in_place,
    temporary_path,
)
from corpus_assets.core.parquet import GroupedWriter, to_table
from corpus_assets.core.schema import DROP_COLUMNS, schema_of
from corpus_assets.core.table import FileRecord


class FrameWriter(Protocol):
    """What writes the kept frames of a rank."""

    SUFFIX: ClassVar[str]
    IDENTITY: ClassVar[str]
    """Part of the fingerprint of what it writes."""
    rows: int

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Open `path` for writing."""
        ...

    def write(self, frame: pl.DataFrame | pa.Table) -> None:
        """Add rows, in order."""
        ...

    def close(self) -> np.ndarray | None:
        """Finish the file; return the slice entries of a sliced file."""
        ...


class ParquetFrames:
    """Frames into Parquet row groups that depend on the rows alone."""

    SUFFIX: ClassVar[str] = "parquet"
    IDENTITY: ClassVar[str] = "parquet 1"

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Open `path` for writing."""
        self._writer, self._schema, self.rows = GroupedWriter(path, schema), schema, 0

    def write(self, frame: pl.DataFrame | pa.Table) -> None:
        """Add rows, in order."""
        self._writer.write(frame.select(self._schema.names))
        self.rows += len(frame)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


class RankOutput:
    """The files of one rank, under temporary names until `publish`."""

    def __init__(
        self,
        directory: Path,
        name: str,
        schema: pa.Schema,
        writer: type[FrameWriter] | None,
        mark: str | None = None,
    ) -> None:
        """Open the kept file; the others are made when the first row for them comes.

        Without a writer the rank's function makes its files itself, with `create`; `mark` is the
        folder of that version of the table.
        """
        self._directory, self._name, self._schema = directory, name, schema
        self._temporary: dict[str, Path] = {}
        self._fixed: dict[str, Path] = {}
        self._fixed_rows: dict[str, int] = {}
        self._mark = mark
        self._suffix = writer.SUFFIX if writer else ""
        self._kept = writer(self._open("kept", self._suffix), schema) if writer else None
        self._excluded: ParquetFrames | None = None
        self._rejected: Any = None
        self._rejected_rows = 0

    def _target(self, role: str, suffix: str, mark: str) -> Path:
        folder = {"kept": "", "slices": ""}.get(role, role)
        return self._directory / folder / f"{self._name}.{mark}.{suffix}"

    def _open(self, role: str, suffix: str) -> Path:
        path = temporary_path(self._target(role, suffix, "next"))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._temporary[role] = path
        return path

    def create(self, role: str, name: str) -> Path:
        """Return a temporary path for a file that will be called `name` in the table's version."""
        target = self._directory / (self._mark or "") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        self._fixed[role] = target
        self._temporary[role] = temporary_path(target)
        return self._temporary[role]

    def note_rows(self, role: str, rows: int) -> None:
        """Say how many rows or records a file made with `create` holds."""
        self._fixed_rows[role] = rows

    def write(self, frame: pl.DataFrame | pa.Table) -> None:
        """Keep rows."""
        if self._kept is None:
            message = f"rank {self._name} writes its files itself and keeps no frames."
            raise LawError(message)
        self._kept.write(frame)

    def exclude(self, frame: pl.DataFrame) -> None:
        """Write dropped rows, with the reasons, beside the kept ones."""
        added = schema_of({k: v for k, v in DROP_COLUMNS.items() if k not in self._schema.names})
        schema = pa.unify_schemas([self._schema, added])
        if self._excluded is None:
            self._excluded = ParquetFrames(self._open("excluded", "parquet"), schema)
        table = to_table(frame)
        for field in schema:
            if field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(len(table), field.type))
        self._excluded.write(pl.DataFrame(table.select(schema.names).cast(schema)))

    def reject(self, record: dict[str, Any]) -> None:
        """Write a record that is no document."""
        if self._rejected is None:
            self._rejected = self._open("rejected", "jsonl").open("wb")
        self._rejected.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        self._rejected_rows += 1

    def close(self) -> dict[str, int]:
        """Finish all files; return their rows by role."""
        rows = dict(self._fixed_rows)
        entries = None
        if self._kept is not None:
            entries = self._kept.close()
            rows["kept"] = self._kept.rows
        if entries is not None:
            with self._open("slices", "npy").open("wb") as stream:
                np.save(stream, entries)
            rows["slices"] = len(entries)
        if self._excluded is not None:
            self._excluded.close()
            rows["excluded"] = self._excluded.rows
        if self._rejected is not None:
            self._rejected.close()
            rows["rejected"] = self._rejected_rows
        return rows

    def publish(self, fingerprint: str, rows: dict[str, int]) -> dict[str, FileRecord]:
        """Give the files their names, which carry the fingerprint, and return their records."""
        suffixes = {"kept": self._suffix, "slices": "npy", "excluded": "parquet"}
        records: dict[str, FileRecord] = {}
        for role, temporary in list(self._temporary.items()):
            named = self._target(role, suffixes.get(role, "jsonl"), fingerprint[:8])
            target = self._fixed.get(role, named)
            size, digest = temporary.stat().st_size, digest_of_file(temporary)
            put_in_place(temporary, target)
            del self._temporary[role]
            relative = target.relative_to(self._directory).as_posix()
            records[role] = FileRecord(relative, size, digest, rows.get(role, 0))
        return records

    def discard(self) -> None:
        """Remove what has no name yet, and close what a failure left open."""
        for path in self._temporary.values():
            path.unlink(missing_ok=True)
        if self._rejected is not None:
            with suppress(OSError):  # a disk that is full cannot take what is buffered
                self._rejected.close()


def check_counts(name: str, counts: Counter[str]) -> None:
    """Refuse a rank in which a document got lost or doubled.

    Raises:
        LawError: What came in is not what was kept, dropped and rejected.
    """
    if "in" in counts:
        out = sum(n for key, n in counts.items() if key.split("/")[0] in {"dropped", "rejected"})
        if counts["in"] != counts["kept"] + out:
            message = f"rank {name}: counts do not add up: {canonical_json(dict(counts))}."
            raise LawError(message)
