"""Shares of repeated paragraphs, lines and n-grams of documents, as a kernel.

What repeats is known by 64 bits of hash: two different pieces of a document of a thousand are
taken for one another with a probability of 1e-14.
"""
# The types are those of numba.
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false

from functools import cache

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from corpus_assets.text.data import Bytes, Offsets
from corpus_assets.text.kernels import hash_bytes, inline, kernel
from corpus_assets.text.marks_kernel import BASE, stripped

PARAGRAPHS, PARAGRAPH_CHARS, LINES, LINE_CHARS = range(4)
"""Columns of the values; those of the n-grams follow."""

NEWLINE = 10
MIX = np.uint64(0xBF58476D1CE4E5B9)


@inline
def seen_before(
    key: np.uint64,
    generation: int,
    mask: int,
    keys: NDArray[np.uint64],
    stamps: NDArray[np.int64],
) -> tuple[bool, int]:
    """Look for a key among those of this generation and put it there; return also its slot."""
    slot = int64(key & uint64(mask))
    while stamps[slot] == generation and keys[slot] != key:
        slot = (slot + 1) & mask
    known = stamps[slot] == generation
    stamps[slot] = generation
    keys[slot] = key
    return known, slot


@inline
def _room(pieces: int) -> int:
    """Return the mask of a table that holds so many pieces at most half full."""
    size = int64(16)
    while size < 2 * pieces:
        size *= 2
    return size - 1


@inline
def count_chars(buffer: Bytes, start: int, end: int) -> int:
    """Return the number of code points."""
    count = int64(0)
    for i in range(start, end):
        count += buffer[i] & 0xC0 != 0x80
    return count


@kernel
def _repeated(
    buffer: Bytes,
    start: int,
    end: int,
    least: int,
    generation: int,
    keys: NDArray[np.uint64],
    stamps: NDArray[np.int64],
    found: NDArray[np.int64],
) -> None:
    """Split at runs of at least so many newlines; write pieces, repeated ones, chars of those."""
    mask = int64(keys.size - 1)
    pieces, repeated, chars = int64(0), int64(0), int64(0)
    first = start
    i = start
    while i <= end:
        if i < end and buffer[i] != NEWLINE:
            i += 1
            continue
        run = i
        while run < end and buffer[run] == NEWLINE:
            run += 1
        if i < end and run - i < least:
            i = run
            continue
        pieces += 1
        known, _ = seen_before(hash_bytes(buffer, first, i), generation, mask, keys, stamps)
        if known:
            repeated += 1
            chars += count_chars(buffer, first, i)
        if i == end:
            break
        first = run
        i = run
    found[0], found[1], found[2] = pieces, repeated, chars


@inline
def _power(exponent: int, powers: NDArray[np.uint64]) -> np.uint64:
    """Return `BASE` to a power."""
    if exponent < powers.size:
        return powers[exponent]
    result = uint64(1)
    square = BASE
    while exponent:
        if exponent & 1:
            result *= square
        square *= square
        exponent >>= 1
    return result


@inline
def _mixed(h: np.uint64, size: int) -> np.uint64:
    h ^= uint64(size) * MIX
    h ^= h >> uint64(31)
    h *= MIX
    return h ^ (h >> uint64(29))


