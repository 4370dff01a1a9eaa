"""Text steps and the rule on bad words do what datatrove's do."""

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from corpus_assets.core.errors import DocumentError, InputError
from corpus_assets.filters import apply_recipe, opened, recipe_of
from corpus_assets_tests.scenario import document

GOLDEN = json.loads((Path(__file__).parent / "text_steps.json").read_text())
"""What datatrove 0.10.1 makes of texts."""


def applied(recipe: list, texts: list[str], base: Path = Path(), lang: str = "en") -> pl.DataFrame:
    frame = pl.DataFrame([document(str(i), text, lang=lang) for i, text in enumerate(texts)])
    return apply_recipe(frame, opened(recipe_of(recipe), base), Counter())


@pytest.mark.parametrize(
    ("column", "config"),
    [(1, {}), (2, {"replace_char": "#"}), (3, {"symbols_to_remove": ["-", "a"]})],
)
def test_lines_of_symbols_go_as_in_datatrove(column, config):
    texts = [row[0] for row in GOLDEN["symbol_lines"]]
    found = applied([{"symbol_lines": config}], texts)["text"].to_list()
    assert found == [row[column] for row in GOLDEN["symbol_lines"]]


@pytest.mark.parametrize(
    ("column", "config"),
    [
        (1, {}),
        (
            2,
            {
                "fix_latin_ligatures": True,
                "fix_character_width": True,
                "uncurl_quotes": True,
                "fix_line_breaks": True,
                "normalization": "NFC",
                "unescape_html": True,
            },
        ),
    ],
)
def test_texts_are_repaired_as_in_datatrove(column, config):
    texts = [row[0] for row in GOLDEN["ftfy"]]
    found = applied([{"ftfy": config}], texts)["text"].to_list()
    assert found == [row[column] for row in GOLDEN["ftfy"]]


def test_rules_after_a_text_step_see_its_text():
    frame = applied(["symbol_lines", {"length": {"min_chars": 2}}], ["a\n-----", "ab\n-----"])
    assert frame.select("text", "drop_reason").rows() == [("a", "too_short"), ("ab", None)]


def test_the_version_of_ftfy_is_part_of_the_recipes_identity():
    (rule,) = opened(recipe_of(["ftfy"]), Path()).rules
    assert rule.model_dump()["config"]["version"] == "6.3.1"


@pytest.fixture
def words(tmp_path) -> dict[str, str]:
    for code, entries in GOLDEN["bad_words"]["lists"].items():
        (tmp_path / code).write_text("\n".join([*entries, ""]))
    return {code: code for code in GOLDEN["bad_words"]["lists"]}


def test_bad_words_drop_as_in_datatrove(tmp_path, words):
    for lang, text, reason in GOLDEN["bad_words"]["verdicts"]:
        frame = applied([{"bad_words": {"lists": words}}], [text], tmp_path, lang)
        assert frame["drop_reason"][0] == reason, (lang, text)


def test_a_share_of_documents_with_bad_words_stays_whatever_the_order(tmp_path, words):
    texts = [f"badword {i}" for i in range(2_000)]
    recipe = [{"bad_words": {"lists": words, "keep_fraction": 0.25}}]
    kept = applied(recipe, texts, tmp_path).filter(pl.col("drop_reason").is_null())["text"]
    assert 440 < len(kept) < 560
    again = applied(recipe, texts[::-1], tmp_path).filter(pl.col("drop_reason").is_null())["text"]
    assert set(kept) == set(again)
    other = [{"bad_words": {"lists": words, "keep_fraction": 0.25, "seed": 1}}]
    others = applied(other, texts, tmp_path).filter(pl.col("drop_reason").is_null())["text"]
    assert set(others) != set(kept)


def test_a_language_without_list_is_refused_by_name_or_passes(tmp_path, words):
    with pytest.raises(DocumentError, match="no list for fr, the language of document '0'") as seen:
        applied([{"bad_words": {"lists": words}}], ["badword"], tmp_path, "fr")
    assert "badword" not in str(seen.value)
    lenient = [{"bad_words": {"lists": words, "fail_on_missing_language": False}}]
    assert applied(lenient, ["badword"], tmp_path, "fr")["drop_reason"][0] is None


@pytest.mark.parametrize("lang", ["und", "eng", "en_Latn"])
def test_a_document_of_unknown_language_is_judged_by_the_default_one(tmp_path, words, lang):
    frame = applied([{"bad_words": {"lists": words}}], ["badword"], tmp_path, lang)
    assert frame["drop_reason"][0] == "document_removed_with_badwords"


def test_another_list_is_another_recipe(tmp_path, words):
    recipe = recipe_of([{"bad_words": {"lists": {"eng": "en"}}}])
    before = opened(recipe, tmp_path).model_dump(mode="json")
    assert (
        opened(recipe_of([{"bad_words": {"lists": {"en": "./en"}}}]), tmp_path).model_dump(
            mode="json"
        )
        == before
    )
    (tmp_path / "en").write_text("other")
    assert opened(recipe, tmp_path).model_dump(mode="json") != before


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (["bad_words"], "Field required"),
        ([{"bad_words": {"lists": {}}}], "at least 1"),
        ([{"bad_words": {"lists": {"english": "x"}}}], "unknown language 'english'"),
        ([{"symbol_lines": {"symbols_to_remove": ["--"]}}], "each symbol is one character"),
        ([{"ftfy": {"normalization": "NFX"}}], "'NFC', 'NFD', 'NFKC' or 'NFKD'"),
        ([{"ftfy": {"version": "1"}}], "unknown setting version; it has unescape_html"),
    ],
)
def test_wrong_settings_are_errors_of_the_recipe(recipe, message):
    with pytest.raises(ValueError, match=message):
        recipe_of(recipe)


def test_a_missing_list_is_named_before_any_work(tmp_path):
    with pytest.raises(InputError, match=r"words/en: not found; the recipe names it as 'words/en'"):
        opened(recipe_of([{"bad_words": {"lists": {"en": "words/en"}}}]), tmp_path)


@pytest.mark.parametrize("content", ["", "# only a comment\n"])
def test_a_list_without_words_is_refused_by_name(tmp_path, content):
    (tmp_path / "en.txt").write_text(content)
    recipe = recipe_of([{"bad_words": {"lists": {"en": "en.txt"}}}])
    with pytest.raises(InputError, match=r"en\.txt: holds no words"):
        opened(recipe, tmp_path)
