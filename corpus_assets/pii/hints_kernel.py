"""What a text can hold at all: one pass over its bytes, before anything is searched in Python.

A bit for each way of writing that `detection` knows; a bit that is missing says that nothing of it
is there, one that is set says nothing. 64 MB take 0.15 s, and the whole step 0.31 s where it took
1.2 s with a search by the Rust engine for each.
"""

from typing import NamedTuple

import numpy as np
from numba import int64, uint8, uint32, uint64
from numpy.typing import NDArray

from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import code_point, inline, kernel

SIGN, ENCODED_SIGN, BRACKETED_AT, SPELLED_AT, SPACED_SIGN = 1, 2, 4, 8, 16
IPV4, IPV6 = 32, 64
INTERNATIONAL, FROM_ABROAD, AMERICAN, AFTER_LABEL, BEFORE_LABEL = 128, 256, 512, 1024, 2048
CARD, IBAN, SSN = 1 << 12, 1 << 13, 1 << 14
KEY, KEY_END, ASSIGNED, PRIVATE_KEY, URL_PASSWORD = 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19
FOLDED = 1 << 20
"""Something in the text is folded."""
_OF_NUMBERS = (
    IPV4 | INTERNATIONAL | FROM_ABROAD | AMERICAN | AFTER_LABEL | BEFORE_LABEL | CARD | SSN
)

GROUPS = 64
"""Groups of digits in a row that are looked at; more of them may be anything."""
SHORTEST_TOKEN = 15
"""Characters of the shortest key, `xoxb-` and ten."""
LONG_TOKEN = 36
"""Characters of the shortest key that is known by its end, `-us` and a digit after 32."""
ROOM = 40
"""Zeros that follow marks: as many bytes may be read past the last."""


class Words(NamedTuple):
    """What the pass knows, as arrays; words as sorted hashes of their lower-case bytes reversed."""

    folded: NDArray[np.uint8]
    """What each code point becomes, 0 where it stays."""
    pages: NDArray[np.uint8]
    """Which 256 code points hold one that does not stay."""
    ibans: NDArray[np.uint8]
    """Length of an IBAN by country, shape (26 * 26)."""
    labels: NDArray[np.uint64]
    """Last words of labels of phone numbers."""
    connectors: NDArray[np.uint64]
    """Words between such a label and its number."""
    nouns: NDArray[np.uint64]
    """Words after a phone number that say so."""
    ssn: NDArray[np.uint64]
    """Last words of what announces a social security number."""
    ats: NDArray[np.uint64]
    """What stands in brackets for @, not in lower case."""
    ats_by_start: NDArray[np.bool_]
    """Whether one of them, or one and what closes the bracket, starts with two bytes."""
    dots: NDArray[np.uint64]
    """What stands between spaces for a dot."""
    prefixes: NDArray[np.uint8]
    """First bytes of keys, sorted, shape (keys, 20): their number, the bytes, how many follow."""
    first_prefix: NDArray[np.int16]
    """Number of the first such prefix by two bytes, -1 where there is none."""
    hosts: NDArray[np.uint8]
    """What makes an address of four small numbers: lower-case ASCII words, and stems of others."""
    first_host: NDArray[np.int16]
    """As `first_prefix`, of these."""


_KINDS = np.zeros(256, np.uint8)
_KINDS[ord("0") : ord("9") + 1] = 1
_KINDS[ord("@")] = 2
_KINDS[ord(":")] = 3
for _open in "([{<":
    _KINDS[ord(_open)] = 4
_KINDS[0xC2] = _KINDS[0xE3] = 4


def _set_of(characters: str) -> NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for character in characters:
        table[ord(character)] = 1
    return table


_ALNUM = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SEPARATORS = _set_of(" .-/()\t")
_BASE64 = _set_of(_ALNUM + "+/")
_LOCAL = _set_of(_ALNUM + "._%+'-&#~\"")
_LOCAL[0x80:] = 1
_WORD = _set_of(_ALNUM + "_")
_LETTERS = _set_of(_ALNUM[10:])
_HEX = _set_of("0123456789abcdefABCDEF")
_DOMAIN = _set_of(_ALNUM + "_-")
_DOMAIN[0x80:] = 1
_NO_ABROAD = _set_of(_ALNUM + ".,#/-_$+@:=[<")
_BLANK = _set_of(" \t\n\r\f")
_BETWEEN = _set_of(" \t\n\r\f\v:.=>\"'[*_|,/;&-~(+)#")

_A, _D, _K, _N, _O, _P, _T = (np.uint8(ord(letter)) for letter in "adknopt")
_FULL, _ALL = np.uint64(0x0101010101010101), np.uint64(0xFFFFFFFFFFFFFFFF)
_SEED, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@inline
def _is_digit(byte):
    return uint8(byte - 48) < 10


@inline
def _is_alnum(byte):
    return uint8(byte - 48) < 10 or uint8((byte | 32) - 97) < 26


@inline
def _has(table, h):
    low, high = 0, table.size
    while low < high:
        middle = (low + high) >> 1
        if table[middle] < h:
            low = middle + 1
        else:
            high = middle
    return low < table.size and table[low] == h


@kernel
def reversed_hash(data: Bytes) -> np.uint64:
    """Return the hash of a word, from its last byte to its first."""
    h = _SEED
    for i in range(data.size - 1, -1, -1):
        h = (h ^ uint64(data[i])) * _PRIME
    return h