@kernel
def repetition(
    buffer: Bytes,
    documents: tuple[Offsets, Offsets],
    tokens: tuple[Offsets, Offsets, Offsets, Offsets, NDArray[np.uint64], NDArray[np.int32]],
    table: NDArray[np.uint16],
    powers: NDArray[np.uint64],
    limits: NDArray[np.float64],
    top: NDArray[np.int64],
    longer: NDArray[np.int64],
    values: NDArray[np.float64],
) -> None:
    """Fill in the shares of each document, up to the first that is above its limit.

    Args:
        buffer: UTF-8 of the documents.
        documents: Where they begin and end.
        tokens: First and last of each document; starts, ends, hashes and code points of tokens.
        table: `characters.flags()`.
        powers: The first powers of `BASE`.
        limits: Of every column; nan is none.
        top: Lengths of n-grams whose most frequent one counts.
        longer: Lengths of n-grams whose repetitions count.
        values: nan, shape (documents, 4 + top + longer).
    """
    firsts, lasts = documents
    token_firsts, token_lasts, starts, ends, hashes, chars_of = tokens
    most = int64(1)
    for d in range(firsts.size):
        most = max(most, token_lasts[d] - token_firsts[d])
        newlines = int64(2)
        for i in range(firsts[d], lasts[d]):
            newlines += buffer[i] == NEWLINE
        most = max(most, newlines)
    all_keys = np.empty(_room(most) + 1, np.uint64)
    all_stamps = np.zeros(_room(most) + 1, np.int64)
    counts = np.empty(_room(most) + 1, np.int64)
    seats = np.empty(_room(most) + 1, np.int64)
    joined = np.empty(most + 1, np.uint64)  # hashes of all tokens up to one, without spaces
    spaced = np.empty(most + 1, np.uint64)  # and with one after each
    bytes_ = np.empty(most + 1, np.int64)
    chars = np.empty(most + 1, np.int64)
    found = np.zeros(3, np.int64)
    generation = int64(0)
    for d in range(firsts.size):
        begin, end = firsts[d], lasts[d]
        length = float(count_chars(buffer, begin, end))
        if length == 0:
            continue
        newlines = int64(2)
        for i in range(begin, end):
            newlines += buffer[i] == NEWLINE
        mask = _room(newlines)
        keys, stamps = all_keys[: mask + 1], all_stamps[: mask + 1]
        generation += 1
        inner, outer = stripped(buffer, begin, end, table)
        _repeated(buffer, inner, outer, 2, generation, keys, stamps, found)
        values[d, PARAGRAPHS] = found[1] / found[0]
        values[d, PARAGRAPH_CHARS] = found[2] / length
        if values[d, PARAGRAPHS] > limits[PARAGRAPHS]:
            continue
        if values[d, PARAGRAPH_CHARS] > limits[PARAGRAPH_CHARS]:
            continue
        generation += 1
        _repeated(buffer, begin, end, 1, generation, keys, stamps, found)
        values[d, LINES] = found[1] / found[0]
        values[d, LINE_CHARS] = found[2] / length
        if values[d, LINES] > limits[LINES] or values[d, LINE_CHARS] > limits[LINE_CHARS]:
            continue
        first = token_firsts[d]
        n_tokens = token_lasts[d] - first
        mask = _room(n_tokens)
        keys, stamps = all_keys[: mask + 1], all_stamps[: mask + 1]
        joined[0] = spaced[0] = uint64(0)
        bytes_[0] = chars[0] = 0
        for t in range(n_tokens):
            size = ends[first + t] - starts[first + t]
            power = _power(size, powers)
            h = hashes[first + t]
            joined[t + 1] = joined[t] * power + h
            spaced[t + 1] = (spaced[t] * power + h) * BASE + uint64(1)
            bytes_[t + 1] = bytes_[t] + size
            chars[t + 1] = chars[t] + chars_of[first + t]
        column = int64(4)
        dropped = False
        for k in range(top.size):
            n = top[k]
            if not dropped and n_tokens >= n:
                generation += 1
                best, best_chars, best_seat = int64(0), int64(0), int64(0)
                for t in range(n_tokens - n + 1):
                    size = bytes_[t + n] - bytes_[t] + n
                    h = _mixed(spaced[t + n] - spaced[t] * _power(size, powers), size)
                    known, slot = seen_before(h, generation, mask, keys, stamps)
                    if known:
                        counts[slot] += 1
                    else:
                        counts[slot] = 1
                        seats[slot] = t
                    count = counts[slot]
                    # Of equally frequent ones the first counts.
                    if count > best or (count == best and seats[slot] < best_seat):
                        best, best_seat = count, seats[slot]
                        best_chars = chars[t + n] - chars[t] + n - 1
                values[d, column] = best * best_chars / length
                dropped = values[d, column] > limits[column]
            column += 1
        for k in range(longer.size):
            n = longer[k]
            if not dropped:
                generation += 1
                repeated = int64(0)
                t = int64(0)
                while t < n_tokens - n + 1:
                    size = bytes_[t + n] - bytes_[t]
                    h = _mixed(joined[t + n] - joined[t] * _power(size, powers), size)
                    known, _ = seen_before(h, generation, mask, keys, stamps)
                    if known:
                        repeated += chars[t + n] - chars[t]
                        t += n
                    else:
                        t += 1
                values[d, column] = repeated / length
                dropped = values[d, column] > limits[column]
            column += 1


@cache
def powers(count: int = 2048) -> NDArray[np.uint64]:
    """Return the first powers of `BASE`."""
    factors = np.full(count, BASE)
    factors[0] = 1
    return np.multiply.accumulate(factors)
