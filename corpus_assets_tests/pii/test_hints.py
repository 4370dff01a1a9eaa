"""The pass over the bytes: what a finder finds has its bit, and a bit is not set for nothing."""

import json
import random
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.pii import PiiConfig, detect
from corpus_assets.pii.emails import AT_WORDS
from corpus_assets.pii.folding import fold, table
from corpus_assets.pii.hint_bits import BRACKETED_AT, ENCODED_SIGN, FOLDED, KEY, KEY_END
from corpus_assets.pii.hints import hints
from corpus_assets.pii.hints_kernel import GROUPS
from corpus_assets.pii.kinds import DEFAULT_KINDS, finders_of
from corpus_assets.pii.scrubbing import spans_of_texts
from corpus_assets.pii.secrets import SIGNED_JSON, TAILS, VENDORS

FINDERS = [finder for _, finder in finders_of(DEFAULT_KINDS, (), "")]
CASES = [
    json.loads(line)["text"]
    for line in (Path(__file__).parent / "cases.jsonl").read_text("utf-8").splitlines()
]
NASTY = (
    "0123456789012345678901234567890123456789..::--@@(()) +/_%&#;=\\\t\n,[]<>\"'*|~abfATxeé中电话ติΔ"
    "１２٣٤५－–—\u00a0\u2003＠．：（Ａ。\U0001d7d9\U0001f600\u0301ſ\u212a"
)


def bits(*texts):
    return hints(pl.Series(list(texts), dtype=pl.String)).tolist()


def plain_bits(text):
    """Return the bits of what is found, by looking for everything: the reference of the kernel."""
    folded = fold(text)
    found = [finder.hint for finder in FINDERS if next(iter(finder.find(folded)), None)]
    return sum(found) | (FOLDED if folded != text else 0)


def assert_known(texts):
    for text, found in zip(texts, bits(*texts), strict=True):
        needed = plain_bits(text)
        assert needed & ~found == 0, (text, bin(needed & ~found))


@st.composite
def edited_cases(draw):
    text = draw(st.sampled_from(CASES))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(text)))
        put = draw(st.one_of(st.text(NASTY, max_size=3), st.sampled_from(CASES)))
        text = text[:place] + put + text[place + draw(st.integers(0, 2)) :]
    return text


def test_what_is_found_in_a_labelled_line_has_its_bit():
    assert_known(CASES)


@given(st.lists(st.one_of(edited_cases(), st.text(NASTY, max_size=40)), min_size=1, max_size=8))
@settings(max_examples=150, deadline=None)
def test_what_is_found_has_its_bit(texts):
    assert_known(texts)


@given(st.lists(st.one_of(edited_cases(), st.text(NASTY, max_size=40)), max_size=8))
@settings(max_examples=50, deadline=None)
def test_the_spans_of_a_batch_are_those_of_each_text(texts):
    found = spans_of_texts(pl.Series(texts, dtype=pl.String), PiiConfig())
    assert [found.get(place, []) for place in range(len(texts))] == [detect(t) for t in texts]


FORMS_THAT_WERE_MISSED = (
    "mia(at)example_dot_org",
    "mia.lee (at) example  «dot» org",
    "ftp://mia:hunter22@h",
    "1.2.3.4   020 7946 0958 phone",
    "2021-2022   020 7946 0958 phone",
    "belonsop: 020 7946 0958",
    "Phone for aa bb cc :: 020 7946 0958",
    "E\u017f9121000418450200051332",
    "S\u212a2125550142929",
)


def test_what_is_found_in_forms_that_were_missed_has_its_bit():
    assert_known(FORMS_THAT_WERE_MISSED)


@pytest.mark.slow
def test_what_is_found_in_many_edited_lines_has_its_bit():
    rng = random.Random(5)
    texts = []
    for _ in range(20_000):
        text = list(rng.choice(CASES))
        for _ in range(rng.randrange(1, 6)):
            text.insert(rng.randrange(len(text) + 1), rng.choice([*NASTY, rng.choice(CASES)]))
        texts.append("".join(text))
    assert_known(texts)


@pytest.mark.parametrize("form", [*VENDORS.values(), SIGNED_JSON])
def test_every_form_of_a_key_has_its_bit(form):
    @given(st.from_regex(re.compile(form, re.ASCII), fullmatch=True))
    @settings(max_examples=15, deadline=None)
    def holds(key):
        assert all(found & KEY for found in bits(key, f"x {key}", f"'{key}'", f"-{key}\n"))

    holds()


@pytest.mark.parametrize("vendor", TAILS)
def test_every_form_of_a_key_known_by_its_end_has_its_bit(vendor):
    tail, head = TAILS[vendor]

    @given(st.from_regex(re.compile(head + tail, re.ASCII), fullmatch=True))
    @settings(max_examples=15, deadline=None)
    def holds(key):
        assert all(found & KEY_END for found in bits(key, f"({key})"))

    holds()


ESCAPES = (
    "&#64; &#064; &#00064; &#x40; &#X0040; &commat; &COMMAT; %40 \\u0040 \\U0040 \\x40 \\X40 =40"
)


@pytest.mark.parametrize("sign", ESCAPES.split())
def test_every_escape_of_a_sign_has_its_bit(sign):
    address = f"mia{sign}example.org"
    texts = [address, f"<{address}>", f"a 12 b\n{address}\n", f"é {address}", f"1 2 3 {address}"]
    assert all(plain_bits(text) & ENCODED_SIGN for text in texts)
    assert_known(texts)


@pytest.mark.parametrize("word", AT_WORDS)
def test_every_word_in_brackets_has_its_bit(word):
    brackets = ["()", "[]", "{}", "<>", "«»", "【】", "「」"]
    inside = ["{}", " {} ", "-{}-", "*{}*", "- {} -", "{}-", "* {}"]
    forms = [a + form.format(word) + z for a, z in brackets for form in inside]
    addresses = [f"mia.lee{form}example.org" for form in forms]
    written = [f"mia.lee {form} example (dot) org" for form in forms]
    assert_known([*addresses, *written, *(f"Ask {text}." for text in addresses)])
    assert plain_bits(f"mia.lee({word})example.org") & BRACKETED_AT


def test_many_groups_of_digits_may_be_anything():
    numbers = " ".join(["12"] * GROUPS + ["219-09-9999"])
    assert plain_bits(numbers) & ~bits(numbers)[0] == 0


def test_plain_text_has_no_bits():
    prose = "It was the best of times (1859), it was the worst of times; see pages 12 and 13."
    assert (
        bits(prose, "", "a", "Section 6.3.6.2, 2022-01-31 12:30:45", "f(a) [b] {c} <d>") == [0] * 5
    )


def test_bits_do_not_depend_on_the_texts_around():
    texts = [*CASES[:50], "", "é" * 10_000, "1 " * 10_000, *CASES[50:100]]
    assert bits(*texts) == [bits(text)[0] for text in texts]


def test_every_code_point_folds_as_the_table_says():
    every = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    plain = every.translate({ord(character): put for character, put in table().items()})
    assert fold(every) == plain
    characters = list(table())
    alone = [fold(text) for c in characters for text in (c, f"a{c}", f"{c}é", f"{c}{c}b")]
    puts = [table()[c] for c in characters]
    assert alone == [text for p in puts for text in (p, f"a{p}", f"{p}é", f"{p}{p}b")]
    found = np.array(bits(*characters, *(f"mia {c}" for c in characters)))
    assert (found & FOLDED).all()
