"""The frame: rules in order, each on what the ones before it left, with statistics."""

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest

from corpus_assets.core.plan import Config
from corpus_assets.filters.rules import Criterion, Rule, Verdict, alternatives, judge


class Limit(Config):
    limit: int = 3


def shorten(batch, config):
    """Drop long texts; take the first character off all others."""
    chars = batch.evaluate(pl.col("text").str.len_chars())
    criterion = Criterion.measured("long", chars, np.greater, config.limit)
    text = (
        batch.frame["text"].str.slice(1).zip_with(pl.Series(~criterion.fails), batch.frame["text"])
    )
    return Verdict([criterion], {"text": text})


def start(batch, config):
    """Drop texts that begin with a, then those that begin with b."""
    first = batch.frame["text"].str.slice(0, 1)
    return Verdict([Criterion(c, (first == c).to_numpy()) for c in "ab"])


RULES = {"shorten": Rule(Limit, shorten), "start": Rule(Limit, start)}


def judged(names, texts, **settings):
    frame, counts = pl.DataFrame({"text": texts}, schema={"text": pl.String}), Counter()
    rules = [(name, RULES[name], Limit(**settings)) for name in names]
    return judge(rules, frame, counts), counts


def test_a_rule_sees_the_text_as_the_rules_before_it_rewrote_it():
    frame, _ = judged(["shorten", "start"], ["xa", "ab", "xxxx", "xyz"])
    assert frame.rows() == [
        ("a", "start", "a", None, None),
        ("b", "start", "b", None, None),
        ("xxxx", "shorten", "long", 4.0, 3.0),
        ("yz", None, None, None, None),
    ]


def test_the_other_order_gives_other_reasons():
    frame, _ = judged(["start", "shorten"], ["xa", "ab"])
    assert frame.select("text", "drop_rule").rows() == [("a", None), ("ab", "start")]


def test_what_a_rule_dropped_reaches_no_later_one():
    _, counts = judged(["shorten", "shorten"], ["1234", "12345", "123"])
    assert counts["stats/shorten/long/reached"] == 3 + 1


def test_rules_that_see_no_document_are_named_all_the_same():
    _, counts = judged(["shorten", "start"], [])
    assert counts == {"rules/shorten": 0, "rules/start": 0}


@pytest.mark.parametrize("cuts", [[0, 4], [0, 1, 2, 3, 4], [0, 3, 4]])
def test_batches_do_not_matter(cuts):
    texts = ["xa", "ab", "xxxx", "xyz"]
    whole, counts = judged(["shorten", "start"], texts)
    parts = [judged(["shorten", "start"], texts[i:j]) for i, j in itertools.pairwise(cuts)]
    assert pl.concat([frame for frame, _ in parts]).equals(whole)
    assert sum((c for _, c in parts), Counter()) == +counts


def test_statistics_say_what_other_thresholds_would_drop():
    texts = ["a" * n for n in (0, 4, 5, 8, 11, 12)]
    _, counts = judged(["shorten"], texts, limit=10)
    found = {int(k.split("/")[-1]): n for k, n in counts.items() if k.split("/")[-1].isdigit()}
    chars = [len(text) for text in texts]
    thresholds = alternatives(10)
    assert found == {t: sum(c > t for c in chars) for t in thresholds if any(c > t for c in chars)}
    assert counts["stats/shorten/long/reached"] == 6
    assert counts["stats/shorten/long/at 10"] == 2


def test_alternatives_lie_around_the_threshold_and_hold_it():
    assert alternatives(2) == [0, 1, 2, 3, 4, 8]
    assert alternatives(0.3) == [0.075, 0.15, 0.18, 0.21, 0.24, 0.27, 0.3, 0.33, 0.36, 0.39, 0.45,
                                 0.6]  # fmt: skip
    assert 0.6 in alternatives(0.6)
    assert max(alternatives(0.6)) == 0.9
