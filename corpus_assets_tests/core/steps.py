"""Readers, steps and audits of the tests: workers import them, so they lie in a module."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config, Counts, Plan, RankInput, RawFile, Step, map_batches
from corpus_assets.core.schema import schema_of
from corpus_assets.core.table import Table

VERSION = 1

WORDS = schema_of({"id": (pa.large_string(), "Id."), "text": (pa.large_string(), "Text.")})


class Noted(Config):
    """Where a function notes that it ran, and a word that tells it what to do."""

    log: Path
    word: str = ""

    def note(self, name: str) -> None:
        with self.log.open("a", encoding="utf-8") as stream:
            stream.write(f"{name}\n")


def read_words(rank: RankInput, config: Noted, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a row for each line of a raw file; empty ones are rejected."""
    config.note(rank.name)
    counts["in"] += 0
    rows = []
    for number, line in enumerate(rank.open().read().decode().splitlines()):
        counts["in"] += 1
        if line:
            rows.append({"id": f"{rank.name}:{number}", "text": line + config.word})
        else:
            rank.reject({"file": rank.name, "line": number + 1, "reason": "blank"})
    yield pl.DataFrame(rows, schema={"id": pl.String, "text": pl.String})


def read_and_append(rank: RankInput, config: Noted, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield what is read of a file that grows meanwhile."""
    yield from read_words(rank, config, counts)
    with config.log.with_name(rank.name).open("a", encoding="utf-8") as stream:
        stream.write("more\n")


def fail_on(rank: RankInput, config: Noted, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a source rank, or raise in the rank named by the config."""
    config.note(rank.name)
    for frame in rank.frames():
        yield frame
        if rank.name == config.word:
            message = f"{rank.name}: refused."
            raise InputError(message)


def copy(rank: RankInput, config: Noted, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a source rank as it is, under a name that can be watched."""
    config.note(rank.name)
    yield from rank.frames()


def shout(frame: pl.DataFrame, config: Noted | None, counts: Counts) -> pl.DataFrame:
    """Return the texts in capitals."""
    counts["shouted"] += frame.height
    return frame.with_columns(pl.col("text").str.to_uppercase())


def drop_word(frame: pl.DataFrame, config: Noted, counts: Counts) -> pl.DataFrame:
    """Drop the texts that are the config's word."""
    is_word = pl.col("text") == config.word
    return frame.with_columns(
        pl.when(is_word).then(pl.lit("banned")).alias("drop_reason"),
        pl.when(is_word).then(pl.lit("words")).alias("drop_rule"),
    )


def lose_one(frame: pl.DataFrame, config: None, counts: Counts) -> pl.DataFrame:
    """Break the law of conservation."""
    return frame.slice(1)


def double(frame: pl.DataFrame, config: None, counts: Counts) -> pl.DataFrame:
    """Break it the other way."""
    return pl.concat([frame, frame])


def refuse_word(table: Table, config: Noted) -> None:
    """Refuse a table that holds the config's word."""
    for rank in table.ranks:
        for frame in table.frames(rank):
            if config.word in frame["text"].to_list():
                message = f"{rank.name}: holds a word that is refused."
                raise InputError(message)


def raw(folder: Path, log: Path, *, words: dict[str, str] | None = None, **options: Any) -> Plan:
    """Return the plan that reads the text files of a folder, each with a word for its reader."""
    files = tuple(
        RawFile(path, path.name, Noted(log=log, word=(words or {}).get(path.name, "")))
        for path in sorted(folder.glob("*.txt"))
    )
    return Plan("words", files, Step(read_words), schema=WORDS, **options)


def shouted(table: Table | Plan, log: Path, name: str = "shouted") -> Plan:
    """Return the plan of a table in capitals, which notes its ranks."""
    plan = Plan(name, table, Step(copy, Noted(log=log)), schema=WORDS)
    return plan.map_batches(shout, None)


def mapped(table: Table | Plan, function: Any, config: Config | None = None) -> Plan:
    """Return the plan of one step on a table."""
    return map_batches(table, "mapped", function, config, WORDS)


def ran(log: Path) -> list[str]:
    """Return the ranks that ran since the last look, sorted."""
    if not log.exists():
        return []
    names = sorted(log.read_text(encoding="utf-8").splitlines())
    log.unlink()
    return names


def texts(table: Table) -> list[str]:
    """Return all texts that a table keeps, in order."""
    return [text for rank in table.ranks for frame in table.frames(rank) for text in frame["text"]]


def write_lines(folder: Path, **files: str) -> Path:
    """Write text files, name to content with `|` for a line feed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content.replace("|", "\n"), encoding="utf-8")
    return folder


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return bytes and time of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
