"""Keys: long tokens, and what starts one at the start of a word."""

import numpy as np
from numba import int64, uint8
from numpy.typing import NDArray

from corpus_assets.pii.bytes_kernel import (
    ALNUM,
    BLANK,
    DOMAIN,
    LETTERS,
    ROOM,
    is_digit,
    next_mark,
    set_of,
)
from corpus_assets.pii.hint_bits import ASSIGNED, KEY, KEY_END
from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import kernel

SHORTEST_TOKEN = 15
"""Characters of the shortest key, `xoxb-` and ten."""
LONG_TOKEN = 36
"""Characters of the shortest key that is known by its end, `-us` and a digit after 32."""

_BASE64 = set_of(ALNUM + "+/")
_A = np.uint8(ord("a"))


@kernel
def bits_of_keys(
    b: Bytes, marks: Bytes, other: Bytes, prefixes: Bytes, first_prefix: NDArray[np.int16]
) -> int:
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
    flags = _keys_by_start(b, marks, other, prefixes, first_prefix)
    for i in range(b.size):
        marks[i] &= marks[i + 15] & marks[i + LONG_TOKEN - SHORTEST_TOKEN]
    eights = marks.view(np.uint64)
    i = next_mark(eights, 0, end)
    while i < end:
        last = i + 1
        while marks[last]:
            last += 1
        flags |= _long_token(b, i, last + LONG_TOKEN - 1)
        i = next_mark(eights, last, end)
    return flags


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
def _keys_by_start(
    b: Bytes, marks: Bytes, starts: Bytes, prefixes: Bytes, first_prefix: NDArray[np.int16]
) -> int:
    """Return the bit of keys that are known by their start, if there may be one."""
    end = b.size
    eights = starts.view(np.uint64)
    p = next_mark(eights, 0, end)
    while p < end:
        number = first_prefix[int64(b[p]) << 8 | int64(b[p + 1])]
        while (
            0 <= number < prefixes.shape[0]
            and prefixes[number, 1] == b[p]
            and prefixes[number, 2] == b[p + 1]
        ):
            size = int64(prefixes[number, 0])
            k = 2
            while k < size and prefixes[number, 1 + k] == b[p + k]:
                k += 1
            if k == size:
                left = size + int64(prefixes[number, 19]) - SHORTEST_TOKEN
                k = 0
                while k <= left and marks[p + k]:
                    k += 1
                if k > left:
                    return KEY
            number += 1
        p = next_mark(eights, p + 1, end)
    return 0


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
            if b[p + 1] == 117 and b[p + 2] == 115 and is_digit(b[p + 3]):
                flags |= KEY_END
        elif byte == 46 and p + 3 < last:
            if b[p + 1] == 97 and b[p + 2] == 116 and b[p + 3] == 108:
                flags |= KEY_END
            elif p - 24 >= first and p + 34 < last and b[p + 7] == 46:
                k = p - 24
                while k < p + 35 and (DOMAIN[b[k]] or k == p or k == p + 7):
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
    while p > least and BLANK[b[p - 1]]:
        p -= 1
    if p == 0 or not (b[p - 1] == 61 or b[p - 1] == 58 or b[p - 1] == 62):
        return False
    least = max(0, p - 8)
    p -= 1
    while p > least and not LETTERS[b[p]]:
        p -= 1
    letter = b[p] | 32
    return letter == 121 or letter == 116 or letter == 101
