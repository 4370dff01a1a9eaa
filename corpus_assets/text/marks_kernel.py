"""What filters ask of a token, and sentences, as kernels."""
# The types are those of numba.
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from corpus_assets.text import characters
from corpus_assets.text.data import Bytes, Offsets
from corpus_assets.text.kernels import code_point, inline, kernel
from corpus_assets.text.tokens_kernel import AFTER_GAP

# Flags of a token, beside `AFTER_GAP`.
REAL, WORD, SENTENCE_MARK, PUNCTUATION = 1, 2, 4, 8
"""A character that is no symbol; a letter; ends a sentence; nothing but punctuation."""

SYMBOL, ALPHA = characters.SYMBOL, characters.ALPHA
SPACE, PUNCT, SENTENCE_END = characters.SPACE, characters.PUNCT, characters.SENTENCE_END

BASE = np.uint64(0x9E3779B97F4A7C15)
"""Of the polynomial hashes, modulo 2^64."""


@inline
def flags_at(buffer: Bytes, i: int, end: int, table: NDArray[np.uint16]) -> tuple[int, int]:
    """Return the flags of the character at byte i, and its length in bytes."""
    if buffer[i] < 128:
        return int64(table[buffer[i]]), 1
    point, length = code_point(buffer, i, end)
    if point < table.size:
        return int64(table[point]), length
    return int64(0), length


@kernel
def describe(
    buffer: Bytes,
    starts: Offsets,
    ends: Offsets,
    table: NDArray[np.uint16],
    hashes: NDArray[np.uint64],
    chars: NDArray[np.int32],
    flags: Bytes,
) -> None:
    """Fill in hash, code points and flags of each token."""
    for t in range(starts.size):
        h = uint64(0)
        i, end = starts[t], ends[t]
        count = 0
        any_ = int64(0)
        symbols = int64(SYMBOL | PUNCT)
        while i < end:
            x, length = flags_at(buffer, i, end, table)
            any_ |= x
            symbols &= x
            for k in range(length):
                h = h * BASE + uint64(buffer[i + k]) + uint64(1)
            count += 1
            i += length
        hashes[t] = h
        chars[t] = count
        x = flags[t] & AFTER_GAP
        if symbols & SYMBOL == 0:
            x |= REAL
        if any_ & ALPHA:
            x |= WORD
        if symbols & PUNCT:
            x |= PUNCTUATION
        if count == 1 and any_ & SENTENCE_END:
            x |= SENTENCE_MARK
        flags[t] = x


@inline
def last_character(buffer: Bytes, start: int, end: int) -> int:
    """Return where the last character of a range that is not empty begins."""
    last = end - 1
    while last > start and buffer[last] & 0xC0 == 0x80:
        last -= 1
    return last


@inline
def last_space(buffer: Bytes, start: int, end: int, table: NDArray[np.uint16]) -> int:
    """Return where the white space at the end of a range begins."""
    while end > start:
        last = last_character(buffer, start, end)
        x, _ = flags_at(buffer, last, end, table)
        if x & SPACE == 0:
            break
        end = last
    return end


@kernel
def stripped(buffer: Bytes, start: int, end: int, table: NDArray[np.uint16]) -> tuple[int, int]:
    """Return the range without white space at its ends."""
    while start < end:
        x, length = flags_at(buffer, start, end, table)
        if x & SPACE == 0:
            break
        start += length
    return start, last_space(buffer, start, end, table)


@inline
def _is_gap(buffer: Bytes, start: int, end: int, table: NDArray[np.uint16]) -> bool:
    """Return whether white space at the end of a range is a token: all but one space is."""
    stop = last_space(buffer, start, end, table)
    return end - stop > 1 or (end - stop == 1 and buffer[stop] != 32)


@kernel
def sentence_starts(
    buffer: Bytes,
    documents: tuple[Offsets, Offsets],
    tokens: tuple[Offsets, Offsets, Bytes],
    table: NDArray[np.uint16],
    begins: Bytes,
    blank: Bytes,
) -> None:
    """Mark the tokens that begin a sentence, as spaCy's sentencizer has it.

    A mark that ends sentences lets the next token that is neither such a mark nor punctuation
    begin one; so does white space that is a token, together with what follows it.

    Args:
        buffer: UTF-8 of the documents.
        documents: Where they begin and end.
        tokens: First and last of each document; flags.
        table: `characters.flags()`.
        begins: Receives 1 for tokens that begin a sentence, else 0; shape (tokens,).
        blank: Receives 1 for documents that have one more sentence of white space alone, be it
            the only one, else 0; shape (documents,).
    """
    firsts, lasts, flags = tokens
    for d in range(firsts.size):
        seen = False
        for t in range(firsts[d], lasts[d]):
            x = flags[t]
            begins[t] = t == firsts[d]
            if seen and x & AFTER_GAP:
                begins[t] = 1
                seen = False
            if x & SENTENCE_MARK:
                seen = True
            elif seen and x & PUNCTUATION == 0:
                begins[t] = 1
                seen = False
        blank[d] = firsts[d] == lasts[d] or (
            seen and _is_gap(buffer, documents[0][d], documents[1][d], table)
        )
