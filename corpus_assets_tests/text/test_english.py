import re

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.text.data import read_json
from corpus_assets.text.english import SUFFIX_WINDOW, rules, split_chunk, split_text
from corpus_assets_tests.text.batches import english_pieces, golden
from corpus_assets_tests.text.make_tables import english_rules

TOKENIZER = spacy.blank("en").tokenizer

CHUNKS = st.lists(english_pieces(), min_size=1, max_size=5).map("".join)
SPACED = st.lists(
    st.one_of(
        english_pieces(), st.sampled_from([" ", " ", " ", "\n", "  ", "\xa0", "\u3000", " :", "( "])
    ),
    max_size=16,
).map("".join)


def by_spacy(text):
    return [word for word in (token.text.strip() for token in TOKENIZER(text)) if word]


def test_the_rules_are_those_of_spacy():
    saved, now = read_json("english_rules.json"), english_rules()
    assert {**saved, "source": ""} == {**now, "source": ""}
    assert len(saved["exceptions"]) == 1347


def test_golden_words():
    for vector in golden():
        assert split_text(vector["normalised"]) == vector["words_of_normalised"]
        assert split_text(vector["text"]) == vector["words"]


@pytest.mark.parametrize(
    ("chunk", "tokens"),
    [
        ("cannot", ["can", "not"]),
        ("wed", ["we", "d"]),
        ("well", ["well"]),
        ("0km", ["0", "km"]),
        ("0am", ["0am"]),
        ("10am", ["10", "am"]),
        ("£0", ["£", "0"]),
        ("https://example.org/a-b?c=d#e,", ["https://example.org/a-b?c=d#e", ","]),
        ("a-b.C", ["a", "-", "b.", "C"]),
        ("foo():", ["foo", "(", "):"]),
        ("(x:)z", ["(", "x:)z"]),
        ("wait....", ["wait", "...."]),
    ],
)
def test_chunks_are_split_as_by_spacy(chunk, tokens):
    assert by_spacy(chunk) == tokens
    assert split_chunk(chunk) == tokens


def test_a_chunk_before_can_prevent_a_join():
    assert split_text("( :)z") == by_spacy("( :)z") == ["(", ":", ")", "z"]
    assert split_text("(  :)z") == by_spacy("(  :)z") == ["(", ":)", "z"]
    assert split_chunk(":)z") == [":)", "z"]


@settings(max_examples=800, deadline=None, database=None)
@given(CHUNKS)
def test_any_chunk_is_split_as_by_spacy(chunk):
    chunk = "".join(chunk.split())
    assert split_chunk(chunk) == by_spacy(chunk)


@settings(max_examples=400, deadline=None, database=None)
@given(SPACED)
def test_any_text_is_split_as_by_spacy(text):
    assert split_text(text) == by_spacy(text)


@pytest.mark.slow
@settings(max_examples=200_000, deadline=None, database=None)
@given(CHUNKS)
def test_very_many_chunks_are_split_as_by_spacy(chunk):
    chunk = "".join(chunk.split())
    assert split_chunk(chunk) == by_spacy(chunk)


@pytest.mark.slow
@settings(max_examples=50_000, deadline=None, database=None)
@given(SPACED)
def test_very_many_texts_are_split_as_by_spacy(text):
    assert split_text(text) == by_spacy(text)


def test_every_suffix_fits_the_window():
    for piece in read_json("english_rules.json")["suffixes"]:
        inner = re.sub(r"\(\?<=.*?\](?:\[.*?\])*\)", "", piece)
        _, widest = re._parser.parse(inner).getwidth()
        assert widest + 2 <= SUFFIX_WINDOW or piece == r"\.\.+"


def test_a_long_run_of_symbols_takes_linear_time():
    chunk = "★" * 20_000
    assert split_chunk(chunk) == ["★"] * 20_000


def test_exceptions_are_found_by_whole_chunks():
    for text, tokens in rules().exceptions.items():
        if not text.isspace():
            assert split_chunk(text) == list(tokens) == by_spacy(text)