@inline
def _next(eights, i, end):
    """Return the next marked byte from i on, or `end`; marks are 1, eight of them are a word."""
    at = i >> 3
    word = eights[at] & (_ALL << uint64((i & 7) << 3))
    while word == 0:
        at += 1
        if at << 3 >= end:
            return end
        word = eights[at]
    # Below the lowest mark are as many bytes of ones as places; the product adds them up.
    lower = ((word & (~word + uint64(1))) - uint64(1)) & _FULL
    return min((at << 3) + int64((lower * _FULL) >> uint64(56)), end)


@kernel
def _mark_foreign(b: Bytes, marks: Bytes) -> tuple[bool, bool]:
    """Mark the lead bytes of what may be folded; return whether there are some, and quotes for @.

    As all loops without a branch it is compiled to SIMD, the more so as a slice has no negative
    index.
    """
    fold, quote = False, False
    for i in range(b.size - 2):
        a, c, d = b[i], b[i + 1], b[i + 2]
        quote |= (a == uint8(0xC2)) & (c == uint8(0xAB))
        quote |= (a == uint8(0xE3)) & (c == uint8(0x80)) & ((d == uint8(0x8C)) | (d == uint8(0x90)))
        one = (a == uint8(0xC2)) & (c == uint8(0xA0))
        spaces = (d <= uint8(0x95)) & ((d <= uint8(0x8A)) | (d >= uint8(0x90)))
        one |= (a == uint8(0xE2)) & (c == uint8(0x80)) & (spaces | (d == uint8(0xAF)))
        one |= (a == uint8(0xE2)) & (c == uint8(0x81)) & (d == uint8(0x9F))
        one |= (a == uint8(0xE2)) & (c == uint8(0x88)) & (d == uint8(0x92))
        one |= (a == uint8(0xE3)) & (c == uint8(0x80)) & (d == uint8(0x80))
        one |= (a == uint8(0xEF)) & (c >= uint8(0xB9)) & (c <= uint8(0xBD))
        # Digits of other scripts: near them, as far as bytes say it in short.
        one |= (a == uint8(0xD9)) & (c >= uint8(0xA0)) & (c <= uint8(0xA9))
        one |= (a == uint8(0xDB)) & (c >= uint8(0xB0)) & (c <= uint8(0xB9))
        one |= a == uint8(0xDF)
        one |= (a == uint8(0xE0)) & (d >= uint8(0x90)) & (d <= uint8(0xAF))
        one |= (a == uint8(0xE1)) & (c < uint8(0xB8))
        one |= (a == uint8(0xEA)) & (c < uint8(0xB0))
        one |= a >= uint8(0xF0)
        marks[i] = uint8(one)
        fold |= one
    for i in range(max(0, b.size - 2), b.size):
        marks[i] = uint8(b[i] >= uint8(0xC0))
        fold |= b[i] >= uint8(0xC0)
    marks[b.size : b.size + ROOM] = 0
    return fold, quote


@kernel
def fold_bytes(b: Bytes, marks: Bytes, folded: Bytes, pages: Bytes, out: Bytes) -> int:
    """Write the bytes folded, which are no more than they were; return how many.

    Args:
        b: UTF-8.
        marks: What `_mark_foreign` marked.
        folded: As in `Words`.
        pages: As in `Words`.
        out: Receives the bytes.
    """
    i, n, end = 0, 0, b.size
    eights = marks.view(np.uint64)
    while i < end:
        p = _next(eights, i, end)
        source, target = b[i:p], out[n : n + p - i]
        for k in range(source.size):
            target[k] = source[k]
        n += p - i
        i = p
        if i < end:
            point, size = code_point(b, i, end)
            if point < 0x110000 and pages[point >> 8] and folded[point]:
                out[n] = folded[point]
                n += 1
            else:
                for k in range(size):
                    out[n + k] = b[i + k]
                n += size
            i += size
    return n


@kernel
def folded_bytes(b: Bytes, folded: Bytes, pages: Bytes) -> Bytes:
    """Return one text folded, for Python."""
    marks = np.zeros((b.size + ROOM + 7) & ~7, np.uint8)
    fold, _ = _mark_foreign(b, marks)
    if not fold:
        return b
    out = np.empty(b.size, np.uint8)
    return out[: fold_bytes(b, marks, folded, pages, out)]


@inline
def _domain_follows(b, i, end):
    """Return whether a label, a dot and a character of another are there."""
    if i >= end or not (_is_alnum(b[i]) or b[i] >= 0x80):
        return False
    j = i
    most = min(end, i + 260)
    while j < most and _DOMAIN[b[j]]:
        if b[j] >= 0x80:
            return True
        j += 1
    return j + 1 < end and b[j] == 46 and (_is_alnum(b[j + 1]) or b[j + 1] >= 0x80)


