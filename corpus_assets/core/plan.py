"""A plan: what will make a table. Source ranks, a function that reads one, steps on batches."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self

import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from corpus_assets.core.errors import CorpusError
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.core.table import Table
from corpus_assets.core.writers import FrameWriter, ParquetFrames

VERSION = 1

Counts = Counter[str]
"""Counts of one rank, by path-like names: `in`, `kept`, `dropped/<rule>/<reason>`, …"""


class Config(BaseModel):
    """Base of the frozen configs that stand beside the functions they configure."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RankInput(Protocol):
    """What a rank function may read and say; `core.run` makes it."""

    @property
    def number(self) -> int:
        """Number of the rank."""
        ...

    @property
    def name(self) -> str:
        """Relative name of the rank."""
        ...

    @property
    def table(self) -> Table:
        """The whole source table, for an exchange."""
        ...

    def frames(self, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the source rank's rows and count them as `in`."""
        ...

    @property
    def references(self) -> tuple[Table, ...]:
        """Tables of other corpora that the plan names."""
        ...

    def side(self) -> Table:
        """Return the side table, of which a function reads the slice of its rank."""
        ...

    def open(self) -> Any:
        """Open the raw input file; what is read is digested on the way."""
        ...

    def create(self, role: str, name: str) -> Path:
        """Return where to write a file of the plan's own layout; see `Plan.writer`."""
        ...

    def note_rows(self, role: str, rows: int) -> None:
        """Say how many records a file made with `create` holds."""
        ...

    def reject(self, record: dict[str, Any]) -> None:
        """Keep a record that is no document, with its `reason`, in the rejected file."""
        ...


RankFunction = Callable[[RankInput, Any, Counts], Iterator[pl.DataFrame | pa.Table]]
BatchFunction = Callable[[pl.DataFrame, Any, Counts], pl.DataFrame]


@dataclass(frozen=True)
class Step:
    """A module-level function with its frozen config.

    Raises:
        CorpusError: A worker could not import the function, or its module states no VERSION.
    """

    function: Callable[..., Any]
    config: Config | None = None

    def __post_init__(self) -> None:
        """Refuse what plain pickle cannot carry or a fingerprint cannot name."""
        module = sys.modules[self.function.__module__]
        name = self.function.__qualname__
        if getattr(module, name, None) is not self.function or module.__name__ == "__main__":
            message = (
                f"{module.__name__}.{name} is not a function of an importable module, so workers "
                f"cannot import it; move it to the top level of a module."
            )
            raise CorpusError(message)
        if not isinstance(getattr(module, "VERSION", None), int):
            message = (
                f"{module.__name__} states no VERSION; add `VERSION = 1` and raise it whenever "
                f"its output changes: it is part of the fingerprint of what it makes."
            )
            raise CorpusError(message)

    def identity(self) -> list[object]:
        """Return what of the step decides its output, as JSON."""
        module = sys.modules[self.function.__module__]
        config = None if self.config is None else self.config.model_dump(mode="json")
        return [f"{module.__name__}.{self.function.__qualname__}", module.VERSION, config]


@dataclass(frozen=True)
class RawFile:
    """An input file of the outside world, which becomes one rank."""

    path: Path
    name: str
    """`<source_id>/<name relative to its input>`; names the rank and its output."""
    config: Config | None = None
    """Config of the reader for this file; so a change to one source redoes that source alone."""


@dataclass(frozen=True)
class Plan:
    """What will make a table; `core.run.run_plan` executes it.

    `source` may itself be a plan: it is run first, into a folder of its own, and resumes alike.
    """

    name: str
    source: "Table | Plan | tuple[RawFile, ...]"
    reader: Step
    steps: tuple[Step, ...] = ()
    schema: pa.Schema = field(default=DOCUMENTS, repr=False)
    writer: type[FrameWriter] | None = ParquetFrames
    """How kept frames are written; None where the function makes its files itself, whose names
    then stand in a folder for this version of the table."""
    side: "Table | Plan | None" = None
    references: "tuple[Table, ...]" = ()
    """Tables that every rank may read, such as an index."""
    into: int | None = None
    """Number of ranks of an exchange; None when rank i is made of rank i of the source."""
    prepare: "tuple[str, Callable[[], None]] | None" = None
    """What to do once in this process before ranks run, and how to call it in the log."""
    audit: Step | None = None
    """Function `(table, config)` that may refuse the whole table before it is published."""
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the table shall say of itself, as JSON; stages after it may compare it."""
    conserves: bool = True
    """Whether each row that comes in is kept, dropped or rejected; checked for every rank."""
    rank_names: tuple[str, ...] = ()
    """Names of an exchange's ranks; their numbers by default."""

    def map_batches(
        self, function: BatchFunction, config: Config | None, *, schema: pa.Schema | None = None
    ) -> Self:
        """Return the plan with one more step on every batch.

        The step gets `(frame, config, counts)` and returns the frame; rows in whose column
        `drop_reason` it put a reason go to `excluded/`, with the columns of `DROP_COLUMNS`.
        """
        steps = (*self.steps, Step(function, config))
        return replace(self, steps=steps, schema=self.schema if schema is None else schema)


def read_rank(rank: RankInput, config: None, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the source rank as it is: the reader of plans that only have steps."""
    return rank.frames()


def map_batches(
    source: Table | Plan,
    name: str,
    function: BatchFunction,
    config: Config | None,
    schema: pa.Schema = DOCUMENTS,
) -> Plan:
    """Return the plan of a table whose rank i is `function` on every batch of rank i."""
    return Plan(name, source, Step(read_rank), (Step(function, config),), schema)


def map_ranks(
    source: Table | Plan | tuple[RawFile, ...],
    name: str,
    function: RankFunction,
    config: Config | None,
    schema: pa.Schema,
    **options: Any,
) -> Plan:
    """Return the plan of a table whose rank i is `function` on the whole of rank i."""
    return Plan(name, source, Step(function, config), (), schema, **options)


def exchange(
    source: Table | Plan,
    name: str,
    into: int,
    function: RankFunction,
    config: Config | None,
    schema: pa.Schema,
    **options: Any,
) -> Plan:
    """Return the plan of a table of `into` ranks: rank k is `function` on slice k of every rank.

    The source is written by `SliceWriter`; the function reads it with `core.slices`.
    """
    return Plan(name, source, Step(function, config), (), schema, into=into, **options)
