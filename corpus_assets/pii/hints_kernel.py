"""What a text can hold at all: one pass over its bytes, before anything is searched in Python.

A bit for each way of writing that `detection` knows; a bit that is missing says that nothing of it
is there, one that is set says nothing. 64 MB take 0.15 s, and the whole step 0.31 s where it took
1.2 s with a search by the Rust engine for each.
"""

import numpy as np
from numba import uint8, uint32
from numpy.typing import NDArray

from corpus_assets.pii.bytes_kernel import (
    ALNUM,
    BLANK,
    ROOM,
    WORD,
    Words,
    domain_follows,
    is_digit,
    next_mark,
    set_of,
)
from corpus_assets.pii.emails_kernel import (
    is_archived_at,
    is_encoded_at,
    is_written_at,
    written_at_start,
)
from corpus_assets.pii.folding_kernel import fold_bytes, mark_foreign
from corpus_assets.pii.hint_bits import (
    ARCHIVED_AT,
    BRACKETED_AT,
    ENCODED_SIGN,
    FOLDED,
    IBAN,
    IPV6,
    KEY_END,
    OF_NUMBERS,
    PRIVATE_KEY,
    SIGN,
    SPACED_SIGN,
    SPELLED_AT,
    URL_PASSWORD,
)
from corpus_assets.pii.keys_kernel import bits_of_keys
from corpus_assets.pii.numbers_kernel import bits_of_numbers, is_iban
from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import inline, kernel

GROUPS = 64
"""Groups of digits in a row that are looked at; more of them may be anything."""

_KINDS = np.zeros(256, np.uint8)
_KINDS[ord("0") : ord("9") + 1] = 1
_KINDS[ord("@")] = 2
_KINDS[ord(":")] = 3
for _open in "([{<":
    _KINDS[ord(_open)] = 4
_KINDS[0xC2] = _KINDS[0xE3] = 4

_SEPARATORS = set_of(" .-/()\t")
_HEX = set_of("0123456789abcdefABCDEF")
_LOCAL = set_of(ALNUM + "._%+'-&#~\"}")
_LOCAL[0x80:] = 1
_A, _D, _K, _N, _O, _P, _T = (np.uint8(ord(letter)) for letter in "adknopt")


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
            fold, quote = mark_foreign(data, marks)
        flags = 0
        if fold:
            size = fold_bytes(data, marks, words.folded, words.pages, folded)
            # A character of one byte takes the place of one of more.
            flags |= FOLDED if size < data.size else 0
            data = folded[:size]
        _mark_starts(data, marks, other, four, quote)
        flags |= _literals(data)
        flags |= _scan(data, marks, firsts, lasts, words)
        flags |= bits_of_keys(data, marks, other, words.prefixes, words.first_prefix)
        out[text] = uint32(flags)


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
    # What the loops do not reach.
    for i in range(min(4, end)):
        marks[i] = min(_KINDS[b[i]], uint8(1))
    for i in range(max(4, end - 2), end):
        marks[i] = min(_KINDS[b[i]], uint8(1))
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
        i = next_mark(eights, i, end)
        if i >= end:
            break
        kind = _KINDS[b[i]]
        if kind == 1:
            n, digits, j = 0, 0, i
            while True:
                first = j
                while j < end and is_digit(b[j]):
                    j += 1
                if n < GROUPS:
                    firsts[n], lasts[n] = first, j
                n += 1
                digits += j - first
                k = j
                while k < end and k - j < 3 and _SEPARATORS[b[k]]:
                    k += 1
                if k == j or k >= end or not is_digit(b[k]):
                    break
                j = k
            if lasts[0] - i > 1:
                if not flags & ENCODED_SIGN:
                    # Zeros before the code of @ may be without a mark.
                    first = i
                    while first > start and b[first - 1] == 48:
                        first -= 1
                    if is_encoded_at(b, start, first, lasts[0], end):
                        flags |= ENCODED_SIGN
                if not flags & IBAN and is_iban(b, start, i, end, words.ibans):
                    flags |= IBAN
            if n > GROUPS:
                flags |= OF_NUMBERS
            elif digits >= 7 or n >= 4:
                flags |= bits_of_numbers(b, start, end, firsts, lasts, n, digits, words)
            i = j
            continue
        if kind == 2:
            before = b[i - 1] if i > start else uint8(32)
            if before == 32:
                if i + 2 < end and b[i + 1] == 32 and domain_follows(b, i + 2, end):
                    flags |= SPACED_SIGN
            elif _LOCAL[before]:
                if i + 1 < end and b[i + 1] == 91:
                    flags |= SIGN
                elif not flags & SIGN and domain_follows(b, i + 1, end):
                    flags |= SIGN
            if scheme >= 0:
                while checked < i and not (BLANK[b[checked]] or b[checked] == 47):
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
                if k < end and b[k] == 58 and not WORD[before] and before != 46:
                    flags |= IPV6
            if (
                i + 34 < end
                and i > start
                and b[i + 1] == 65
                and b[i + 2] == 65
                and is_digit(b[i - 1])
            ):
                flags |= KEY_END
        elif not flags & BRACKETED_AT:
            j = written_at_start(b, i, end, words.ats_by_start)
            if j >= 0 and is_written_at(b, i, j, end, words.ats, words.dots):
                flags |= BRACKETED_AT
        i += 1
    return flags


@kernel
def _literals(b: Bytes) -> int:
    """Return the bits of what a few bytes in a row announce: the loop has no branch, for SIMD.

    Some bytes of a word say enough where others hardly fit between.
    """
    low, blank = uint8(0x20), uint8(0x20)
    dot, at, begin, commat, archived = False, False, False, False, False
    for i in range(b.size - 5):
        a, c, d, e, f, g = b[i], b[i + 1], b[i + 2], b[i + 3], b[i + 4], b[i + 5]
        three, four, five = c | low, d | low, e | low
        dot |= (three == _D) & (four == _O) & (five == _T) & (f == blank)
        ends = ((five == _T) & ((f | low) == _O)) | ((five == _K) & ((f | low) == _T))
        dot |= ((a | low) == _P) & (four == _N) & ends & (g == blank)
        dot |= (c == _O) & (d == _P) & (e == _K) & (f == _A) & (g == blank)
        # The letters of the Russian word for a dot, in either case, by their second bytes.
        dot |= (c == uint8(0x87)) & (e == uint8(0xBA)) & (g == uint8(0xB0))
        dot |= (c == uint8(0xA7)) & (e == uint8(0x9A)) & (g == uint8(0x90))
        at |= (three == _A) & (four == _T) & _joins(a) & _joins(e)
        near = (c == uint8(66)) & (e == uint8(71))
        far = (d == uint8(66)) & (f == uint8(71))
        begin |= (a == uint8(45)) & (near | far)
        commat |= (a == uint8(38)) & (four == _O) & (five == uint8(109))
        archived |= (c == uint8(70)) & (f == uint8(109))
    if b.size > 5:
        archived |= (b[0] == 70) & (b[3] == 109)
    flags = 0
    if dot:
        flags |= SPELLED_AT
    if archived and is_archived_at(b):
        flags |= ARCHIVED_AT
    if at:
        flags |= BRACKETED_AT
    if begin:
        flags |= PRIVATE_KEY
    if commat:
        flags |= ENCODED_SIGN
    return flags


@inline
def _joins(byte):
    return (
        (byte == uint8(45))
        | (byte == uint8(95))
        | (byte == uint8(42))
        | (byte == uint8(124))
        | (byte == uint8(126))
    )
