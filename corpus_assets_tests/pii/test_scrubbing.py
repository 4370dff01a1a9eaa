"""Personal data: what is replaced, what is not, and that the replacement is a pure function."""

import time

import polars as pl
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.core.plan import Counts
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DEDUPED
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii import PiiConfig, scrub, scrubbed_docs
from corpus_assets.pii.kinds import KINDS
from corpus_assets.pii.scrubbing import MANIFEST_COLUMNS, SCRUBBED, scrub_pii
from corpus_assets_tests.scenario import document, table_of


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("mia@example.org", "<EMAIL>"),
        ("Write to mia@example.org.", "Write to <EMAIL>."),
        ("<mia@example.org>", "<<EMAIL>>"),
        ("mailto:Mia.B_c%d+tag-9@Sub-1.Example.CO.UK?x", "mailto:<EMAIL>?x"),
        ("a@b.co,c@d.eu", "<EMAIL>,<EMAIL>"),
        ("写信mia@example.org吧", "写信<EMAIL>吧"),
        ("git@github.com:mia/tales.git", "<EMAIL>:mia/tales.git"),
        ("mia@example.org/x", "<EMAIL>/x"),
        ("x" * 64 + "@example.org", "<EMAIL>"),
        ("mia@example.technology", "<EMAIL>"),
        ("mia@8.example.org", "<EMAIL>"),
    ],
)
def test_an_email_address_is_replaced(text, scrubbed):
    assert scrub(text) == (scrubbed, {"email": scrubbed.count("<EMAIL>"), "ip": 0})


@pytest.mark.parametrize(
    "text",
    [
        "mia@example",
        "@example.org",
        "mia@",
        "mia@.org",
        "mia@-example.org",
        "mia@example-.org",
        "mia@example..org",
        "mia @example.org",
        "mia@example.o",
        "mia@example.123",
        "x" * 65 + "@example.org",
        "mia at example dot org",
        "@mia wrote @tom",
        "mia\uff20example.org",
    ],
)
def test_what_is_no_email_address_stays(text):
    assert scrub(text) == (text, {"email": 0, "ip": 0})


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("8.8.8.8", "<IP>"),
        ("Ask 8.8.8.8.", "Ask <IP>."),
        ("8.8.8.8, 1.1.1.1; 9.9.9.9", "<IP>, <IP>; <IP>"),
        ("http://8.8.8.8:80/x", "http://<IP>:80/x"),
        ("地址8.8.8.8。", "地址<IP>。"),
        ("8.8.8.8/24", "<IP>/24"),
        ("(255.8.8.8)", "(255.8.8.8)"),
        ("223.255.255.255", "<IP>"),
        ("8.8.8.8.\n", "<IP>.\n"),
        ("user@8.8.8.8", "user@<IP>"),
    ],
)
def test_a_public_address_is_replaced(text, scrubbed):
    assert scrub(text) == (scrubbed, {"email": 0, "ip": scrubbed.count("<IP>")})


