"""International bank account numbers: the country's length and structure, and 97 leaves 1."""

import re

from corpus_assets.pii import hint_bits
from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

STRUCTURES = dict(
    entry.split(":")
    for entry in [
        "AD:8n12c",
        "AE:19n",
        "AL:8n16c",
        "AT:16n",
        "AZ:4a20c",
        "BA:16n",
        "BE:12n",
        "BG:4a6n8c",
        "BH:4a14c",
        "BI:23n",
        "BR:23n1a1c",
        "BY:4c4n16c",
        "CH:5n12c",
        "CR:18n",
        "CY:8n16c",
        "CZ:20n",
        "DE:18n",
        "DJ:23n",
        "DK:14n",
        "DO:4c20n",
        "EE:16n",
        "EG:25n",
        "ES:20n",
        "FI:14n",
        "FK:2a12n",
        "FO:14n",
        "FR:10n11c2n",
        "GB:4a14n",
        "GE:2a16n",
        "GI:4a15c",
        "GL:14n",
        "GR:7n16c",
        "GT:24c",
        "HN:4a20n",
        "HR:17n",
        "HU:24n",
        "IE:4a14n",
        "IL:19n",
        "IQ:4a15n",
        "IS:22n",
        "IT:1a10n12c",
        "JO:4a4n18c",
        "KW:4a22c",
        "KZ:3n13c",
        "LB:4n20c",
        "LC:4a24c",
        "LI:5n12c",
        "LT:16n",
        "LU:3n13c",
        "LV:4a13c",
        "LY:21n",
        "MC:10n11c2n",
        "MD:20c",
        "ME:18n",
        "MK:3n10c2n",
        "MN:16n",
        "MR:23n",
        "MT:4a5n18c",
        "MU:4a19n3a",
        "NI:4a20n",
        "NL:4a10n",
        "NO:11n",
        "OM:3n16c",
        "PK:4a16c",
        "PL:24n",
        "PS:4a21c",
        "PT:21n",
        "QA:4a21c",
        "RO:4a16c",
        "RS:18n",
        "RU:14n15c",
        "SA:2n18c",
        "SC:4a20n3a",
        "SD:14n",
        "SE:20n",
        "SI:15n",
        "SK:20n",
        "SM:1a10n12c",
        "SO:19n",
        "ST:21n",
        "SV:4a20n",
        "TL:19n",
        "TN:20n",
        "TR:5n1n16c",
        "UA:6n19c",
        "VA:18n",
        "VG:4a16n",
        "XK:16n",
        "YE:4a4n18c",
    ]
)
"""What follows country and check digits, by country: n digits, a letters, c either (SWIFT, IBAN
Registry, release 99, 2024)."""

_CLASSES = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}


def _pattern(structure: str) -> re.Pattern[str]:
    parts = re.findall("([0-9]+)([nac])", structure)
    return re.compile("[0-9]{2}" + "".join(f"{_CLASSES[kind]}{{{size}}}" for size, kind in parts))


PATTERNS = {country: _pattern(structure) for country, structure in STRUCTURES.items()}
LENGTHS = {
    country: 4 + sum(int(size) for size in re.findall("[0-9]+", structure))
    for country, structure in STRUCTURES.items()
}


def is_iban(compact: str) -> bool:
    """Return whether upper-case letters and digits without spaces are an IBAN (ISO 13616)."""
    pattern = PATTERNS.get(compact[:2])
    if pattern is None or not pattern.fullmatch(compact[2:]):
        return False
    digits = "".join(str(int(character, 36)) for character in compact[4:] + compact[:4])
    return int(digits) % 97 == 1


_WORD = re.compile("[A-Za-z0-9_]")
_LABELLED = re.compile(r"iban\W{0,4}\Z", re.IGNORECASE)


def accept_iban(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of as many characters as an IBAN of the country has, or None.

    What follows is not looked at: an upper-case word there is no part of it.
    """
    if start and _WORD.match(text[start - 1]):
        return None
    country = text[start : start + 2]
    if not country.isascii():
        return None
    left = LENGTHS[country.upper()]
    place = start
    while left and place < end:
        left -= text[place].isalnum()
        place += 1
    touching = _WORD.match(text[place : place + 1])
    if left or (touching and not _LABELLED.search(text[max(0, start - 12) : start])):
        return None
    compact = re.sub("[ .\\-]", "", text[start:place]).upper()
    return (start, place) if is_iban(compact) else None


_COUNTRIES = "|".join(f"[{a}{a.lower()}][{b}{b.lower()}]" for a, b in STRUCTURES)
"""RE2 takes both cases of a letter for one without regard to case, and then the sign of Kelvin."""
IBAN = linear(rf"(?:{_COUNTRIES})[ ]?[0-9]{{2}}(?:[ .\-]?[A-Za-z0-9]){{11,34}}")
FINDERS = (Finder(by_pattern(IBAN, accept_iban), hint_bits.IBAN),)
