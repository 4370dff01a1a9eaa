"""spaCy's English rules for chunks of common characters, as a kernel.

What it says is what `english` says; what it cannot say for sure, it leaves to it: characters that
are not `COMMON`, IP numbers, units with other than ASCII letters, long chunks, and
chunks in which tokens that follow each other spell an exception. 1 microsecond for a chunk, against
16 of the plain form.
"""
# The types are those of numba.
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false

from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from corpus_assets.text import english
from corpus_assets.text.data import Bytes, read_json
from corpus_assets.text.kernels import code_point, hash_bytes, inline, insert, kernel

COMMON = ((0, 0x530), (0x2010, 0x2060), (0x20A0, 0x20C0))
"""Ranges of code points that the kernel knows: Latin, Greek, Cyrillic; dashes, quotes, currency."""
LIMIT = COMMON[-1][1]
LONGEST = 96
"""Characters of the longest chunk that is not."""
UNSURE = -1

# What a character is to the rules.
DIGIT, ALPHA, BEFORE_DOT, AFTER_DOT = 1, 2, 4, 8
"""Digits; letters around a comma or hyphen; what stands around a dot that divides."""
PREFIX, SUFFIX = 16, 32
STOP_AFTER, UPPER = 64, 128
"""A full stop after it is a suffix; after two of the other as well."""
AFTER_DIGIT, ICON, OPERATOR, HYPHEN, RELATION = 256, 512, 1024, 2048, 4096
UNIT_LETTER, URL_LETTER = 8192, 16384
"""In units that are not ASCII; in names of hosts."""
UNCOMMON = 32768

DOT, PLUS, COMMA, MINUS, COLON, SLASH, AT, APOSTROPHE, LOW_LINE = map(ord, ".+,-:/@'_")
DOLLAR, QUESTION, HASH, EM_DASH, RIGHT_QUOTE, DEGREE = map(ord, "$?#—’°")
A, C, F, K, S, U, SMALL_A, SMALL_S, SMALL_Z = map(ord, "ACFKSUasz")

ASCII_UNITS = 128
LABEL = 64
"""Characters of the longest label of a host name."""


@dataclass(frozen=True)
class Tables:
    """The rules as the kernel needs them."""

    classes: NDArray[np.uint16]
    """Classes of the code points below `LIMIT`, shape (LIMIT,)."""
    units: NDArray[np.int64]
    """ASCII units, packed by 7 bits."""
    keys: NDArray[np.uint64]
    values: NDArray[np.int64]
    cuts: NDArray[np.int32]
    """Exceptions, as in `english_kernel.Splits`: a hash table and cuts in bytes."""
    longest: int
    """Characters of the longest exception."""


@cache
def tables() -> Tables:
    """Return the tables; 0.1 seconds once."""
    rules = english.rules()
    slots = 1 << (4 * len(rules.exceptions)).bit_length()
    keys, values = np.zeros(slots, np.uint64), np.zeros(slots, np.int64)
    cuts: list[int] = []
    for text, tokens in rules.exceptions.items():
        data = np.frombuffer(text.encode(), np.uint8)
        ends = np.cumsum([len(token.encode()) for token in tokens])
        insert(keys, values, data, len(cuts) << 32 | len(data))
        cuts += [len(ends), *ends]
    units = [unit for unit in _units() if unit.isascii()]
    packed = [sum(ord(c) << 7 * k for k, c in enumerate(reversed(unit))) for unit in units]
    return Tables(
        _classes(),
        np.array(packed, np.int64),
        keys,
        values,
        np.array(cuts, np.int32),
        rules.longest,
    )


def _units() -> list[str]:
    piece = next(p for p in read_json("english_rules.json")["suffixes"] if "|km/h|" in p)
    return piece.removeprefix("(?<=[0-9])(?:").removesuffix(")").split("|")