@pytest.mark.parametrize(
    "text",
    [
        "1.2.3",
        "1.2.3.4.5",
        "v1.2.3.4",
        "1.2.3.4a",
        "1.2.3.4-rc1.2.3.4.5"[8:],
        "256.1.1.1",
        "08.8.8.8",
        "1.2.3.1234",
        "1.2.3.",
        ".8.8.8.8",
        "8.8.8.8.8",
        "x8.8.8.8",
        "٨.٨.٨.٨",
        # Special-purpose ranges, first and last address of each.
        *("0.0.0.0", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.0"),
        *("100.127.255.255", "127.0.0.1", "169.254.1.1", "172.16.0.0", "172.31.255.255"),
        *("192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255"),
        *("198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1"),
        *("239.255.255.255", "240.0.0.1", "255.255.255.255"),
    ],
)
def test_a_version_number_or_special_address_stays(text):
    assert scrub(text) == (text, {"email": 0, "ip": 0})


@pytest.mark.parametrize(
    "text",
    [
        *("9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255"),
        *("172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0"),
    ],
)
def test_neighbours_of_special_ranges_are_public(text):
    assert scrub(text)[0] == "<IP>"


PARTS = st.sampled_from(
    [
        "mia",
        "@",
        ".",
        "8",
        "8.8.8.8",
        "10.0.0.1",
        "example.org",
        "a@b.co",
        "-",
        "_",
        "%",
        "+",
        " ",
        "<EMAIL>",
        "<IP>",
        "é",
        "中",
        "\n",
        "\x00",
        "x" * 60,
        "1.1.1.1@x.org",
        "<",
        ">",
    ]
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


@given(TEXTS)
def test_a_second_pass_finds_nothing(text):
    once, _ = scrub(text)
    assert scrub(once) == (once, {"email": 0, "ip": 0})


def frame_of(texts):
    return pl.DataFrame({"text": texts}, schema={"text": pl.String})


@given(st.lists(TEXTS, max_size=5), st.integers(0, 5))
def test_the_replacement_is_a_function_of_the_text_alone(texts, cut):
    whole = scrub_pii(frame_of(texts), PiiConfig(), Counts())
    parts = [
        scrub_pii(frame_of(part), PiiConfig(), Counts()) for part in (texts[:cut], texts[cut:])
    ]
    assert whole.equals(pl.concat(parts))
    for text, row in zip(texts, whole.iter_rows(named=True), strict=True):
        scrubbed, counts = scrub(text)
        assert row == {
            "text": scrubbed,
            "pii_email": counts["email"],
            "pii_ip": counts["ip"],
            "pii_redactions": counts.total(),
        }


@pytest.mark.parametrize(
    "line",
    [
        "a" * 1_000_000,
        "a." * 500_000,
        "a@" * 500_000,
        "a@a." * 250_000,
        "a@" + "a-" * 500_000,
        "a@" + ("a" * 62 + ".") * 15_000,
        "@" * 1_000_000,
        "1." * 500_000,
        "1.1.1.1" * 140_000,
        "8.8.8." * 160_000,
        "%+-._" * 200_000 + "@",
    ],
    ids=lambda line: line[:6],
)
def test_a_hostile_line_of_a_megabyte_takes_linear_time(line):
    start = time.process_time()
    scrub(line)
    scrub_pii(frame_of([line]), PiiConfig(), Counts())
    assert time.process_time() - start < 5


def test_counts_are_by_kind_and_document(tmp_path):
    documents = [document("a", "a@b.co c@d.eu 8.8.8.8"), document("b"), document("c", "1.1.1.1")]
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
    assert set(MANIFEST_COLUMNS.values()) <= set(frame.columns)


@pytest.mark.parametrize(
    ("kinds", "scrubbed"),
    [
        ((), "a@b.co 8.8.8.8"),
        (("email",), "<EMAIL> 8.8.8.8"),
        (("ip",), "a@b.co <IP>"),
        (("ip", "email"), "<EMAIL> <IP>"),
    ],
)
def test_only_the_kinds_chosen_are_replaced(kinds, scrubbed):
    counts = Counts()
    frame = scrub_pii(frame_of(["a@b.co 8.8.8.8"]), PiiConfig(kinds=kinds), counts)
    assert frame["text"].to_list() == [scrubbed]
    assert counts == {f"pii/{kind}": int(kind in kinds) for kind in KINDS}
    assert scrub("a@b.co 8.8.8.8", kinds)[0] == scrubbed


def test_an_unknown_kind_says_which_there_are():
    with pytest.raises(pydantic.ValidationError, match="unknown kind fax; there are email, ip"):
        PiiConfig(kinds=("email", "fax"))


def test_every_kind_has_a_placeholder_that_no_kind_finds():
    for kind in KINDS.values():
        assert scrub(kind.placeholder)[0] == kind.placeholder
