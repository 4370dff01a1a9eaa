"""Readers: one function per format, from an input file to frames of documents."""

from collections.abc import Iterator

import polars as pl

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config, Counts, Plan, RankFunction, RankInput, RawFile, Step
from corpus_assets.core.table import Table
from corpus_assets.readers.config import ReadConfig
from corpus_assets.readers.inputs import format_of
from corpus_assets.readers.jsonl import VERSION as JSONL_VERSION
from corpus_assets.readers.jsonl import read_jsonl
from corpus_assets.readers.parquet import VERSION as PARQUET_VERSION
from corpus_assets.readers.parquet import read_parquet

READERS: dict[str, RankFunction] = {"jsonl": read_jsonl, "parquet": read_parquet}
"""Reader by format. A format is one function, one line here, its endings in `inputs.ENDINGS`."""

VERSION = JSONL_VERSION + 100 * PARQUET_VERSION


class RawConfig(Config):
    """When bad records are too many."""

    max_bad_fraction: float = 0.01
    """Share of a source's records that may be rejected; more is an error."""


def raw_docs(files: tuple[RawFile, ...], config: RawConfig) -> Plan:
    """Return the plan of the table of raw documents: a rank for each input file."""
    audit = Step(check_bad_fraction, config)
    return Plan("raw_docs", files, Step(read_documents), audit=audit)


def read_documents(rank: RankInput, config: ReadConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the documents of one input file, read by the reader of its format."""
    return READERS[format_of(rank.name, config.format) or "jsonl"](rank, config, counts)


def check_bad_fraction(table: Table, config: RawConfig) -> None:
    """Refuse a table of which too much was rejected.

    Raises:
        InputError: Names the source, the share, the reasons and a rejected file to look at.
    """
    sources = sorted({rank.name.split("/")[0] for rank in table.ranks})
    for source in sources:
        ranks = [rank for rank in table.ranks if rank.name.split("/")[0] == source]
        records = sum(rank.counts["in"] for rank in ranks)
        reasons = Counts()
        for rank in ranks:
            reasons.update({k: n for k, n in rank.counts.items() if k.startswith("rejected/")})
        bad = reasons.total()
        if bad > config.max_bad_fraction * records:
            listed = ", ".join(f"{k.split('/')[1]} {n}" for k, n in sorted(reasons.items()))
            example = next(rank for rank in ranks if "rejected" in rank.files)
            message = (
                f"source {source}: {bad} of {records} records are no documents ({listed}), more "
                f"than max_bad_fraction {config.max_bad_fraction:g} allows. See "
                f"{table.path(example.files['rejected'])}; mend the input, its keys in the "
                f"configuration, or raise max_bad_fraction."
            )
            raise InputError(message)
