"""Personal data: what is replaced, what is not, and that the replacement is a pure function."""

import base64
import random
import sys
import time

import polars as pl
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Counts
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DEDUPED
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii import PiiConfig, detect, scrub
from corpus_assets.pii.detection import search_of, spans_once
from corpus_assets.pii.evaluate import WITHOUT_MODEL
from corpus_assets.pii.folding import fold
from corpus_assets.pii.kinds import DEFAULT_KINDS, KINDS
from corpus_assets.pii.scrubbing import MANIFEST_COLUMNS, SCRUBBED, scrub_pii, scrubbed_docs
from corpus_assets_tests.scenario import document, table_of

ALL = PiiConfig(kinds=WITHOUT_MODEL)
KEY = "0123456789abcdef"

PARTS = st.sampled_from(
    [
        *("mia", "@", ".", "8", "192.31.196.7", "10.0.0.1", "example.org", "a@b.co", "-", "_", "%"),
        *(
            "+",
            " ",
            "\n",
            "\x00",
            "é",
            "e\u0301",
            "中",
            "ติดต่อ",
            "👩‍💻",
            "<",
            ">",
            "/",
            ":",
            "(",
            ")",
        ),
        *("<EMAIL>", "<IP>", "<PHONE>", "email@example.com", "+1 202 555 0100", "Tel. ", "phone "),
        *("+44 20 7946 0123", "(212) 555-0142", "020 7946 0958", "4111 1111 1111 1111", "version "),
        *("GB82 WEST 1234 5698 7654 32", "219-09-9999", "SSN ", "AKIAIOSFODNN7EXAMPLE", "https://"),
        *(
            "mia:hunter2hunter2@",
            "2620:4f:8000::53",
            "(at)",
            " AT ",
            " DOT ",
            "１２",
            "٤٤",
            "x" * 60,
        ),
        *("CPF ", "111.444.777-35", "00:1A:2B:3C:4D:5E", "0044 20 7946 0123", " or ", ","),
    ]
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


def frame_of(texts):
    return pl.DataFrame({"text": texts}, schema={"text": pl.String})


@pytest.mark.parametrize("mode", ["tags", "dummy", "hash"])
@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_second_pass_changes_nothing(mode, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CORPUS_ASSETS_PII_KEY", KEY)
        config = PiiConfig(kinds=WITHOUT_MODEL, mode=mode)
        once, _ = scrub(text, config)
        assert scrub(once, config) == (once, dict.fromkeys(WITHOUT_MODEL, 0))


@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_text_outside_spans_is_untouched(text):
    spans = detect(text, ALL)
    rest, last = [], 0
    for kind, start, end in spans:
        assert last <= start < end <= len(text)
        rest += [text[last:start], KINDS[kind].placeholder]
        last = end
    assert "".join([*rest, text[last:]]) == scrub(text, ALL)[0]


@given(texts=st.lists(TEXTS, max_size=5), cut=st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_the_batch_step_is_scrub_of_each_text(texts, cut):
    whole = scrub_pii(frame_of(texts), ALL, Counts())
    parts = [scrub_pii(frame_of(part), ALL, Counts()) for part in (texts[:cut], texts[cut:])]
    assert whole.equals(pl.concat(parts))
    for text, row in zip(texts, whole.iter_rows(named=True), strict=True):
        scrubbed, counts = scrub(text, ALL)
        assert row["text"] == scrubbed
        assert {kind: row[f"pii_{kind}"] for kind in WITHOUT_MODEL} == counts
        assert row["pii_redactions"] == counts.total()


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.name != "name"])
def test_the_examples_of_a_kind_are_found_and_its_replacements_are_not(kind):
    for text in kind.examples:
        assert [span.kind for span in detect(text, ALL)] == [kind.name]
    assert detect(kind.placeholder, ALL) == []
    dummy = PiiConfig(kinds=WITHOUT_MODEL, mode="dummy")
    assert [detect(value, dummy) for value in kind.dummies] == [[]] * len(kind.dummies)


RANDOM = random.Random(0)
LINES = {
    "a-": "a-" * 500_000,
    "a.": "a." * 500_000,
    "1.": "1." * 500_000,
    "1-": "1-" * 500_000,
    "base64": base64.b64encode(RANDOM.randbytes(750_000)).decode(),
    "hex": RANDOM.randbytes(500_000).hex(),
    "@": "@" * 1_000_000,
    ":": ":" * 1_000_000,
    "+": "+" * 1_000_000,
    "word": "a" * 1_000_000,
    "a@a.": "a@a." * 250_000,
    "a@a-": "a@" + "a-" * 500_000,
    "8.8.8.": "8.8.8." * 160_000,
    "digits": "1" * 1_000_000,
    "tel 1": "tel 1 " * 160_000,
    "BEGIN": "-----BEGIN PRIVATE KEY-----" * 37_000,
    "scheme": "http://a:" * 110_000,
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("mode", ["tags", "datatrove"])
def test_a_hostile_line_of_a_megabyte_takes_linear_time(name, mode):
    scrub("warm", PiiConfig(mode=mode))
    start = time.process_time()
    scrub(LINES[name], PiiConfig(mode=mode))
    assert time.process_time() - start < 5


def test_counts_are_by_kind_document_and_source(tmp_path):
    text = "a@b.co c@d.eu 192.31.196.7"
    documents = [document("a", text), document("b"), document("c", "192.31.196.8")]
    source = table_of(tmp_path / "in", documents, schema=DEDUPED)
    table = run_plan(scrubbed_docs(source, PiiConfig()), tmp_path / "out", LocalEngine(0))
    (frame,) = table.frames(table.ranks[0])
    assert frame.columns == SCRUBBED.names
    columns = ["text", "pii_redactions", "pii_email", "pii_ip"]
    assert frame.select(columns).rows() == [
        ("<EMAIL> <EMAIL> <IP>", 3, 2, 1),
        ("Mia naps.", 0, 0, 0),
        ("<IP>", 1, 0, 1),
    ]
    assert (table.counts["pii/email"], table.counts["pii/ip"]) == (2, 2)
    by_source = [n for name, n in table.counts.items() if name.startswith("pii_by_source/")]
    assert sum(by_source) == 4
    assert set(MANIFEST_COLUMNS.values()) <= set(frame.columns)


def assert_nothing_left(text, config):
    """Look at a scrubbed text with all finders, not by hints and surroundings."""
    search = search_of(config)
    scrubbed, _ = scrub(text, config)
    assert spans_once(scrubbed, fold(scrubbed), search.finders, search.own) == []


@given(st.lists(st.one_of(PARTS, st.just("lorem ipsum " * 60)), max_size=12).map("".join))
@settings(max_examples=200, deadline=None)
def test_a_look_at_all_of_a_scrubbed_text_finds_nothing(text):
    assert_nothing_left(text, ALL)
    assert_nothing_left(text, PiiConfig(kinds=WITHOUT_MODEL, mode="dummy"))


LISTED = (
    "(212) 555-0142 ",
    "212-555-0142\n",
    "219-09-9999\n",
    "4111 1111 1111 1111\n",
    "45.6.7.80/",
    "+44 20 7946 0123, ",
    "Tel. 030 23125 123 ",
    "a%40b.co ",
    "eyJAKIAIOSFODNN7EXAMPLE-",
)


@pytest.mark.parametrize("item", LISTED)
def test_a_list_of_values_takes_time_in_proportion(item):
    """Where each replacement uncovered the next value, these took from 40 s to hours."""
    text = item * (200_000 // len(item))
    start = time.process_time()
    scrubbed, _ = scrub(text)
    assert time.process_time() - start < 5
    assert scrub(scrubbed)[0] == scrubbed


@pytest.mark.parametrize("tag", ["a@b", "x\x00y", "line\nbreak", "12345"])
def test_a_tag_that_could_be_personal_data_is_refused(tag):
    with pytest.raises(pydantic.ValidationError, match="control character, an @ or five digits"):
        PiiConfig(tags={"email": tag})


def test_a_lone_surrogate_is_text_like_any_other():
    assert scrub("\ud800 mia@example.org")[0] == "\ud800 <EMAIL>"


@pytest.mark.parametrize(
    "text", ["Phone | 212-555-0142 | 80202-1234", "<IP> 5.6.7.8 and <PHONE>: 80202-1234"]
)
def test_a_placeholder_announces_nothing(text):
    scrubbed, _ = scrub(text)
    assert scrubbed.replace("212-555-0142", "<PHONE>") == text.replace("212-555-0142", "<PHONE>")


def test_documents_with_too_many_spans_are_dropped_for_a_reason_of_their_own(tmp_path):
    documents = [document("a", "a@b.co c@d.eu"), document("b", "a@b.co")]
    source = table_of(tmp_path / "in", documents, schema=DEDUPED)
    plan = scrubbed_docs(source, PiiConfig(drop_if_spans_over=1))
    table = run_plan(plan, tmp_path / "out", LocalEngine(0))
    assert table.counts["dropped/pii/too_many_spans"] == 1
    assert table.counts["pii/email"] == 1
    assert table.rows == 1


def test_tags_can_be_chosen():
    config = PiiConfig(tags={"email": "[mail]"})
    assert scrub("a@b.co 192.31.196.7", config)[0] == "[mail] <IP>"


def test_a_dummy_is_reserved_and_the_same_for_the_same_value():
    config = PiiConfig(mode="dummy")
    once, again = scrub("mia@example.net, tom@example.net, mia@example.net", config)[0], None
    first, _, again = once.split(", ")
    assert first == again
    assert first in KINDS["email"].dummies


def test_a_hash_is_the_same_for_the_same_value_and_key(monkeypatch):
    config = PiiConfig(mode="hash")
    monkeypatch.setenv("CORPUS_ASSETS_PII_KEY", KEY)
    one, other, same = scrub("a@b.co e@f.eu a@b.co", config)[0].split()
    assert one == same != other
    assert one.startswith("<EMAIL_")
    assert one.endswith(">")
    monkeypatch.setenv("CORPUS_ASSETS_PII_KEY", KEY[::-1])
    assert scrub("a@b.co", config)[0] != one


def test_another_key_makes_another_table(monkeypatch, tmp_path):
    source = table_of(tmp_path / "in", [document("a")], schema=DEDUPED)
    identities = []
    for key in (KEY, KEY[::-1]):
        monkeypatch.setenv("CORPUS_ASSETS_PII_KEY", key)
        identities.append(scrubbed_docs(source, PiiConfig(mode="hash")).steps[0].identity())
    assert identities[0] != identities[1]
    assert KEY not in str(identities)


def test_without_a_key_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("CORPUS_ASSETS_PII_KEY", raising=False)
    with pytest.raises(InputError, match="CORPUS_ASSETS_PII_KEY: expected at least 16"):
        scrub("a@b.co", PiiConfig(mode="hash"))


def test_names_without_presidio_say_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    source = table_of(tmp_path / "in", [document("a")], schema=DEDUPED)
    config = PiiConfig(kinds=("name",))
    for refused in (lambda: scrub("Mia Li", config), lambda: scrubbed_docs(source, config)):
        with pytest.raises(InputError, match=r"pip install 'corpus-assets\[ner\]'"):
            refused()


@pytest.mark.parametrize(
    ("kinds", "scrubbed"),
    [
        ((), "a@b.co 192.31.196.7"),
        (("email",), "<EMAIL> 192.31.196.7"),
        (("ip",), "a@b.co <IP>"),
        (("ip", "email"), "<EMAIL> <IP>"),
    ],
)
def test_only_the_kinds_chosen_are_replaced(kinds, scrubbed):
    counts = Counts()
    frame = scrub_pii(frame_of(["a@b.co 192.31.196.7"]), PiiConfig(kinds=kinds), counts)
    assert frame["text"].to_list() == [scrubbed]
    assert counts == {f"pii/{kind}": 1 for kind in kinds}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"kinds": ("email", "fax")}, "unknown kind fax; there are email, ip"),
        ({"countries": ("xx",)}, "unknown country xx"),
        ({"tags": {"fax": "x"}}, "unknown kind fax"),
        ({"mode": "datatrove", "kinds": DEFAULT_KINDS}, "knows the kinds email and ip only"),
        ({"only_remove_public_ips": False}, "mode datatrove alone"),
        ({"name_model": "models/people"}, "name_model is of the kind name alone"),
    ],
)
def test_a_config_that_means_nothing_is_refused(config, message):
    with pytest.raises(pydantic.ValidationError, match=message):
        PiiConfig(**config)
