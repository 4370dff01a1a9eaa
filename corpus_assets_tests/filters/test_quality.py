"""The quality rules: equal to datatrove's results, and to their plain forms on any text."""
# ruff: noqa: E501  # texts

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.engines.local import LocalEngine
from corpus_assets.filters import RULES, apply_recipe, filtered_docs, recipe_of
from corpus_assets.filters.rules import Batch
from corpus_assets_tests.filters import plain
from corpus_assets_tests.scenario import document, table_of

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/filters.json").read_text())
FINEWEB = {"c4_quality": {"filter_no_terminal_punct": False}}
CHAIN = ["gopher_repetition", "gopher_quality", FINEWEB, "fineweb_quality"]
BLOCKS = {
    "GopherRepetition": "gopher_repetition",
    "GopherQuality": "gopher_quality",
    "C4Quality_default": "c4_quality",
    "C4Quality_fineweb": FINEWEB,
    "C4Quality_sentences": {"c4_quality": {"split_paragraph": False}},
    "FineWebQuality": "fineweb_quality",
}

SENTENCE = "The lamps of the harbour have to be lit with care. "
PIECES = [
    SENTENCE, SENTENCE.strip(), "\n", "\n\n", "\r\n", "\u2028", "\x85", " ", "  ", "\t", "\u3000", "- ", "• ", "#", "...", "…", "....",
    "[1]", "[]", "[٣]", "[edit]", "[citation needed]", "{", "Lorem ipsum", "JavaScript", "coo\u212aie policy", "İ", "terms of use",
    "the", "be", "to", "that", "and with ", "Is it?", "No!", '"Yes."', "(so.)", "।", "。", "x" * 1001, "a b c", "word", "é", "e\u0301", "漢字",
    "😀", "\0", "1", "12 km", ":)", "):", "foo():", "U.S.", "I'd", "!", ".", ",", ";", "?!", " : ", "\x1c", "a-b", "\u200b", "aa", "a", "a a",
]  # fmt: skip
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from([" ", "\n"]),
        st.builds(lambda p, n: p * n, st.sampled_from(PIECES), st.integers(2, 9)),
    ),
    max_size=40,
).map("".join)


def judged(recipe, texts, **columns):
    frame = pl.DataFrame(
        {"text": texts, **columns}, schema={"text": pl.String, **dict.fromkeys(columns, pl.String)}
    )
    recipe = recipe_of(recipe)
    if "lang" not in columns:
        frame = frame.with_columns(lang=pl.lit("en"))
    return apply_recipe(frame, recipe, Counter())


def results(recipe, texts):
    return judged(recipe, texts).select("drop_reason", "text").rows()


@pytest.mark.parametrize("block", BLOCKS)
def test_results_are_those_of_datatrove(block):
    texts = GOLDEN["inputs"]
    expected = []
    for name, text in texts.items():
        found = GOLDEN["results"][block][name]
        reason = None if found["result"] is True else found["result"][1]
        expected.append((reason, found.get("text_after", text)))
    assert results([BLOCKS[block]], list(texts.values())) == expected
    assert len({reason for reason, _ in expected}) > 2


def check_plain(text):
    frame = pl.DataFrame({"text": [text], "lang": ["en"]})

    def reason(name, **config):
        rule = RULES[name]
        verdict = rule.judge(Batch(frame), rule.config(**config))
        first = verdict.first_failures(1)[0]
        found = None if first < 0 else verdict.criteria[first].reason
        return found, verdict.columns["text"][0] if verdict.columns else text

    assert reason("gopher_repetition")[0] == plain.repetition(text)
    assert reason("fineweb_quality")[0] == plain.fineweb(text)
    for stop in (True, False):
        for by_line in (True, False):
            for fewest in (1, 2, 5):
                found = reason(
                    "c4_quality",
                    filter_no_terminal_punct=stop,
                    split_paragraph=by_line,
                    min_num_sentences=fewest,
                )
                assert found == plain.c4(text, stop=stop, by_line=by_line, fewest=fewest)
    if text.strip():
        rule = RULES["gopher_quality"]
        criteria = rule.judge(Batch(frame), rule.config()).criteria
        values = {c.reason.removeprefix("gopher_"): c.values[0] for c in criteria}
        expected = plain.measures(text)
        if not expected["short_doc"]:
            assert np.isnan(values.pop("below_avg_threshold"))
            assert np.isnan(values.pop("above_avg_threshold"))
        assert values == {name: expected[name] for name in values}


@settings(max_examples=150, deadline=None, database=None)
@given(TEXTS)
@example("One two three.  [1]\nOne two three. [1]\nAnd four.\t[1]")
@example("It is so.  \n\t It was so.   \n\n And ? \u3000")
@example("ab a b ab a b ab a b ab a b ab a b ab a b ab a b ab a b")
def test_verdicts_values_and_texts_are_those_of_the_plain_forms(text):
    check_plain(text)


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None, database=None)
@given(TEXTS)
def test_very_many_texts_are_judged_as_by_the_plain_forms(text):
    check_plain(text)


def inputs():
    return [*GOLDEN["inputs"].values(), SENTENCE * 20, "\n".join([SENTENCE, "x"] * 9), "", "日本"]


@pytest.mark.parametrize("size", [1, 3, 17])
def test_batches_do_not_matter(size):
    texts = inputs()
    whole = results(CHAIN, texts)
    parts = [results(CHAIN, texts[i : i + size]) for i in range(0, len(texts), size)]
    assert [row for part in parts for row in part] == whole


def test_order_does_not_matter():
    texts = inputs()
    assert results(CHAIN, texts[::-1]) == results(CHAIN, texts)[::-1]


