"""`scrubbed_docs`: personal data replaced, counted by kind.

The replacement is a function of the text alone: order, batches and workers change nothing, and a
second pass finds nothing. Only `mode: datatrove` counts along a rank, as datatrove does.
"""

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from corpus_assets.core.plan import Counts, Plan, map_batches, map_ranks
from corpus_assets.core.schema import CLUSTER_COLUMNS, DOCUMENT_COLUMNS, schema_of
from corpus_assets.core.table import Table
from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.datatrove import replace_rank
from corpus_assets.pii.detection import KindFinder, spans_once, with_more
from corpus_assets.pii.folding import fold_series
from corpus_assets.pii.kinds import KINDS, finders_of
from corpus_assets.pii.replacing import replaced, replacer_of
from corpus_assets.pii.spans import Span

VERSION = 2

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

DROP_RULE, DROP_REASON = "pii", "too_many_spans"


class ScrubConfig(PiiConfig):
    """A config with what else decides the output."""

    key_digest: str | None = None
    """Digest of the key of `mode: hash`, so that another key makes another table."""


def scrubbed_docs(deduped_docs: Table, config: PiiConfig) -> Plan:
    """Return the plan of the table of documents without personal data.

    Raises:
        InputError: `mode: hash` has no key.
    """
    if config.mode == "datatrove":
        return map_ranks(deduped_docs, "scrubbed_docs", replace_rank, config, SCRUBBED)
    wanted = fingerprinted(config)
    return map_batches(deduped_docs, "scrubbed_docs", scrub_pii, wanted, SCRUBBED)


def fingerprinted(config: PiiConfig) -> ScrubConfig:
    """Return a config with a digest of its key.

    Raises:
        InputError: `mode: hash` has no key.
    """
    digest = _key_digest(config.key()) if config.mode == "hash" else None
    return ScrubConfig(**config.model_dump(), key_digest=digest)


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
    spans = spans_of_texts(texts, config)
    if not spans:
        return texts, {}
    replacer = replacer_of(config)
    places = sorted(spans)
    new = [replaced(texts[place], spans[place], replacer) for place in places]
    counted = {place: Counter(span.kind for span in spans[place]) for place in places}
    return texts.clone().scatter(places, pl.Series(new, dtype=pl.String)), counted


def spans_of_texts(texts: pl.Series, config: PiiConfig) -> dict[int, list[Span]]:
    """Return the personal data of those texts that hold some: what `detect` finds in each.

    Python looks only at texts that the Rust engine found a possible match in, and of these again
    at those in which something was replaced.
    """
    finders = tuple(finders_of(config.kinds, config.countries))
    replacer = replacer_of(config)
    found: dict[int, list[Span]] = {}
    places, left = list(range(len(texts))), texts
    while places:
        again: list[int] = []
        for place, spans in _spans_once(left, config, finders).items():
            text = texts[places[place]]
            found[places[place]] = with_more(text, found.get(places[place], ()), spans, replacer)
            again.append(places[place])
        places = again
        left = pl.Series([replaced(texts[p], found[p], replacer) for p in places], dtype=pl.String)
    return found


def _spans_once(
    texts: pl.Series, config: PiiConfig, finders: tuple[KindFinder, ...]
) -> dict[int, list[Span]]:
    """Return what one look finds, by the place of the text."""
    folded = fold_series(texts)
    rare = "|".join(f"(?:{finder.core})" for _, finder in finders if finder.rare)
    everywhere = pl.arange(len(texts), eager=True)
    seldom = folded.str.contains(rare).arg_true() if rare else everywhere.clear()
    places: dict[str, list[int]] = {}
    hits: defaultdict[int, list[KindFinder]] = defaultdict(list)
    for kind, finder in finders:
        if finder.core not in places:
            among = seldom if finder.rare else everywhere
            texts_among = folded.gather(among) if finder.rare else folded
            places[finder.core] = among.filter(texts_among.str.contains(finder.core)).to_list()
        for place in places[finder.core]:
            hits[place].append((kind, finder))
    found: dict[int, list[Span]] = {}
    hit = sorted(hits)
    for place, text, plain in zip(hit, texts.gather(hit), folded.gather(hit), strict=True):
        spans = spans_once(text, config, hits[place], plain)
        if spans:
            found[place] = spans
    return found


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
