"""Every kind on the labelled lines, and its validators against other libraries."""

import json
import random
import string
from collections import Counter
from functools import partial
from importlib import import_module
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import iban as stdnum_iban
from stdnum import luhn as stdnum_luhn
from stdnum.us import ssn as stdnum_ssn

from corpus_assets.pii import PiiConfig, Span, checksums, detect, evaluate
from corpus_assets.pii.addresses import RESOLVERS, is_public_ipv4, is_public_ipv6
from corpus_assets.pii.cards import passes_luhn
from corpus_assets.pii.evaluate import WITHOUT_MODEL, is_policy, read_lines, report
from corpus_assets.pii.iban import LENGTHS, is_iban
from corpus_assets.pii.us_ssn import is_ssn

LINES = read_lines([Path(__file__).with_name("cases.jsonl")])
ALL = partial(detect, config=PiiConfig(kinds=WITHOUT_MODEL))


@pytest.mark.parametrize("line", LINES, ids=[line["id"] for line in LINES])
def test_a_labelled_line_is_found_as_labelled(line):
    if not is_policy(line):
        assert ALL(line["text"]) == [Span(**span) for span in line["spans"]]


def test_the_set_holds_every_kind_and_forty_languages():
    kinds = Counter(span["kind"] for line in LINES for span in line["spans"])
    assert set(kinds) == set(WITHOUT_MODEL)
    assert len({line["note"].split(";")[0] for line in LINES}) >= 40
    assert len({line["id"] for line in LINES}) == len(LINES) >= 712


def test_scores_count_hits_misses_and_wrong_finds():
    line = {"id": "x", "text": "abcdef", "note": "en; pos; x"}
    line["spans"] = [{"kind": "ip", "start": 0, "end": 2}, {"kind": "ip", "start": 4, "end": 5}]
    found = [Span("ip", 1, 2), Span("email", 3, 4)]
    policy = line | {"note": "en; policy; x"}
    scores = evaluate([line, policy], lambda _: found)
    ip, email = scores["ip"], scores["email"]
    assert (ip.precision, ip.recall, ip.exact_share) == (1, 0.5, 0)
    assert (email.precision, email.recall, email.wrong) == (0, 1, 1)
    assert "ip" in report(scores)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=500)
def test_an_ipv4_address_is_public_if_python_says_so(number):
    address = IPv4Address(number)
    special = address.is_multicast or address in RESOLVERS
    if number >> 8 not in {0xC00000, 0xC05863}:  # what Python's releases disagree on
        assert is_public_ipv4(str(address)) == (address.is_global and not special)


@given(st.integers(0x2000 << 112, (0x4000 << 112) - 1))
@settings(max_examples=300)
def test_an_ipv6_address_is_public_if_python_says_so(number):
    address = IPv6Address(number)
    if number >> 112 not in {0x2001, 0x2002, 0x3FFF}:  # likewise
        assert is_public_ipv6(str(address)) == address.is_global


@given(st.text(string.digits, min_size=2, max_size=19))
def test_luhn_is_that_of_stdnum(number):
    assert passes_luhn(number) == stdnum_luhn.is_valid(number)


@given(st.sampled_from(sorted(LENGTHS)), st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_an_iban_is_one_to_stdnum(country, seed):
    rng = random.Random(seed)
    body = "".join(rng.choices(string.digits, k=LENGTHS[country] - 4))
    check = 98 - int("".join(str(int(c, 36)) for c in body + country + "00")) % 97
    number = f"{country}{check:02d}{body}"
    if is_iban(number):
        assert stdnum_iban.is_valid(number, check_country=False)
    assert not is_iban(f"{country}{(check + 1) % 97:02d}{body}")


@given(st.text(string.digits, min_size=9, max_size=9))
def test_an_ssn_is_one_to_stdnum(number):
    written = f"{number[:3]}-{number[3:5]}-{number[5:]}"
    if stdnum_ssn.is_valid(written):
        assert is_ssn(number[:3], number[3:5], number[5:])


@pytest.mark.parametrize(
    ("ours", "theirs", "size"),
    [
        ("brazil", "br.cpf", 11),
        ("netherlands", "nl.bsn", 9),
        ("germany", "de.idnr", 11),
        ("united_kingdom", "gb.nhs", 10),
        ("verhoeff", "verhoeff", 12),
        ("mod_11_10", "iso7064.mod_11_10", 11),
        ("turkey", "tr.tckimlik", 11),
        ("australia", "au.tfn", 9),
    ],
)
def test_check_digits_are_those_of_stdnum(ours, theirs, size):
    check, oracle = getattr(checksums, ours), import_module(f"stdnum.{theirs}")
    rng = random.Random(ours)
    for _ in range(3_000):
        number = str(rng.randrange(10 ** (size - 1), 10**size))
        if oracle.is_valid(number):
            assert check(number), number


@pytest.mark.parametrize("region", ["US", "GB", "DE", "FR", "JP", "BR", "IN", "RU", "ZA", "KR"])
def test_international_forms_of_libphonenumbers_examples_are_found(region):
    number = phonenumbers.example_number(region)
    for form in (phonenumbers.PhoneNumberFormat.E164, phonenumbers.PhoneNumberFormat.INTERNATIONAL):
        written = phonenumbers.format_number(number, form)
        assert ALL(f"Mia: {written}.") == [Span("phone", 5, 5 + len(written))], json.dumps(region)


ON_ITS_LINE = (
    "(305) 555-0188",
    "305-555-0188",
    "531-08-7742",
    "4242 4242 4242 4242",
    "GB82 WEST 1234 5698 7654 32",
    "+44 20 7946 0123",
    "0044 20 7946 0123",
    "192.31.196.7",
    "2620:4f:8000::53",
    "mia@example.org",
    "AKIAIOSFODNN7EXAMPLE",
    "00:1A:2B:3C:4D:5E",
)


@pytest.mark.parametrize("value", ON_ITS_LINE)
@pytest.mark.parametrize("above", ["Office", "Suite 12", "a,", "x-", "50 %", "№", "été"])
def test_the_line_above_a_value_does_not_touch_it(value, above):
    config = PiiConfig(kinds=WITHOUT_MODEL)
    text = f"{above}\n{value}\nMiami"
    assert [text[span.start : span.end] for span in detect(text, config)] == [value]