def test_workers_do_not_matter(tmp_path):
    texts = inputs()
    ranks = [[document(str(i), t) for i, t in enumerate(texts[k::3])] for k in range(3)]
    source = table_of(tmp_path / "raw", *ranks, schema=DOCUMENTS)
    plan = filtered_docs(source, recipe_of(CHAIN))
    digests = [run_plan(plan, tmp_path / str(n), LocalEngine(n)).digest for n in (0, 2)]
    assert digests[0] == digests[1]


def test_large_batches_are_judged_in_slices():
    texts = [SENTENCE * 9, "x " * (3 << 20), SENTENCE * 8, "y " * (1 << 20)]
    one_by_one = [results(CHAIN, [text])[0] for text in texts]
    assert results(CHAIN, texts) == one_by_one


def test_blank_lines_between_lines_do_not_change_what_c4_keeps():
    texts = [text for text in inputs() if text]
    wider = ["\n \n".join(text.split("\n")) for text in texts]
    kept = [reason is None for reason, _ in results(["c4_quality"], texts)]
    assert any(kept)
    for (reason, text), (wide_reason, wide) in zip(
        results(["c4_quality"], texts), results(["c4_quality"], wider), strict=True
    ):
        assert wide_reason == reason
        assert reason or wide == text


def test_blank_lines_count_for_fineweb_as_newlines_alone():
    texts = [text for text in inputs() if text]
    rule = [{"fineweb_quality": {"new_line_ratio": 9, "char_duplicates_ratio": 1}}]
    reasons = [reason for reason, _ in results(rule, texts)]
    wider = [text.replace("\n", "\n\n\n") for text in texts]
    assert [reason for reason, _ in results(rule, wider)] == reasons
    assert results(["fineweb_quality"], [f"{SENTENCE}\n" * 2 + "\n" * 20])[0][0] is not None


def test_a_dropped_document_shows_what_was_measured():
    (row,) = judged(["gopher_quality"], ["too short to keep"]).iter_rows(named=True)
    assert row["drop_reason"] == "gopher_short_doc"
    assert (row["drop_value"], row["drop_threshold"]) == (4, 50)


def test_a_rule_after_c4_sees_and_drops_what_c4_left():
    text = "\n".join([SENTENCE.strip(), "Short line", SENTENCE.strip() + "[1]"] * 3)
    kept = "\n".join([SENTENCE.strip()] * 6)
    (row,) = judged(["c4_quality", "fineweb_quality"], [text]).iter_rows(named=True)
    assert (row["drop_rule"], row["drop_reason"]) == ("fineweb_quality", "char_dup_ratio")
    assert row["text"] == kept
    (row,) = judged([{"c4_quality": {"min_num_sentences": 7}}], [text]).iter_rows(named=True)
    assert (row["drop_reason"], row["text"], row["drop_value"]) == ("too_few_sentences", text, 6)


@pytest.mark.parametrize("off", [None, 0])
def test_none_and_zero_switch_a_limit_off(off):
    text = f"{SENTENCE}\n" * 20
    limits = ["dup_para_frac", "dup_para_char_frac", "dup_line_frac", "dup_line_char_frac"]
    rule = {"gopher_repetition": dict.fromkeys(limits, off)}
    assert results(["gopher_repetition"], [text])[0][0] == "dup_line_frac"
    assert results([rule], [text])[0][0] == "top_3_gram"
    none = {"min_doc_words": off, "min_stop_words": off, "min_alpha_words_ratio": off}
    assert results([{"gopher_quality": none}], ["1234 5678 x"])[0][0] is None
    one = [{"gopher_quality": {"min_doc_words": 1}}]
    assert results(one, ["1234 5678 x"])[0][0] == "gopher_below_alpha_threshold"


def test_the_misleading_name_of_datatrove_is_an_alias():
    old, new = (
        recipe_of([{"gopher_quality": {name: 0.5}}])
        for name in ("max_non_alpha_words_ratio", "min_alpha_words_ratio")
    )
    assert old == new != recipe_of(["gopher_quality"])
    with pytest.raises(ValueError, match="min_alpha_words_ratio, max_non_alpha_words_ratio"):
        recipe_of([{"gopher_quality": {"min_words": 3}}])


def test_stop_words_count_once_and_by_case():
    rule = [{"gopher_quality": {"min_doc_words": 0, "stop_words": ["der", "die"]}}]
    texts = ["der Hund die", "der Hund der", "Der Hund die"]
    assert [reason for reason, _ in results(rule, texts)] == [
        None,
        "gopher_enough_stop_words",
        "gopher_enough_stop_words",
    ]


def test_stop_chars_replace_the_stop_marks():
    text = "\n".join(["This is a line that ends with a colon:"] + ["another line of the list"] * 1)
    rule = {"fineweb_quality": {"short_line_thr": 1.0, "stop_chars": [":", "list"]}}
    assert results(["fineweb_quality"], [text])[0][0] == "line_punct_ratio"
    assert results([rule], [text])[0][0] is None
    zero = {"fineweb_quality": {"short_line_thr": 1.0, "line_punct_exclude_zero": True}}
    assert results([zero], [text])[0][0] is None


def test_each_document_is_split_by_the_tokenizer_of_its_language():
    # One word less in English: `cannot` is two.
    rule = [{"gopher_quality": {"min_doc_words": 3, "min_stop_words": 0, "min_avg_word_length": 0}}]
    found = judged(rule, ["cannot ok"] * 3, lang=["en", "de", "und"])
    assert found["drop_reason"].is_null().to_list() == [True, False, True]
    rule[0]["gopher_quality"]["language"] = "deu"
    assert judged(rule, ["cannot ok"], lang=["en"])["drop_reason"].is_null().to_list() == [False]
