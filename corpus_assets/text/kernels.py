"""What the kernels of this package share.

numba looks only at the file of a kernel when it asks whether its cache is current: after an edit
here, touch the files of the kernels.
"""
# ruff: noqa: PLR2004  # the numbers are those of UTF-8

import numpy as np
from numba import int64, njit, uint64
from numpy.typing import NDArray

from corpus_assets.text.data import Bytes

kernel = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
"""Compiles at the first call, or loads what an earlier process compiled."""

inline = njit(inline="always", boundscheck=False, error_model="numpy")

M1 = np.uint64(0x9E3779B97F4A7C15)
M2 = np.uint64(0xC2B2AE3D27D4EB4F)
M3 = np.uint64(0xBF58476D1CE4E5B9)


@inline
def code_point(buffer: Bytes, i: int, end: int) -> tuple[int, int]:
    """Return the code point at byte i and its length in bytes; one byte where it is cut off.

    What is no UTF-8 gives some number below 0x200000.
    """
    lead = int64(buffer[i])
    if lead < 0x80 or i + 1 >= end:
        return lead, 1
    second = int64(buffer[i + 1]) & 0x3F
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | second, 2
    if i + 2 >= end:
        return lead, 1
    third = int64(buffer[i + 2]) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | second << 6 | third, 3
    if i + 3 >= end:
        return lead, 1
    return (lead & 0x07) << 18 | second << 12 | third << 6 | int64(buffer[i + 3]) & 0x3F, 4


@inline
def hash_bytes(buffer: Bytes, start: int, end: int) -> np.uint64:
    """Return 64 bits of hash, never 0, of the bytes: eight at a time, 8 ns for a short chunk."""
    h = uint64(end - start) * M1
    i = start
    while i + 8 <= end:
        word = uint64(0)
        for k in range(8):
            word |= uint64(buffer[i + k]) << uint64(8 * k)
        h = (h ^ word) * M2
        h ^= h >> uint64(32)
        i += 8
    if i < end:
        word = uint64(0)
        shift = uint64(0)
        while i < end:
            word |= uint64(buffer[i]) << shift
            shift += uint64(8)
            i += 1
        h = (h ^ word) * M2
        h ^= h >> uint64(32)
    h ^= h >> uint64(31)
    h *= M3
    h ^= h >> uint64(29)
    return max(h, uint64(1))


@kernel
def hash_of(data: Bytes) -> np.uint64:
    """Return `hash_bytes` of all bytes, for Python."""
    return hash_bytes(data, 0, data.size)


@inline
def put(keys: NDArray[np.uint64], values: NDArray[np.int64], h: np.uint64, value: int) -> None:
    """Put a hash that is not there into an open hash table with a power of two of slots."""
    mask = uint64(keys.size - 1)
    slot = h & mask
    while keys[slot] != uint64(0):
        slot = (slot + uint64(1)) & mask
    keys[slot] = h
    values[slot] = value


@kernel
def insert(keys: NDArray[np.uint64], values: NDArray[np.int64], chunk: Bytes, value: int) -> None:
    """Put the hash of a chunk that is not there into a table of `put`."""
    put(keys, values, hash_bytes(chunk, 0, chunk.size), value)
