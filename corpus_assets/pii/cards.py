"""Payment cards: issuer prefix, length, grouping and Luhn's digit must all fit."""

import re

from corpus_assets.pii import hint_bits
from corpus_assets.pii.context import names_another_number
from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

ISSUERS = (
    (re.compile("4"), (16, 19)),
    (re.compile("5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)"), (16,)),
    (re.compile("3[47]"), (15,)),
    (re.compile("6011|64[4-9]|65"), (16, 19)),
    (re.compile("30[0-5]|3095|36|3[89]"), (14, 16, 19)),
    (re.compile("35(?:2[89]|[3-8])"), (16, 19)),
    (re.compile("62|81"), (16, 17, 18, 19)),
    (re.compile("50(?:18|20|38)|5[6-8]|6304|6759|676[1-3]|67"), (16, 19)),
    (re.compile("220[0-4]"), (16, 19)),
    (re.compile("60(?:82|69)|508[5-9]|8172"), (16,)),
    (re.compile("9792"), (16,)),
    (re.compile("4011(?:78|79)|438935|457631|5041|50(?:67|90)|6277|636[23]"), (16,)),
    (re.compile("60(?:12|6282)|637(?:095|568|599|609|612)"), (16, 19)),
)
"""First digits and lengths: Visa, Mastercard, American Express, Discover, Diners Club, JCB,
UnionPay, Maestro, Mir, RuPay, Troy, Elo, Hipercard (ISO/IEC 7812; the networks' own ranges)."""

GROUPS = frozenset(
    {(16,), (14,), (15,), (17,), (18,), (19,), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3)}
    | {(6, 13), (4, 4, 4, 2), (4, 5, 6), (4, 4, 4, 3)}
)
"""Digits of each group as cards print them."""


def passes_luhn(digits: str) -> bool:
    """Return whether the last digit is the check digit of ISO/IEC 7812-1, annex B."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def is_card(digits: str) -> bool:
    """Return whether digits are a number that some network could have issued."""
    issued = any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in ISSUERS)
    return issued and len(set(digits)) > 1 and passes_luhn(digits)


_BEFORE = re.compile(r"[0-9A-Za-z_]\Z|[0-9][.\- ]\Z|[A-Za-z]-\Z|[$€£+]\Z")
_AFTER = re.compile(r"[0-9A-Za-z_]|[.\-][0-9]|-[A-Za-z]| ?%")


USUAL = 16
"""Digits of most cards. Of numbers of 17 to 19 digits in a row, the ids of networks, one in 120
would be a card's too: those need a word."""
_LABELLED = re.compile(
    r"card|visa|maestro|union ?pay|credit|debit|kart|carte|tarjeta|cartão|cartao|carta|kredit|\bpan\b|\bcc\b|"
    r"карт|卡|カード|카드|بطاقة|כרטיס|कार्ड|บัตร|κάρτα|银联",
    re.IGNORECASE,
)


def accept_card(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a card's number, or None."""
    if _BEFORE.search(text[max(0, start - 2) : start]) or _AFTER.match(text[end : end + 2]):
        return None
    written = text[start:end]
    groups = re.split("[ .-]", written)
    if len(set(re.sub("[0-9]", "", written))) > 1 or tuple(map(len, groups)) not in GROUPS:
        return None
    if not is_card("".join(groups)) or names_another_number(text, start):
        return None
    if (
        len(groups) == 1
        and len(written) > USUAL
        and not _LABELLED.search(text[max(0, start - 40) : start])
    ):
        return None
    return start, end


def accept_in_run(text: str, start: int, end: int) -> Bounds | None:
    """Take a run of groups that is a card as a whole, or its first groups before other numbers."""
    bounds = accept_card(text, start, end)
    for size in (19, 17, 16):
        if bounds is None and end - start > size and text[start + size] == " ":
            bounds = _first_groups(text, start, start + size)
    return bounds


def _first_groups(text: str, start: int, end: int) -> Bounds | None:
    """Take the first groups of a run where what follows are a date and a code: `12 30 123`."""
    rest = text[end : end + 12]
    follows = re.match(
        r" (?:0[1-9]|1[0-2])[ /-]?[0-9]{2}(?:[0-9]{2})?(?: [0-9]{3,4})?(?![0-9])", rest
    )
    alone = text[:end] if follows else ""
    return accept_card(alone, start, end) if follows else None


CARD = linear(r"[0-9](?:[ .\-]?[0-9]){13,40}")
FINDERS = (Finder(by_pattern(CARD, accept_in_run), hint_bits.CARD),)
