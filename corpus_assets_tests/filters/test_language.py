"""Languages: labels and scores are fastText's own, codes are one code, verdicts are datatrove's."""

import json
from collections import Counter
from pathlib import Path

import fasttext
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import InputError
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.core.texts import string_buffers
from corpus_assets.engines.local import LocalEngine
from corpus_assets.filters import apply_recipe, filtered_docs, opened, recipe_of
from corpus_assets.filters.codes import of_label, parsed
from corpus_assets.filters.fasttext_model import load_model
from corpus_assets.filters.files import located
from corpus_assets.filters.language import BUNDLED_PATH, with_fields
from corpus_assets_tests.filters.models import HIERARCHICAL, NEGATIVE, SOFTMAX, write_model
from corpus_assets_tests.scenario import document, table_of

TEXTS = {
    "en": "The lighthouse keeper wrote in her journal every evening before she went to bed.",
    "de": "Der Leuchtturmwärter schrieb jeden Abend in sein Tagebuch, bevor er schlafen ging.",
    "fr": "Le gardien du phare écrivait chaque soir dans son journal avant de se coucher.",
    "ru": "Смотритель маяка каждый вечер писал в своём дневнике перед сном.",
    "zh": "灯塔看守人每天晚上睡觉前都会写日记他的孩子们以后就能知道他的生活。",
    "ar": "كان حارس المنارة يكتب في مذكراته كل مساء قبل أن ينام.",
    "fa": "نگهبان فانوس دریایی هر شب پیش از خواب در دفتر خاطراتش می‌نوشت.",
}

ODD = [
    "", " ", "\n\n", "a", "12345", "!!!", "a </s> b", "</s>", "</s>x", "__label__en x", "\0a\0b",
    "__label__", "x\r\ny\tz\x0bq\x0cw", "\u2028\u00a0é", "\U0001f600" * 9, "e\u0301" * 30,
    "ab " * 3000, "word" * 5000, "日本語 ひらがな 한국어 ไทย",
]  # fmt: skip


def fasttexts(model: Path, texts: list[str]) -> list[dict[str, float]]:
    """Return fastText's own scores."""
    theirs = fasttext.load_model(str(model))
    pairs = [theirs.predict(text.replace("\n", " "), k=-1) for text in texts]
    return [
        {
            label.removeprefix("__label__"): score
            for label, score in zip(labels, scores, strict=True)
        }
        for labels, scores in pairs
    ]


def ours(model: Path, texts: list[str]) -> list[dict[str, float]]:
    loaded = load_model(model)
    scores = loaded.scores(*string_buffers(pl.Series("text", texts, dtype=pl.String)))
    return [dict(zip(loaded.labels, row.tolist(), strict=True)) for row in scores]


def differences(model: Path, texts: list[str]) -> list[str]:
    """Return texts whose best label or any score is not fastText's to the last bit.

    fastText leaves out labels whose score is below 1e-5 or so.
    """
    wrong = []
    for text, found, expected in zip(
        texts, ours(model, texts), fasttexts(model, texts), strict=True
    ):
        same = all(np.float32(score) == np.float32(found[k]) for k, score in expected.items())
        rest = [score for label, score in found.items() if label not in expected]
        if not same or (expected and max(rest, default=0) > 1e-4) or (not expected and any(rest)):
            wrong.append(text)
    return wrong


@pytest.fixture(scope="module")
def bundled() -> Path:
    return located(BUNDLED_PATH, Path())


def test_labels_and_scores_are_fasttexts(bundled):
    assert differences(bundled, [*TEXTS.values(), *ODD]) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_labels_and_scores_are_fasttexts_for_any_text(bundled, texts):
    assert differences(bundled, texts) == []


@pytest.mark.parametrize("loss", [HIERARCHICAL, SOFTMAX])
@pytest.mark.parametrize(
    ("word_grams", "chars", "buckets"),
    [(1, (2, 4), 50), (3, (1, 3), 50), (1, (0, 0), 0), (2, (0, 0), 40)],
)
def test_models_of_other_kinds_give_fasttexts_scores(tmp_path, loss, word_grams, chars, buckets):
    words = ["</s>", "The", "keeper", "écrivait", "a", "日本語"]
    labels = ["eng_Latn", "fra_Latn", "jpn_Jpan", "zxx_Zxxx"]
    model = write_model(tmp_path / "model.bin", labels, words, loss=loss, word_grams=word_grams,
                        chars=chars, buckets=buckets)  # fmt: skip
    assert differences(model, [*TEXTS.values(), *ODD]) == []


