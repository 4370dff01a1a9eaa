"""What filters ask of a token, and sentences, as kernels."""

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
PUNCT, SENTENCE_END = characters.PUNCT, characters.SENTENCE_END

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


@kernel
def sentence_starts(firsts: Offsets, lasts: Offsets, flags: Bytes, out: Bytes) -> None:
    """Mark in `out` the tokens that begin a sentence, as spaCy's sentencizer has it.

    A mark that ends sentences lets the next token that is neither such a mark nor punctuation
    begin one; so does white space that is a token, together with what follows it.
    """
    for document in range(firsts.size):
        seen = False
        for t in range(firsts[document], lasts[document]):
            x = flags[t]
            begins = t == firsts[document]
            if seen and x & AFTER_GAP:
                begins = True
                seen = False
            if x & SENTENCE_MARK:
                seen = True
            elif seen and x & PUNCTUATION == 0:
                begins = True
                seen = False
            out[t] = begins
