"""Check digits of national identity numbers, each a function of the compact number."""

from collections.abc import Sequence
from datetime import date

_VERHOEFF_PRODUCT = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_SHIFT = (
    "0123456789", "1576283094", "5803796142", "8916043527",
    "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


def weighted(number: str, weights: Sequence[int]) -> int:
    """Return the sum of digits times weights."""
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))


def is_date(year: int, month: int, day: int) -> bool:
    """Return whether there was or will be such a day."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def is_yymmdd(digits: str) -> bool:
    """Return whether six digits are a day of some century."""
    year, month, day = int(digits[:2]), int(digits[2:4]), int(digits[4:6])
    return is_date(2000 + year, month, day) or is_date(1900 + year, month, day)


def is_ddmmyy(digits: str) -> bool:
    """Return whether six digits are a day of some century, the day first."""
    return is_yymmdd(digits[4:6] + digits[2:4] + digits[:2])


def verhoeff(number: str) -> bool:
    """Return whether the last digit is Verhoeff's (1969)."""
    check = 0
    for place, digit in enumerate(reversed(number)):
        shifted = _VERHOEFF_SHIFT[place % 8][int(digit)]
        check = int(_VERHOEFF_PRODUCT[check][int(shifted)])
    return check == 0


def mod_11_10(number: str) -> bool:
    """Return whether the last digit is that of ISO/IEC 7064, MOD 11,10."""
    check = 10
    for digit in number[:-1]:
        check = (check + int(digit)) % 10 or 10
        check = check * 2 % 11
    return (check + int(number[-1])) % 10 == 1


def brazil(number: str) -> bool:
    """CPF."""
    if len(set(number)) == 1:
        return False
    for size in (9, 10):
        check = weighted(number, range(size + 1, 1, -1)) * 10 % 11 % 10
        if check != int(number[size]):
            return False
    return True


def spain(number: str) -> bool:
    """DNI and NIE."""
    digits = number[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == number[-1]


def france(number: str) -> bool:
    """NIR; Corsica's 2A and 2B count as 19 and 18."""
    month = int(number[3:5])
    body = number[:13].replace("2A", "19").replace("2B", "18")
    plausible = 1 <= month <= 12 or 20 <= month <= 42 or month >= 50
    return plausible and 97 - int(body) % 97 == int(number[13:])


_ITALY_ODD = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8,
     12, 14, 16, 10, 22, 25, 24, 23), strict=True))  # fmt: skip


def italy(number: str) -> bool:
    """Codice fiscale (decree of 23 December 1976)."""
    total = sum(
        _ITALY_ODD[c] if place % 2 == 0 else int(c, 36) - (10 if c.isalpha() else 0)
        for place, c in enumerate(number[:15])
    )
    return chr(ord("A") + total % 26) == number[15]


