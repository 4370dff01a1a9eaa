"""Signs and words that may stand for the @ of an address."""

import numpy as np
from numba import int64, uint8, uint64
from numpy.typing import NDArray

from corpus_assets.pii.bytes_kernel import (
    PRIME,
    SEED,
    domain_follows,
    has,
    is_alnum,
    reversed_hash,
)
from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import inline, kernel


@inline
def written_at_start(b: Bytes, i: int, end: int, by_start: NDArray[np.uint8]) -> int:
    """Return where the word in the brackets that open at i starts, or -1 if it is none for @.

    Inlined, for most brackets end here and the words cost more to hand over than to look at.
    """
    j = i + 1
    if b[i] == 0xC2:
        j = i + 2
    elif b[i] == 0xE3:
        j = i + 3
    if j < end and (b[j] == 45 or b[j] == 42):
        j += 1
    if j < end and b[j] == 32:
        j += 1
    fits = j + 1 < end and by_start[int64(b[j]) << 8 | int64(b[j + 1])] != 0
    return j if fits else -1


@kernel
def is_written_at(
    b: Bytes, i: int, j: int, end: int, ats: NDArray[np.uint64], dots: NDArray[np.uint64]
) -> bool:
    """Return whether what opens at i, its word at j, is an @ in brackets before a domain."""
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
    if not has(ats, reversed_hash(b[j:last])):
        return False
    if last - j == 1 and b[j] == 97 and (i == 0 or b[i - 1] == 32):
        return False
    k = 0
    while after < end and k < 2 and b[after] == 32:
        after += 1
        k += 1
    if after >= end or not (is_alnum(b[after]) or b[after] >= 0x80):
        return False
    while after < end and (is_alnum(b[after]) or b[after] == 45 or b[after] >= 0x80):
        if b[after] >= 0x80:
            return True
        after += 1
    if after + 1 >= end:
        return False
    byte = b[after]
    if byte == 95 or byte == 42 or byte == 124 or byte == 126:
        return True
    if byte == 46:
        return bool(is_alnum(b[after + 1]) or b[after + 1] >= 0x80)
    k = after
    while k < end and k < after + 2 and b[k] == 32:
        k += 1
    if k < end and (b[k] == 40 or b[k] == 91 or b[k] == 123 or b[k] == 60 or b[k] >= 0x80):
        return True
    if k != after + 1:
        return False
    last = k
    while last < end and b[last] != 32 and last < k + 40:
        if b[last] >= 0x80:
            return True
        last += 1
    h = SEED
    for m in range(last - 1, k - 1, -1):
        byte = b[m]
        if uint8(byte - 65) < 26:
            byte = uint8(byte | 32)
        h = (h ^ uint64(byte)) * PRIME
    return bool(has(dots, h))


@inline
def is_encoded_at(b: Bytes, start: int, first: int, last: int, end: int) -> bool:
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
            and domain_follows(b, first + 2, end)
        )
    if before == 117 or before == 85:
        return last - first >= 4 and p == first + 2 and b[p] == 52 and b[p + 1] == 48
    return False


@kernel
def is_archived_at(b: Bytes) -> bool:
    """Return whether ` at ` stands after a word after `From`."""
    for i in range(b.size - 10):
        if b[i] != 70 or b[i + 1] != 114 or b[i + 2] != 111 or b[i + 3] != 109:
            continue
        j = i + 5 if b[i + 4] == 58 else i + 4
        if b[j] != 32:
            continue
        j += 1
        most = min(b.size - 4, j + 66)
        while j < most and b[j] != 32 and b[j] != 10:
            j += 1
        if j < most and b[j] == 32 and b[j + 1] == 97 and b[j + 2] == 116 and b[j + 3] == 32:
            return True
    return False
