"""What Gopher's and FineWeb's quality rules measure of documents, as kernels."""
# The types are those of numba.
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false

import numpy as np
from numba import int64
from numpy.typing import NDArray

from corpus_assets.filters.repetition_kernel import count_chars, seen_before
from corpus_assets.text import characters
from corpus_assets.text.data import Bytes, Offsets
from corpus_assets.text.kernels import hash_bytes, inline, kernel
from corpus_assets.text.marks_kernel import REAL, WORD, flags_at, last_character, stripped

LINE_END, SPACE, STOP_MARK = characters.LINE_END, characters.SPACE, characters.STOP_MARK

# Columns of what `gopher` measures.
REAL_WORDS, MEAN_CHARS, HASHES, ELLIPSES, BULLETS, END_ELLIPSES, ALPHA_WORDS, STOP_WORDS = range(8)
# Columns of what `fineweb` measures.
STOPPED_LINES, SHORT_LINES, REPEATED_CHARS, NEWLINES, FULL_LINES = range(5)

NEWLINE, RETURN, HASH, MINUS, DOT = map(ord, "\n\r#-.")


@inline
def _is_three(buffer: Bytes, i: int, end: int, first: int, second: int, third: int) -> bool:
    return i + 2 < end and buffer[i] == first and buffer[i + 1] == second and buffer[i + 2] == third


@inline
def _ellipsis(buffer: Bytes, start: int, end: int) -> bool:
    """Return whether a range ends with three dots or the character of them."""
    return end - start >= 3 and (
        _is_three(buffer, end - 3, end, DOT, DOT, DOT)
        or _is_three(buffer, end - 3, end, 0xE2, 0x80, 0xA6)
    )


@kernel
def gopher(
    buffer: Bytes,
    documents: tuple[Offsets, Offsets],
    tokens: tuple[Offsets, Offsets, NDArray[np.uint64], NDArray[np.int32], Bytes],
    table: NDArray[np.uint16],
    stop_words: NDArray[np.uint64],
    values: NDArray[np.float64],
) -> None:
    """Fill in the values of each document.

    Args:
        buffer: UTF-8 of the documents.
        documents: Where they begin and end.
        tokens: First and last of each document; hashes, code points and flags of tokens.
        table: `characters.flags()`.
        stop_words: Hashes of the stop words.
        values: Shape (documents, 8).
    """
    firsts, lasts = documents
    token_firsts, token_lasts, hashes, chars, flags = tokens
    maybe = np.zeros(256, np.uint8)
    for k in range(stop_words.size):
        maybe[stop_words[k] & np.uint64(255)] = 1
    seen = np.zeros(stop_words.size, np.int64)
    for d in range(firsts.size):
        real, real_chars, words, stops = int64(0), int64(0), int64(0), int64(0)
        for t in range(token_firsts[d], token_lasts[d]):
            x = flags[t]
            if x & REAL:
                real += 1
                real_chars += chars[t]
            words += x & WORD != 0
            if maybe[hashes[t] & np.uint64(255)]:
                for k in range(stop_words.size):
                    if stop_words[k] == hashes[t] and seen[k] != d + 1:
                        seen[k] = d + 1
                        stops += 1
        number, ellipses = int64(0), int64(0)
        lines, bullets, end_ellipses = int64(0), int64(0), int64(0)
        i, end = firsts[d], lasts[d]
        line, last = i, i  # where the line begins, and what is not white space in it ends
        first = int64(-1)  # where what is not white space in the line begins
        dots = int64(0)
        while i <= end:
            x, length = int64(LINE_END), int64(0)
            if i < end:
                x, length = flags_at(buffer, i, end, table)
            if x & LINE_END:
                if i == end and line == end:
                    break
                lines += 1
                if first >= 0:
                    bullets += buffer[first] == MINUS or _is_three(
                        buffer, first, end, 0xE2, 0x80, 0xA2
                    )
                    end_ellipses += _ellipsis(buffer, first, last)
                if i == end:
                    break
                i += (
                    2
                    if buffer[i] == RETURN and i + 1 < end and buffer[i + 1] == NEWLINE
                    else length
                )
                line = i
                first = int64(-1)
                dots = int64(0)
                continue
            if x & SPACE == 0:
                if first < 0:
                    first = i
                last = i + length
            number += buffer[i] == HASH
            if buffer[i] == DOT:
                dots += 1
                if dots == 3:
                    ellipses += 1
                    dots = int64(0)
            else:
                dots = int64(0)
                ellipses += _is_three(buffer, i, end, 0xE2, 0x80, 0xA6)
            i += length
        all_ = float(token_lasts[d] - token_firsts[d])
        values[d, REAL_WORDS] = real
        values[d, MEAN_CHARS] = real_chars / float(real)
        values[d, HASHES] = number / all_
        values[d, ELLIPSES] = ellipses / all_
        values[d, BULLETS] = bullets / float(lines)
        values[d, END_ELLIPSES] = end_ellipses / float(lines)
        values[d, ALPHA_WORDS] = words / all_
        values[d, STOP_WORDS] = stops