def netherlands(number: str) -> bool:
    """BSN."""
    return number != "0" * 9 and weighted(number, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def poland(number: str) -> bool:
    """PESEL; the month tells the century."""
    month = int(number[2:4]) % 20
    fits = weighted(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0
    return fits and 1 <= month <= 12 and 1 <= int(number[4:6]) <= 31


def luhn(number: str) -> bool:
    """Luhn's digit."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in number[-2::-2])
    return len(set(number)) > 1 and (sum(map(int, number[-1::-2])) + sum(doubled)) % 10 == 0


def sweden(number: str) -> bool:
    """Personnummer, and samordningsnummer whose day is 60 more."""
    short = number[-10:]
    day = int(short[4:6])
    born = short[:4] + f"{day - 60 if day > 60 else day:02d}"
    return luhn(short) and is_yymmdd(born)


def finland(number: str) -> bool:
    """Henkilötunnus: the sign tells the century."""
    plain = number[:6] + number[7:10]
    check = "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(plain) % 31]
    return is_ddmmyy(number[:6]) and check == number[10]


def china(number: str) -> bool:
    """Resident identity number (GB 11643; ISO/IEC 7064, MOD 11-2)."""
    total = weighted(number[:17], [2**place % 11 for place in range(17, 0, -1)])
    born = is_date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    return born and "10X98765432"[total % 11] == number[17]


def united_kingdom(number: str) -> bool:
    """NHS number."""
    check = 11 - weighted(number, range(10, 1, -1)) % 11
    return check % 11 == int(number[9]) and check != 10 and len(set(number)) > 1


def germany(number: str) -> bool:
    """Steuer-ID: one digit stands twice or thrice among the first ten."""
    counts = sorted((number[:10].count(digit) for digit in set(number[:10])), reverse=True)
    return (
        number[0] != "0" and counts[0] in {2, 3} and counts[1:2] in ([1], []) and mod_11_10(number)
    )


def south_africa(number: str) -> bool:
    """ID number: born, citizen or not, Luhn."""
    return number[10] in "012" and is_yymmdd(number[:6]) and luhn(number)


def mexico(number: str) -> bool:
    """CURP."""
    alphabet = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    total = sum(alphabet.index(c) * (18 - place) for place, c in enumerate(number[:17]))
    return is_yymmdd(number[4:10]) and str(-total % 10) == number[17]


def australia(number: str) -> bool:
    """TFN."""
    weights = (1, 4, 3, 7, 5, 8, 6, 9, 10) if len(number) == 9 else (10, 7, 8, 4, 6, 3, 5, 1)
    return len(set(number)) > 1 and weighted(number, weights) % 11 == 0


def canada(number: str) -> bool:
    """SIN."""
    return number[0] != "8" and luhn(number)


def norway(number: str) -> bool:
    """Fødselsnummer, and D-nummer whose day is 40 more."""
    day = int(number[:2])
    born = f"{day - 40 if day > 40 else day:02d}" + number[2:6]
    first = weighted(number, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
    second = weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
    return first and second and is_ddmmyy(born)


def denmark(number: str) -> bool:
    """CPR: no check digit since 2007, so the day must exist."""
    return is_ddmmyy(number[:6])


def belgium(number: str) -> bool:
    """Rijksregisternummer; from 2000 on a 2 stands before it."""
    body, check = int(number[:9]), int(number[9:])
    return check in {97 - body % 97, 97 - (2 * 10**9 + body) % 97}


def portugal(number: str) -> bool:
    """NIF of a person."""
    check = 11 - weighted(number, range(9, 1, -1)) % 11
    return number[0] in "123" and (check if check < 10 else 0) == int(number[8])


def romania(number: str) -> bool:
    """CNP."""
    check = weighted(number, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    fits = (1 if check == 10 else check) == int(number[12])
    return fits and number[0] != "0" and is_yymmdd(number[1:7])


def turkey(number: str) -> bool:
    """T.C. kimlik no."""
    digits = [int(digit) for digit in number]
    tenth = (sum(digits[0:9:2]) * 7 - sum(digits[1:8:2])) % 10
    return digits[0] != 0 and tenth == digits[9] and sum(digits[:10]) % 10 == digits[10]


def korea(number: str) -> bool:
    """Jumin deungnok beonho, as issued until 2020."""
    check = (11 - weighted(number, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10
    return is_yymmdd(number[:6]) and check == int(number[12])


def japan(number: str) -> bool:
    """My Number (ministerial ordinance 85 of 2014)."""
    weights = (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
    rest = weighted(number, weights) % 11
    return len(set(number)) > 1 and int(number[11]) == (0 if rest <= 1 else 11 - rest)


def israel(number: str) -> bool:
    """Mispar zehut."""
    return luhn(number.zfill(9))


def chile(number: str) -> bool:
    """RUT."""
    body = number[:-1]
    total = sum(int(digit) * (place % 6 + 2) for place, digit in enumerate(reversed(body)))
    return "0123456789K"[(11 - total % 11) % 11] == number[-1]


def argentina(number: str) -> bool:
    """CUIL of a person."""
    check = 11 - weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return {11: 0, 10: 9}.get(check, check) == int(number[10])


def singapore(number: str) -> bool:
    """NRIC and FIN."""
    total = weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if number[0] in "TG" else 0)
    letters = "JZIHGFEDCBA" if number[0] in "ST" else "XWUTRQPNMLK"
    return letters[total % 11] == number[8]


def bulgaria(number: str) -> bool:
    """EGN; the month tells the century."""
    month = int(number[2:4]) % 20
    check = weighted(number, (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10
    return 1 <= month <= 12 and 1 <= int(number[4:6]) <= 31 and check == int(number[9])


def baltic(number: str) -> bool:
    """Isikukood of Estonia, asmens kodas of Lithuania."""
    check = weighted(number, (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if check == 10:
        check = weighted(number, (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return number[0] in "12345678" and is_yymmdd(number[1:7]) and check == int(number[10])


def czechia(number: str) -> bool:
    """Rodné číslo; the month tells the sex."""
    month = int(number[2:4]) % 50 % 20
    fits = int(number) % 11 == 0 or (int(number[:9]) % 11 == 10 and number[9] == "0")
    return 1 <= month <= 12 and 1 <= int(number[4:6]) <= 31 and fits


def serbia(number: str) -> bool:
    """JMBG."""
    check = 11 - weighted(number, (7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    day, month = int(number[:2]), int(number[2:4])
    return (check if check < 10 else 0) == int(number[12]) and 1 <= day <= 31 and 1 <= month <= 12


def switzerland(number: str) -> bool:
    """AHV-Nummer, an EAN-13."""
    return (10 - weighted(number, (1, 3) * 6) % 10) % 10 == int(number[12])


def austria(number: str) -> bool:
    """Versicherungsnummer: the fourth digit is the check digit."""
    check = weighted(number[:3] + number[4:], (3, 7, 9, 5, 8, 4, 2, 1, 6)) % 11
    return number[0] != "0" and check == int(number[3])


def ireland(number: str) -> bool:
    """PPS number."""
    extra = 0 if len(number) == 8 or number[8] == "W" else ord(number[8]) - ord("A") + 1
    total = weighted(number, (8, 7, 6, 5, 4, 3, 2)) + 9 * extra
    return "WABCDEFGHIJKLMNOPQRSTUV"[total % 23] == number[7]


def russia(number: str) -> bool:
    """SNILS."""
    total = weighted(number, range(9, 0, -1)) % 101 % 100
    return total == int(number[9:]) and len(set(number)) > 1


def thailand(number: str) -> bool:
    """Identification number of a person."""
    return number[0] != "0" and (11 - weighted(number, range(13, 1, -1)) % 11) % 10 == int(
        number[12]
    )


def taiwan(number: str) -> bool:
    """National ID: the letter stands for two digits."""
    place = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10
    total = place // 10 + place % 10 * 9 + weighted(number[1:9], range(8, 0, -1))
    return (10 - total % 10) % 10 == int(number[9])


def greece(number: str) -> bool:
    """AMKA."""
    return is_ddmmyy(number[:6]) and luhn(number)


def ukraine(number: str) -> bool:
    """RNOKPP."""
    return weighted(number, (-1, 5, 7, 9, 4, 6, 10, 5, 7)) % 11 % 10 == int(number[9])


def hungary(number: str) -> bool:
    """TAJ."""
    return weighted(number, (3, 7) * 4) % 10 == int(number[8]) and len(set(number)) > 1