@kernel
def _written_at(b: Bytes, i: int, end: int, words: Words) -> bool:
    """Return whether what opens at i is an @ in brackets before a domain."""
    j = i + 1
    if b[i] == 0xC2:
        j = i + 2
    elif b[i] == 0xE3:
        j = i + 3
    if j < end and (b[j] == 45 or b[j] == 42):
        j += 1
    if j < end and b[j] == 32:
        j += 1
    if j + 1 >= end or not words.ats_by_start[int64(b[j]) << 8 | int64(b[j + 1])]:
        return False
    last = j
    most = min(end, j + 48)
    close = 0
    while last < most:
        byte = b[last]
        if byte == 41 or byte == 93 or byte == 125 or byte == 62:
            close = 1
            break
        if last + 1 < end and byte == 0xC2 and b[last + 1] == 0xBB:
            close = 2
            break
        if (
            last + 2 < end
            and byte == 0xE3
            and b[last + 1] == 0x80
            and (b[last + 2] == 0x91 or b[last + 2] == 0x8D)
        ):
            close = 3
            break
        last += 1
    if close == 0:
        return False
    after = last + close
    if last > j and (b[last - 1] == 45 or b[last - 1] == 42):
        last -= 1
    if last > j and b[last - 1] == 32:
        last -= 1
    h = _SEED
    for k in range(last - 1, j - 1, -1):
        h = (h ^ uint64(b[k])) * _PRIME
    if not _has(words.ats, h):
        return False
    if last - j == 1 and b[j] == 97 and (i == 0 or b[i - 1] == 32):
        return False
    k = 0
    while after < end and k < 2 and b[after] == 32:
        after += 1
        k += 1
    if after >= end or not (_is_alnum(b[after]) or b[after] >= 0x80):
        return False
    while after < end and (_is_alnum(b[after]) or b[after] == 45 or b[after] >= 0x80):
        if b[after] >= 0x80:
            return True
        after += 1
    if after + 1 >= end:
        return False
    if b[after] == 46:
        return bool(_is_alnum(b[after + 1]) or b[after + 1] >= 0x80)
    k = after
    while k < end and k < after + 2 and b[k] == 32:
        k += 1
    if k < end and (b[k] == 40 or b[k] == 91 or b[k] == 123 or b[k] == 60):
        return True
    if k != after + 1:
        return False
    last = k
    while last < end and b[last] != 32 and last < k + 40:
        if b[last] >= 0x80:
            return True
        last += 1
    h = _SEED
    for m in range(last - 1, k - 1, -1):
        byte = b[m]
        if uint8(byte - 65) < 26:
            byte = uint8(byte | 32)
        h = (h ^ uint64(byte)) * _PRIME
    return bool(_has(words.dots, h))


@kernel
def _announced(
    b: Bytes,
    start: int,
    place: int,
    labels: NDArray[np.uint64],
    connectors: NDArray[np.uint64],
    glued: bool,
) -> bool:
    """Return whether a label may stand before a place, with connectors between.

    What stands in brackets may be anything; with `glued` a label may be the end of a word.
    """
    p = place
    for _ in range(6):
        least = max(start, p - 24)
        while p > least and _BETWEEN[b[p - 1]]:
            if b[p - 1] == 41:
                q = p - 2
                lowest = max(start, p - 90)
                while q > lowest and b[q] != 40 and b[q] != 10 and not _is_digit(b[q]):
                    q -= 1
                if b[q] == 40 and q < p - 2:
                    return True
            p -= 1
        if p <= start:
            return False
        h = _SEED
        q = p
        least = max(start, p - 40)
        while q > least:
            byte = b[q - 1]
            if byte >= 0x80:
                return True
            if not _LETTERS[byte]:
                break
            h = (h ^ uint64(byte | 32)) * _PRIME
            q -= 1
            if glued and _has(labels, h):
                return True
        if q == p:
            return False
        if _has(labels, h):
            return True
        # A connector may touch its label: `mobilephone`.
        joined = False
        h = _SEED
        for cut in range(p - 1, q, -1):
            h = (h ^ uint64(b[cut] | 32)) * _PRIME
            if _has(connectors, h):
                rest = _SEED
                for k in range(cut - 1, q - 1, -1):
                    rest = (rest ^ uint64(b[k] | 32)) * _PRIME
                if _has(labels, rest):
                    return True
                joined = joined or _has(connectors, rest)
        h = (h ^ uint64(b[q] | 32)) * _PRIME
        if not joined and not _has(connectors, h):
            return False
        p = q
    return True


@kernel
def _noun_follows(b: Bytes, i: int, end: int, nouns: NDArray[np.uint64]) -> bool:
    """Return whether one of the next five words may say that the number before was a phone's."""
    p = i
    while (
        p < end
        and p < i + 3
        and (
            _BLANK[b[p]]
            or b[p] == 44
            or b[p] == 59
            or b[p] == 58
            or b[p] == 40
            or b[p] == 41
            or b[p] == 45
            or b[p] == 91
            or b[p] == 124
        )
    ):
        p += 1
    if p == i:
        return False
    for _ in range(5):
        q = p
        most = min(end, p + 16)
        while q < most and (_LETTERS[b[q]] or b[q] == 39 or b[q] >= 0x80):
            if b[q] >= 0x80:
                return True
            q += 1
        if q == p:
            return False
        h = _SEED
        for k in range(q - 1, p - 1, -1):
            h = (h ^ uint64(b[k] | 32)) * _PRIME
        if _has(nouns, h):
            return True
        p = q
        while p < end and p < q + 2 and (b[p] == 32 or b[p] == 44):
            p += 1
        if p == q:
            return False
    return False


@kernel
def _iban(b: Bytes, start: int, place: int, end: int, lengths: NDArray[np.uint8]) -> bool:
    """Return whether digits at a place are the check digits of an IBAN around them."""
    p = place
    if p > start and b[p - 1] == 32:
        p -= 1
    if p - 2 < start or not (_LETTERS[b[p - 1]] and _LETTERS[b[p - 2]]):
        return False
    if p - 3 >= start and _WORD[b[p - 3]]:
        return False
    first, second = int64(b[p - 2] | 32) - 97, int64(b[p - 1] | 32) - 97
    left = int64(lengths[first * 26 + second])
    if left == 0:
        return False
    remainder, i, taken = int64(0), place, 2
    while taken < left:
        if i < end and taken > 3 and (b[i] == 32 or b[i] == 46 or b[i] == 45):
            i += 1
        if i >= end or not _is_alnum(b[i]):
            return False
        if taken > 3:
            if _is_digit(b[i]):
                remainder = (remainder * 10 + int64(b[i]) - 48) % 97
            else:
                remainder = (remainder * 100 + int64(b[i] | 32) - 87) % 97
        i += 1
        taken += 1
    remainder = (remainder * 100 + first + 10) % 97
    remainder = (remainder * 100 + second + 10) % 97
    check = (int64(b[place]) - 48) * 10 + int64(b[place + 1]) - 48
    return (remainder * 100 + check) % 97 == 1


