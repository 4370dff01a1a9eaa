"""Tokens of raw text: those of spaCy, with what filters ask of them."""
# ruff: noqa: RUF001  # odd characters are the subject

import unicodedata
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import InputError
from corpus_assets.text import affixes_kernel, english
from corpus_assets.text.characters import flags, stop_marks
from corpus_assets.text.marks_kernel import BASE, PUNCTUATION, REAL, SENTENCE_MARK, WORD
from corpus_assets.text.marks_kernel import sentence_starts as mark_sentences
from corpus_assets.text.normalise import PUNCTUATION as SYMBOLS
from corpus_assets.text.tokens import Texts, text_column, tokenised, tokenizer_name
from corpus_assets.text.tokens_kernel import REMEMBERED, EnglishTokenizer
from corpus_assets_tests.text.batches import batch, english_pieces, golden, sample_texts
from corpus_assets_tests.text.test_english import CHUNKS, SPACED

NLP = spacy.blank("en")
NLP.add_pipe("sentencizer")

TOKENIZER = EnglishTokenizer()
FORGETFUL = EnglishTokenizer(entries=2)

OPEN = st.lists(
    st.one_of(
        english_pieces(),
        st.sampled_from(["):", "foo():", ":)z", "(:", "8)", " ", " ", " ", ": ", " (", "\n", "  "]),
    ),
    max_size=14,
).map("".join)
"""Chunks in which others may prevent a join."""


def words(texts, tokenizer=TOKENIZER):
    buffer, offsets = batch(texts)
    bounds, starts, ends, _ = tokenizer(buffer, offsets[:-1], offsets[1:])
    data = buffer.tobytes()
    found = [data[i:j].decode() for i, j in zip(starts, ends, strict=True)]
    return [found[i:j] for i, j in pairwise(bounds)]


def check(text):
    expected = english.split_text(text)
    assert words(["x :", text, "y"]) == [["x", ":"], expected, ["y"]]
    assert words([text, text], FORGETFUL) == [expected, expected]


def test_golden_words():
    vectors = golden()
    assert words([v["text"] for v in vectors]) == [v["words"] for v in vectors]


def test_words_of_real_documents_are_those_of_the_plain_form():
    texts = sample_texts("man-pages/en", "man-pages/de", "debian-policy/policy")[::20]
    assert words(texts) == [english.split_text(text) for text in texts]


@settings(max_examples=400, deadline=None, database=None)
@given(st.one_of(CHUNKS, SPACED, OPEN))
@example("( :)z")
@example("a cannot\u2028b")
@example("foo(): 0 x")
@example("x (" + "a" * 300 + "): D")
def test_any_text_is_split_as_by_the_plain_form(text):
    check(text)


@pytest.mark.slow
@settings(max_examples=200_000, deadline=None, database=None)
@given(st.one_of(CHUNKS, SPACED, OPEN))
def test_very_many_texts_are_split_as_by_the_plain_form(text):
    check(text)


@settings(max_examples=300, deadline=None, database=None)
@given(CHUNKS)
def test_the_native_rules_are_right_or_unsure(chunk):
    data = np.frombuffer("".join(chunk.split()).encode(), np.uint8)
    rules = affixes_kernel.tables()
    ends = np.empty(2 * affixes_kernel.LONGEST, np.int64)
    count = affixes_kernel.split_natively(
        data, 0, len(data), rules.classes, rules.units, rules.keys, rules.values, rules.cuts,
        rules.longest, ends,
    )  # fmt: skip
    if count != affixes_kernel.UNSURE:
        tokens = english.split_chunk(data.tobytes().decode())
        assert ends[:count].tolist() == np.cumsum([len(t.encode()) for t in tokens]).tolist()


def test_a_chunk_of_more_tokens_than_the_memory_was_made_for_has_room():
    tokenizer = EnglishTokenizer(entries=1)
    text = " ".join(("(" * count + "x" + ")" * count) for count in range(1, 12))
    assert words([text] * 2, tokenizer) == [english.split_text(text)] * 2
    assert tokenizer._cuts.size > REMEMBERED


def test_a_long_chunk_and_many_tokens_have_room():
    text = "★" * 5_000 + " " + ")" * 5_000 + " " + "a" * 100_000 + "."
    assert words([text, "."]) == [english.split_text(text), ["."]]


