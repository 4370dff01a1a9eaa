"""`mode: datatrove`: the output of datatrove 0.10.1's PIIFormatter, in linear time.

Each kind's replacements take turns along a rank, so the output depends on what came before; the
e-mail search is a look to both sides of each @, where datatrove's regex starts at every word.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from itertools import cycle

import polars as pl

from corpus_assets.core.plan import Counts, RankInput
from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.spans import linear

VERSION = 1

EMAILS = ("email@example.com", "firstname.lastname@example.org")
IPS = ("22.214.171.124", "126.96.36.199", "188.8.131.52", "184.108.40.206", "220.127.116.11",
       "18.104.22.168")  # fmt: skip

NOT_GLOBAL = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/29", "192.0.0.170/31", "192.0.2.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
    )
)  # fmt: skip
"""What `ipaddress` of Python 3.11.7 takes for not global, by which the golden vectors were made."""

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
_DOMAIN = re.compile(
    rf"@(?:(?:{_LABEL}\.)+{_LABEL}|\[(?:{_OCTET}\.){{3}}(?:{_OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)\])"
)
_BACKWARDS = re.compile(rf"{_ATOM}+(?:\.{_ATOM}+)*")
_START = re.compile(rf"\b{_ATOM}")
_IP = linear(rf"(?:{_OCTET}\.){{3}}{_OCTET}")
CORE_IP = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"


def find_emails(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds that datatrove's pattern matches, in the order in which it does."""
    least = 0
    sign = text.find("@")
    while sign >= 0:
        end = least
        domain = _DOMAIN.match(text, sign)
        if domain is not None:
            local = _BACKWARDS.match(text[least:sign][::-1])
            start = local and _START.search(text, sign - local.end(), sign)
            if start:
                end = domain.end()
                yield start.start(), end
        least = max(end, sign + 1) if end == least else end
        sign = text.find("@", max(least, sign + 1))


@lru_cache(maxsize=4096)
def is_public(text: str, *, public_only: bool) -> bool:
    """Return whether datatrove replaces a dotted quad."""
    try:
        address = IPv4Address(text)
    except AddressValueError:
        return False
    return not public_only or not any(address in network for network in NOT_GLOBAL)


class Rotation:
    """The replacements of one rank, which take turns."""

    def __init__(self, config: PiiConfig) -> None:
        """Start with the first of each kind."""
        self._config = config
        self._emails, self._ips = cycle(EMAILS), cycle(IPS)

    def scrub(self, text: str) -> tuple[str, Counter[str]]:
        """Return the next text of the rank with its personal data replaced, and the counts."""
        counts = Counter(dict.fromkeys(self._config.kinds, 0))
        if "email" in self._config.kinds and "@" in text:
            text, counts["email"] = self._without_emails(text)
        if "ip" in self._config.kinds:
            text, counts["ip"] = self._without_ips(text)
        return text, counts

    def _without_emails(self, text: str) -> tuple[str, int]:
        parts: list[str] = []
        last = 0
        for start, end in find_emails(text):
            parts += [text[last:start], next(self._emails)]
            last = end
        return "".join([*parts, text[last:]]), len(parts) // 2

    def _without_ips(self, text: str) -> tuple[str, int]:
        parts: list[str] = []
        last = 0
        for match in _IP.finditer(text):
            if is_public(match[0], public_only=self._config.only_remove_public_ips):
                parts += [text[last : match.start()], next(self._ips)]
                last = match.end()
        return "".join([*parts, text[last:]]), len(parts) // 2


def replace_rank(rank: RankInput, config: PiiConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a rank's documents as datatrove writes them, with the counts by kind as columns."""
    from corpus_assets.pii.scrubbing import count_kinds, with_counts  # noqa: PLC0415 - see there

    rotation = Rotation(config)
    for frame in rank.frames():
        texts, found = rotate(frame["text"], rotation)
        scrubbed = with_counts(frame.with_columns(texts.alias("text")), found)
        count_kinds(scrubbed, config, counts)
        yield scrubbed


def rotate(texts: pl.Series, rotation: Rotation) -> tuple[pl.Series, dict[int, Counter[str]]]:
    """Return texts with personal data replaced in order; others than those with cores stay."""
    places = (texts.str.contains("@", literal=True) | texts.str.contains(CORE_IP)).arg_true()
    found: dict[int, Counter[str]] = {}
    new: list[str] = []
    for place in places:
        text, number = rotation.scrub(texts[place])
        new.append(text)
        if number.total():
            found[place] = number
    return texts.clone().scatter(places, pl.Series(new, dtype=pl.String)), found