def test_a_model_trained_by_negative_sampling_gives_fasttexts_order(tmp_path):
    model = write_model(tmp_path / "m.bin", ["en", "fr", "de"], ["</s>", "The"], loss=NEGATIVE)
    texts = list(TEXTS.values())
    for found, expected in zip(ours(model, texts), fasttexts(model, texts), strict=True):
        # fastText looks the logistic function up in a table of 512 values.
        assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda p: p.write_bytes(b""), "empty file"),
        (lambda p: p.write_bytes(b"PK\3\4" * 20), "not 793712314"),
        (lambda p: write_model(p, ["en"], ["a"], supervised=False), "unsupervised"),
        (lambda p: p.write_bytes(write_model(p, ["en"], ["a"]).read_bytes()[:300]), "."),
    ],
)
def test_what_is_no_model_is_refused_by_name(tmp_path, make, wrong):
    make(tmp_path / "m.bin")
    with pytest.raises(InputError, match=f"m.bin: is no fastText model.*{wrong}"):
        load_model(tmp_path / "m.bin")


@pytest.mark.parametrize(
    ("codes", "canonical"),
    [
        (["en", "eng", "EN", "eng_Latn", "en_Latn", "en-latn"], "en"),
        (["zh", "zho", "cmn", "cmn_Hani"], "zh"),
        (["sr", "srp_Cyrl"], "sr"),
        (["srp_Latn", "sr-Latn"], "sr-Latn"),
        (["sq", "als", "als_Latn"], "sq"),
        (["gsw"], "gsw"),
    ],
)
def test_all_forms_of_a_code_are_one(codes, canonical):
    assert {str(parsed(code)) for code in codes} == {canonical}


@pytest.mark.parametrize("code", ["english", "xx", "e", "", "en_Latin", "qqq"])
def test_an_unknown_language_is_an_error_of_the_recipe(code):
    with pytest.raises(ValueError, match=f"unknown language '{code}'.*eng_Latn"):
        recipe_of([{"language": {"languages": [code]}}])


def test_the_labels_of_lid_176_are_languages(bundled):
    languages = {label: of_label(label, wikipedia=True) for label in load_model(bundled).labels}
    assert len(languages) == 176
    assert {label for label, found in languages.items() if str(found) != label} == {"als", "bh"}
    assert str(languages["als"]) == "gsw"


def judged(texts: list[str], base: Path = Path(), *, lang: str = "und", **config) -> pl.DataFrame:
    frame = pl.DataFrame([document(str(i), text, lang=lang) for i, text in enumerate(texts)])
    return apply_recipe(frame, opened(recipe_of([{"language": config}]), base), Counter())


def test_a_document_gets_its_language_and_score(bundled):
    frame = judged(list(TEXTS.values()))
    assert frame["lang"].to_list() == list(TEXTS)
    assert frame["drop_reason"].null_count() == len(TEXTS)
    scores = [json.loads(metadata) for metadata in frame["metadata"]]
    expected = fasttexts(bundled, list(TEXTS.values()))
    assert scores == [
        {"language_score": pytest.approx(pairs[code], abs=1e-7)}
        for code, pairs in zip(TEXTS, expected, strict=True)
    ]


@pytest.mark.parametrize("text", ["", "12345", "!!!", "\n", "¿? — 3.14"])
def test_a_text_without_letters_is_of_unknown_language(text):
    frame = judged([text, TEXTS["en"]], language_threshold=0)
    assert frame["lang"].to_list() == ["und", "en"]


def test_below_the_threshold_a_language_is_unknown_and_the_document_dropped(bundled):
    text = "Anna Berlin Madrid Paris"
    ((label, score),) = [
        max(pairs.items(), key=lambda pair: pair[1]) for pairs in fasttexts(bundled, [text])
    ]
    below = judged([text], language_threshold=score)
    assert below.select("lang", "drop_reason", "drop_value", "drop_threshold").row(0) == (
        "und", "low_language_score", pytest.approx(score), pytest.approx(score),
    )  # fmt: skip
    above = judged([text], language_threshold=np.nextafter(score, 0))
    assert above.select("lang", "drop_reason").row(0) == (label, None)


