"""Hashes of shingles (word n-grams), equal to datatrove's: sha1 or xxhash, 64 or 32 bits.

Kernels over the word buffer of a batch: a shingle is a contiguous byte range of it, since words are
one space apart. The plain forms, `hashlib` and the xxHash package, stand in the tests.
"""

from typing import Any

import numpy as np
from numba import njit, uint32, uint64

from corpus_assets.dedup.sha1_lanes import LANES, sha1_sixteen

ONE_BLOCK_BYTES = 55
"""Longest message that fits one SHA-1 block with its padding."""

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(x)
    for x in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
_Q1, _Q2, _Q3, _Q4, _Q5 = (
    np.uint32(x) for x in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
)
"""Constants of xxHash 64 and 32 (xxHash specification 0.1.1, Yann Collet)."""


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def shingle_count(documents: np.ndarray, n_grams: int, bounds: np.ndarray) -> int:
    """Fill `bounds` (documents + 1) with each document's first shingle; return their number."""
    total = 0
    for d in range(documents.size - 1):
        bounds[d] = total
        total += max(documents[d + 1] - documents[d] - n_grams + 1, 0)
    bounds[documents.size - 1] = total
    return total


@njit(inline="always")
def _swapped(x):
    return uint32(
        ((x & uint32(0xFF)) << uint32(24))
        | ((x & uint32(0xFF00)) << uint32(8))
        | ((x >> uint32(8)) & uint32(0xFF00))
        | (x >> uint32(24))
    )


@njit(inline="always")
def _leading(first, second):
    return uint64(_swapped(first)) | (uint64(_swapped(second)) << uint64(32))


@njit(inline="always")
def _word(buffer, i):
    return (
        (uint32(buffer[i]) << uint32(24))
        | (uint32(buffer[i + 1]) << uint32(16))
        | (uint32(buffer[i + 2]) << uint32(8))
        | uint32(buffer[i + 3])
    )


