"""`scrubbed_docs`: personal data replaced, counted by kind.

The replacement is a function of the text alone: order, batches and workers change nothing, and a
second pass finds nothing. Only `mode: datatrove` counts along a rank, as datatrove does.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa
from pydantic import Field

from corpus_assets.core.plan import Counts, Plan, map_batches, map_ranks
from corpus_assets.core.schema import CLUSTER_COLUMNS, DOCUMENT_COLUMNS, schema_of
from corpus_assets.core.table import Table
from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.datatrove import replace_rank
from corpus_assets.pii.detection import detect_all, search_of
from corpus_assets.pii.hints import prepare_hints
from corpus_assets.pii.kinds import KINDS
from corpus_assets.pii.names import DEFAULT_MODEL, opened_model
from corpus_assets.pii.replacing import replaced
from corpus_assets.pii.spans import Span

VERSION = 3

PII_COLUMNS = {
    "pii_redactions": (pa.int32(), "Personal data replaced in `text`, all kinds."),
    **{
        f"pii_{kind.name}": (pa.int32(), f"Of these, of the kind {kind.name}.")
        for kind in KINDS.values()
    },
}
SCRUBBED_COLUMNS = {**DOCUMENT_COLUMNS, **CLUSTER_COLUMNS, **PII_COLUMNS}
SCRUBBED = schema_of(SCRUBBED_COLUMNS)

MANIFEST_COLUMNS = {kind.manifest: f"pii_{kind.name}" for kind in KINDS.values() if kind.manifest}
"""Column that counts each kind of the manifest."""

COMPILING = "compiling the kernel of personal data, once on this machine (some 15 s)"

DROP_RULE, DROP_REASON = "pii", "too_many_spans"


class ScrubConfig(PiiConfig):
    """A config with what else decides the output."""

    key_digest: str | None = None
    """Digest of the key of `mode: hash`, so that another key makes another table."""
    name_model: str = Field(default=DEFAULT_MODEL, exclude=True)
    name_model_identity: str | None = None
    """What is in the model of the kind `name`: where it lies decides nothing."""


def scrubbed_docs(deduped_docs: Table, config: PiiConfig, base: Path = Path()) -> Plan:
    """Return the plan of the table of documents without personal data.

    Args:
        deduped_docs: Documents.
        config: What is replaced, and by what.
        base: Folder at which a relative `name_model` starts.

    Raises:
        InputError: `mode: hash` has no key, or the kind `name` no model.
    """
    if config.mode == "datatrove":
        return map_ranks(deduped_docs, "scrubbed_docs", replace_rank, config, SCRUBBED)
    wanted = fingerprinted(config, base)
    plan = map_batches(deduped_docs, "scrubbed_docs", scrub_pii, wanted, SCRUBBED)
    return replace(plan, prepare=(COMPILING, prepare_hints))


def fingerprinted(config: PiiConfig, base: Path) -> ScrubConfig:
    """Return a config with a digest of its key, its model found, and what tells that one.

    Raises:
        InputError: `mode: hash` has no key, or the kind `name` no model.
    """
    settings = config.model_dump()
    if config.mode == "hash":
        settings["key_digest"] = _key_digest(config.key())
    if "name" in config.kinds:
        model, identity = opened_model(config.name_model, base)
        settings |= {"name_model": model, "name_model_identity": identity}
    return ScrubConfig(**settings)


def _key_digest(key: bytes) -> str:
    """Return what tells one key from another; the placeholders say no less of the key."""
    return hmac.new(key, b"fingerprint", hashlib.sha256).hexdigest()[:16]


def scrub_pii(frame: pl.DataFrame, config: PiiConfig, counts: Counts) -> pl.DataFrame:
    """Return the frame with personal data replaced, and the counts by kind as columns."""
    texts, found = scrub_texts(frame["text"], config)
    frame = with_counts(frame.with_columns(texts.alias("text")), found)
    if config.drop_if_spans_over is not None:
        frame = _drop_dense(frame, config.drop_if_spans_over)
    count_kinds(frame, config, counts)
    return frame


def scrub_texts(texts: pl.Series, config: PiiConfig) -> tuple[pl.Series, dict[int, Counter[str]]]:
    """Return texts with personal data replaced, and the counts by kind of those that held some."""
    search = search_of(config)
    found = detect_all(texts, search)
    if not found:
        return texts, {}
    scrubbed = [replaced(text, spans, search.replacer) for text, spans in found.values()]
    counted = {place: Counter(span.kind for span in one.spans) for place, one in found.items()}
    return texts.clone().scatter(list(found), pl.Series(scrubbed, dtype=pl.String)), counted


def spans_of_texts(texts: pl.Series, config: PiiConfig) -> dict[int, list[Span]]:
    """Return the personal data of those texts that hold some: what `detect` finds in each."""
    return {place: one.spans for place, one in detect_all(texts, search_of(config)).items()}


def with_counts(frame: pl.DataFrame, found: Mapping[int, Counter[str]]) -> pl.DataFrame:
    """Return the frame with a column for each kind and their sum."""
    columns: list[pl.Series] = []
    places = sorted(found)
    for name in KINDS:
        numbers = pl.zeros(frame.height, dtype=pl.Int32, eager=True)
        values = pl.Series([found[place][name] for place in places], dtype=pl.Int32)
        columns.append(numbers.scatter(places, values).alias(f"pii_{name}"))
    total = pl.sum_horizontal(columns).cast(pl.Int32).alias("pii_redactions")
    return frame.with_columns(*columns, total)


def count_kinds(frame: pl.DataFrame, config: PiiConfig, counts: Counts) -> None:
    """Count what was replaced in kept documents, by kind, and by source and kind."""
    kept = frame.filter(pl.col("drop_reason").is_null()) if "drop_reason" in frame else frame
    names = [f"pii_{kind}" for kind in config.kinds]
    for kind, name in zip(config.kinds, names, strict=True):
        counts[f"pii/{kind}"] += int(kept[name].sum())
    if "source_id" in kept and names:
        for row in kept.group_by("source_id").agg(pl.col(names).sum()).iter_rows(named=True):
            for kind, name in zip(config.kinds, names, strict=True):
                counts[f"pii_by_source/{row['source_id']}/{kind}"] += row[name]


def _drop_dense(frame: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the frame with the reason of documents that hold more spans than allowed."""
    spans = pl.col("pii_redactions")
    dense = pl.when(spans > most)
    return frame.with_columns(
        dense.then(pl.lit(DROP_RULE)).alias("drop_rule"),
        dense.then(pl.lit(DROP_REASON)).alias("drop_reason"),
        dense.then(spans.cast(pl.Float64)).alias("drop_value"),
        dense.then(pl.lit(float(most))).alias("drop_threshold"),
    )
