"""Digests of texts, and how documents with one id are named."""

import hashlib

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.core.texts import repeated_id_message, text_digests


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.integers(0, 3))
def test_the_digest_of_a_text_is_that_of_its_utf8(texts, start):
    series = pl.Series("text", texts, dtype=pl.String)
    expected = [hashlib.sha256(text.encode()).digest() for text in texts]
    assert text_digests(series) == expected
    assert text_digests(series[start:]) == expected[start:]
    assert text_digests(pl.concat([series, series], rechunk=False)) == expected * 2


def test_a_repeated_id_is_named_with_its_first_two_places():
    rows = pl.DataFrame({"id": ["a", "a", "a"], "rank": [2, 0, 0], "row": [1, 7, 3]})
    message = repeated_id_message({0: "tales/x.jsonl"}, rows)
    assert message.startswith("id 'a' repeats: tales/x.jsonl row 3 and tales/x.jsonl row 7.")
    assert "`id_key: null`" in message
