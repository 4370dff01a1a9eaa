"""Phone numbers: international ones anywhere, national ones beside a word that announces them.

What is a number of a country is libphonenumber's to say; what may be one at all is decided here.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib import resources

import phonenumbers

from corpus_assets.pii import hint_bits
from corpus_assets.pii.cards import is_card
from corpus_assets.pii.context import names_another_number
from corpus_assets.pii.spans import (
    TOUCHING,
    Bounds,
    Finder,
    Pattern,
    by_pattern,
    linear,
    matches_in_bytes,
)

SHORTEST_CARD = 14
FEWEST, MOST = 7, 15
"""Digits of a number: E.164 allows 15; below seven it is a short code or a house number."""

INTERNATIONAL = "+"
"""Stands in place of regions where a label says that the country code leads, as in `wa.me/`."""

_NUMBER = re.compile(r"(?:\+ ?)?\(?[0-9](?:[ .\-/()\t]{0,3}[0-9]){5,24}")
_GROUP_END = re.compile(r"(?<=[0-9])(?=[ .\-/()\t])")
_ALTERNATIVE = re.compile(r" +/ *(?=[0-9+(])|/ +")
_DATES = re.compile(
    r"(?:19|20)[0-9]{2}([-./ ])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12][0-9]|3[01])(?![0-9])|"
    r"(?:0?[1-9]|[12][0-9]|3[01])([-./ ])(?:0?[1-9]|1[0-2])\2(?:(?:19|20)[0-9]{2}(?![0-9])|[0-9]{2}(?![0-9]|\2[0-9]))|"
    r"(?:0?[1-9]|1[0-2])([-/])(?:0?[1-9]|[12][0-9]|3[01])\3(?:19|20)[0-9]{2}(?![0-9])|"
    r"(?:19|20)[0-9]{2} ?[-/] ?(?:19|20)[0-9]{2}(?![0-9])|"
    r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[0-9]{2,6})?(?![0-9])|"
    r"[0-9]{1,2}/(?:19|20)[0-9]{2}|[0-9]{1,2}-[0-9]{1,2} (?:19|20)[0-9]{2}(?![0-9])|[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9.])|[0-9]+\.[0-9]{5,}(?![0-9 .\-])"
)
"""Dates, ranges of years, time stamps, dotted quads and decimals."""

_AFTER = re.compile(
    r"[A-Za-z_]|\.[0-9]|-[0-9A-Za-z]|%|[:/][0-9]|#|°|[€$£¥]| ?(?:EUR|USD|GBP|km|kg|GB|MB|px|ms)\b"
)
_DECIMALS = re.compile(",[0-9]")
_GROUPED = re.compile(r"\+|.*[0-9][ .\-/()]+[0-9]")
"""What a comma parts from a digit after it, as the fields of a table, and not as decimals."""
_EXTENSION = re.compile(r"(?:ext|x|#|app|apt|poste|int|wew|доб|dw)\.? ?[0-9]", re.IGNORECASE)


@cache
def _rows() -> list[tuple[str, tuple[str, ...], list[str], list[str]]]:
    text = (resources.files("corpus_assets.pii") / "phone_labels.tsv").read_text(encoding="utf-8")
    rows: list[tuple[str, tuple[str, ...], list[str], list[str]]] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            language, regions, labels = line.split("\t")
            nouns, _, verbs = labels.partition("||")
            rows.append((language, tuple(regions.split()), nouns.split("|"), verbs.split("|")))
    return rows


@cache
def all_regions() -> tuple[str, ...]:
    """Return the regions of the table, each once, in its order."""
    named = (region for _, regions, *_ in _rows() for region in regions if region != "*")
    return tuple(dict.fromkeys(named))


@cache
def regions_by_label() -> dict[str, tuple[str, ...]]:
    """Return the regions in which the number after a label is looked for, by the label folded."""
    found: dict[str, tuple[str, ...]] = {}
    for _, regions, nouns, verbs in _rows():
        for label in filter(None, [*nouns, *verbs]):
            known = found.get(label, ())
            new = all_regions() if regions == ("*",) else regions
            found[label] = tuple(dict.fromkeys([*known, *new]))
    return found


def _any_of(labels: list[str]) -> str:
    """Return an alternation, longest first; letters of scripts without spaces need no boundary."""
    ordered = sorted(set(labels), key=lambda label: (-len(label), label))
    return "|".join(re.escape(label).replace("\\ ", "[ -]") for label in ordered)


def _is_spaced(label: str) -> bool:
    """Return whether a label's script sets spaces between words."""
    return not re.match(
        "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2121\u2600-\u27ff\u3040-\u30ff\u3400-\u9fff"
        "\uac00-\ud7af\U0001f000-\U0001ffff]",
        label,
    )


