"""Hardware addresses of network cards (IEEE 802), for those who ask for them."""

import re

from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

_BEFORE = re.compile(r"[0-9A-Za-z_]\Z|[0-9A-Fa-f]{2}[:\-.]\Z")
_AFTER = re.compile(r"[0-9A-Za-z_]|[:\-.][0-9A-Fa-f]{2}")
MULTICAST_BIT = 1


def is_of_one_card(written: str) -> bool:
    """Return whether an address is of one card: not of a group, all zeros or documentation's."""
    digits = re.sub("[^0-9A-Fa-f]", "", written).upper()
    first = int(digits[:2], 16)
    return not first & MULTICAST_BIT and digits != "0" * 12 and not digits.startswith("00005E0053")


def accept_mac(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a hardware address, or None."""
    if _BEFORE.search(text[max(0, start - 3) : start]) or _AFTER.match(text[end : end + 3]):
        return None
    return (start, end) if is_of_one_card(text[start:end]) else None


MAC = linear(
    "[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}|"
    r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}"
)
_CORE = (
    r"[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}|"
    r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}"
)
FINDERS = (Finder(by_pattern(MAC, accept_mac), core=_CORE),)
