import sys

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import InputError
from corpus_assets.dedup.signatures import prepare_signing
from corpus_assets.text.english import split_text
from corpus_assets.text.english_kernel import EnglishSplitter
from corpus_assets.text.languages import pieces, tokenizer_of, tokenizers
from corpus_assets.text.normalise import Normaliser, NormConfig
from corpus_assets.text.words import load_splitter
from corpus_assets_tests.text.batches import (
    batch,
    english_handbook,
    english_pieces,
    golden,
    hard_texts,
    sample_texts,
    texts_of,
    words_of,
)

ENGLISH_SAMPLES = (
    "man-pages/en",
    "debian-policy/policy",
    "installation-guide/amd64-en",
    "debian-copyright/copyright",
)
OTHER_SAMPLES = (
    "installation-guide/amd64-ja",
    "installation-guide/amd64-zh-CN",
    "installation-guide/amd64-ru",
    "man-pages/de",
)
SPLITTER = EnglishSplitter()

TEXTS = st.lists(
    st.one_of(
        english_pieces(),
        hard_texts(),
        st.sampled_from([" ", " ", " ", "\n", "0", "0km", "0a0kg", "00b", "0км", "id", "wed"]),
        st.text(st.sampled_from("abkmg0"), min_size=1, max_size=6),
    ),
    max_size=14,
).map("".join)


def english(texts, splitter=SPLITTER):
    return words_of(splitter(*batch(texts)))


def test_words_of_normalised_text_are_those_of_datatrove():
    expected = [vector["words_of_normalised"] for vector in golden()]
    texts = [vector["text"] for vector in golden()]
    assert words_of(SPLITTER(*Normaliser(NormConfig())(*batch(texts)))) == expected
    assert english([vector["text"] for vector in golden()]) == [v["words"] for v in golden()]


@pytest.mark.parametrize("names", [ENGLISH_SAMPLES, OTHER_SAMPLES], ids=["english", "other"])
def test_the_kernel_agrees_with_the_plain_form_on_the_sample(names):
    texts = sample_texts(*names) + english_handbook()[:200]
    buffer, offsets = Normaliser(NormConfig())(*batch(texts))
    normalised = texts_of(buffer, offsets)
    assert words_of(SPLITTER(buffer, offsets)) == [split_text(text) for text in normalised]


def test_text_that_was_not_normalised_is_split_as_exactly():
    texts = sample_texts("man-pages/en")[:150]
    assert english(texts) == [split_text(text) for text in texts]


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(TEXTS, max_size=5))
def test_kernel_and_plain_form_agree(texts):
    assert english(texts) == [split_text(text) for text in texts]


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None, database=None)
@given(st.lists(TEXTS, max_size=5))
def test_kernel_and_plain_form_agree_on_many_texts(texts):
    assert english(texts) == [split_text(text) for text in texts]


@pytest.mark.parametrize("entries", [1, 2, 7])
def test_forgetting_changes_no_words(entries):
    texts = [f"£{chr(0x561 + i % 7)}{i % 11}0km ★ {i} ( :)z cannot" for i in range(60)]
    splitter = EnglishSplitter(entries)
    assert english(texts, splitter) == [split_text(text) for text in texts]
    assert english(texts[::-1], splitter) == [split_text(text) for text in texts[::-1]]


def test_the_table_holds_no_more_than_it_may():
    splitter = EnglishSplitter(entries=10)
    english([f"★{i}★" for i in range(1000)], splitter)
    assert splitter._splits.count <= 10
    assert len(splitter._splits.keys) == 32


def test_words_may_be_many_more_than_the_room_first_made():
    texts = ["★" * 3000, "a " * 3000, "", "0km " * 3000, "x", ":)z " * 500 + "★" * 5000]
    expected = [
        ["★"] * 3000, ["a"] * 3000, [], ["0", "km"] * 3000, ["x"],
        [":)", "z"] * 500 + ["★"] * 5000,
    ]  # fmt: skip
    assert english(texts) == expected
    assert english(texts, EnglishSplitter(entries=1)) == expected


def test_a_word_of_a_million_letters_is_one_word():
    assert english(["ab" * 500_000 + " c"]) == [["ab" * 500_000, "c"]]


def test_a_slice_of_a_batch_is_split_alone():
    buffer, offsets = batch(["one two", "", "cannot", "0km"])
    assert words_of(SPLITTER(buffer, offsets[1:])) == [[], ["can", "not"], ["0", "km"]]
    assert words_of(SPLITTER(buffer, offsets[:1])) == []


