"""Quality filters: `filtered_docs` is what a recipe of named rules keeps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

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
from corpus_assets.filters.c4 import C4QualityConfig, c4_quality
from corpus_assets.filters.codes import canonical
from corpus_assets.filters.fineweb import FineWebQualityConfig, fineweb_quality
from corpus_assets.filters.gopher import GopherQualityConfig, gopher_quality
from corpus_assets.filters.language import (
    LanguageConfig,
    judge_language,
    open_language,
    prepare_language,
)
from corpus_assets.filters.presets import PRESETS, expanded
from corpus_assets.filters.repetition import GopherRepetitionConfig, gopher_repetition
from corpus_assets.filters.rules import ChosenRule, RecipeConfig, Rule, compiling, judge
from corpus_assets.filters.text_steps import (
    FtfyConfig,
    SymbolLinesConfig,
    open_ftfy,
    remove_symbol_lines,
    repair,
)
from corpus_assets.filters.url import UrlConfig, is_idle, judge_url, open_url, prepare_url

VERSION = 2

RULES: dict[str, Rule] = {
    "non_empty": Rule(NonEmptyConfig, non_empty),
    "length": Rule(LengthConfig, length),
    "license": Rule(LicenseConfig, license_allowed),
    "url": Rule(UrlConfig, judge_url, prepare_url, open_url),
    "language": Rule(LanguageConfig, judge_language, prepare_language, open_language),
    "gopher_repetition": Rule(
        GopherRepetitionConfig, gopher_repetition, compiling(gopher_repetition)
    ),
    "gopher_quality": Rule(GopherQualityConfig, gopher_quality, compiling(gopher_quality)),
    "c4_quality": Rule(C4QualityConfig, c4_quality, compiling(c4_quality)),
    "fineweb_quality": Rule(FineWebQualityConfig, fineweb_quality, compiling(fineweb_quality)),
    "bad_words": Rule(BadWordsConfig, judge_bad_words, open=open_bad_words),
    "symbol_lines": Rule(SymbolLinesConfig, remove_symbol_lines),
    "ftfy": Rule(FtfyConfig, repair, open=open_ftfy),
}
"""All rules by name."""

Recipe = str | Sequence[str | Mapping[str, Any]]
"""As written in a corpus: the name of a preset, or entries: each a rule or a preset, by its name
alone or with its settings."""


def recipe_of(written: Recipe) -> RecipeConfig:
    """Return a recipe as written with every rule's config checked.

    Raises:
        ValueError: An unknown rule or threshold, or a bad value; the message lists what exists.
    """
    entries = [written] if isinstance(written, str) else written
    return RecipeConfig(
        rules=tuple(_chosen(*rule) for entry in entries for rule in _rules_of(entry))
    )


def _rules_of(entry: str | Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield names and settings of the rules that an entry stands for."""
    if isinstance(entry, str):
        entry = {entry: {}}
    if len(entry) != 1:
        message = f"each rule is one name with its thresholds, got {', '.join(map(str, entry))}"
        raise ValueError(message)
    name, settings = next(iter(entry.items()))
    if not isinstance(settings, Mapping | None):
        message = f"{name}: give its settings as `name: value`"
        raise ValueError(message)  # noqa: TRY004 - pydantic shows it with its place
    if name in PRESETS:
        for rule in expanded(name, settings or {}):
            yield from rule.items()
    else:
        yield name, settings or {}


def _chosen(name: str, settings: Mapping[str, Any]) -> ChosenRule:
    if name not in RULES:
        message = (
            f"unknown rule {name!r}; there are {', '.join(RULES)}, and the recipes "
            f"{', '.join(PRESETS)}"
        )
        raise ValueError(message)
    kind, known = RULES[name].config, RULES[name].setting_names()
    unknown = set(settings) - set(known)
    if unknown:
        has = ", ".join(known) or "no settings"
        message = f"rule {name}: unknown setting {', '.join(sorted(unknown))}; it has {has}"
        raise ValueError(message)
    try:
        return ChosenRule(name=name, config=kind.model_validate(settings))
    except ValidationError as error:
        listed = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}".removeprefix(": ") for e in error.errors()
        )
        message = f"rule {name}: {listed}"
        raise ValueError(message) from None


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
    plan = replace(
        map_batches(raw_docs, "filtered_docs", apply_recipe, config), facts=facts_of(config)
    )
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


def facts_of(config: RecipeConfig) -> dict[str, Any]:
    """Return what the table says of its recipe: the rules in order, and what to know of them."""
    idle = any(isinstance(rule.config, UrlConfig) and is_idle(rule.config) for rule in config.rules)
    notes = ["rule url has no lists and drops nothing; name some with `lists`"] if idle else []
    return {"rules": [rule.name for rule in config.rules], "notes": notes} if config.rules else {}


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
    judged = judge(rules, frame, counts)
    count_groups(judged, counts)
    return judged


GROUPS = {"lang": "language", "source_id": "source"}
"""Columns by whose values documents are counted: `language/<code>/kept`, `source/<id>/dropped`."""


def count_groups(frame: pl.DataFrame, counts: Counts) -> None:
    """Count kept and dropped documents by language and by source.

    Languages are canonical codes and `other`, so that a column of anything makes no endless list.
    """
    dropped = pl.col("drop_reason").is_not_null().alias("dropped")
    for column, group in GROUPS.items():
        if column in frame.columns:
            for value, gone, rows in frame.group_by(column, dropped).len().iter_rows():
                shown = canonical(value) if column == "lang" else value
                counts[f"{group}/{shown}/{'dropped' if gone else 'kept'}"] += rows