CONNECTORS = (
    "number|numbers|no|nr|num|nº|n°|№|#|us|me|him|her|them|at|on|is|are|to|now|today|a|au|am|an|uns|"
    "unter|der|die|den|le|la|el|al|o|ao|il|lo|allo|nummer|nummern|numero|número|numéro|numer|číslo|"
    "broj|szám|номер|номеру|номера|по|в|на|за|і|и|or|and|und|oder|et|ou|y|e|ed|og|och|eller|ja|va|"
    "numarası|numaramız|nomor|nomer|số|नंबर|नं|नम्बर|নং|पर|رقم|على|نمبر|тел|wa|hp|č|čís|type|voice|"
    "home|work|office|mobile|cell|private|privat|büro|direct|main|uk|us|usa|intl|international|"
    "mobil|fax|phone|tel|whatsapp|viber|telegram|sms|toll|free|line|via|per|by|w|m|h|o|for|the|our|"
    "op|ons|oss|på|mig|til|pod|nas|minket|siamo|noi|ci|nos|nós|para|uns|zentrale"
).split("|")
_UNSPACED_CONNECTORS = "或|和|及|または|又は|号码|號碼|号|號|番号|번호|รหัส|は|を|が|는|은|로|으로|に|へ|是|为|為|微信|/微信|信箱"
PREPOSITIONS = (
    "for|of|für|zur|zum|zu|der|de|del|da|do|des|du|per|pour|para|voor|van|til|till|för|dla|pro|k|"
    "untuk|için|для|по|на|за"
).split("|")
_TAG = r"(?:<[^<>\n]{1,40}>\s{0,2}){1,4}"
_SEPARATORS = r"[\s:.=>՝៖፡፦\"'\[【「‹«*_|/,;&–-]"
_CONNECTED = (
    rf"(?:{_SEPARATORS}{{0,4}}(?:\([^()0-9\n]{{1,20}}\)|{_UNSPACED_CONNECTORS}|{_TAG}|"
    rf"(?i:{'|'.join(CONNECTORS)})[\s:.)\"'/_=;,-])){{0,4}}"
    r"(\.? [^\s0-9:;,.()]{1,20}(?: [^\s0-9:;,.()]{2,20}){0,3} ?:)?"
    rf"{_SEPARATORS}{{0,6}}[~ ]?(?:\( ?)?\+?[ (]?[0-9][0-9 .\-/()]{{5}}"
)
"""Words between a label and its number; others too before a colon, as in `Phone for bookings: `."""

_ENDINGS = ("nummer", "number", "numero", "num", "no", "nr", "s", "en", "ları", "umuz", "unuz")


def last_words() -> set[str]:
    """Return words of ASCII letters in which a label is known from its end.

    Of several words it is the last but one, for the last is often `at` or `the`; see `joining_words`.
    """
    words = [re.split(r"\W", label.rstrip("'.")) for label in regions_by_label()]
    alone = {word[0] for word in words if len(word) == 1}
    return _with_endings(alone) | {
        word[-2] for word in words if len(word) > 1 and word[-2].isascii()
    }


def joining_words() -> set[str]:
    """Return the words between what `last_words` returns and a number."""
    words = (re.split(r"\W", label.rstrip("'.")) for label in regions_by_label())
    return {*CONNECTORS} | _with_endings({word[-1] for word in words if len(word) > 1})


def _with_endings(words: set[str]) -> set[str]:
    return {word + ending for word in words if word.isascii() for ending in ("", *_ENDINGS)}


SHORT = 2
"""Letters of labels after which more than a letter must follow: `PAN:` is no `P` and `an`."""


@cache
def _labelled() -> re.Pattern[str]:
    spaced = [label for label in regions_by_label() if _is_spaced(label)]
    short = [label for label in spaced if len(label) <= SHORT]
    long = [label for label in spaced if len(label) > SHORT]
    other = [label for label in regions_by_label() if not _is_spaced(label)]
    endings = f"(?i:{'|'.join(_ENDINGS)})?"
    return linear(
        rf"(?:(?:^|[^\pL\pM\pN.])(?:(?i:({_any_of(long)})){endings}|(?i:({_any_of(short)}))[\s:.=>/(|_-])|"
        rf"({_any_of(other)}){endings}){_CONNECTED}"
    )  # pyright: ignore[reportReturnType]


