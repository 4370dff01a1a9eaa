"""`mode: datatrove` is datatrove's PIIFormatter, whose vectors lie in `golden/`."""

import json
import re
from ipaddress import IPv4Address
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DEDUPED
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii import PiiConfig, scrub
from corpus_assets.pii.datatrove import Rotation, find_emails, is_public, rotate
from corpus_assets.pii.scrubbing import scrubbed_docs
from corpus_assets_tests.scenario import document, table_of

GOLDEN = Path(__file__).parents[1] / "golden"
VECTORS = [json.loads(line) for line in (GOLDEN / "datatrove-pii.jsonl").read_text().splitlines()]
CONFIG = PiiConfig(mode="datatrove")

ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
OCTET = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
EMAIL = re.compile(
    rf"\b{ATOM}(?:\.{ATOM})*@(?:(?:{LABEL}\.)+{LABEL}|"
    rf"\[(?:{OCTET}\.){{3}}(?:{OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)\])"
)
"""The quadratic pattern that the linear search must equal (datatrove 0.10.1, in its words)."""


@pytest.mark.parametrize("vector", VECTORS)
def test_a_text_becomes_what_datatrove_makes_of_it(vector):
    assert scrub(vector["text"], CONFIG)[0] == vector["default"]
    everything = PiiConfig(mode="datatrove", only_remove_public_ips=False)
    assert scrub(vector["text"], everything)[0] == vector["all_ips"]


def test_replacements_take_turns_along_a_rank_and_start_anew_in_the_next(tmp_path):
    pairs = json.loads((GOLDEN / "datatrove-pii-in-order.json").read_text())
    texts = [text for text, _ in pairs]
    ranks = [[document(f"{rank}{i}", text) for i, text in enumerate(texts)] for rank in "ab"]
    source = table_of(tmp_path / "in", *ranks, schema=DEDUPED)
    table = run_plan(scrubbed_docs(source, CONFIG), tmp_path / "out", LocalEngine(0))
    for rank in table.ranks:
        found = [text for frame in table.frames(rank) for text in frame["text"]]
        assert found == [scrubbed for _, scrubbed in pairs]


@given(st.text(alphabet="a1.@-_[]:%é中 \n", max_size=40))
@settings(max_examples=2_000, deadline=None)
def test_the_linear_search_finds_what_the_regex_does(text):
    assert list(find_emails(text)) == [match.span() for match in EMAIL.finditer(text)]


@given(st.lists(st.text(alphabet="a1.@8 ", max_size=30), max_size=6))
@settings(max_examples=200, deadline=None)
def test_texts_without_a_core_are_left_out_without_a_difference(texts):
    one, other = Rotation(CONFIG), Rotation(CONFIG)
    expected = [one.scrub(text)[0] for text in texts]
    assert rotate(pl.Series(texts, dtype=pl.String), other)[0].to_list() == expected


@given(st.integers(0, 2**32 - 1))
def test_public_is_what_python_says_but_for_what_its_releases_changed(number):
    address = IPv4Address(number)
    if number >> 8 != 0xC00000:
        assert is_public(str(address), public_only=True) == address.is_global
