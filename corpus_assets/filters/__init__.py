"""Quality filters: `filtered_docs` is what a recipe of named rules keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from corpus_assets.core.plan import Counts, Plan, map_batches
from corpus_assets.core.table import Table
from corpus_assets.filters.bad_words import BadWordsConfig, judge_bad_words, open_bad_words
from corpus_assets.filters.basic import (
    LengthConfig,
    LicenseConfig,
    NonEmptyConfig,
    length,
    license_allowed,
    non_empty,
)
from corpus_assets.filters.language import (
    LanguageConfig,
    judge_language,
    open_language,
    prepare_language,
)
from corpus_assets.filters.rules import ChosenRule, RecipeConfig, Rule, judge
from corpus_assets.filters.text_steps import (
    FtfyConfig,
    SymbolLinesConfig,
    open_ftfy,
    remove_symbol_lines,
    repair,
)
from corpus_assets.filters.url import UrlConfig, judge_url, open_url, prepare_url

VERSION = 2

RULES: dict[str, Rule] = {
    "non_empty": Rule(NonEmptyConfig, non_empty),
    "length": Rule(LengthConfig, length),
    "license": Rule(LicenseConfig, license_allowed),
    "url": Rule(UrlConfig, judge_url, prepare_url, open_url),
    "language": Rule(LanguageConfig, judge_language, prepare_language, open_language),
    "bad_words": Rule(BadWordsConfig, judge_bad_words, open=open_bad_words),
    "symbol_lines": Rule(SymbolLinesConfig, remove_symbol_lines),
    "ftfy": Rule(FtfyConfig, repair, open=open_ftfy),
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
    kind, known = RULES[name].config, RULES[name].setting_names()
    unknown = set(thresholds or {}) - set(known)
    if unknown:
        has = ", ".join(known) or "no settings"
        message = f"rule {name}: unknown setting {', '.join(sorted(unknown))}; it has {has}"
        raise ValueError(message)
    return ChosenRule(name=name, config=kind.model_validate(thresholds or {}))


def filtered_docs(raw_docs: Table, config: RecipeConfig, base: Path = Path()) -> Plan:
    """Return the plan of the table of documents that a recipe keeps.

    Args:
        raw_docs: The documents.
        config: The recipe.
        base: Folder at which files start that rules name.

    Raises:
        InputError: A file that a rule names is missing or not what it must be.
    """
    config = opened(config, base)
    plan = map_batches(raw_docs, "filtered_docs", apply_recipe, config)
    if any(RULES[rule.name].prepare for rule in config.rules):
        return replace(plan, prepare=(PREPARING, partial(prepare, config)))
    return plan


def opened(config: RecipeConfig, base: Path) -> RecipeConfig:
    """Return a recipe whose rules have found and digested the files that they name.

    Raises:
        InputError: One is missing or not what it must be.
    """
    rules: list[ChosenRule] = []
    for rule in config.rules:
        find = RULES[rule.name].open
        rules.append(
            rule if find is None else rule.model_copy(update={"config": find(rule.config, base)})
        )
    return RecipeConfig(rules=tuple(rules))


PREPARING = "preparing rules: compiling kernels, indexing lists; once on this machine (a minute)"
"""numba keeps them beside the source, or in `NUMBA_CACHE_DIR`, and loads them in a second."""


def prepare(config: RecipeConfig) -> None:
    """Do once what every worker would have to do else, such as compiling kernels."""
    for rule in config.rules:
        action = RULES[rule.name].prepare
        if action is not None:
            action(rule.config)


def apply_recipe(frame: pl.DataFrame, config: RecipeConfig, counts: Counts) -> pl.DataFrame:
    """Return the frame with the reason of the first rule that drops each row."""
    rules = [(rule.name, RULES[rule.name], rule.config) for rule in config.rules]
    return judge(rules, frame, counts)