@inline
def _value(b, first, last):
    """Return the value of an octet, or -1."""
    size = last - first
    if size > 3 or (size > 1 and b[first] == 48):
        return -1
    value = 0
    for i in range(first, last):
        value = value * 10 + int64(b[i]) - 48
    return value if value < 256 else -1


@kernel
def _names_host(b: Bytes, start: int, place: int, words: Words) -> bool:
    """Return whether one of `hosts` stands in the 60 code points before a place."""
    points, p = 0, place
    while p > start and points < 60:
        p -= 1
        byte = b[p]
        if 0x80 <= byte < 0xC0:
            continue
        points += 1
        if p + 1 >= place:
            continue
        then = b[p + 1]
        # Long s and i without a dot, or with one, are letters to a search without case.
        if (byte == 0xC5 and then == 0xBF) or (byte == 0xC4 and (then == 0xB0 or then == 0xB1)):
            return True
        lead = byte | 32 if uint8(byte - 65) < 26 else byte
        second = then | 32 if uint8(then - 65) < 26 else then
        number = words.first_host[int64(lead) << 8 | int64(second)]
        while (
            0 <= number < words.hosts.shape[0]
            and words.hosts[number, 1] == lead
            and words.hosts[number, 2] == second
        ):
            size = int64(words.hosts[number, 0])
            k = 2
            while k < size and p + k < place:
                byte = b[p + k]
                if uint8(byte - 65) < 26:
                    byte = uint8(byte | 32)
                if byte != words.hosts[number, 1 + k]:
                    break
                k += 1
            if k == size:
                if size > 2:
                    return True
                # `ip` and `ips` count as a word alone.
                k = p + 3 if p + 2 < place and b[p + 2] | 32 == 115 else p + 2
                if not (p > start and _WORD[b[p - 1]]) and not (k < place and _WORD[b[k]]):
                    return True
            number += 1
    return False


@kernel
def _is_quad(
    b: Bytes,
    start: int,
    end: int,
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    g: int,
    words: Words,
) -> bool:
    """Return whether four groups joined by dots can be a public address."""
    first, last = firsts[g], lasts[g + 3]
    if first > start and (_WORD[b[first - 1]] or b[first - 1] == 46):
        return False
    if last < end and _WORD[b[last]]:
        return False
    one = _value(b, firsts[g], lasts[g])
    two = _value(b, firsts[g + 1], lasts[g + 1])
    three = _value(b, firsts[g + 2], lasts[g + 2])
    four = _value(b, firsts[g + 3], lasts[g + 3])
    if one <= 0 or two < 0 or three < 0 or four <= 0:
        return False
    if one == 10 or one == 127 or one >= 224:
        return False
    if one < 32 and two < 32 and three < 32 and four < 32:
        port = last + 1 < end and b[last] == 58 and _is_digit(b[last + 1])
        mapped = first > start and b[first - 1] == 58
        if not (port or mapped or _names_host(b, start, first, words)):
            return False
    return not (
        (one == 192 and (two == 168 or (two == 0 and (three == 0 or three == 2))))
        or (one == 198 and (18 <= two < 20 or (two == 51 and three == 100)))
        or (one == 203 and two == 0 and three == 113)
        or (one == 172 and 16 <= two < 32)
        or (one == 169 and two == 254)
        or (one == 100 and 64 <= two < 128)
    )


@kernel
def _passes_luhn(b: Bytes, first: int, last: int) -> bool:
    total, odd = 0, True
    for i in range(last - 1, first - 1, -1):
        if _is_digit(b[i]):
            digit = int64(b[i]) - 48
            if not odd:
                digit *= 2
                if digit > 9:
                    digit -= 9
            total += digit
            odd = not odd
    return total % 10 == 0


@inline
def _value10(b, i):
    return (int64(b[i]) - 48) * 10 + int64(b[i + 1]) - 48


@inline
def _is_year(b, first, last):
    early = b[first] == 49 and b[first + 1] == 57
    return last - first == 4 and (early or (b[first] == 50 and b[first + 1] == 48))


@kernel
def _is_date(b: Bytes, firsts: NDArray[np.int64], lasts: NDArray[np.int64], n: int) -> bool:
    """Return whether groups start with two years or with a year, a month and a day."""
    if n < 2 or not _is_year(b, firsts[0], lasts[0]) or firsts[1] - lasts[0] != 1:
        return False
    joint = b[lasts[0]]
    if (joint == 45 or joint == 47) and _is_year(b, firsts[1], lasts[1]):
        return True
    if n < 3 or firsts[2] - lasts[1] != 1 or b[lasts[1]] != joint:
        return False
    if lasts[1] - firsts[1] != 2 or lasts[2] - firsts[2] != 2 or not (joint == 45 or joint == 46):
        return False
    month = _value10(b, firsts[1])
    day = _value10(b, firsts[2])
    return 1 <= month <= 12 and 1 <= day <= 31


