"""What the kernels of the pass over the bytes share: its words, classes of bytes, marks, hashes."""

from typing import NamedTuple

import numpy as np
from numba import int64, uint8, uint64
from numpy.typing import NDArray

from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import inline, kernel

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
    prepositions: NDArray[np.uint64]
    """Words between such a label and others before a colon."""
    nouns: NDArray[np.uint64]
    """Words after a phone number that say so."""
    ssn: NDArray[np.uint64]
    """Last words of what announces a social security number."""
    ats: NDArray[np.uint64]
    """What stands in brackets for @, not in lower case."""
    ats_by_start: NDArray[np.uint8]
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


def set_of(characters: str) -> NDArray[np.uint8]:
    """Return a table of 256 that is 1 for ASCII characters."""
    table = np.zeros(256, np.uint8)
    for character in characters:
        table[ord(character)] = 1
    return table


ALNUM = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
WORD = set_of(ALNUM + "_")
LETTERS = set_of(ALNUM[10:])
BLANK = set_of(" \t\n\r\f")
DOMAIN = set_of(ALNUM + "_-")
DOMAIN[0x80:] = 1

_FULL, _ALL = np.uint64(0x0101010101010101), np.uint64(0xFFFFFFFFFFFFFFFF)
SEED, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Of FNV-1a, 64 bits (RFC 9923)."""


@inline
def is_digit(byte):
    """Return whether a byte is an ASCII digit."""
    return uint8(byte - 48) < 10


@inline
def is_alnum(byte):
    """Return whether a byte is an ASCII digit or letter."""
    return uint8(byte - 48) < 10 or uint8((byte | 32) - 97) < 26


@inline
def has(table: NDArray[np.uint64], h: np.uint64) -> bool:
    """Return whether a sorted table holds a hash."""
    low, high = 0, table.size
    while low < high:
        middle = (low + high) >> 1
        if table[middle] < h:
            low = middle + 1
        else:
            high = middle
    return low < table.size and table[low] == h


@inline
def letters_hash(b: Bytes, first: int, last: int) -> np.uint64:
    """Return `reversed_hash` of ASCII letters in lower case."""
    h = SEED
    for i in range(last - 1, first - 1, -1):
        h = (h ^ uint64(b[i] | 32)) * PRIME
    return h


@kernel
def reversed_hash(data: Bytes) -> np.uint64:
    """Return the hash of a word, from its last byte to its first."""
    h = SEED
    for i in range(data.size - 1, -1, -1):
        h = (h ^ uint64(data[i])) * PRIME
    return h


@inline
def next_mark(eights: NDArray[np.uint64], i: int, end: int) -> int:
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


@inline
def domain_follows(b: Bytes, i: int, end: int) -> bool:
    """Return whether a label, a dot and a character of another are there."""
    if i >= end or not (is_alnum(b[i]) or b[i] >= 0x80):
        return False
    j = i
    most = min(end, i + 260)
    while j < most and DOMAIN[b[j]]:
        if b[j] >= 0x80:
            return True
        j += 1
    return j + 1 < end and b[j] == 46 and (is_alnum(b[j + 1]) or b[j + 1] >= 0x80)