def _classes() -> NDArray[np.uint16]:
    """Return the classes of characters, each asked of the rules themselves."""
    rules = english.rules()
    ours = "".join(unit for unit in _units() if not unit.isascii())
    table = np.full(LIMIT, UNCOMMON, np.uint16)

    def divides(text: str) -> bool:
        match = rules.infix.search(text)
        return match is not None and match.span() == (1, len(text) - 1)

    def suffix(text: str) -> int:
        match = rules.suffix.search(text)
        return match.end() - match.start() if match else 0

    for point in (point for ends in COMMON for point in range(*ends)):
        c = chr(point)
        prefix = rules.prefix.match(c + "a")
        tests = {
            DIGIT: c in "0123456789",
            ALPHA: divides(f"a,{c}"),
            BEFORE_DOT: divides(f"{c}.A"),
            AFTER_DOT: divides(f"a.{c}"),
            PREFIX: prefix is not None and c != "+",
            SUFFIX: suffix(f"a{c}") == 1 and c != ".",
            STOP_AFTER: suffix(f"a{c}.") == 1 and c != ".",
            UPPER: suffix(f"{c}{c}.") == 1 and suffix(f"a{c}.") == 0,
            AFTER_DIGIT: suffix(f"1{c}") == 1 and suffix(f"a{c}") == 0 and not c.isalpha(),
            ICON: rules.infix.fullmatch(c) is not None,
            OPERATOR: divides(f"1{c}1"),
            HYPHEN: divides(f"a{c}a") and c not in ",:<>=/",
            RELATION: divides(f"a{c}a") and c in ":<>=/",
            UNIT_LETTER: not c.isascii() and c in ours,
            URL_LETTER: c.isascii() and c.isalnum(),
        }
        table[point] = sum(flag for flag, holds in tests.items() if holds)
    return table


@inline
def _exception(
    buffer: Bytes,
    at: NDArray[np.int64],
    start: int,
    end: int,
    keys: NDArray[np.uint64],
    values: NDArray[np.int64],
    longest: int,
) -> int:
    """Return where the cuts of an exception are, or -1."""
    if start >= end or end - start > longest:
        return int64(-1)
    h = hash_bytes(buffer, at[start], at[end])
    mask = uint64(keys.size - 1)
    slot = h & mask
    while keys[slot] != uint64(0):
        if keys[slot] == h and values[slot] & 0xFFFFFFFF == at[end] - at[start]:
            return values[slot] >> 32
        slot = (slot + uint64(1)) & mask
    return int64(-1)


@kernel
def _prefix(points: NDArray[np.int64], start: int, end: int, classes: NDArray[np.uint16]) -> int:
    """Return the length of the prefix."""
    c = points[start]
    n = end - start
    if c == PLUS:
        return 0 if n > 1 and classes[points[start + 1]] & DIGIT else 1
    if classes[c] & PREFIX:
        return 1
    if c == DOT:
        k = 1
        while k < n and points[start + k] == DOT:
            k += 1
        return k if k > 1 else 0
    if c == U and n > 2 and points[start + 1] == S and points[start + 2] == DOLLAR:
        return 3
    if (c in (C, A)) and n > 1 and points[start + 1] == DOLLAR:
        return 2
    return 0


@kernel
def _suffix(
    points: NDArray[np.int64],
    start: int,
    end: int,
    classes: NDArray[np.uint16],
    units: NDArray[np.int64],
) -> int:
    """Return the length of the longest suffix, or `UNSURE`."""
    n = end - start
    if n <= 0:
        return 0
    c = points[end - 1]
    x = classes[c]
    if c == DOT:
        k = 1
        while k < n and points[end - 1 - k] == DOT:
            k += 1
        if k > 1:
            return k
        if n < 2:
            return 0
        before = points[end - 2]
        if classes[before] & STOP_AFTER:
            return 1
        if n < 3:
            return 0
        if classes[before] & UPPER and classes[points[end - 3]] & UPPER:
            return 1
        return int64(points[end - 3] == DEGREE and before in (F, C, K))
    best = int64(x & SUFFIX != 0)
    if c == 0x2026 and n > 1 and points[end - 2] == 0x2026:
        return 2
    if n < 2:
        return best
    before = points[end - 2]
    if c in (SMALL_S, S) and before in (APOSTROPHE, RIGHT_QUOTE):
        best = int64(2)
    after_digit = classes[before] & DIGIT != 0
    if after_digit and x & AFTER_DIGIT:
        best = max(best, 1)
    if c == DOLLAR and n > 2:
        if before in (C, A) and classes[points[end - 3]] & DIGIT:
            best = max(best, 2)
        if n > 3 and before == S and points[end - 3] == U and classes[points[end - 4]] & DIGIT:
            best = max(best, 3)
    packed = int64(0)
    for k in range(1, min(n, 5)):
        unit = points[end - k]
        if classes[unit] & UNIT_LETTER:
            return UNSURE
        if unit >= ASCII_UNITS or classes[unit] & DIGIT:
            break
        packed |= unit << (7 * (k - 1))
        if classes[points[end - k - 1]] & DIGIT:
            for q in range(units.size):
                if units[q] == packed:
                    best = max(best, k)
    return best