@kernel
def _numbers(
    b: Bytes,
    start: int,
    end: int,
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    n: int,
    digits: int,
    words: Words,
) -> int:
    """Return the bits of groups of digits that at most three separators part."""
    flags = 0
    here, there = firsts[0], lasts[n - 1]
    chain_first, chain = 0, 0
    spaced = False
    for g in range(n):
        size = lasts[g] - firsts[g]
        gap = firsts[g] - lasts[g - 1] if g else 0
        joint = b[firsts[g] - 1] if g else uint8(0)
        single = gap == 1 and (joint == 32 or joint == 46 or joint == 45)
        if not single:
            chain_first, chain, spaced = g, 0, False
        chain += size
        spaced = spaced or (single and joint == 32)
        dotted = g and gap == 1 and joint == 46
        # Four groups, and neither a fifth before nor one after.
        ends = g == n - 1 or not (firsts[g + 1] - lasts[g] == 1 and b[lasts[g]] == 46)
        if dotted and ends and g >= 3 and not flags & IPV4:
            run = g
            while run > 0 and firsts[run] - lasts[run - 1] == 1 and b[lasts[run - 1]] == 46:
                run -= 1
            if g - run == 3 and _is_quad(b, start, end, firsts, lasts, run, words):
                flags |= IPV4
        if chain >= 14 and not flags & CARD:
            ended = g == n - 1
            if not ended:
                after = b[lasts[g]]
                ended = not (
                    firsts[g + 1] - lasts[g] == 1 and (after == 32 or after == 46 or after == 45)
                )
            if ended:
                first = b[firsts[chain_first]]
                head = lasts[chain_first] - firsts[chain_first]
                if head == 4:
                    # Cards are in groups of 4, 4, 4 and more, of 4, 6 and 4 or 5, of 4, 5 and 6.
                    second, third = chain_first + 1, chain_first + 2
                    fits = third <= g and 4 <= lasts[second] - firsts[second] <= 6
                    if not (fits and 4 <= lasts[third] - firsts[third] <= 6):
                        head = 0
                if chain > 41:
                    flags |= CARD
                elif (
                    first != 48
                    and first != 49
                    and first != 55
                    and (head == 4 or head == 6 or head >= 14)
                ):
                    if spaced or (chain <= 19 and _passes_luhn(b, firsts[chain_first], lasts[g])):
                        flags |= CARD
        if digits >= 9 and not flags & SSN:
            begin = -1
            hyphens = False
            if size == 9:
                begin = g
            elif (
                single
                and g
                and (
                    (size == 4 and lasts[g - 1] - firsts[g - 1] == 5)
                    or (size == 6 and lasts[g - 1] - firsts[g - 1] == 3)
                )
            ):
                begin = g - 1
            elif (
                single
                and g > 1
                and size == 4
                and lasts[g - 1] - firsts[g - 1] == 2
                and lasts[g - 2] - firsts[g - 2] == 3
                and firsts[g - 1] - lasts[g - 2] == 1
            ):
                begin = g - 2
                hyphens = joint == 45 and b[lasts[g - 2]] == 45
            if begin >= 0 and (
                hyphens or _announced(b, start, firsts[begin], words.ssn, words.ssn, True)
            ):
                flags |= SSN
        if digits >= 10 and g > 1 and single and size == 4 and not flags & AMERICAN:
            one, two = lasts[g - 2] - firsts[g - 2], lasts[g - 1] - firsts[g - 1]
            lead = b[firsts[g - 2]]
            if one == 4 and lead == 49:
                lead = b[firsts[g - 2] + 1]
                one = 3
            wide = firsts[g - 1] - lasts[g - 2]
            if one == 3 and two == 3 and lead >= 50 and b[firsts[g - 1]] >= 50 and wide <= 2:
                left = b[lasts[g - 2]]
                if (
                    left == 41
                    or (left == joint and joint != 32 and wide == 1)
                    or ((left == 47 or left == 32) and joint == 45)
                ):
                    flags |= AMERICAN
        if digits >= 9 and b[firsts[g]] == 48 and not flags & FROM_ABROAD and size >= 2:
            p = firsts[g]
            before = b[p - 1] if p > start else uint8(32)
            far = b[p - 2] if p - 1 > start else uint8(32)
            barred = _NO_ABROAD[before] or ((before == 32 or before == 9) and _is_digit(far))
            q = p + 2 if b[p + 1] == 48 else p + 3
            if q < end and (b[q] == 32 or b[q] == 46 or b[q] == 45):
                q += 1
            if q < end and b[q] == 48 and b[p + 1] == 48:
                barred = True
            if not barred and (b[p + 1] == 48 or (b[p + 1] == 49 and size >= 3 and b[p + 2] == 49)):
                flags |= FROM_ABROAD
    if digits >= 7:
        p = here
        if p > start and b[p - 1] == 40:
            p -= 1
        if p > start and b[p - 1] == 32:
            p -= 1
        if p > start and b[p - 1] == 43:
            p -= 1
            before = b[p - 1] if p > start else uint8(32)
            if not (_is_alnum(before) or before == 43 or before == 42 or before == 94):
                flags |= INTERNATIONAL
        # A dotted quad is no number of a phone.
        quad = n > 3 and p == here and lasts[3] - here <= 15
        for g in range(1, 4 if quad else 0):
            size = lasts[g] - firsts[g]
            quad = quad and size < 4 and firsts[g] - lasts[g - 1] == 1 and b[lasts[g - 1]] == 46
        quad = quad and lasts[0] - here < 4 and (lasts[3] >= end or b[lasts[3]] != 46)
        dated = b[p] != 43 and _is_date(b, firsts, lasts, n)
        if (
            not quad
            and not dated
            and _announced(b, start, here, words.labels, words.connectors, False)
        ):
            flags |= AFTER_LABEL
        trunk = False
        for g in range(n):
            trunk = (
                trunk
                or b[firsts[g]] == 48
                or (
                    g + 2 < n
                    and lasts[g + 2] - firsts[g + 2] == 4
                    and lasts[g + 1] - firsts[g + 1] == 3
                )
            )
        whole = digits <= 15 and (quad or dated)
        if n > 1 and trunk and not whole and _noun_follows(b, there, end, words.nouns):
            flags |= BEFORE_LABEL
    return flags


