"""The kinds of personal data, a row each: how it is found, what replaces it, what it looks like."""

from collections.abc import Iterator
from dataclasses import dataclass

from corpus_assets.pii import (
    addresses,
    cards,
    emails,
    iban,
    mac,
    names,
    national_ids,
    phones,
    secrets,
    us_ssn,
)
from corpus_assets.pii.spans import Finder


@dataclass(frozen=True)
class Kind:
    """One kind of personal data."""

    name: str
    finders: tuple[Finder, ...]
    """The ways in which it is written, each a search for candidates and what makes one count."""
    placeholder: str
    dummies: tuple[str, ...]
    """Values reserved for examples, which are nobody's."""
    examples: tuple[str, ...]
    """Texts in which one is found; the tests go by them."""
    manifest: str | None = None
    """Name of its count in the manifest, which has five."""
    default: bool = True
    """Whether it is looked for unless a corpus says otherwise."""


_ALL = (
    Kind(
        "email",
        emails.FINDERS,
        "<EMAIL>",
        ("email@example.com", "firstname.lastname@example.org"),
        ("Write to mia@example.org.", "mia (at) example (dot) org", "请联系mia@example.org，谢谢"),
        manifest="email",
    ),
    Kind(
        "ip",
        addresses.FINDERS,
        "<IP>",
        ("192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"),
        ("from 192.31.196.7 port 22", "[2620:4f:8000::53]:80"),
        manifest="ip",
    ),
    Kind(
        "phone",
        phones.FINDERS,
        "<PHONE>",
        ("+1 202 555 0100", "+1 202 555 0123", "+1 202 555 0145", "+1 202 555 0199"),
        ("Call +44 20 7946 0123", "(212) 555-0142", "Tel. 030 23125 123", "電話：＋４４ ２０ ７９４６ ０１２３"),
        manifest="phone",
    ),
    Kind(
        "credit_card",
        cards.FINDERS,
        "<CREDIT_CARD>",
        ("0000 0000 0000 0000",),
        ("4111 1111 1111 1111", "Amex 3782 822463 10005"),
        manifest="card",
    ),
    Kind(
        "iban",
        iban.FINDERS,
        "<IBAN>",
        ("XX00 0000 0000 0000 0000",),
        ("GB82 WEST 1234 5698 7654 32", "iban=gb82west12345698765432"),
    ),
    Kind(
        "us_ssn",
        us_ssn.FINDERS,
        "<US_SSN>",
        ("000-00-0000",),
        ("219-09-9999", "SSN 219 09 9999"),
    ),
    Kind(
        "secret",
        secrets.FINDERS,
        "<SECRET>",
        ("xxxxxxxxxxxxxxxx",),
        ("AKIAIOSFODNN7EXAMPLE", "https://mia:hunter2hunter2@example.org"),
        manifest="key",
    ),
    Kind(
        "national_id",
        tuple(finder for finders in national_ids.FINDERS.values() for finder in finders),
        "<NATIONAL_ID>",
        ("000000000",),
        ("CPF: 111.444.777-35", "DNI 12345678Z"),
        default=False,
    ),
    Kind(
        "mac",
        mac.FINDERS,
        "<MAC>",
        ("00:00:5E:00:53:01",),
        ("00:1A:2B:3C:4D:5E",),
        default=False,
    ),
    # Its finder needs a model: `finders_of`.
    Kind("name", (), "<NAME>", ("John Doe", "Jane Doe"), (), default=False),
)  # fmt: skip

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""All kinds by name. A kind is a row here and a module with its finders."""

DEFAULT_KINDS = tuple(kind.name for kind in _ALL if kind.default)


def finders_of(
    kinds: tuple[str, ...], countries: tuple[str, ...] | None, model: str
) -> Iterator[tuple[str, Finder]]:
    """Yield the finders of some kinds with the kind of each.

    Args:
        kinds: Names of kinds.
        countries: Those of national ids; None for all.
        model: That of names.
    """
    for name in kinds:
        if name == "national_id":
            for country in national_ids.COUNTRIES if countries is None else countries:
                yield from ((name, finder) for finder in national_ids.FINDERS[country])
        elif name == "name":
            yield name, names.names_finder(model)
        else:
            yield from ((name, finder) for finder in KINDS[name].finders)