@njit(inline="always")
def _rot32(x, n):
    return uint32(uint32(x << uint32(n)) | uint32(x >> uint32(32 - n)))


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def sha1_long(buffer: np.ndarray, start: int, length: int) -> int:
    """Return the first 8 bytes of a SHA-1 as a little-endian integer, for any length."""
    h0, h1 = uint32(0x67452301), uint32(0xEFCDAB89)
    h2, h3, h4 = uint32(0x98BADCFE), uint32(0x10325476), uint32(0xC3D2E1F0)
    blocks = (length + 8) // 64 + 1
    w = np.empty(80, np.uint32)
    for block in range(blocks):
        for k in range(16):
            x = uint32(0)
            for q in range(4):
                place = block * 64 + k * 4 + q
                byte = uint32(0)
                if place < length:
                    byte = uint32(buffer[start + place])
                elif place == length:
                    byte = uint32(0x80)
                x = uint32(x << uint32(8)) | byte
            w[k] = x
        if block == blocks - 1:
            bits = uint64(length) * uint64(8)
            w[14] = uint32(bits >> uint64(32))
            w[15] = uint32(bits & uint64(0xFFFFFFFF))
        for k in range(16, 80):
            w[k] = _rot32(w[k - 3] ^ w[k - 8] ^ w[k - 14] ^ w[k - 16], 1)
        a, b, c, d, e = h0, h1, h2, h3, h4
        for k in range(80):
            if k < 20:
                f = uint32((b & c) | (~b & d)) + uint32(0x5A827999)
            elif k < 40:
                f = uint32(b ^ c ^ d) + uint32(0x6ED9EBA1)
            elif k < 60:
                f = uint32((b & c) | (b & d) | (c & d)) + uint32(0x8F1BBCDC)
            else:
                f = uint32(b ^ c ^ d) + uint32(0xCA62C1D6)
            t = uint32(_rot32(a, 5) + uint32(f) + e + w[k])
            e, d, c, b, a = d, c, _rot32(b, 30), a, t
        h0, h1 = uint32(h0 + a), uint32(h1 + b)
        h2, h3, h4 = uint32(h2 + c), uint32(h3 + d), uint32(h4 + e)
    return _leading(h0, h1)


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def sha1_shingles(
    buffer: np.ndarray, starts: np.ndarray, documents: np.ndarray, n_grams: int, out: np.ndarray
) -> None:
    """Hash every shingle with SHA-1; sixteen that fit one block at a time.

    Args:
        buffer: Words, one space apart, with 3 bytes to spare at the end, uint8.
        starts: Where each word begins, and where one after the last would, int64.
        documents: First word of each document, shape (documents + 1).
        n_grams: Words in a shingle.
        out: Receives the first 8 digest bytes of each as little-endian integers, uint64.
    """
    w = np.zeros((16, LANES), np.uint32)
    digests = np.zeros((2, LANES), np.uint32)
    places = np.zeros(LANES, np.int64)
    lane, k = 0, 0
    for d in range(documents.size - 1):
        for t in range(documents[d], documents[d + 1] - n_grams + 1):
            start = starts[t]
            length = starts[t + n_grams] - 1 - start
            if length > ONE_BLOCK_BYTES:
                out[k] = sha1_long(buffer, start, length)
                k += 1
                continue
            full, rest = length >> 2, length & 3
            for j in range(full):
                w[j, lane] = _word(buffer, start + 4 * j)
            x = _word(buffer, start + 4 * full)
            if rest == 0:
                x = uint32(0x80000000)
            elif rest == 1:
                x = (x & uint32(0xFF000000)) | uint32(0x00800000)
            elif rest == 2:
                x = (x & uint32(0xFFFF0000)) | uint32(0x00008000)
            else:
                x = (x & uint32(0xFFFFFF00)) | uint32(0x80)
            w[full, lane] = x
            for j in range(full + 1, 15):
                w[j, lane] = uint32(0)
            w[15, lane] = uint32(length * 8)
            places[lane] = k
            k += 1
            lane += 1
            if lane == LANES:
                sha1_sixteen(w, digests)
                for i in range(LANES):
                    out[places[i]] = _leading(digests[0, i], digests[1, i])
                lane = 0
    if lane:
        sha1_sixteen(w, digests)
        for i in range(lane):
            out[places[i]] = _leading(digests[0, i], digests[1, i])


@njit(inline="always")
def _rot64(x, n):
    return (x << uint64(n)) | (x >> uint64(64 - n))


@njit(inline="always")
def _eight(buffer, i):
    x = uint64(0)
    for q in range(8):
        x |= uint64(buffer[i + q]) << uint64(8 * q)
    return x


@njit(inline="always")
def _four(buffer, i):
    x = uint32(0)
    for q in range(4):
        x |= uint32(buffer[i + q]) << uint32(8 * q)
    return x


@njit(inline="always")
def _round64(accumulator, lane):
    return _rot64(accumulator + lane * _P2, 31) * _P1


@njit(inline="always")
def _merged64(hash_, lane):
    return (hash_ ^ _round64(uint64(0), lane)) * _P1 + _P4


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def xxh64(buffer: np.ndarray, start: int, end: int) -> Any:
    """Return XXH64 with seed 0 of a byte range."""
    i = start
    if end - start >= 32:
        a, b, c, d = _P1 + _P2, _P2, uint64(0), uint64(0) - _P1
        while i + 32 <= end:
            a = _round64(a, _eight(buffer, i))
            b = _round64(b, _eight(buffer, i + 8))
            c = _round64(c, _eight(buffer, i + 16))
            d = _round64(d, _eight(buffer, i + 24))
            i += 32
        h = _rot64(a, 1) + _rot64(b, 7) + _rot64(c, 12) + _rot64(d, 18)
        h = _merged64(_merged64(_merged64(_merged64(h, a), b), c), d)
    else:
        h = _P5
    h += uint64(end - start)
    while i + 8 <= end:
        h ^= _round64(uint64(0), _eight(buffer, i))
        h = _rot64(h, 27) * _P1 + _P4
        i += 8
    if i + 4 <= end:
        h ^= uint64(_four(buffer, i)) * _P1
        h = _rot64(h, 23) * _P2 + _P3
        i += 4
    while i < end:
        h ^= uint64(buffer[i]) * _P5
        h = _rot64(h, 11) * _P1
        i += 1
    h ^= h >> uint64(33)
    h *= _P2
    h ^= h >> uint64(29)
    h *= _P3
    return h ^ (h >> uint64(32))