@inline
def _encoded(b, start, first, last, end):
    """Return whether digits are those of an escaped @ with a domain after it."""
    if first - 2 < start:
        return False
    before = b[first - 1]
    p = first
    while p < last and b[p] == 48:
        p += 1
    if p + 1 < last and (before == 35 or before == 120 or before == 88):
        wanted = uint8(54) if before == 35 else uint8(52)
        other = uint8(52) if before == 35 else uint8(48)
        if b[p] == wanted and b[p + 1] == other and p + 2 < end and b[p + 2] == 59:
            return True
    if before == 37 or before == 61 or before == 120 or before == 88:
        return (
            first + 2 < end
            and b[first] == 52
            and b[first + 1] == 48
            and _domain_follows(b, first + 2, end)
        )
    if before == 117 or before == 85:
        return last - first >= 4 and p == first + 2 and b[p] == 52 and b[p + 1] == 48
    return False


@kernel
def _mark_starts(b: Bytes, marks: Bytes, other: Bytes, four: Bytes, quote: bool) -> None:
    """Mark the signs @ and :, what opens brackets or, if asked, quotes, and digits that matter.

    Args:
        b: UTF-8, folded.
        marks: Receives the marks.
        other: Scratch of the same size.
        four: The same.
        quote: Whether quotes are marked.
    """
    blank, end = uint8(0x20), b.size
    for i in range(end):
        other[i] = uint8(uint8(b[i] - uint8(48)) < uint8(10))
    other[end : end + ROOM] = 0
    for i in range(end):
        four[i] = other[i] | other[i + 1] | other[i + 2] | other[i + 3]
    four[end : end + ROOM] = 0
    # A digit counts if six more can follow with at most three separators between two of them: then
    # each four bytes up to the seventh hold one.
    for i in range(end):
        marks[i] = other[i] & four[i + 1] & four[i + 4] & four[i + 6]
    # Or two of them after two letters and no more than a space: an IBAN's.
    for i in range(end - 3):
        x, y, z = b[i] | blank, b[i + 1] | blank, b[i + 2]
        third, second = uint8(x - _A) < uint8(26), uint8(y - _A) < uint8(26)
        first = uint8((z | blank) - _A) < uint8(26)
        country = second & (first | (third & (z == blank)))
        marks[i + 3] |= uint8(country) & other[i + 3] & other[i + 4]
    # Or if they are the code of @. A bracket counts before what an @ is called, or -, * or a space.
    for i in range(end - 3):
        z, a, c, d = b[i], b[i + 1], b[i + 2], b[i + 3]
        forty = (a == uint8(52)) & (c == uint8(48))
        escapes = (z == uint8(37)) | (z == uint8(61)) | ((z | blank) == uint8(120))
        entity = (forty | ((a == uint8(54)) & (c == uint8(52)))) & (d == uint8(59))
        one = (a == uint8(64)) | (forty & (escapes | (z == uint8(48)))) | entity
        opens = (a == uint8(40)) | (a == uint8(91)) | (a == uint8(123)) | (a == uint8(60))
        c |= blank
        name = (c == _A) | (c == uint8(101)) | (c == uint8(99)) | (c == uint8(122)) | (c == _K)
        name |= (c == uint8(109)) | (c == uint8(115)) | (c == blank) | (c >= uint8(0x80))
        name |= (c == uint8(45)) | (c == uint8(42)) | (c == uint8(0x60))
        marks[i + 1] |= uint8(one | (opens & name))
    # A colon counts before // or AA, and in an IPv6 address: its first group starts with 2 or 3.
    for i in range(end - 5):
        a, c = b[i + 4], b[i + 5]
        near = (b[i] == uint8(50)) | (b[i] == uint8(51)) | (c == uint8(47)) | (c == uint8(65))
        marks[i + 4] |= uint8((a == uint8(58)) & near)
    # What is nearer to an end than a loop comes.
    for i in range(min(4, end)):
        marks[i] = uint8(_KINDS[b[i]] > 0)
    for i in range(max(4, end - 2), end):
        marks[i] = uint8(_KINDS[b[i]] > 0)
    if quote:
        for i in range(end - 2):
            a, c, d = b[i], b[i + 1], b[i + 2]
            one = (a == uint8(0xC2)) & (c == uint8(0xAB))
            quoted = (d == uint8(0x8C)) | (d == uint8(0x90))
            marks[i] |= uint8(one | ((a == uint8(0xE3)) & (c == uint8(0x80)) & quoted))
    marks[end : end + ROOM] = 0


