"""National identity, tax, insurance and health numbers: by country, and only with their name near.

One in ten random numbers passes a check digit, so none counts without a word that announces it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from corpus_assets.pii import checksums
from corpus_assets.pii.spans import Bounds, Finder, linear

NEAR = 40
"""Characters before a number in which its label must stand."""


@dataclass(frozen=True)
class NationalId:
    """A number of one country."""

    country: str
    label: str
    """Alternation of what people write before it."""
    form: str
    """How it is written; spaces and punctuation of the form are dropped before the check."""
    is_valid: Callable[[str], bool]


_SEPARATED = "[ .-]?"


def _digits(*groups: int, by: str = _SEPARATED) -> str:
    return by.join(f"[0-9]{{{size}}}" for size in groups)


TABLE = (
    NationalId("ar", "cuil|cuit", _digits(2, 8, 1), checksums.argentina),
    NationalId("at", "svnr|versicherungsnummer|sozialversicherungsnummer|sv-nummer|sv-nr", _digits(4, 6), checksums.austria),
    NationalId("au", "tfn|tax file", _digits(3, 3, 3), checksums.australia),
    NationalId("be", "rijksregister|registre national|numéro national|nationaal nummer|insz|niss|rrn|nn", _digits(2, 2, 2, 3, 2), checksums.belgium),
    NationalId("bg", "егн|egn", _digits(10), checksums.bulgaria),
    NationalId("br", "cpf|cadastro de pessoas", _digits(3, 3, 3, 2), checksums.brazil),
    NationalId("ca", "sin|social insurance|nas|assurance sociale", _digits(3, 3, 3), checksums.canada),
    NationalId("ch", "ahv|avs|oasi|sozialversicherungsnummer|navs", "756" + _SEPARATED + _digits(4, 4, 2), checksums.switzerland),
    NationalId("cl", "rut|run", "[0-9]{1,2}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9Kk]", checksums.chile),
    NationalId("cn", "身份证|身份證|证件号|公民身份|居民身份|id card|id no|id number|shenfenzheng", "[1-9][0-9]{5} ?(?:18|19|20)[0-9]{6} ?[0-9]{3}[0-9Xx]", checksums.china),
    NationalId("cz", "rodné číslo|rodne cislo|r\\.č\\.|rč|rodné č", _digits(6, 4, by="/?"), checksums.czechia),
    NationalId("de", "steuer-?id|steuerliche identifikationsnummer|steueridentifikationsnummer|identifikationsnummer|idnr|id-nr|steuer-identifikationsnummer|tin", _digits(2, 3, 3, 3), checksums.germany),
    NationalId("dk", "cpr|personnummer|cpr-nummer", _digits(6, 4, by="-?"), checksums.denmark),
    NationalId("ee", "isikukood|isikukoodi|ik", _digits(11), checksums.baltic),
    NationalId("es", "dni|nif|nie|documento nacional|documento de identidad|identificación fiscal", r"(?:[0-9]{8}|[0-9]{2}\.[0-9]{3}\.[0-9]{3}|[XYZ][ -]?[0-9]{7})[ -]?[A-Za-z]", checksums.spain),
    NationalId("fi", "henkilötunnus|hetu|henkilötunnukseni|hetuni|personbeteckning|sotu", "[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y]", checksums.finland),
    NationalId("fr", "sécurité sociale|securite sociale|sécu|nir|insee|n° ss|numéro ss", "[12] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", checksums.france),
    NationalId("gb", "nhs", _digits(3, 3, 4), checksums.united_kingdom),
    NationalId("gr", "αμκα|amka", _digits(11), checksums.greece),
    NationalId("hr", "oib|osobni identifikacijski", _digits(11), checksums.mod_11_10),
    NationalId("hu", "taj|taj szám|taj-szám", _digits(3, 3, 3), checksums.hungary),
    NationalId("ie", "pps|ppsn|personal public service", "[0-9]{7}[A-W][A-IW]?", checksums.ireland),
    NationalId("il", 'ת\\.ז|תעודת זהות|ת״ז|ת"ז|מספר זהות|teudat zehut|israeli id|id number|id no', "[0-9]{8}-?[0-9]", checksums.israel),
    NationalId("in", "aadhaar|aadhar|आधार|uidai|uid|ஆதார்|ఆధార్|আধার", "[2-9][0-9]{3}[ -]?" + _digits(4, 4), checksums.verhoeff),
    NationalId("it", "codice fiscale|cod\\. fisc|c\\.f|cf|fiscale|tax code", "[A-Za-z]{6}[0-9LMNPQRSTUVlmnpqrstuv]{2}[A-Ea-eHhLlMmPpR-Tr-t][0-9LMNPQRSTUVlmnpqrstuv]{2}[A-Za-z][0-9LMNPQRSTUVlmnpqrstuv]{3}[A-Za-z]", checksums.italy),
    NationalId("jp", "マイナンバー|個人番号|my number", _digits(4, 4, 4), checksums.japan),
    NationalId("kr", "주민등록번호|주민번호|주민등록|rrn|resident registration", _digits(6, 7, by="-?"), checksums.korea),
    NationalId("lt", "asmens kodas|a\\.k|asmens kodą|asmens kodo", _digits(11), checksums.baltic),
    NationalId("mx", "curp", "[A-Z][AEIOUX][A-Z]{2}[0-9]{6}[HMX][A-Z]{5}[A-Z0-9][0-9]", checksums.mexico),
    NationalId("nl", "bsn|burgerservicenummer|sofinummer|sofi-nummer|sofi", _digits(4, 2, 3) + "|" + _digits(3, 3, 3), checksums.netherlands),
    NationalId("no", "fødselsnummer|personnummer|fødselsnr|fnr|d-nummer", _digits(6, 5), checksums.norway),
    NationalId("pl", "pesel", _digits(11), checksums.poland),
    NationalId("pt", "nif|contribuinte|identificação fiscal|número fiscal", _digits(3, 3, 3), checksums.portugal),
    NationalId("ro", "cnp|cod numeric personal", _digits(13), checksums.romania),
    NationalId("rs", "jmbg|јмбг|emšo|matični broj|матични број", _digits(13), checksums.serbia),
    NationalId("ru", "снилс|snils|страховой номер|страховое свидетельство", r"[0-9]{3}[- ]?[0-9]{3}[- ]?[0-9]{3}[- ]?[0-9]{2}", checksums.russia),
    NationalId("se", "personnummer|personnr|pers\\.?nr|samordningsnummer|födelsenummer|pnr", "(?:19|20)?[0-9]{6}[-+ ]?[0-9]{4}", checksums.sweden),
    NationalId("sg", "nric|fin|identity card|ic no|ic number", "[STFG][0-9]{7}[A-Z]", checksums.singapore),
    NationalId("th", "เลขประจำตัวประชาชน|บัตรประชาชน|เลขบัตรประชาชน|thai id|national id|citizen id", _digits(1, 4, 5, 2, 1), checksums.thailand),
    NationalId("tr", "tc kimlik|t\\.c\\.|kimlik no|tckn|tc no|kimlik numarası|kimlik", _digits(11), checksums.turkey),
    NationalId("tw", "身分證|身份證|身分證字號|id card|national id|id number", "[A-Z][1289][0-9]{8}", checksums.taiwan),
    NationalId("ua", "рнокпп|іпн|ідентифікаційний номер|податковий номер|инн|ипн", _digits(10), checksums.ukraine),
    NationalId("za", "id number|id no|identity number|rsa id|south african id|sa id|id-nommer|identiteitsnommer|id", _digits(13) + "|" + _digits(6, 4, 3), checksums.south_africa),
)  # fmt: skip
"""Numbers by country; a country may have several rows."""

COUNTRIES = tuple(dict.fromkeys(row.country for row in TABLE))

_EDGE = re.compile("[0-9A-Za-z_]")


def _finds(row: NationalId) -> Callable[[str], Iterator[Bounds]]:
    label = re.compile(rf"(?<![^\W_])(?:{row.label})(?:nummer|number|nr)?(?![a-z])", re.IGNORECASE)
    pattern = linear(row.form)

    def find(text: str) -> Iterator[Bounds]:
        for match in pattern.finditer(text):
            start, end = match.start(), match.end()
            if _touches(text, start, end) or not text[start:end].isascii():
                continue
            compact = (
                re.sub(r"[ ./\-](?!\Z)", "", text[start:end]) if row.country != "fi" else match[0]
            )
            before = text[max(0, start - NEAR) : start].rpartition("\n")[2]
            if label.search(before) and row.is_valid(compact.upper()):
                yield start, end

    return find


def _touches(text: str, start: int, end: int) -> bool:
    """Return whether a candidate is part of something longer."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return bool(
        _EDGE.match(before[-1:])
        or re.search(r"[0-9][.\- ]\Z|[#$€£/]\Z", before)
        or _EDGE.match(after)
        or re.match(r"[.\-/ ][0-9]", after)
    )


def _all_cases(label: str) -> str:
    """Return a label with all letters that are an i to Python without regard to case."""
    return label.replace("i", "[iİı]")


FINDERS = {
    country: tuple(
        Finder(_finds(row), core=f"(?i:{_all_cases(row.label)})[^\n]{{0,60}}[0-9A-Za-z]")
        for row in TABLE
        if row.country == country
    )
    for country in COUNTRIES
}
"""By country, as a corpus asks for them."""