def polynomial(text):
    h = 0
    for byte in text.encode():
        h = (h * int(BASE) + byte + 1) % 2**64
    return h


def test_a_token_has_hash_length_and_flags():
    text = "It's £4, naïve… 漢字 ?! ... # x. \u0301 ߷"
    tokens = tokenised(Texts.of(pl.Series([text])), "eng")
    symbols = {*map(chr, SYMBOLS), *stop_marks()}
    found = english.split_text(text)
    assert tokens.hashes.tolist() == [polynomial(word) for word in found]
    assert tokens.chars.tolist() == [len(word) for word in found]
    ends = NLP.get_pipe("sentencizer").punct_chars
    for word, x in zip(found, tokens.flags, strict=True):
        assert bool(x & REAL) == (not set(word) <= symbols)
        assert bool(x & WORD) == any(map(str.isalpha, word))
        assert bool(x & SENTENCE_MARK) == (word in ends)
        assert bool(x & PUNCTUATION) == all(unicodedata.category(c)[0] == "P" for c in word)


def test_hashes_of_concatenations_follow():
    left, right = "an", "other"
    joined = (polynomial(left) * pow(int(BASE), len(right), 2**64) + polynomial(right)) % 2**64
    assert joined == polynomial(left + right)


SENTENCES = st.lists(
    st.sampled_from(
        [". ", ".", "! ", "?", " ", "  ", "\n", "\t", "(", ")", '"', "...", "。", "।", "A", "word",
         " it ", "Mr. ", "e.g. ", "1", "-", "‘", " \n", "\u3000", "€"]
    ),
    max_size=20,
).map("".join)  # fmt: skip


@settings(max_examples=400, deadline=None, database=None)
@given(SENTENCES)
def test_sentences_are_those_of_spacy(text):
    texts = Texts.of(pl.Series([text]))
    tokens = tokenised(texts, "eng")
    begins, blank = np.zeros(len(tokens.flags), np.uint8), np.zeros(1, np.uint8)
    mark_sentences(
        texts.buffer, (texts.firsts, texts.lasts), (tokens.firsts, tokens.lasts, tokens.flags),
        flags(), begins, blank,
    )  # fmt: skip
    sentences = list(NLP(text).sents)
    assert begins.sum() + blank[0] == max(len(sentences), 1)
    # A sentence may begin with white space, which is no token of ours.
    places = [
        s.start_char + len(s.text) - len(s.text.lstrip()) for s in sentences if s.text.strip()
    ]
    expected = [len(text[:place].encode()) for place in places]
    assert tokens.starts[begins == 1].tolist() == expected


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [
        ("en", "english"),
        ("en-US", "english"),
        ("und", "english"),
        ("", "english"),
        (None, "english"),
        ("tlh", "english"),
        ("de", "spacy:de"),
        ("deu", "spacy:de"),
        ("pt-BR", "spacy:pt"),
    ],
)
def test_a_language_has_its_tokenizer_and_unknown_ones_that_of_english(language, tokenizer):
    assert tokenizer_name(language) == tokenizer


def test_documents_of_several_languages_keep_their_places():
    texts = ["cannot", "cannot ok", "", "dont", "cannot"]
    tokens = tokenised(Texts.of(pl.Series(texts)), ["de", "en", "de", "en", "fr"])
    assert (tokens.lasts - tokens.firsts).tolist() == [1, 3, 0, 2, 1]
    expected = ["cannot", "can", "not", "ok", "do", "nt", "cannot"]
    found = [
        h for i, j in zip(tokens.firsts, tokens.lasts, strict=True) for h in tokens.hashes[i:j]
    ]
    assert found == [polynomial(word) for word in expected]
    where = tokens.where(np.array([False, True, False, True, False]))
    assert (where.lasts - where.firsts).tolist() == [3, 2]


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "botok", None)
    with pytest.raises(InputError, match="botok"):
        tokenised(Texts.of(pl.Series(["a", "b"])), ["bod", "en"])


def test_texts_come_back_as_a_column():
    texts = ["a", "", "é"]
    assert text_column(*batch(texts)).to_list() == texts