@kernel
def _scan(
    b: Bytes,
    marks: Bytes,
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    words: Words,
) -> int:
    """Return the bits of numbers, addresses and signs."""
    eights = marks.view(np.uint64)
    flags, start, end = 0, 0, b.size
    scheme, colon, checked = -1, -1, -1
    i = 0
    while True:
        i = _next(eights, i, end)
        if i >= end:
            break
        kind = _KINDS[b[i]]
        if kind == 1:
            n, digits, j = 0, 0, i
            while True:
                first = j
                while j < end and _is_digit(b[j]):
                    j += 1
                if n < GROUPS:
                    firsts[n], lasts[n] = first, j
                n += 1
                digits += j - first
                k = j
                while k < end and k - j < 3 and _SEPARATORS[b[k]]:
                    k += 1
                if k == j or k >= end or not _is_digit(b[k]):
                    break
                j = k
            if lasts[0] - i > 1:
                if not flags & ENCODED_SIGN:
                    # Zeros before the code of @ may be without a mark.
                    first = i
                    while first > start and b[first - 1] == 48:
                        first -= 1
                    if _encoded(b, start, first, lasts[0], end):
                        flags |= ENCODED_SIGN
                if not flags & IBAN and _iban(b, start, i, end, words.ibans):
                    flags |= IBAN
            if n > GROUPS:
                flags |= _OF_NUMBERS
            elif digits >= 7 or n >= 4:
                flags |= _numbers(b, start, end, firsts, lasts, n, digits, words)
            i = j
            continue
        if kind == 2:
            before = b[i - 1] if i > start else uint8(32)
            if before == 32:
                if i + 2 < end and b[i + 1] == 32 and _domain_follows(b, i + 2, end):
                    flags |= SPACED_SIGN
            elif _LOCAL[before]:
                if i + 1 < end and b[i + 1] == 91:
                    flags |= SIGN
                elif not flags & SIGN and _domain_follows(b, i + 1, end):
                    flags |= SIGN
            if scheme >= 0:
                while checked < i and not (_BLANK[b[checked]] or b[checked] == 47):
                    colon = checked if b[checked] == 58 else colon
                    checked += 1
                if checked < i:
                    scheme = -1
                elif colon >= scheme:
                    flags |= URL_PASSWORD
        elif kind == 3:
            if i + 2 < end and b[i + 1] == 47 and b[i + 2] == 47:
                scheme = checked = i + 3
                colon = -1
            elif (
                i - 4 >= start
                and (b[i - 4] == 50 or b[i - 4] == 51)
                and _HEX[b[i - 3]]
                and _HEX[b[i - 2]]
                and _HEX[b[i - 1]]
            ):
                before = b[i - 5] if i - 5 >= start else uint8(32)
                k = i + 1
                while k < end and k < i + 6 and _HEX[b[k]]:
                    k += 1
                if k < end and b[k] == 58 and not _WORD[before] and before != 46:
                    flags |= IPV6
            if (
                i + 34 < end
                and i > start
                and b[i + 1] == 65
                and b[i + 2] == 65
                and _is_digit(b[i - 1])
            ):
                flags |= KEY_END
        elif not flags & BRACKETED_AT:
            if _written_at(b, i, end, words):
                flags |= BRACKETED_AT
        i += 1
    return flags


@kernel
def _long_token(b: Bytes, first: int, last: int) -> int:
    """Return the bits of keys that are known by their end, or by a name before them."""
    flags = 0
    base = first
    for p in range(first, last):
        byte = b[p]
        if _BASE64[byte]:
            if p - base == 39 and not flags & ASSIGNED and _is_assigned(b, base):
                flags |= ASSIGNED
            continue
        base = p + 1
        if flags & KEY_END:
            continue
        if byte == 45 and p + 3 < last:
            if b[p + 1] == 117 and b[p + 2] == 115 and _is_digit(b[p + 3]):
                flags |= KEY_END
        elif byte == 46 and p + 3 < last:
            if b[p + 1] == 97 and b[p + 2] == 116 and b[p + 3] == 108:
                flags |= KEY_END
            elif p - 24 >= first and p + 34 < last and b[p + 7] == 46:
                k = p - 24
                while k < p + 35 and (_DOMAIN[b[k]] or k == p or k == p + 7):
                    k += 1
                if k == p + 35:
                    flags |= KEY_END
    return flags


@kernel
def _is_assigned(b: Bytes, place: int) -> bool:
    """Return whether what ends as `key`, `secret` or `signature` is set to what stands there."""
    p = place
    if p > 0 and (b[p - 1] == 34 or b[p - 1] == 39):
        p -= 1
    least = max(0, p - 3)
    while p > least and _BLANK[b[p - 1]]:
        p -= 1
    if p == 0 or not (b[p - 1] == 61 or b[p - 1] == 58 or b[p - 1] == 62):
        return False
    least = max(0, p - 8)
    p -= 1
    while p > least and not _LETTERS[b[p]]:
        p -= 1
    letter = b[p] | 32
    return letter == 121 or letter == 116 or letter == 101


@kernel
def _mark_tokens(b: Bytes, marks: Bytes) -> None:
    """Mark where a run of `SHORTEST_TOKEN` or more bytes in which keys are written goes on.

    That is at all its bytes but the last `SHORTEST_TOKEN` - 1.
    """
    for i in range(b.size):
        a = b[i]
        one = ((a | uint8(0x20)) >= uint8(97)) & ((a | uint8(0x20)) <= uint8(122))
        one |= (a >= uint8(45)) & (a <= uint8(57))
        marks[i] = uint8(one | (a == uint8(95)) | (a == uint8(43)) | (a == uint8(61)))
    marks[b.size : b.size + ROOM] = 0
    for i in range(b.size):
        marks[i] &= marks[i + 1]
    for i in range(b.size):
        marks[i] &= marks[i + 2]
    for i in range(b.size):
        marks[i] &= marks[i + 4]
    for i in range(b.size):
        marks[i] &= marks[i + 7]