def test_only_the_listed_languages_pass():
    frame = judged(list(TEXTS.values()), languages=["eng_Latn", "deu", "fa"])
    reasons = dict(zip(TEXTS, frame["drop_reason"], strict=True))
    assert reasons == {code: None if code in {"en", "de", "fa"} else "other_language"
                       for code in TEXTS}  # fmt: skip


def test_a_listed_language_passes_by_its_own_score_though_another_is_likelier(bundled):
    text = "Anna Berlin Madrid Paris"
    (pairs,) = fasttexts(bundled, [text])
    (_, best), (second, score) = sorted(pairs.items(), key=lambda pair: -pair[1])[:2]
    assert best > score > 0.02
    assert judged([text], languages=second, language_threshold=0.02)["drop_reason"][0] is None
    assert judged([text], languages=second)["drop_reason"][0] == "low_language_score"


def test_label_only_drops_nothing():
    frame = judged([*TEXTS.values(), ""], label_only=True, languages=["en"])
    assert frame["drop_reason"].null_count() == len(TEXTS) + 1


def test_scores_of_all_likely_labels_are_written_on_request(bundled):
    text = "Anna Berlin Madrid Paris"
    facts = json.loads(judged([text], keep_top_pairs_threshold=0.1)["metadata"][0])
    (pairs,) = fasttexts(bundled, [text])
    expected = {f"top_language_{k}_score": pytest.approx(v) for k, v in pairs.items() if v > 0.1}
    assert {k: v for k, v in facts.items() if k.startswith("top_")} == expected


@pytest.mark.parametrize(("declared", "kept"), [("eng", None), ("en-Latn", None), ("und", None),
                                                ("de", "de"), ("tlh-x", "tlh-x")])  # fmt: skip
def test_what_the_input_declared_is_kept_where_it_differs(declared, kept):
    frame = judged([TEXTS["en"]], lang=declared)
    assert json.loads(frame["metadata"][0]).get("declared_lang") == kept


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{"language_score":0.5}'),
        ('{"n":12345678901234567890123}', '{"n":12345678901234567890123,"language_score":0.5}'),
        ('{"language_score":1,"n":12345678901234567890123}',
         '{"n":12345678901234567890123,"language_score":0.5}'),
        ('{"a":"language_score\\"}"}', '{"a":"language_score\\"}","language_score":0.5}'),
    ],
)  # fmt: skip
def test_metadata_keeps_what_it_holds(before, after):
    assert with_fields(before, {"language_score": 0.5}) == after


def test_a_model_without_a_listed_language_is_refused_before_any_work(tmp_path):
    write_model(tmp_path / "m.bin", ["eng_Latn", "srp_Latn"], ["a"])
    recipe = recipe_of([{"language": {"languages": ["en", "tlh"], "model": "m.bin"}}])
    with pytest.raises(InputError, match=r"m.bin has no label for tlh; it has en, sr-Latn"):
        opened(recipe, tmp_path)


def test_a_model_with_scripts_is_asked_by_any_form_of_a_code(tmp_path):
    write_model(tmp_path / "m.bin", ["eng_Latn", "srp_Latn", "uzn_Latn"], ["a"])
    for code in ("en", "eng_Latn", "sr", "sr_Latn", "uz"):
        opened(recipe_of([{"language": {"languages": code, "model": "m.bin"}}]), tmp_path)
    with pytest.raises(InputError, match="no label for sr; it has en, sr-Latn"):
        opened(recipe_of([{"language": {"languages": "sr_Cyrl", "model": "m.bin"}}]), tmp_path)


def test_another_model_makes_the_table_again_and_another_place_of_it_does_not(tmp_path):
    source = table_of(tmp_path / "raw", [document("a", TEXTS["en"])], schema=DOCUMENTS)

    def made(model: str) -> int:
        seen = []
        recipe = recipe_of([{"language": {"model": model, "language_threshold": 0}}])
        plan = filtered_docs(source, recipe, tmp_path)
        run_plan(plan, tmp_path / "out", LocalEngine(0), seen.append)
        return seen[-1].done

    first = write_model(tmp_path / "one/m.bin", ["en", "de"], ["a"])
    (tmp_path / "two").mkdir()
    (tmp_path / "two/other.bin").write_bytes(first.read_bytes())
    assert [made("one/m.bin"), made("two/other.bin"), made("one/m.bin")] == [1, 0, 0]
    write_model(first, ["en", "de"], ["a", "b"])
    assert made("one/m.bin") == 1