@kernel
def _host(points: NDArray[np.int64], start: int, end: int, classes: NDArray[np.uint16]) -> int:
    """Return 1 if a host name begins here, with port and path after it, to the end; 0 if not."""
    dots = int64(0)
    for i in range(start, end):
        dots += points[i] == DOT
    if dots >= 3 and start < end and classes[points[start]] & DIGIT:
        return UNSURE
    label = start
    labels = int64(0)
    i = start
    while i < end:
        c = points[i]
        if c == DOT:
            if i == label or i - label > LABEL:
                return 0
            if classes[points[label]] & URL_LETTER == 0 or classes[points[i - 1]] & URL_LETTER == 0:
                return 0
            labels += 1
            label = i + 1
        elif classes[c] & URL_LETTER == 0 and c not in (LOW_LINE, MINUS):
            break
        i += 1
    if labels == 0 or i - label < 2 or i - label > 63:
        return 0
    for k in range(label, i):
        if points[k] < SMALL_A or points[k] > SMALL_Z:
            return 0
    if i < end and points[i] == COLON:
        port = i + 1
        i = port
        while i < end and classes[points[i]] & DIGIT:
            i += 1
        if i - port < 2 or i - port > 5:
            return 0
    return int64(i == end or points[i] in (SLASH, QUESTION, HASH))


@kernel
def _url(points: NDArray[np.int64], start: int, end: int, classes: NDArray[np.uint16]) -> int:
    """Return 1 if this is a URL, 0 if not, or `UNSURE`."""
    dots = False
    wide = False
    scheme = int64(-1)
    for i in range(start, end):
        c = points[i]
        dots |= c == DOT
        wide |= c >= 128
        if (
            scheme < 0
            and c == COLON
            and i + 2 < end
            and points[i + 1] == SLASH
            and points[i + 2] == SLASH
        ):
            scheme = i
    if not dots:
        return 0
    if wide:
        return UNSURE
    for i in range(start + 1, end):
        if points[i] == AT:
            found = _host(points, i + 1, end, classes)
            if found != 0:
                return found
    if scheme >= start + 2:
        letters = True
        for i in range(start, scheme):
            c = points[i]
            letters &= classes[c] & URL_LETTER != 0 or c in (LOW_LINE, PLUS, MINUS, DOT)
        if letters:
            found = _host(points, scheme + 3, end, classes)
            if found != 0:
                return found
    return _host(points, start, end, classes)


@kernel
def _inside(
    points: NDArray[np.int64],
    start: int,
    end: int,
    classes: NDArray[np.uint16],
    ends: NDArray[np.int64],
    tokens: int,
) -> int:
    """Write the ends of the tokens of what has no affix; return how many there are then."""
    first = start
    i = start
    while i < end:
        c = points[i]
        x = classes[c]
        size = int64(0)
        before = classes[points[i - 1]] if i > start else 0
        after = classes[points[i + 1]] if i + 1 < end else 0
        if c == DOT and i + 1 < end and points[i + 1] == DOT:
            size = int64(2)
            while i + size < end and points[i + size] == DOT:
                size += 1
        elif x & ICON:
            size = int64(1)
        elif c == DOT:
            size = int64(before & BEFORE_DOT != 0 and after & AFTER_DOT != 0)
        elif c == COMMA:
            size = int64(before & ALPHA != 0 and after & ALPHA != 0)
        else:
            if x & OPERATOR and before & DIGIT:
                if after & DIGIT or (i + 1 < end and points[i + 1] == MINUS):
                    size = int64(1)
            if size == 0 and x & HYPHEN and before & (ALPHA | DIGIT):
                # One to three minuses, one or two long dashes.
                most = int64(3) if c == MINUS else int64(2) if c == EM_DASH else int64(1)
                for k in range(1, most + 1):
                    if i + k >= end or points[i + k - 1] != c:
                        break
                    if classes[points[i + k]] & ALPHA:
                        size = int64(k)
                        break
            if size == 0 and x & RELATION and before & (ALPHA | DIGIT) and after & ALPHA:
                size = int64(1)
        if size and i > start:
            if i > first:
                ends[tokens] = i
                tokens += 1
            ends[tokens] = i + size
            tokens += 1
            first = i + size
        i += max(size, 1)
    if first < end:
        ends[tokens] = end
        tokens += 1
    return tokens


