"""The frame in which quality rules run: the first that fails drops a document and says why.

A rule is a function of a batch of documents and its config; it returns a verdict: the criteria it
tested, in order, and the columns it rewrote. `filters.RULES` lists the rules by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AfterValidator, AliasChoices, SerializeAsAny

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config, Counts
from corpus_assets.text.languages import tokenizer_of
from corpus_assets.text.tokens import Texts, Tokens, tokenised

PASSES = -1

SLICE_BYTES = 4 << 20
"""Text that is judged at a time: its tokens take seven times as much memory."""

ALTERNATIVES = (0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 2, 4)
"""What-if thresholds, as multiples of the one in force."""


def _has_a_tokenizer(language: str) -> str:
    try:
        tokenizer_of(language.partition("-")[0], datatrove_codes=False)
    except InputError as error:
        raise ValueError(str(error)) from None
    return language


TokenizerLanguage = Annotated[str, AfterValidator(_has_a_tokenizer)]
"""A language that a rule is told to split words by; one without a tokenizer is refused. Documents
of an unknown language are split as English."""


@dataclass(frozen=True)
class Criterion:
    """One thing that a rule tests of every document it is given."""

    reason: str
    fails: NDArray[np.bool_]
    """Shape (documents,); what earlier criteria dropped may have any value here."""
    values: NDArray[np.float64] | None = None
    """What was measured, shape (documents,); nan where it was not."""
    threshold: float | None = None
    """What it was compared with."""
    compare: np.ufunc | None = None
    """`compare(values, threshold)` is true for documents that fail."""

    @classmethod
    def measured(
        cls, reason: str, values: NDArray[Any], compare: np.ufunc, threshold: float
    ) -> Self:
        """Return the criterion that documents fail whose value compares so with the threshold."""
        values = values.astype(np.float64, copy=False)
        return cls(reason, compare(values, threshold), values, threshold, compare)


@dataclass(frozen=True)
class Verdict:
    """What a rule says of every document it was given."""

    criteria: Sequence[Criterion]
    """In the order in which a document meets them: the first that it fails is its reason."""
    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    """Columns that the rule rewrote, for all documents, those it drops among them."""

    def first_failures(self, documents: int) -> NDArray[np.int64]:
        """Return the number of the first criterion that each document fails, or `PASSES`."""
        first = np.full(documents, PASSES, np.int64)
        for k in reversed(range(len(self.criteria))):
            first[self.criteria[k].fails] = k
        return first


class Batch:
    """The documents of a batch that no rule has dropped, and what rules share about them."""

    def __init__(self, frame: pl.DataFrame) -> None:
        """Take documents with all their columns."""
        self.frame = frame
        self._texts: Texts | None = None
        self._tokens: dict[str | None, Tokens] = {}

    def __len__(self) -> int:
        """Return the number of documents."""
        return self.frame.height

    def evaluate(self, expression: pl.Expr) -> NDArray[Any]:
        """Return an expression's value for each document."""
        return self.frame.select(expression).to_series().to_numpy()

    def texts(self) -> Texts:
        """Return the texts, as the rules before left them, for kernels."""
        if self._texts is None:
            self._texts = Texts.of(self.frame["text"])
        return self._texts

    def tokens(self, language: str | None) -> Tokens:
        """Return the tokens of the texts, found once for all rules.

        Args:
            language: Whose tokenizer splits all of them; None takes that of each one's `lang`.
        """
        if language not in self._tokens:
            languages = self.frame["lang"].to_list() if language is None else language
            self._tokens[language] = tokenised(self.texts(), languages)
        return self._tokens[language]

    def after(self, verdict: Verdict, passing: NDArray[np.bool_]) -> "Batch":
        """Return the documents that passed a rule, as the rule rewrote them."""
        batch = Batch(self.frame.with_columns(**verdict.columns).filter(passing))
        if "text" in verdict.columns:
            return batch
        if self._texts is not None:
            batch._texts = self._texts.where(passing)
        for language, tokens in self._tokens.items():
            if language is not None or "lang" not in verdict.columns:
                batch._tokens[language] = tokens.where(passing)
        return batch


@dataclass(frozen=True)
class Rule:
    """A named rule: its config and the function that judges a batch by it."""

    config: type[Config]
    judge: Callable[[Batch, Any], Verdict]
    prepare: Callable[[Any], None] | None = None
    """What to do with the config once, before workers start, such as compiling kernels."""
    open: Callable[[Any, Path], Config] | None = None
    """Find and digest the files that a config names, which start at a folder; the config with
    them goes to the other functions and into the fingerprint."""

    def setting_names(self) -> list[str]:
        """Return the settings, each with the other name it may have."""
        names: list[str] = []
        for name, setting in self.config.model_fields.items():
            alias = setting.validation_alias
            choices = alias.choices if isinstance(alias, AliasChoices) else [alias or name]
            names += [name, *(str(choice) for choice in choices if choice != name)]
        return names


def compiling(judge: Callable[[Batch, Any], Verdict]) -> Callable[[Any], None]:
    """Return the preparation of a rule that compiles its kernels by their use."""

    def prepare(config: Any) -> None:
        texts = ["One (two) three. It's 4 km [1] to «x».\n\nFive, six...  \n", ""]
        judge(Batch(pl.DataFrame({"text": texts, "lang": ["en", "en"]})), config)

    return prepare


