"""A table: a folder of files, one set per rank, that is exactly what its `_TABLE.json` lists."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self

import polars as pl
import pyarrow.parquet as pq

from corpus_assets.core.errors import TableError
from corpus_assets.core.files import digest_of_json, digest_of_stream, read_json, write_json
from corpus_assets.core.parquet import read_batches, to_frame

TABLE_FILE = "_TABLE.json"
FORMAT = 1


@dataclass(frozen=True)
class FileRecord:
    """One file of a rank, as listed."""

    path: str
    """Relative to the table's folder, with `/`."""
    bytes: int
    sha256: str
    rows: int


@dataclass(frozen=True)
class RankRecord:
    """What one rank holds and counted.

    `files` has a record by role: `kept`, `excluded` and `rejected` when they hold a row, `slices`
    for tables that are read by slice; tables with a layout of their own have roles of their own.
    """

    number: int
    name: str
    files: Mapping[str, FileRecord]
    counts: Mapping[str, int]
    source: Mapping[str, Any] | None = None
    """Name, bytes and sha256 of the raw file it was read from."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the record that a JSON object says."""
        files = {role: FileRecord(**entry) for role, entry in value["files"].items()}
        return cls(value["number"], value["name"], files, value["counts"], value["source"])


@dataclass(frozen=True)
class Table:
    """A finished table. Open one with `Table.open`."""

    directory: Path
    name: str
    ranks: tuple[RankRecord, ...] = field(repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the stage that made it says of itself, such as its settings."""

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Read the list of a table and compare every file's size with it.

        Raises:
            TableError: There is no table, its list cannot be read, or a file is missing or cut.
        """
        path = directory / TABLE_FILE
        try:
            value = read_json(path)
            if value["format"] != FORMAT:
                message = f"{path}: format {value['format']!r}, this version reads {FORMAT}."
                raise TableError(message)
            ranks = tuple(RankRecord.from_json(entry) for entry in value["ranks"])
            table = cls(directory, value["name"], ranks, value.get("facts", {}))
        except FileNotFoundError:
            message = f"{directory}: no table here (no {TABLE_FILE}); materialize it first."
            raise TableError(message) from None
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}: cannot be read ({error!r}); materialize {directory.name} again."
            raise TableError(message) from error
        for record in table.files():
            table.check_size(record)
        return table

    def __hash__(self) -> int:
        """Hash by folder and content, so that what was read of a table can be cached."""
        return hash((self.directory, self.digest))

    def save(self) -> None:
        """Publish: write the list, which makes this the table that readers see."""
        value = {
            "format": FORMAT,
            "name": self.name,
            "digest": self.digest,
            "rows": self.rows,
            "bytes": self.bytes,
            "counts": self.counts,
            **({"facts": self.facts} if self.facts else {}),
            "ranks": [asdict(rank) for rank in self.ranks],
        }
        write_json(self.directory / TABLE_FILE, value)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the digests of all files: equal for equal tables, wherever they lie."""
        return digest_of_json(
            [[rank.name, {role: f.sha256 for role, f in rank.files.items()}] for rank in self.ranks]
        )

    @property
    def rows(self) -> int:
        """Rows kept in all ranks."""
        return sum(rank.counts.get("kept", 0) for rank in self.ranks)

    @property
    def rank_names(self) -> dict[int, str]:
        """Name of each rank by its number."""
        return {rank.number: rank.name for rank in self.ranks}

    @property
    def bytes(self) -> int:
        """Bytes of all files on disk."""
        return sum(record.bytes for record in self.files())

    @property
    def counts(self) -> dict[str, int]:
        """Counts summed over the ranks, sorted by name."""
        total: Counter[str] = Counter()
        for rank in self.ranks:
            total.update(rank.counts)
        return dict(sorted(total.items()))

    def files(self) -> Iterator[FileRecord]:
        """Yield every file, in rank order."""
        for rank in self.ranks:
            yield from rank.files.values()

    def path(self, record: FileRecord) -> Path:
        """Return where a listed file lies."""
        return self.directory / record.path

    def check_size(self, record: FileRecord) -> None:
        """Refuse a listed file that is missing or has another size.

        Raises:
            TableError: As said.
        """
        path = self.path(record)
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            message = f"{path}: listed in {TABLE_FILE} but missing; materialize {self.name} again."
            raise TableError(message) from None
        if size != record.bytes:
            message = (
                f"{path}: {size} bytes, but {TABLE_FILE} lists {record.bytes}; it was cut or "
                f"changed. Materialize {self.name} again."
            )
            raise TableError(message)

    def frames(
        self,
        rank: RankRecord,
        role: str = "kept",
        columns: list[str] | None = None,
        *,
        verify: bool = True,
    ) -> Iterator[pl.DataFrame]:
        """Yield a rank's rows in bounded frames, after its digest was compared.

        Not to `verify` saves reading all columns for a few: where a later stage reads all of it.

        Raises:
            TableError: The file differs from the list.
        """
        record = rank.files.get(role)
        if record is None:
            return
        path = self.path(record)
        opened = open_verified(path, record.sha256, self.name) if verify else path.open("rb")
        with opened as stream:
            for batch in read_batches(stream, columns):
                yield to_frame(batch)

    def head(self, rows: int, role: str = "kept") -> pl.DataFrame:
        """Return the first rows, reading no more row groups than they need."""
        frames: list[pl.DataFrame] = []
        for rank in self.ranks:
            missing = rows - sum(frame.height for frame in frames)
            record = rank.files.get(role)
            if missing > 0 and record is not None and (record.rows or not frames):
                frames.append(first_rows(self.path(record), missing))
        return pl.concat(frames) if frames else pl.DataFrame()


def first_rows(path: Path, rows: int) -> pl.DataFrame:
    """Return the first rows of one Parquet file."""
    with pq.ParquetFile(path, pre_buffer=False) as file:
        empty = file.schema_arrow.empty_table()
        batches = file.iter_batches(max(rows, 1), use_threads=False)
        batch = next(batches, None) if file.metadata.num_rows else None
        return to_frame(empty if batch is None else batch)


def open_verified(path: Path, sha256: str, table: str) -> BinaryIO:
    """Open a file whose bytes have the digest given.

    Hashed and then parsed through the same open file, so that no rename can come between.

    Raises:
        TableError: It is missing, or its digest differs.
    """
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        message = f"{path}: missing; materialize {table} again."
        raise TableError(message) from None
    found = digest_of_stream(stream)
    if found != sha256:
        stream.close()
        message = (
            f"{path}: SHA-256 {found[:12]}…, but {TABLE_FILE} lists {sha256[:12]}…; it was "
            f"changed after it was made. Materialize {table} again."
        )
        raise TableError(message)
    stream.seek(os.SEEK_SET)
    return stream
