"""US social security numbers: hyphenated anywhere, otherwise beside a word that announces them."""

import re

from corpus_assets.pii import hint_bits
from corpus_assets.pii.context import names_another_number
from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

_LABEL = (
    r"(?i:ssn|s\.s\.n|ss#|ss no|social security|soc\.? ?sec|social sec|taxpayer id(?:entification)?|itin|"
    r"seguro social|securite sociale americaine)"
)
_LABELLED = re.compile(
    rf"{_LABEL}(?:[.\s_-]{{0,2}}(?:number|num|no|nr|nos|#|numbers|card|account))*\.?(?:[\s:=#\"'().>-]|is|was|ending){{0,12}}\Z",
    re.IGNORECASE,
)
LAST_WORDS = (
    "ssn ss n no security sec id identification itin social americaine number num nr nos numbers "
    "card account is was ending"
).split()
"""How what `_LABELLED` finds can end."""
DIGITS = 9
_BEFORE = re.compile(r"[0-9A-Za-z_#/+$€£]\Z|[0-9A-Za-z][\-.:]\Z")
_AFTER = re.compile(r"[0-9A-Za-z_/]|[\-.:][0-9A-Za-z]| [0-9]")


def is_ssn(area: str, group: str, serial: str) -> bool:
    """Return whether the three parts could be assigned (SSA, since 2011 random otherwise)."""
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


def accept_ssn(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a number, or None."""
    if end - start > DIGITS + 2:
        return None
    written = text[start:end]
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _BEFORE.search(before.replace("#", " ")) or _AFTER.match(after):
        return None
    digits = re.sub("[^0-9]", "", written)
    if len(digits) != DIGITS or not is_ssn(digits[:3], digits[3:5], digits[5:]):
        return None
    if _LABELLED.search(text[max(0, start - 60) : start].rpartition("\n")[2]):
        return start, end
    hyphenated = written[3] == "-" and written[6] == "-"
    if not hyphenated or before.endswith("#") or names_another_number(text, start):
        return None
    return start, end


SSN = linear(r"[0-9]{3}[ .\-]?[0-9]{2}[ .\-]?[0-9]{4}[0-9]*")
FINDERS = (Finder(by_pattern(SSN, accept_ssn), hint_bits.SSN),)
