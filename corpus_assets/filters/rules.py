"""The frame in which quality rules run: first failing rule drops, names its reason, keeps the row.

A rule is a function from its config to reasons; a reason is a name with the expression that tells
which rows fail. `filters.RULES` lists them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import SerializeAsAny

from corpus_assets.core.plan import Config, Counts


@dataclass(frozen=True)
class Reason:
    """Why a rule drops a document."""

    name: str
    fails: pl.Expr
    """True for rows to drop; null counts as False."""
    value: pl.Expr | None = None
    """What was measured, as a number."""
    threshold: float | None = None
    """What it was compared with."""


@dataclass(frozen=True)
class Rule:
    """A named rule: its config and the function that turns one into reasons."""

    config: type[Config]
    reasons: Callable[[Any], Sequence[Reason]]


class ChosenRule(Config):
    """One rule of a recipe with its thresholds."""

    name: str
    config: SerializeAsAny[Config]


class RecipeConfig(Config):
    """The rules of a recipe, in the order in which they run."""

    rules: tuple[ChosenRule, ...] = ()


def drop_by(rules: Sequence[tuple[str, Sequence[Reason]]], frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the first failing rule, its reason, value and threshold per row."""
    flat = [(rule, reason) for rule, reasons in rules for reason in reasons]
    null = pl.lit(None)
    columns = {
        "drop_rule": [(r, pl.lit(rule)) for rule, r in flat],
        "drop_reason": [(r, pl.lit(r.name)) for _, r in flat],
        "drop_value": [(r, null if r.value is None else r.value.cast(pl.Float64)) for _, r in flat],
        "drop_threshold": [(r, pl.lit(r.threshold, dtype=pl.Float64)) for _, r in flat],
    }
    return frame.with_columns(
        pl.coalesce([null, *(pl.when(r.fails).then(value) for r, value in choices)]).alias(name)
        for name, choices in columns.items()
    )


def note_rules(names: Sequence[str], counts: Counts) -> None:
    """Count zero for every rule, so that one which drops nothing is seen to have run."""
    for name in names:
        counts[f"rules/{name}"] += 0
