"""Names of people: by real Presidio and pipelines of spaCy that are made here."""

import zlib

import polars as pl
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Span

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Counts
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DEDUPED
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii import PiiConfig, detect, scrub
from corpus_assets.pii import names as finding
from corpus_assets.pii.scrubbing import scrub_pii, scrubbed_docs
from corpus_assets_tests.pii.test_scrubbing import KEY, TEXTS, frame_of
from corpus_assets_tests.scenario import (
    document,
    files_below,
    run_cli,
    table_of,
    write_documents,
    write_spec,
)

pytest.importorskip("presidio_analyzer")

PATTERNS = [
    {"label": "PERSON", "pattern": "Mia Li"},
    {"label": "PER", "pattern": "Tom"},
    {"label": "GPE", "pattern": "Reykjavik"},
    {"label": "PRODUCT", "pattern": "two"},
]
TEXT = "Mia Li and Tom, of Reykjavik, have two cats."
SCRUBBED = "<NAME> and <NAME>, of Reykjavik, have two cats."


@Language.component("whims")
def whims(doc):
    """Find names by what stands around them, in placeholders too: each look finds other ones."""
    words = ["", *(token.text for token in doc), ""]
    around = [" ".join(words[i : i + 3]).encode() for i in range(len(doc))]
    doc.ents = [Span(doc, i, i + 1, "PERSON") for i in range(len(doc)) if zlib.crc32(around[i]) % 3]
    return doc


READ = []


@Language.component("first_word")
def first_word(doc):
    """Find one name in a text with a `|`: the first word behind it that is no placeholder."""
    READ.append(len(doc))
    words = [token.text for token in doc]
    if "|" in words:
        for i in range(words.index("|") + 1, len(doc)):
            if words[i].startswith("w"):
                doc.ents = [Span(doc, i, i + 1, "PERSON")]
                break
    return doc


def saved(folder, *components, patterns=PATTERNS):
    """Save a pipeline and return its folder."""
    nlp = spacy.blank("en")
    for name in components:
        nlp.add_pipe(name)
    if not components:
        nlp.add_pipe("entity_ruler").add_patterns(patterns)
    folder.parent.mkdir(exist_ok=True)
    nlp.to_disk(folder)
    return folder


def config_of(model, **settings):
    return PiiConfig(**{"kinds": ("name", "email", "ip")} | settings, name_model=str(model))


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("models") / "people")


@pytest.fixture(scope="module")
def whimsical(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("models") / "whims", "whims")


def test_people_are_replaced_and_places_are_not(people):
    config = config_of(people)
    assert scrub(TEXT, config)[0] == SCRUBBED
    mixed = "１２ Ｔom 中文 Tom\u00a0naps, Mia Li <mia@example.org>"
    assert [mixed[start:end] for _, start, end in detect(mixed, config)] == [
        "Ｔom", "Tom", "Mia Li", "mia@example.org",
    ]  # fmt: skip