@njit(inline="always")
def _round32(accumulator, lane):
    return uint32(_rot32(uint32(accumulator + uint32(lane * _Q2)), 13) * _Q1)


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def xxh32(buffer: np.ndarray, start: int, end: int) -> Any:
    """Return XXH32 with seed 0 of a byte range."""
    i = start
    if end - start >= 16:
        a, b = uint32(_Q1 + _Q2), _Q2
        c, d = uint32(0), uint32(uint32(0) - _Q1)
        while i + 16 <= end:
            a = _round32(a, _four(buffer, i))
            b = _round32(b, _four(buffer, i + 4))
            c = _round32(c, _four(buffer, i + 8))
            d = _round32(d, _four(buffer, i + 12))
            i += 16
        h = uint32(_rot32(a, 1) + _rot32(b, 7) + _rot32(c, 12) + _rot32(d, 18))
    else:
        h = _Q5
    h = uint32(h + uint32(end - start))
    while i + 4 <= end:
        h = uint32(h + uint32(_four(buffer, i) * _Q3))
        h = uint32(_rot32(h, 17) * _Q4)
        i += 4
    while i < end:
        h = uint32(h + uint32(uint32(buffer[i]) * _Q5))
        h = uint32(_rot32(h, 11) * _Q1)
        i += 1
    h = uint32(uint32(h ^ (h >> uint32(15))) * _Q2)
    h = uint32(uint32(h ^ (h >> uint32(13))) * _Q3)
    return uint32(h ^ (h >> uint32(16)))


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def xxhash_shingles(
    buffer: np.ndarray,
    starts: np.ndarray,
    documents: np.ndarray,
    n_grams: int,
    bits: int,
    out: np.ndarray,
) -> None:
    """Hash every shingle with XXH64 or XXH32; arguments as of `sha1_shingles`."""
    k = 0
    for d in range(documents.size - 1):
        for t in range(documents[d], documents[d + 1] - n_grams + 1):
            start, end = starts[t], starts[t + n_grams] - 1
            if bits == 64:
                out[k] = uint64(xxh64(buffer, start, end))
            else:
                out[k] = uint64(xxh32(buffer, start, end))
            k += 1


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def signature_minima(
    hashes: np.ndarray,
    bounds: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    mask: np.uint64,
    out: np.ndarray,
) -> None:
    """Fill `out` with the minima of each document's permuted shingle hashes.

    Value j is min over the hashes x of ((x * a_j + b_j) mod 2^64) mod (2^61 - 1), masked: the
    product wraps, as datatrove's does. Folding the high bits replaces the division: 31 us a text
    instead of 506.

    Args:
        hashes: Shingle hashes of all documents, uint64.
        bounds: First shingle of each document, shape (documents + 1).
        a: Multipliers, shape (values,), uint64.
        b: Summands, shape (values,), uint64.
        mask: Bits of a stored value, all ones.
        out: Shape (documents, values), uint64; rows without shingles hold all ones.
    """
    prime = uint64(0x1FFFFFFFFFFFFFFF)
    for d in range(bounds.size - 1):
        first, last = bounds[d], bounds[d + 1]
        for j in range(a.size):
            aj, bj = a[j], b[j]
            least = uint64(0xFFFFFFFFFFFFFFFF)
            for i in range(first, last):
                v = hashes[i] * aj + bj
                v = (v & prime) + (v >> uint64(61))
                # v - prime wraps to a large number where v is the smaller.
                v = min(v, v - prime) & mask
                least = min(least, v)
            out[d, j] = least
