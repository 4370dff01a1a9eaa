"""Recipes by name: what they stand for, and how they are changed."""

from typing import get_args

import pytest

from corpus_assets.filters import RULES, recipe_of
from corpus_assets.filters.presets import PRESETS
from corpus_assets.spec import CorpusSpec


def rules(written):
    return [(rule.name, rule.config) for rule in recipe_of(written).rules]


def test_fineweb_is_datatroves_example():
    assert [name for name, _ in rules("fineweb")] == [
        "url", "language", "gopher_repetition", "gopher_quality", "c4_quality", "fineweb_quality",
    ]  # fmt: skip
    settings = {name: config for name, config in rules("fineweb") if name != "c4_quality"}
    assert settings == {name: RULES[name].config() for name in settings}
    c4 = RULES["c4_quality"].config(filter_no_terminal_punct=False)
    assert dict(rules("fineweb"))["c4_quality"] == c4 != RULES["c4_quality"].config()


def test_none_has_no_rules():
    assert rules("none") == rules([]) == []


def test_a_preset_may_stand_among_rules():
    names = [name for name, _ in rules(["non_empty", "fineweb", {"length": {"min_chars": 9}}])]
    assert (names[0], names[1], names[-2], names[-1]) == (
        "non_empty", "url", "fineweb_quality", "length",
    )  # fmt: skip


def test_settings_are_laid_over_those_of_a_preset_and_false_leaves_a_rule_out():
    changed = {
        "language": {"languages": "en"},
        "c4_quality": {"min_num_sentences": 3},
        "url": False,
    }
    found = dict(rules([{"fineweb": changed}]))
    assert "url" not in found
    assert found["language"].languages == ("en",)
    c4 = found["c4_quality"]
    assert (c4.min_num_sentences, c4.filter_no_terminal_punct) == (3, False)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("finewebb", "unknown rule 'finewebb'; there are non_empty.* the recipes none, fineweb"),
        ([{"fineweb": {"length": {}}}], "recipe fineweb has no rule length; it has url, language"),
        ([{"fineweb": {"url": True}}], "give each rule its settings, or false to leave it out"),
        ([{"fineweb": {"url": "x"}}], "give each rule its settings, or false to leave it out"),
        ([{"fineweb": ["url"]}], "fineweb: give its settings as `name: value`"),
        ([{"fineweb": {"url": {"list": []}}}], "rule url: unknown setting list; it has lists"),
        ([{"url": 3}], "url: give its settings as `name: value`"),
    ],
)
def test_a_wrong_change_says_what_exists(written, message):
    with pytest.raises(ValueError, match=message):
        recipe_of(written)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ([{"length": {"min_chars": "abc"}}], "rule length: min_chars: Input should be a valid int"),
        ([{"language": {"language_threshold": 65}}], "rule language: language_threshold: Input"),
        ([{"gopher_quality": {"language": "qqq"}}], "rule gopher_quality: language: .*qqq"),
        ([{"gopher_repetition": {"top_n_grams": [[2, 0.2, 3]]}}], "top_n_grams.0: "),
    ],
)
def test_a_wrong_value_is_named_with_its_rule_and_setting(written, message):
    with pytest.raises(ValueError, match=message):
        recipe_of(written)


def test_a_corpus_may_name_every_preset():
    annotation = CorpusSpec.model_fields["recipe"].annotation
    names = [name for part in get_args(annotation) for name in get_args(part)]
    assert [name for name in names if isinstance(name, str)] == list(PRESETS)


def test_the_schema_of_the_component_names_the_presets():
    schema = CorpusSpec.model_json_schema()["properties"]["recipe"]
    assert schema["anyOf"][0]["enum"] == list(PRESETS)