def test_only_the_recognizer_of_people_is_loaded_and_no_network_is_asked(people, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", None)
    finding._analyzer.cache_clear()
    scrub(TEXT, config_of(people))
    (recognizer,) = finding._analyzer(str(people)).registry.recognizers
    assert recognizer.supported_entities == ["PERSON"]


def test_a_model_is_loaded_once_for_all_texts(people):
    finding._analyzer.cache_clear()
    for number in range(5):
        scrub(f"{TEXT} {number}", config_of(people))
    assert finding._analyzer.cache_info().misses == 1


def test_words_of_documents_are_not_kept(people):
    scrub(TEXT, config_of(people))
    kept = finding._analyzer(str(people)).nlp_engine.get_nlp(finding.LANGUAGE).vocab.strings
    before = len(kept)
    scrub(f"{TEXT} {' '.join(f'new{number}' for number in range(500))}", config_of(people))
    assert len(kept) == before


@pytest.mark.parametrize("written", ["no_such_model", "{here}", "blank:en"])
def test_a_model_that_is_not_there_is_refused_and_never_downloaded(written, monkeypatch, tmp_path):
    downloads = []
    monkeypatch.setattr("spacy.cli.download", downloads.append)
    source = table_of(tmp_path / "in", [document("a", TEXT)], schema=DEDUPED)
    config = config_of(written.format(here=tmp_path))
    for refused in (lambda: scrub(TEXT, config), lambda: scrubbed_docs(source, config)):
        with pytest.raises(
            InputError, match=r"name_model: .* is no installed spaCy model"
        ) as error:
            refused()
        assert "Mia" not in str(error.value)
    assert downloads == []


def test_what_spacy_cannot_load_is_refused_by_name():
    with pytest.raises(InputError, match="spaCy cannot load numpy"):
        scrub(TEXT, config_of("numpy"))


WORDS = st.sampled_from(
    ["Mia", "Li", "naps", "<NAME>", "John", "Doe", "|", "a", "\n\n", "ab", "aba"]
)
WHIMSICAL_TEXTS = st.one_of(TEXTS, st.lists(WORDS, max_size=30).map(" ".join))


@pytest.mark.parametrize(
    "settings_of_mode",
    [{}, {"mode": "dummy"}, {"mode": "hash"}, {"tags": {"name": "aba", "email": "ab"}}],
    ids=["tags", "dummy", "hash", "tags that run together"],
)
@given(text=WHIMSICAL_TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_second_pass_changes_nothing_whatever_a_model_finds(settings_of_mode, whimsical, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CORPUS_ASSETS_PII_KEY", KEY)
        config = config_of(whimsical, **settings_of_mode)
        once, _ = scrub(text, config)
        assert scrub(once, config) == (once, dict.fromkeys(config.kinds, 0))


@given(texts=st.lists(WHIMSICAL_TEXTS, max_size=5), cut=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_batches_decide_nothing(whimsical, texts, cut):
    config = config_of(whimsical)
    whole = scrub_pii(frame_of(texts), config, Counts())
    parts = [scrub_pii(frame_of(part), config, Counts()) for part in (texts[:cut], texts[cut:])]
    assert whole.equals(pl.concat(parts))
    assert whole["text"].to_list() == [scrub(text, config)[0] for text in texts]


def test_a_text_beyond_spacys_limit_is_searched_to_its_end(people):
    words = "Tom naps. " * 120_000
    assert len(words) > spacy.blank("en").max_length
    text = f"{words}Mia Li{'x' * 50_000} Tom"
    assert len(detect(text, config_of(people, kinds=("name",)))) == 120_001


def test_paragraphs_and_words_are_not_cut():
    text = "letter " * 9_000 + "\n\n" + "x" * 50_000 + "\n\n" + "short\n\n" * 1_000
    ends, start = [], 0
    while start < len(text):
        end = finding._end_of_piece(text, start)
        assert 0 < end - start <= finding.LONGEST_PIECE
        ends.append(end)
        start = end
    assert ends[-1] == len(text)
    whole = [end for end in ends if text[end - 1].isspace()]
    assert len(ends) - len(whole) == 2  # in the word of fifty thousand letters


def test_a_look_costs_only_what_changed(tmp_path):
    config = config_of(saved(tmp_path / "model", "first_word"), kinds=("name",))
    other = "Nobody is here. " * 40
    changing = "| " + "word " * 50 + "x" * 500
    text = "\n\n".join([other] * 20 + [changing] + [f"{i} {other}" for i in range(20)])
    READ.clear()
    assert len(detect(text, config)) == 50
    length = len(spacy.blank("en")(text))
    assert sum(READ) < length + 51 * 350  # not 51 * length


def test_workers_decide_nothing(people, tmp_path):
    texts = [TEXT, "Tom naps.", "No one."]
    ranks = [[document(f"{rank}:{i}", text) for i, text in enumerate(texts)] for rank in range(3)]
    source = table_of(tmp_path / "in", *ranks, schema=DEDUPED)
    plan = scrubbed_docs(source, config_of(people))
    for workers in (0, 2):
        with LocalEngine(workers) as engine:
            table = run_plan(plan, tmp_path / f"out{workers}", engine)
        assert table.counts["pii/name"] == 9
    assert files_below(tmp_path / "out0/tales") == files_below(tmp_path / "out2/tales")


def identity(tmp_path, model, base=None):
    source = table_of(tmp_path / "in", [document("a")], schema=DEDUPED)
    plan = scrubbed_docs(source, config_of(model), *([base] if base else []))
    return plan.steps[0].identity()


def test_what_is_in_a_model_makes_another_table_and_where_it_lies_does_not(people, tmp_path):
    first = identity(tmp_path, people)
    assert str(people) not in str(first)
    people_too = tmp_path / "moved"
    people_too.mkdir()
    for name, data in files_below(people).items():
        path = people_too / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert identity(tmp_path, people_too) == first
    assert identity(tmp_path, "moved", tmp_path) == first
    saved(people_too, patterns=PATTERNS[:1])
    assert identity(tmp_path, people_too) != first


def test_a_model_may_be_an_installed_package(people, monkeypatch, tmp_path):
    code = f"import spacy\ndef load(**settings): return spacy.load({str(people)!r}, **settings)\n"
    (tmp_path / "tiny_people").mkdir()
    (tmp_path / "tiny_people/__init__.py").write_text(code)
    info = tmp_path / "tiny_people-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny_people\nVersion: 1.2\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert scrub(TEXT, config_of("tiny_people"))[0] == SCRUBBED
    assert "tiny_people 1.2, presidio-analyzer " in str(identity(tmp_path, "tiny_people"))


def test_a_corpus_names_its_model_beside_its_file_and_passes_the_rescan(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    saved(tmp_path / "models/people")
    write_documents(tmp_path / "data/a.jsonl", {"id": "1", "text": TEXT})
    pii = {"kinds": ["name"], "name_model": "models/people"}
    write_spec(tmp_path / "defs.yaml", pii=pii)
    build = ("build", tmp_path / "defs.yaml", "--root", tmp_path / "out", "--workers", 0)
    assert run_cli(*build) == 0
    assert run_cli("head", tmp_path / "out/tiny/scrubbed_docs") == 0
    assert SCRUBBED in capsys.readouterr().out
    (tmp_path / "models/people/config.cfg").unlink()
    assert run_cli(*build) == 1
    assert "is no installed spaCy model" in capsys.readouterr().err