_OF_ANYTHING = frozenset(["número", "numéro", "numero", "номер", "number"])
"""Labels that with `of` and more words are the number of something else."""


def find_labelled(text: str) -> Iterator[Bounds]:
    """Yield national and international numbers that a label announces, and those joined to them."""
    for _, end, match in matches_in_bytes(_labelled(), text):
        label = (match[1] or match[2] or match[3]).decode().casefold().replace("-", " ")
        start = end - 6
        while text[start - 1] in "+(" or (text[start - 1] == " " and text[start - 2] in "+("):
            start -= 1
        if _is_of_other(label, match[4], text[start]) or _CALL_NUMBER.match(match[0].decode()):
            continue
        regions = regions_by_label().get(label) or all_regions()
        yield from _chain(text, start, (INTERNATIONAL,) if label == "wa.me" else regions)


_CALL_NUMBER = re.compile(r"\W?call (?:no|nos|number|numbers)\b", re.IGNORECASE)
"""A library's."""


def _is_of_other(label: str, words: bytes | None, first: str) -> bool:
    """Return whether a label may be that of something else, and no 0 or + says otherwise.

    Args:
        label: A label.
        words: Words between it and a colon that are not known.
        first: First character of the number.
    """
    if words and label in _OF_ANYTHING:
        return True
    dialled = first in "+(0"
    said = not words or words.decode().split()[0].casefold() in PREPOSITIONS
    return not dialled and (not said or (len(label) == 1 and label.isascii()))


_JOINED = re.compile(
    r"[\"'][^<>\n]{0,80}>(?:<[^<>\n]{1,60}>){0,2}\s{0,2}(?=[+(0-9])|[ \t]{0,2}(?:,|;|/|\||\||or|and|und|oder|of|et|ou|y|o|e|og|och|eller|i|lub|или|и|або|или|ve|veya|و|أو|或|、|・|및)?"
    r"[ \t]{0,2}(?=[+(0-9])",
    re.IGNORECASE,
)


def _chain(text: str, start: int, regions: tuple[str, ...]) -> Iterator[Bounds]:
    """Yield the number at a place and up to four more that are joined to it."""
    least = 0
    for _ in range(5):
        bounds = number_at(text, start, regions)
        if bounds is None and text[start] == "(":
            bounds = number_at(text, start + 1, regions)
        if bounds is None or (least and _digits_in(text, *bounds) != least):
            return
        yield bounds
        joined = _JOINED.match(text, bounds[1])
        if joined is None or joined.end() == bounds[1]:
            return
        start = joined.end()
        regions = regions or _region_of(text[slice(*bounds)])
        # In the next cell or field may be anything of another length, such as a postcode.
        is_next_field = joined[0].strip() in _FIELD_ENDS and text[start] not in "+(0"
        least = _digits_in(text, *bounds) if is_next_field else 0


@lru_cache(maxsize=4096)
def _region_of(written: str) -> tuple[str, ...]:
    """Return the region of a number that starts with +: others beside it may be of the same."""
    try:
        number = phonenumbers.parse(written)
    except phonenumbers.NumberParseException:
        return ()
    region = phonenumbers.region_code_for_number(number)
    return (region,) if region else ()


_FIELD_ENDS = frozenset(["", "|", "||", ",", ";"])


def _digits_in(text: str, start: int, end: int) -> int:
    return sum(character.isdigit() for character in text[start:end])


def number_at(text: str, start: int, regions: tuple[str, ...]) -> Bounds | None:
    """Return the bounds of the longest valid number that starts at a place, or None."""
    match = _NUMBER.match(text, start, start + 48)
    if match is None or _DATES.match(match[0].lstrip("(")):
        return None
    written = match[0]
    # Without a sign of its start, a number is not cut from a run of groups.
    cut = r"[./-][0-9]" if written[0] in "+(0" else r"[./ -][0-9]"
    ends = [
        *(place.start() for place in _ALTERNATIVE.finditer(written)),
        len(written),
        *(place.start() for place in reversed(list(_GROUP_END.finditer(written)))),
    ]
    for end in ends:
        if not FEWEST <= _digits_in(written, 0, end) <= MOST + 2:
            continue
        after = text[start + end : start + end + 12]
        if end == len(written) and _is_followed_up(written, after):
            continue
        if end < len(written) and re.match(cut, after):
            continue
        if not _is_written_like_one(written[:end], text[start + end : start + end + 2]):
            continue
        if is_number(written[:end], regions):
            return start, start + end
    return None