@kernel
def split_natively(
    buffer: Bytes,
    begin: int,
    stop: int,
    classes: NDArray[np.uint16],
    units: NDArray[np.int64],
    keys: NDArray[np.uint64],
    values: NDArray[np.int64],
    cuts: NDArray[np.int32],
    longest: int,
    out: NDArray[np.int64],
) -> int:
    """Write where the tokens of a chunk end, in bytes from its start; return how many they are.

    Returns `UNSURE` where the plain form must decide. `out` has `LONGEST` places.
    """
    points = np.empty(LONGEST + 1, np.int64)
    at = np.empty(LONGEST + 1, np.int64)
    n = int64(0)
    i = begin
    while i < stop:
        if n == LONGEST:
            return UNSURE
        point, length = code_point(buffer, i, stop)
        if point >= LIMIT or (length == 1 and point >= 128) or classes[point] & UNCOMMON:
            return UNSURE
        points[n] = point
        at[n] = i
        n += 1
        i += length
    at[n] = stop
    ends = np.empty(2 * LONGEST, np.int64)  # in characters
    after = np.empty(LONGEST + 1, np.int64)
    tokens, suffixes = int64(0), int64(0)
    start, end = int64(0), n
    found = int64(-1)
    while start < end:
        found = _exception(buffer, at, start, end, keys, values, longest)
        if found >= 0:
            break
        prefix = _prefix(points, start, end, classes)
        if prefix:
            found = _exception(buffer, at, start + prefix, end, keys, values, longest)
            if found >= 0:
                start += prefix
                ends[tokens] = start
                tokens += 1
                break
        suffix = _suffix(points, start + prefix, end, classes, units)
        if suffix < 0:
            return UNSURE
        if suffix:
            found = _exception(buffer, at, start, end - suffix, keys, values, longest)
            if found >= 0:
                end -= suffix
                after[suffixes] = end
                suffixes += 1
                break
        if prefix == 0 and suffix == 0:
            break
        if prefix:
            start += prefix
            ends[tokens] = start
            tokens += 1
        if suffix:
            end -= suffix
            after[suffixes] = end
            suffixes += 1
    for k in range(tokens):
        out[k] = at[ends[k]] - begin
    if found >= 0:
        for k in range(cuts[found]):
            out[tokens] = at[start] - begin + cuts[found + 1 + k]
            tokens += 1
    elif start < end:
        url = _url(points, start, end, classes)
        if url < 0:
            return UNSURE
        middle = tokens
        if url:
            ends[tokens] = end
            tokens += 1
        else:
            tokens = _inside(points, start, end, classes, ends, tokens)
        for k in range(middle, tokens):
            out[k] = at[ends[k]] - begin
    for k in range(suffixes - 1, -1, -1):
        out[tokens] = at[after[k - 1] if k else n] - begin
        tokens += 1
    # Exceptions that several tokens spell are joined by rules that look further.
    edges = np.empty(2, np.int64)
    for i in range(tokens - 1):
        edges[0] = begin + (out[i - 1] if i else 0)
        for j in range(i + 1, tokens):
            edges[1] = begin + out[j]
            if edges[1] - edges[0] > 4 * longest:
                break
            if _exception(buffer, edges, 0, 1, keys, values, longest) >= 0:
                return UNSURE
    return tokens