def test_bytes_that_are_no_utf8_do_not_reach_beyond_their_document():
    data = np.frombuffer(b"a\xf0 b\xc3", np.uint8)
    words = SPLITTER(data, np.array([0, 2, 5]))
    assert words.buffer.tobytes() == b"a\xf0 b\xc3 "
    assert words.documents.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("language", "code"), [("deu_Latn", "de"), ("fra_Latn", "fr"), ("kat", "xx")]
)
def test_other_languages_are_split_by_spacy(language, code):
    texts = [
        *sample_texts("man-pages/de", "man-pages/fr")[::25],
        "",
        " \n ",
        "z.B. l'été d'„x“ 3,5km",
    ]
    splitter = load_splitter(language)
    tokenizer = spacy.blank(code).tokenizer
    expected = [[w for w in (t.text.strip() for t in tokenizer(text)) if w] for text in texts]
    assert words_of(splitter(*batch(texts))) == expected
    assert splitter.identity == f"spacy:{code} (spacy {spacy.__version__})"


@pytest.mark.parametrize("language", ["en", "eng", "eng_Latn", "en_Latn", "english"])
def test_english_needs_no_package(language):
    splitter = load_splitter(language)
    assert isinstance(splitter, EnglishSplitter)
    assert splitter.identity == "english 1"


@pytest.mark.parametrize(
    ("language", "right", "datatrove"),
    [
        ("hin", "indic:hi", "stanza:kmr"),
        ("hi", "indic:hi", "stanza:kmr"),
        ("hin_Deva", "indic:hi", "indic:hi"),
        ("zh", "spacy:zh", "spacy:xx"),
        ("zho_Hani", "spacy:zh", "spacy:zh"),
        ("arb", "spacy:ar", "stanza:mt"),
        ("ar", "spacy:ar", "spacy:xx"),
        ("ms", "spacy:ms", "thai"),
        ("sa", "indic:sa", "spacy:sq"),
        ("ar_Latn", "spacy:ar", "spacy:xx"),
        ("eng", "english", "english"),
        ("kor", "kiwi", "kiwi"),
        ("spacy:xx", "spacy:xx", "spacy:xx"),
    ],
)
def test_codes_mean_the_right_tokenizer_or_datatroves(language, right, datatrove):
    if language != "ar_Latn":
        assert tokenizer_of(language, datatrove_codes=False) == right
    assert tokenizer_of(language, datatrove_codes=True) == datatrove


def test_every_tokenizer_of_the_tables_exists():
    for datatrove_codes in (False, True):
        for tokenizer in set(tokenizers(datatrove_codes=datatrove_codes).values()):
            assert tokenizer_of(tokenizer, datatrove_codes=False) == tokenizer


@pytest.mark.parametrize("language", ["", "klingon", "en_Cyrl", "spacy:", "thai:x", "deu-Latn"])
def test_an_unknown_language_is_refused(language):
    with pytest.raises(InputError, match=r"^language '.*' has no tokenizer"):
        load_splitter(language)


def test_near_codes_are_named():
    with pytest.raises(InputError, match=r"Near ones: .*deu_Latn"):
        load_splitter("deu-Latn")


@pytest.mark.parametrize(
    ("language", "package"),
    [("cmn_Hani", "jieba"), ("jpn", "SudachiPy"), ("vie", "pyvi"), ("hin", "indic-nlp-library"),
     ("tha", "pythainlp"), ("kor", "kiwipiepy"), ("bod", "botok")],
)  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(language, package, monkeypatch):
    for module in ("jieba", "sudachipy", "pyvi", "indicnlp", "pythainlp", "kiwipiepy", "botok"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"{package}.*'corpus-assets\[languages\]'"):
        load_splitter(language)


def test_a_language_that_spacy_lacks_is_refused():
    with pytest.raises(InputError, match=r"^spaCy knows no language 'qq'"):
        load_splitter("spacy:qq")


def test_japanese_text_is_cut_where_datatrove_cuts_it():
    def lengths(text):
        return [len(piece) for piece in pieces(text, 40_000)]

    assert lengths("") == []
    assert lengths("日本語") == [3]
    assert lengths("日本語" * 20_000) == [13333, 13333, 13333, 13333, 6668]
    assert lengths("a" * 50_000 + "日本語" * 9_000 + "é" * 30_000) == [
        39998,
        19998,
        13328,
        18158,
        15518,
    ]
    assert lengths("日a" * 40_000) == [20000, 20000, 20000, 20000]


def test_after_preparing_to_sign_nothing_is_compiled():
    from corpus_assets.text import english_kernel, normalise_kernel

    kernels = [
        normalise_kernel._normalise,
        english_kernel._split,
        english_kernel.insert,
    ]
    prepare_signing()
    before = [len(kernel.signatures) for kernel in kernels]
    writable = np.array([*"Ünïcode 0km ★ ok".encode()], np.uint8)
    buffer, offsets = Normaliser(NormConfig())(writable, np.array([0, len(writable)]))
    SPLITTER(buffer, offsets)
    assert before == [1, 1, 1]
    assert [len(kernel.signatures) for kernel in kernels] == before
