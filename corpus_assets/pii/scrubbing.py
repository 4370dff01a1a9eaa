"""`scrubbed_docs`: personal data replaced by placeholders, counted by kind.

The replacement is a function of the match alone: order, batches and workers change nothing, and a
second pass finds nothing.
"""

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl
import pyarrow as pa
from pydantic import field_validator

from corpus_assets.core.plan import Config, Counts, Plan, map_batches
from corpus_assets.core.schema import CLUSTER_COLUMNS, DOCUMENT_COLUMNS, schema_of
from corpus_assets.core.table import Table
from corpus_assets.pii.kinds import KINDS, Kind

VERSION = 1

PII_COLUMNS = {
    "pii_redactions": (pa.int32(), "Personal data replaced in `text`, all kinds."),
    **{
        f"pii_{kind.name}": (pa.int32(), f"Of these, of the kind {kind.name}.")
        for kind in KINDS.values()
    },
}
SCRUBBED_COLUMNS = {**DOCUMENT_COLUMNS, **CLUSTER_COLUMNS, **PII_COLUMNS}
SCRUBBED = schema_of(SCRUBBED_COLUMNS)

MANIFEST_COLUMNS = {kind.manifest: f"pii_{kind.name}" for kind in KINDS.values()}
"""Column that counts each kind of the manifest."""


class PiiConfig(Config):
    """Which kinds are replaced."""

    kinds: tuple[str, ...] = tuple(KINDS)

    @field_validator("kinds")
    @classmethod
    def _are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in value if name not in KINDS]
        if unknown:
            message = f"unknown kind {', '.join(unknown)}; there are {', '.join(KINDS)}"
            raise ValueError(message)
        return value


def scrubbed_docs(deduped_docs: Table, config: PiiConfig) -> Plan:
    """Return the plan of the table of documents without personal data."""
    return map_batches(deduped_docs, "scrubbed_docs", scrub_pii, config, SCRUBBED)


def scrub_pii(frame: pl.DataFrame, config: PiiConfig, counts: Counts) -> pl.DataFrame:
    """Return the frame with personal data replaced, and the counts by kind as columns."""
    text = frame["text"]
    found: dict[str, pl.Series] = {}
    for name, kind in KINDS.items():
        number = pl.zeros(frame.height, dtype=pl.Int32, eager=True)
        if name in config.kinds:
            text, number = _replace(text, kind)
        found[f"pii_{name}"] = number
        counts[f"pii/{name}"] += int(number.sum())
    columns = [series.alias(name) for name, series in found.items()]
    total = pl.sum_horizontal(*found).cast(pl.Int32).alias("pii_redactions")
    return frame.with_columns(text.alias("text"), *columns).with_columns(total)


def _replace(text: pl.Series, kind: Kind) -> tuple[pl.Series, pl.Series]:
    """Return the texts with one kind replaced, and how often in each.

    Python looks only at texts that the Rust engine found a possible match in.
    """
    places = text.str.contains(kind.core).arg_true()
    replaced = [_replace_in(value, kind) for value in text.gather(places)]
    number = pl.zeros(len(text), dtype=pl.Int32, eager=True)
    if not replaced:
        return text, number
    texts = pl.Series([value for value, _ in replaced], dtype=pl.String)
    numbers = pl.Series([count for _, count in replaced], dtype=pl.Int32)
    return text.clone().scatter(places, texts), number.scatter(places, numbers)


def _replace_in(text: str, kind: Kind) -> tuple[str, int]:
    count = 0

    def placeholder(match: re.Match[str]) -> str:
        nonlocal count
        if not kind.is_valid(match[0]):
            return match[0]
        count += 1
        return kind.placeholder

    return kind.pattern.sub(placeholder, text), count


def scrub(text: str, kinds: Sequence[str] = tuple(KINDS)) -> tuple[str, Counter[str]]:
    """Return one text with personal data replaced, in the order of `KINDS`, and the counts."""
    counts: Counter[str] = Counter()
    for name, kind in KINDS.items():
        if name in kinds:
            text, counts[name] = _replace_in(text, kind)
    return text, counts