_CITED = re.compile(r".*\((?:19|20)[0-9]{2}\)")
_POSTCODE = re.compile(r".* - [0-9]{4,5}\Z")
_SSN = re.compile(r"[0-9]{3}-[0-9]{2}-[0-9]{4}\Z")
_AREA_CLOSED = re.compile(r"0[0-9]{1,2}\)[0-9]")


def _is_written_like_one(written: str, after: str) -> bool:
    """Return whether the punctuation of a number is not that of something else.

    A card's digits are a card's, and nine in three, two and four a security number's; `27 (2007) 91-105` is a volume, its year and pages; a town may
    follow ` - ` and its postcode.
    """
    if not written.startswith("+"):
        digits = re.sub("[^0-9]", "", written)
        if (len(digits) >= SHORTEST_CARD and is_card(digits)) or _SSN.match(written):
            return False
        if _CITED.match(written):
            return False
    if _POSTCODE.match(written) and re.match(r" [^\W\d_]", after):
        return False
    return written.count("(") == written.count(")") or _AREA_CLOSED.match(written) is not None


def _is_followed_up(written: str, after: str) -> bool:
    """Return whether what follows makes a number a part of something else."""
    if _DECIMALS.match(after):
        return not _GROUPED.match(written)
    return bool(_AFTER.match(after) and not _EXTENSION.match(after))


@lru_cache(maxsize=8192)
def is_number(written: str, regions: tuple[str, ...]) -> bool:
    """Return whether a text is a valid number of one of the regions, or of its country code.

    Args:
        written: Digits and punctuation, folded.
        regions: ISO 3166 codes; `INTERNATIONAL` reads the number as if a + stood before it.
    """
    digits = re.sub("[^0-9]", "", written)
    if len(set(digits)) < 3:
        return False
    if written.startswith("+"):
        return _is_valid(written, None)
    for prefix in ("00", "011"):
        if digits.startswith(prefix) and _is_valid("+" + digits[len(prefix) :], None):
            return True
    if INTERNATIONAL in regions:
        return _is_valid("+" + digits, None)
    if any(_is_valid(written, region) for region in regions):
        return True
    return len(digits) > 10 and _is_valid("+" + digits, None, fiction=False)


def _is_valid(written: str, region: str | None, *, fiction: bool = True) -> bool:
    """Return whether a number is one of a region, or of the country whose code it starts with.

    With `fiction` one of a country counts if it has the length of its numbers: the ranges that
    regulators keep for films are not valid to libphonenumber.
    """
    try:
        number = phonenumbers.parse(written, region)
    except phonenumbers.NumberParseException:
        return False
    if region is None:
        return phonenumbers.is_valid_number(number) or (fiction and _is_possible(number))
    return phonenumbers.is_valid_number(number) and _has_trunk_zero(written, number, region)


def _is_possible(number: phonenumbers.PhoneNumber) -> bool:
    """Return whether a country, other than those of +1, has numbers of this length."""
    reason = phonenumbers.is_possible_number_with_reason(number)
    long = len(str(number.national_number)) >= 8
    return long and number.country_code != 1 and reason == phonenumbers.ValidationResult.IS_POSSIBLE


def _has_trunk_zero(written: str, number: phonenumbers.PhoneNumber, region: str) -> bool:
    """Return whether a national number starts with 0 where its country always dials one."""
    if written.lstrip("(").startswith("0"):
        return True
    national = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    return not national.lstrip("(").startswith("0") or _may_omit_zero(number, region)


def _may_omit_zero(number: phonenumbers.PhoneNumber, region: str) -> bool:
    """Return whether libphonenumber's first format that fits calls the zero optional: India's."""
    metadata = phonenumbers.PhoneMetadata.metadata_for_region(region)
    digits = str(number.national_number)
    for form in metadata.number_format if metadata else ():
        leading = form.leading_digits_pattern[-1:]
        if all(re.match(str(pattern), digits) for pattern in leading) and re.fullmatch(
            str(form.pattern), digits
        ):
            return bool(form.national_prefix_optional_when_formatting)
    return False


_BEFORE_PLUS = re.compile(r"[0-9A-Za-z+=/*^]\Z")


def find_international(text: str) -> Iterator[Bounds]:
    """Yield numbers with + and a country code, and those joined to them."""
    return _chains(text, INTERNATIONAL_FORM, _begins_with_plus)


def _begins_with_plus(text: str, start: int) -> bool:
    before = text[max(0, start - 1) : start]
    return not before or before in "=/" or not _BEFORE_PLUS.match(before)


