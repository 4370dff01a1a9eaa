"""Quality filters: `filtered_docs` is what a recipe of named rules keeps."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

from corpus_assets.core.plan import Counts, Plan, map_batches
from corpus_assets.core.table import Table
from corpus_assets.filters.basic import (
    LengthConfig,
    LicenseConfig,
    NonEmptyConfig,
    length,
    license_allowed,
    non_empty,
)
from corpus_assets.filters.rules import ChosenRule, RecipeConfig, Rule, drop_by, note_rules

VERSION = 1

RULES: dict[str, Rule] = {
    "non_empty": Rule(NonEmptyConfig, non_empty),
    "length": Rule(LengthConfig, length),
    "license": Rule(LicenseConfig, license_allowed),
}
"""All rules by name."""

Recipe = Literal["none"] | Sequence[str | Mapping[str, Any]]
"""As written in a corpus: `none`, or rules, each a name or a name with its thresholds."""


def recipe_of(written: Recipe) -> RecipeConfig:
    """Return a recipe as written with every rule's config checked.

    Raises:
        ValueError: An unknown rule or threshold, or a bad value; the message lists what exists.
    """
    entries = [] if written == "none" else list(written)
    return RecipeConfig(rules=tuple(_chosen(entry) for entry in entries))


def _chosen(entry: str | Mapping[str, Any]) -> ChosenRule:
    if isinstance(entry, str):
        entry = {entry: {}}
    if len(entry) != 1:
        message = f"each rule is one name with its thresholds, got {', '.join(map(str, entry))}"
        raise ValueError(message)
    name, thresholds = next(iter(entry.items()))
    if name not in RULES:
        message = f"unknown rule {name!r}; there are {', '.join(RULES)}"
        raise ValueError(message)
    kind = RULES[name].config
    unknown = set(thresholds or {}) - set(kind.model_fields)
    if unknown:
        known = ", ".join(kind.model_fields) or "no settings"
        message = f"rule {name}: unknown setting {', '.join(sorted(unknown))}; it has {known}"
        raise ValueError(message)
    return ChosenRule(name=name, config=kind.model_validate(thresholds or {}))


def filtered_docs(raw_docs: Table, config: RecipeConfig) -> Plan:
    """Return the plan of the table of documents that a recipe keeps."""
    return map_batches(raw_docs, "filtered_docs", apply_recipe, config)


def apply_recipe(frame: pl.DataFrame, config: RecipeConfig, counts: Counts) -> pl.DataFrame:
    """Return the frame with the reason of the first rule that drops each row."""
    rules = [(rule.name, RULES[rule.name].reasons(rule.config)) for rule in config.rules]
    note_rules([name for name, _ in rules], counts)
    return drop_by(rules, frame)