class ChosenRule(Config):
    """One rule of a recipe with its thresholds."""

    name: str
    config: SerializeAsAny[Config]


class RecipeConfig(Config):
    """The rules of a recipe, in the order in which they run."""

    rules: tuple[ChosenRule, ...] = ()


def judge(
    rules: Sequence[tuple[str, Rule, Config]], frame: pl.DataFrame, counts: Counts
) -> pl.DataFrame:
    """Return the frame with the first failing rule, its reason, value and threshold per row.

    A rule sees what the rules before it let pass, as they rewrote it; a row that it drops stays
    as it came to it, but for columns that the rule says of dropped ones too.

    Args:
        rules: Names of rules, what they are, and their configs, in order.
        frame: Documents.
        counts: Receives `rules/<rule>` = 0 for every rule, so that one which drops nothing is
            seen to have run, and the statistics of `note_statistics`.
    """
    return pl.concat([_judged(rules, part, counts) for part in _slices(frame)])


def _slices(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield a frame in parts of about `SLICE_BYTES` of text."""
    ends = frame["text"].str.len_bytes().cast(pl.Int64).cum_sum().to_numpy()
    first = 0
    while first < frame.height or first == 0:
        before = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, before + SLICE_BYTES, side="right"))
        last = max(last, first + 1)
        yield frame[first:last]
        first = last


def _judged(
    rules: Sequence[tuple[str, Rule, Config]], frame: pl.DataFrame, counts: Counts
) -> pl.DataFrame:
    parts: list[pl.DataFrame] = []
    batch = Batch(frame.with_row_index("_place"))
    for name, rule, config in rules:
        counts[f"rules/{name}"] += 0
        if not len(batch):
            continue
        verdict = rule.judge(batch, config)
        first = verdict.first_failures(len(batch))
        note_statistics(name, verdict, first, counts)
        if (first != PASSES).any():
            parts.append(_dropped(name, batch, verdict, first))
        batch = batch.after(verdict, first == PASSES)
    nulls = [pl.lit(None, kind).alias(column) for column, kind in _DROP_TYPES.items()]
    parts.append(batch.frame.with_columns(nulls))
    return pl.concat(parts).sort("_place").drop("_place")


_DROP_TYPES: dict[str, Any] = {
    "drop_rule": pl.String,
    "drop_reason": pl.String,
    "drop_value": pl.Float64,
    "drop_threshold": pl.Float64,
}


def _dropped(name: str, batch: Batch, verdict: Verdict, first: NDArray[np.int64]) -> pl.DataFrame:
    """Return the rows that a rule drops, with why."""
    rows = np.flatnonzero(first != PASSES)
    which = first[rows]
    values = np.full(len(rows), np.nan)
    for k, criterion in enumerate(verdict.criteria):
        if criterion.values is not None:
            values[which == k] = criterion.values[rows[which == k]]
    reasons = pl.Series([criterion.reason for criterion in verdict.criteria], dtype=pl.String)
    thresholds = [criterion.threshold for criterion in verdict.criteria]
    frame = batch.frame.with_columns(**verdict.columns)[rows]
    return frame.with_columns(
        pl.lit(name).alias("drop_rule"),
        reasons.gather(which).alias("drop_reason"),
        pl.Series("drop_value", values).fill_nan(None),
        pl.Series("drop_threshold", thresholds, pl.Float64).gather(which),
    )


def note_statistics(name: str, verdict: Verdict, first: NDArray[np.int64], counts: Counts) -> None:
    """Count how many documents each criterion would drop at other thresholds.

    Of the documents that reach a criterion: `stats/<rule>/<reason>/reached`; those that fail now,
    `stats/<rule>/<reason>/at <threshold>`; and for each threshold of `alternatives` with at least
    one, `stats/<rule>/<reason>/<threshold>` documents that fail at that one. Sums over batches and
    ranks, so no document is touched again.
    """
    for k, criterion in enumerate(verdict.criteria):
        if criterion.values is None or criterion.compare is None or criterion.threshold is None:
            continue
        reaches = (first >= k) | (first == PASSES)
        values = criterion.values[reaches]
        values = values[~np.isnan(values)]
        prefix = f"stats/{name}/{criterion.reason}"
        counts[f"{prefix}/reached"] += len(values)
        now = criterion.compare(values, criterion.threshold)
        counts[f"{prefix}/at {criterion.threshold}"] += int(np.count_nonzero(now))
        for threshold in alternatives(criterion.threshold):
            failing = int(np.count_nonzero(criterion.compare(values, threshold)))
            if failing:
                counts[f"{prefix}/{threshold:g}"] += failing


def alternatives(threshold: float) -> list[float]:
    """Return thresholds around one, ascending and with it; shares stay at most 1."""
    if isinstance(threshold, int):
        return sorted({round(threshold * factor) for factor in ALTERNATIVES})
    around = {threshold, *(float(f"{threshold * factor:.3g}") for factor in ALTERNATIVES)}
    return sorted(t for t in around if t <= max(threshold, 1))