def _chains(text: str, form: Pattern, begins: Callable[[str, int], bool]) -> Iterator[Bounds]:
    """Yield the numbers at the candidates that begin one or touch the last, and those joined."""
    last = -1 - TOUCHING
    for start, _, _ in matches_in_bytes(form, text):
        if start >= last and (start <= last + TOUCHING or begins(text, start)):
            for bounds in _chain(text, start, ()):
                last = bounds[1]
                yield bounds


_LOOSE_BEFORE = re.compile(r"[0-9A-Za-z.,#/\-_$€£+@:=(\[<]\Z|[0-9] \Z|[0-9]\t\Z")


_ACCOUNT = re.compile(
    r"(?:tài khoản|stk|số tk|konto|kontonummer|account|acct|a/c|compte|cuenta|conto|conta|rekening|hesap|"
    r"сч[её]т|р/с|рахунок|บัญชี|账号|账户|帳號|口座|계좌)(?:\s?(?:no|nr|number|nummer|číslo))?[\s.:#]{0,4}\Z",
    re.IGNORECASE,
)


def find_from_abroad(text: str) -> Iterator[Bounds]:
    """Yield grouped numbers with 00 or 011 and a country code, and those joined to them."""
    return _chains(text, FROM_ABROAD, _begins_from_abroad)


def _begins_from_abroad(text: str, start: int) -> bool:
    before = text[max(0, start - 2) : start].replace("(", "")
    return not (
        _LOOSE_BEFORE.search(before)
        or names_another_number(text, start)
        or _ACCOUNT.search(text[max(0, start - 30) : start])
    )


def accept_american(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a number in the punctuation of North America, or None."""
    before, after = text[max(0, start - 2) : start], text[end : end + 8]
    if re.search(r"[0-9A-Za-z.#/\-_$€£+@§]\Z|[0-9]\)? \Z", before):
        return None
    if _is_followed_up(text[start:end], after) or re.match(r" ?[0-9]|-|_|\.[0-9]", after):
        return None
    if names_another_number(text, start):
        return None
    return (start, end) if is_number(text[start:end], ("US",)) else None


NOUNS_AFTER = (
    "phone|telephone|tel|mobile|cell|fax|landline|voicemail|whatsapp|telefon|handy|mobil|téléphone|portable|"
    "teléfono|móvil|celular|telefone|telemóvel|cellulare|telefono|telefoon|puhelin|телефон|тел|факс"
).split("|")


def accept_before_label(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a grouped national number that a label follows, or None."""
    before = text[max(0, start - 2) : start]
    if _LOOSE_BEFORE.search(before.replace("(", "").replace(":", "")) or names_another_number(
        text, start
    ):
        return None
    bounds = number_at(text, start, all_regions())
    if bounds is None or bounds[1] > end:
        return None
    written = text[bounds[0] : bounds[1]]
    grouped = re.search(r"[0-9][ .\-/)]+[0-9]", written)
    trunk = written.lstrip("(").startswith("0") or re.match(
        r"\(?[2-9][0-9]{2}\)?[ .\-][0-9]{3}[ .\-][0-9]{4}\Z", written
    )
    return bounds if grouped and trunk else None


INTERNATIONAL_FORM = linear(r"\+ ?\(?[0-9](?:[ .\-/()]{0,3}[0-9]){6,24}")
FROM_ABROAD = linear(r"(?:00|011[ .\-])[ .\-]?[1-9][0-9]{0,2}[ .\-/(](?:[ .\-/()]{0,3}[0-9]){6,16}")
AMERICAN = linear(
    r"(?:\+?1[ .\-]?)?(?:\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[ .\-][0-9]{4}|"
    r"[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}|[2-9][0-9]{2}\.[2-9][0-9]{2}\.[0-9]{4}|"
    r"[2-9][0-9]{2}[/ ] ?[2-9][0-9]{2}-[0-9]{4})"
)
BEFORE_LABEL = linear(
    r"\(?[0-9](?:[ .\-/()]{0,2}[0-9]){6,14}[ \t,:()\-\[|]{1,3}(?:[\pL']{1,12}[ ,]{1,2}){0,4}"
    rf"(?i:{'|'.join(NOUNS_AFTER)})(?:[^\pL]|$)"
)

FINDERS = (
    Finder(find_international, hint_bits.INTERNATIONAL),
    Finder(find_from_abroad, hint_bits.FROM_ABROAD),
    Finder(by_pattern(AMERICAN, accept_american), hint_bits.AMERICAN),
    Finder(find_labelled, hint_bits.AFTER_LABEL),
    Finder(by_pattern(BEFORE_LABEL, accept_before_label), hint_bits.BEFORE_LABEL),
)
