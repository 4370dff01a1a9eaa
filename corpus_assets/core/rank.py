"""One rank while it is made: what its function reads, and where its frames go."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import CorpusError
from corpus_assets.core.files import digest_of_file
from corpus_assets.core.parquet import read_batches, to_frame
from corpus_assets.core.plan import Counts
from corpus_assets.core.receipt import RankTask
from corpus_assets.core.schema import DROP_COLUMNS
from corpus_assets.core.streams import DigestingStream
from corpus_assets.core.table import Table, open_verified
from corpus_assets.core.writers import RankOutput


class RankReader:
    """What a rank function gets; see `core.plan.RankInput`."""

    def __init__(self, task: RankTask, output: RankOutput, counts: Counts) -> None:
        """Prepare to read the sources of `task`."""
        self._task, self._output, self._counts = task, output, counts
        self._stream: DigestingStream | None = None

    @property
    def number(self) -> int:
        """Number of the rank."""
        return self._task.number

    @property
    def name(self) -> str:
        """Relative name of the rank."""
        return self._task.name

    @property
    def table(self) -> Table:
        """The whole source table, for an exchange."""
        return _opened(self._task.table, "source", self.name)

    @property
    def references(self) -> tuple[Table, ...]:
        """Tables of other corpora that the plan names."""
        return self._task.references

    def side(self) -> Table:
        """Return the side table."""
        return _opened(self._task.side, "side", self.name)

    def frames(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the source rank's rows and count them as `in`."""
        source = self._task.source
        if source is None or source.sha256 is None:
            message = f"rank {self.name} has no table to read; use `open` or `table`."
            raise CorpusError(message)
        self._counts["in"] += 0
        with open_verified(source.path, source.sha256, source.table) as stream:
            for batch in read_batches(stream, columns):
                self._counts["in"] += batch.num_rows
                yield to_frame(batch)

    def open(self) -> BinaryIO:
        """Open the raw input file; what is read in order is digested on the way."""
        if self._task.source is None:
            message = f"rank {self.name} has no file to open."
            raise CorpusError(message)
        self._stream = DigestingStream(self._task.source.path)
        return self._stream  # pyright: ignore[reportReturnType]

    def source_digest(self) -> str | None:
        """Return the digest of the source file, if there is one."""
        source = self._task.source
        if source is None or source.sha256 is not None:
            return source and source.sha256
        digest = self._stream and self._stream.digest()
        return digest or digest_of_file(source.path)

    def create(self, role: str, name: str) -> Path:
        """Return where to write a file of the plan's own layout."""
        return self._output.create(role, name)

    def note_rows(self, role: str, rows: int) -> None:
        """Say how many records a file made with `create` holds."""
        self._output.note_rows(role, rows)

    def close(self) -> None:
        """Close the source file, whatever was read of it."""
        if self._stream is not None:
            self._stream.release()

    def reject(self, record: dict[str, Any]) -> None:
        """Keep a record that is no document, and count its reason."""
        self._counts[f"rejected/{record['reason']}"] += 1
        self._output.reject(record)


def _opened(directory: Any, role: str, name: str) -> Table:
    if directory is None:
        message = f"rank {name} has no {role} table."
        raise CorpusError(message)
    return Table.open(directory)


def run_steps(task: RankTask, reader: RankReader, output: RankOutput, counts: Counts) -> None:
    """Stream a rank: frames from the reader, through the steps, to the kept or excluded file.

    A reader may yield Arrow tables, for which no step is meant, and which are written as they are.
    """
    for frame in task.reader.function(reader, task.reader.config, counts):
        if isinstance(frame, pa.Table):
            output.write(frame)
            continue
        kept = _split_dropped(frame, output, counts)
        for step in task.steps:
            if kept.height:
                result = step.function(kept, step.config, counts)
                kept = _split_dropped(result, output, counts)
        if kept.height:
            count_licences(kept, counts)
            output.write(kept)


def count_licences(frame: pl.DataFrame, counts: Counts) -> None:
    """Count a frame's documents by source and licence, where it has these columns."""
    if {"source_id", "license_spdx"} <= set(frame.columns):
        for source, licence, rows in frame.group_by("source_id", "license_spdx").len().iter_rows():
            counts[f"license/{source}/{licence}"] += rows


def _split_dropped(frame: pl.DataFrame, output: RankOutput, counts: Counts) -> pl.DataFrame:
    """Route rows with a drop reason to the excluded file; return the others."""
    if "drop_reason" not in frame.columns:
        return frame
    dropped = frame.filter(pl.col("drop_reason").is_not_null())
    if dropped.height:
        for rule, reason, rows in dropped.group_by("drop_rule", "drop_reason").len().iter_rows():
            counts[f"dropped/{rule}/{reason}"] += rows
        output.exclude(dropped)
    kept = frame.filter(pl.col("drop_reason").is_null())
    return kept.drop(name for name in DROP_COLUMNS if name in frame.columns)