@kernel
def _keys(b: Bytes, marks: Bytes, other: Bytes, words: Words) -> int:
    """Return the bits of keys, which are long tokens or start one at the start of a word."""
    _mark_tokens(b, marks)
    blank, end = uint8(0x20), b.size
    other[0] = marks[0]
    for i in range(1, b.size):
        a, c = b[i - 1], b[i]
        inside = (uint8((a | blank) - _A) < uint8(26)) | (uint8(a - uint8(48)) < uint8(10))
        inside |= a == uint8(95)
        starts = (uint8((c | blank) - _A) < uint8(26)) | (c == uint8(49))
        other[i] = marks[i] & (uint8(inside) ^ uint8(1)) & uint8(starts)
    other[b.size : b.size + ROOM] = 0
    flags = _keys_by_start(b, marks, other, words)
    for i in range(b.size):
        marks[i] &= marks[i + 15] & marks[i + LONG_TOKEN - SHORTEST_TOKEN]
    eights = marks.view(np.uint64)
    i = _next(eights, 0, end)
    while i < end:
        last = i + 1
        while marks[last]:
            last += 1
        flags |= _long_token(b, i, last + LONG_TOKEN - 1)
        i = _next(eights, last, end)
    return flags


@kernel
def _keys_by_start(b: Bytes, marks: Bytes, starts: Bytes, words: Words) -> int:
    """Return the bit of keys that are known by their start, if there may be one."""
    end = b.size
    eights = starts.view(np.uint64)
    p = _next(eights, 0, end)
    while p < end:
        number = words.first_prefix[int64(b[p]) << 8 | int64(b[p + 1])]
        while (
            0 <= number < words.prefixes.shape[0]
            and words.prefixes[number, 1] == b[p]
            and words.prefixes[number, 2] == b[p + 1]
        ):
            size = int64(words.prefixes[number, 0])
            k = 2
            while k < size and words.prefixes[number, 1 + k] == b[p + k]:
                k += 1
            if k == size:
                left = size + int64(words.prefixes[number, 19]) - SHORTEST_TOKEN
                k = 0
                while k <= left and marks[p + k]:
                    k += 1
                if k > left:
                    return KEY
            number += 1
        p = _next(eights, p + 1, end)
    return 0


@inline
def _joins(byte):
    return (
        (byte == uint8(45))
        | (byte == uint8(95))
        | (byte == uint8(42))
        | (byte == uint8(124))
        | (byte == uint8(126))
    )


@kernel
def _literals(b: Bytes) -> int:
    """Return the bits of what a few bytes in a row announce: the loop has no branch, for SIMD."""
    low, blank, high = uint8(0x20), uint8(0x20), uint8(0xD0)
    dot, at, begin, commat = False, False, False, False
    for i in range(b.size - 5):
        a, c, d, e, f, g = b[i], b[i + 1], b[i + 2], b[i + 3], b[i + 4], b[i + 5]
        three, four, five = c | low, d | low, e | low
        dot |= (a == blank) & (three == _D) & (four == _O) & (five == _T) & (f == blank)
        ends = ((five == _T) & ((f | low) == _O)) | ((five == _K) & ((f | low) == _T))
        dot |= ((a | low) == _P) & (four == _N) & ends & (g == blank)
        dot |= (c == _O) & (d == _P) & (e == _K) & (f == _A) & (g == blank)
        dot |= (
            (c == uint8(0x87)) & (d == high) & (e == uint8(0xBA)) & (f == high) & (g == uint8(0xB0))
        )
        dot |= (
            (c == uint8(0xA7)) & (d == high) & (e == uint8(0x9A)) & (f == high) & (g == uint8(0x90))
        )
        at |= (three == _A) & (four == _T) & _joins(a) & _joins(e)
        dash = a == uint8(45)
        near = (c == uint8(66)) & (d == uint8(69)) & (e == uint8(71)) & (f == uint8(73))
        far = (c == blank) & (d == uint8(66)) & (e == uint8(69)) & (f == uint8(71))
        begin |= dash & (near | far)
        commat |= (a == uint8(38)) & (three == uint8(99)) & (four == _O) & (five == uint8(109))
    flags = 0
    if dot:
        flags |= SPELLED_AT
    if at:
        flags |= BRACKETED_AT
    if begin:
        flags |= PRIVATE_KEY
    if commat:
        flags |= ENCODED_SIGN
    return flags


@kernel
def hints_of(
    buffer: Bytes, offsets: NDArray[np.int64], words: Words, out: NDArray[np.uint32]
) -> None:
    """Fill `out` with the bits of each text.

    Args:
        buffer: UTF-8 of all texts.
        offsets: Where each text starts, and the last ends, shape (texts + 1).
        words: What the pass knows.
        out: Shape (texts).
    """
    firsts, lasts = np.empty(GROUPS, np.int64), np.empty(GROUPS, np.int64)
    longest = 0
    for text in range(offsets.size - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    folded = np.empty(longest, np.uint8)
    size = (longest + ROOM + 7) & ~7
    marks, other, four = (
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint8),
        np.zeros(size, np.uint8),
    )
    for text in range(offsets.size - 1):
        data = buffer[offsets[text] : offsets[text + 1]]
        foreign, fold, quote = False, False, False
        for i in range(data.size):
            foreign |= data[i] >= uint8(0x80)
        if foreign:
            fold, quote = _mark_foreign(data, marks)
        flags = 0
        if fold:
            size = fold_bytes(data, marks, words.folded, words.pages, folded)
            # A character of one byte takes the place of one of more.
            flags |= FOLDED if size < data.size else 0
            data = folded[:size]
        _mark_starts(data, marks, other, four, quote)
        flags |= _literals(data)
        flags |= _scan(data, marks, firsts, lasts, words)
        flags |= _keys(data, marks, other, words)
        out[text] = uint32(flags)
