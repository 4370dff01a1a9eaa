# ruff: noqa: RUF001  # ambiguous characters are the subject
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import DocumentError
from corpus_assets.text.data import read_json
from corpus_assets.text.normalise import PUNCTUATION, Normaliser, NormConfig, normalise
from corpus_assets_tests.text.batches import batch, golden, hard_texts, texts_of
from corpus_assets_tests.text.make_tables import decimal_digits, ranges

DEFAULT = NormConfig()
GOLDEN_CONFIGS = {
    "normalised": DEFAULT,
    "normalised_weekdays_months": NormConfig(norm_weekdays=True, norm_monthnames=True),
    "normalised_keep_punct_numbers_diacritics": NormConfig(
        remove_punctuation=False, norm_numbers=False, norm_unicode_diacritics=False
    ),
}


def normalised(texts, config=DEFAULT):
    return texts_of(*Normaliser(config)(*batch(texts)))


@pytest.mark.parametrize("name", GOLDEN_CONFIGS)
def test_texts_become_what_datatrove_made_of_them(name):
    config = GOLDEN_CONFIGS[name]
    expected = [vector[name] for vector in golden()]
    texts = [vector["text"] for vector in golden()]
    assert [normalise(text, config) for text in texts] == expected
    assert normalised(texts, config) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3,450 1,000,000 12:30 v2.0.1", "0 0 0 0 0 v0 0"),
        ("|$17.56||1|", "0 0"),
        ("1|2|3", "0 0 0"),
        ("1.2.3,4", "0 0"),
        ("1. 2", "0 0"),
        ("½ ² №", "½ ² №"),
        ("a \u0301 b", "a  b"),
        (" \u0301 b", "b"),
        ("İ ΟΔΟΣ Σ ß", "i οδος σ ß"),
        ("각 で", "\u1100\u1161\u11a8 て"),
        ("‘a’ ¿b؟", "‘a ¿b؟"),
        ("\u1fef", "`"),
        ("\u302e\u1b44", "\u1b44\u302e"),
    ],
)
def test_each_step_sees_what_the_one_before_left(text, expected):
    assert normalise(text, DEFAULT) == expected
    assert normalised([text]) == [expected]


def test_there_are_129_punctuation_marks():
    assert len(PUNCTUATION) == 129


def test_the_table_of_digits_is_that_of_the_regex_module():
    saved = read_json("decimal_digits.json")["ranges"]
    if regex.__version__ in read_json("decimal_digits.json")["source"]:
        assert decimal_digits()["ranges"] == saved
    digits = [p for first, last in saved for p in range(first, last + 1)]
    assert ranges(digits) == saved
    assert all(regex.match(r"\p{Nd}", chr(p)) for p in digits)


def test_the_kernel_decides_each_code_point_like_the_plain_form():
    for first, last in ((0, 0xD800), (0xE000, 0x20000), (0xE0000, 0xE0200)):
        texts = [f"x{c}1{c}2 {c} {c}y" for c in map(chr, range(first, last))]
        assert normalised(texts) == [normalise(text, DEFAULT) for text in texts]


@pytest.mark.slow
def test_the_kernel_decides_all_other_code_points_like_the_plain_form():
    for first in range(0x20000, 0x110000, 0x10000):
        texts = [f"x{c}1{c}2 {c} {c}y" for c in map(chr, range(first, first + 0x10000))]
        assert normalised(texts) == [normalise(text, DEFAULT) for text in texts]


@settings(max_examples=400, deadline=None, database=None)
@given(st.lists(hard_texts(), max_size=6))
def test_kernel_and_plain_form_agree(texts):
    assert normalised(texts) == [normalise(text, DEFAULT) for text in texts]


@pytest.mark.slow
@settings(max_examples=50_000, deadline=None, database=None)
@given(st.lists(hard_texts(), max_size=6))
def test_kernel_and_plain_form_agree_on_many_texts(texts):
    assert normalised(texts) == [normalise(text, DEFAULT) for text in texts]


@settings(max_examples=50, deadline=None, database=None)
@given(st.lists(hard_texts(), min_size=1, max_size=4), st.data())
def test_any_setting_goes_the_plain_way(texts, data):
    config = NormConfig(**{name: data.draw(st.booleans()) for name in NormConfig.model_fields})
    assert normalised(texts, config) == [normalise(text, config) for text in texts]


def test_a_slice_of_a_batch_is_normalised_alone():
    buffer, offsets = batch(["Eins", "Σ Zwei", "Drei", ""])
    assert texts_of(*Normaliser(DEFAULT)(buffer, offsets[1:])) == ["σ zwei", "drei", ""]


def test_no_documents_are_no_documents():
    assert normalised([]) == []
    assert normalised(["", " "]) == ["", ""]


@pytest.mark.parametrize(
    "text", [b"a\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xf7\xbf\xbf\xbf"]
)
def test_what_is_no_utf8_is_refused(text):
    data = np.frombuffer(b"ok" + text, np.uint8)
    with pytest.raises(DocumentError, match=r"^document 1 of the batch is not valid UTF-8"):
        Normaliser(DEFAULT)(data, np.array([0, 2, len(data)]))


def test_threads_share_a_normaliser():
    texts = [f"{chr(p)}a Σ" for p in range(0x10000, 0x18000, 16)]
    normaliser = Normaliser(DEFAULT)
    parts = [texts[i::8] for i in range(8)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda part: texts_of(*normaliser(*batch(part))), parts))
    assert found == [[normalise(text, DEFAULT) for text in part] for part in parts]