@inline
def _ends_with_any(buffer: Bytes, start: int, end: int, marks: Bytes, bounds: Offsets) -> bool:
    for k in range(bounds.size - 1):
        size = bounds[k + 1] - bounds[k]
        if size > end - start:
            continue
        same = True
        for q in range(size):
            same &= buffer[end - size + q] == marks[bounds[k] + q]
        if same:
            return True
    return False


@kernel
def fineweb(
    buffer: Bytes,
    documents: tuple[Offsets, Offsets],
    words: NDArray[np.int64],
    table: NDArray[np.uint16],
    marks: Bytes,
    mark_bounds: Offsets,
    short: int,
    values: NDArray[np.float64],
) -> None:
    """Fill in the values of each document.

    Args:
        buffer: UTF-8 of the documents.
        documents: Where they begin and end.
        words: Number of words of each.
        table: `characters.flags()`.
        marks: UTF-8 of what may end a line; where there is none, the characters `STOP_MARK`.
        mark_bounds: Where each of them begins in it, and where the last one ends.
        short: Characters of the longest short line.
        values: Shape (documents, 5).
    """
    firsts, lasts = documents
    most = int64(1)
    for d in range(firsts.size):
        newlines = int64(1)
        for i in range(firsts[d], lasts[d]):
            newlines += buffer[i] == NEWLINE
        most = max(most, newlines)
    size = int64(16)
    while size < 2 * most:
        size *= 2
    keys, stamps = np.empty(size, np.uint64), np.zeros(size, np.int64)
    for d in range(firsts.size):
        end = lasts[d]
        lines, stopped, shorts, repeated, newlines = (
            int64(0),
            int64(0),
            int64(0),
            int64(0),
            int64(0),
        )
        line = firsts[d]
        all_chars = int64(0)
        for i in range(firsts[d], end + 1):
            if i < end and buffer[i] != NEWLINE:
                continue
            newlines += i < end
            chars = count_chars(buffer, line, i)
            all_chars += chars
            first, last = stripped(buffer, line, i, table)
            if first < last:
                lines += 1
                shorts += chars <= short
                if mark_bounds.size > 1:
                    stopped += _ends_with_any(buffer, line, i, marks, mark_bounds)
                else:
                    x, _ = flags_at(buffer, last_character(buffer, line, i), i, table)
                    stopped += x & STOP_MARK != 0
                key = hash_bytes(buffer, line, i)
                known, _ = seen_before(key, d + 1, size - 1, keys, stamps)
                if known:
                    repeated += chars
            line = i + 1
        values[d, STOPPED_LINES] = stopped / float(lines)
        values[d, SHORT_LINES] = shorts / float(lines)
        values[d, REPEATED_CHARS] = repeated / float(all_chars)
        values[d, NEWLINES] = newlines / float(words[d])
        values[d, FULL_LINES] = lines
