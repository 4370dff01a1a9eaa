"""The kinds of personal data, a row each: what may be one, what makes it one, what replaces it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from corpus_assets.pii.addresses import is_public_ipv4


@dataclass(frozen=True)
class Kind:
    """One kind of personal data."""

    name: str
    core: str
    """Cheap necessary condition, for the Rust engine; only texts that hold it are looked at."""
    pattern: re.Pattern[str]
    """Candidates. Every repetition is bounded, so that a search is linear in the text."""
    is_valid: Callable[[str], bool]
    placeholder: str
    manifest: str
    """Name of its count in the manifest."""


def any_candidate(text: str) -> bool:
    """Take every candidate: the pattern says all."""
    return True


EMAIL = (
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}"
    r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
)
IPV4 = r"(?<![0-9A-Za-z.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9A-Za-z]|\.[0-9])"

KINDS: dict[str, Kind] = {
    "email": Kind("email", "@", re.compile(EMAIL), any_candidate, "<EMAIL>", "email"),
    "ip": Kind(
        "ip",
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
        re.compile(IPV4),
        is_public_ipv4,
        "<IP>",
        "ip",
    ),
}
"""All kinds by name. A kind is a row here and two rows of its test."""
