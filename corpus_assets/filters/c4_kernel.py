"""The line rules of C4, as kernels: lines are cut, cleaned, dropped, texts put together."""
# The types are those of numba.
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false

import numpy as np
from numba import int64
from numpy.typing import NDArray

from corpus_assets.text import characters
from corpus_assets.text.data import Bytes, Offsets
from corpus_assets.text.kernels import inline, kernel
from corpus_assets.text.marks_kernel import flags_at, stripped

LINE_END, SPACE, DIGIT = characters.LINE_END, characters.SPACE, characters.DIGIT

# Why a document is dropped.
KEPT, LOREM_IPSUM, CURLY_BRACKET = range(3)

RETURN, NEWLINE, OPEN, CLOSE, CURLY, DOT = map(ord, "\r\n[]{.")
QUESTION, EXCLAMATION, QUOTE, APOSTROPHE, SMALL_K = map(ord, "?!\"'k")


@kernel
def split_lines(
    buffer: Bytes,
    firsts: Offsets,
    lasts: Offsets,
    table: NDArray[np.uint16],
    bounds: Offsets,
    starts: Offsets,
    ends: Offsets,
) -> int:
    """Write the lines of `str.splitlines`, if `starts` has room for them; return their number.

    `bounds` receives the first line of each document, shape (documents + 1).
    """
    lines = int64(0)
    for d in range(firsts.size):
        bounds[d] = lines
        line = firsts[d]
        i, end = line, lasts[d]
        while i < end:
            x, length = flags_at(buffer, i, end, table)
            if x & LINE_END == 0:
                i += length
                continue
            if lines < starts.size:
                starts[lines], ends[lines] = line, i
            lines += 1
            i += 2 if buffer[i] == RETURN and i + 1 < end and buffer[i + 1] == NEWLINE else length
            line = i
        if line < end:
            if lines < starts.size:
                starts[lines], ends[lines] = line, end
            lines += 1
    bounds[firsts.size] = lines
    return lines


@kernel
def sentence_ranges(
    lasts: Offsets,
    tokens: tuple[Offsets, Offsets, Offsets, Offsets],
    begins: Bytes,
    blank: Bytes,
    bounds: Offsets,
    starts: Offsets,
    ends: Offsets,
) -> None:
    """Write the ranges of sentences, from their first token to their last; blank ones are empty.

    `bounds` receives the first sentence of each document, shape (documents + 1).
    """
    token_firsts, token_lasts, token_starts, token_ends = tokens
    n = int64(0)
    for d in range(token_firsts.size):
        bounds[d] = n
        for t in range(token_firsts[d], token_lasts[d]):
            if begins[t]:
                starts[n] = token_starts[t]
                n += 1
            ends[n - 1] = token_ends[t]
        if blank[d]:
            starts[n] = ends[n] = lasts[d]
            n += 1
    bounds[token_firsts.size] = n


@inline
def _citation(
    buffer: Bytes, i: int, end: int, table: NDArray[np.uint16], words: Bytes, word_bounds: Offsets
) -> int:
    """Return the length of the citation at byte i, an opening bracket; 0 if it is none."""
    for k in range(word_bounds.size - 1):
        size = word_bounds[k + 1] - word_bounds[k]
        if size <= end - i:
            same = True
            for q in range(size):
                same &= buffer[i + q] == words[word_bounds[k] + q]
            if same:
                return size
    j = i + 1
    while j < end:
        if buffer[j] == CLOSE:
            return j + 1 - i
        x, length = flags_at(buffer, j, end, table)
        if x & DIGIT == 0:
            return int64(0)
        j += length
    return int64(0)


@kernel
def _holds(
    buffer: Bytes, start: int, end: int, phrases: Bytes, bounds: Offsets, which: Bytes
) -> int:
    """Return bits: bit k when a phrase whose `which` is k is in the range, in any case.

    As after `str.lower`: the Kelvin sign is the one other character that becomes an ASCII letter.
    """
    found = int64(0)
    for i in range(start, end):
        byte = buffer[i]
        if 65 <= byte <= 90:
            byte |= 32
        for k in range(bounds.size - 1):
            if phrases[bounds[k]] != byte:
                continue
            j = i + 1
            same = True
            for q in range(bounds[k] + 1, bounds[k + 1]):
                if j >= end:
                    same = False
                    break
                other = buffer[j]
                step = int64(1)
                if 65 <= other <= 90:
                    other |= 32
                elif (
                    other == 0xE2
                    and j + 2 < end
                    and buffer[j + 1] == 0x84
                    and buffer[j + 2] == 0xAA
                ):
                    other = np.uint8(SMALL_K)
                    step = int64(3)
                if other != phrases[q]:
                    same = False
                    break
                j += step
            if same:
                found |= 1 << int64(which[k])
    return found


@kernel
def clean_lines(
    buffer: Bytes,
    lines: tuple[Offsets, Offsets, Offsets],
    table: NDArray[np.uint16],
    citations: tuple[Bytes, Offsets],
    phrases: tuple[Bytes, Offsets, Bytes],
    settings: tuple[bool, bool, int, int, bool],
    out: Bytes,
    kept: tuple[Offsets, Offsets],
    reasons: Bytes,
) -> None:
    """Write the lines that stay, each with a newline after it.

    Args:
        buffer: UTF-8 of the documents.
        lines: First line of each document, where each line begins and ends.
        table: `characters.flags()`.
        citations: What is taken out, beside bracketed numbers, and where each begins.
        phrases: Lower case phrases, where each begins, and what it does: 0 drops the document,
            1 and 2 the line, before and after the test for a curly bracket.
        settings: Whether to take out citations; whether a line must end with a stop; the fewest
            words of a line; characters of the longest word, or -1; whether a curly bracket drops
            the document.
        out: Receives the lines.
        kept: Receives the first line of each document, and where each line begins in `out`; one
            more each.
        reasons: Receives why each document is dropped, or `KEPT`.
    """
    bounds, starts, ends = lines
    words_of_citations, citation_bounds = citations
    phrase_bytes, phrase_bounds, which = phrases
    remove, stop, least, longest, curly = settings
    kept_bounds, kept_starts = kept
    o, n = int64(0), int64(0)
    for d in range(bounds.size - 1):
        kept_bounds[d] = n
        reasons[d] = KEPT
        document_o, document_n = o, n
        for line in range(bounds[d], bounds[d + 1]):
            start, end = stripped(buffer, starts[line], ends[line], table)
            words, word, longest_here = int64(0), int64(0), int64(0)
            begin = o
            i = start
            while i < end:
                x, length = flags_at(buffer, i, end, table)
                if x & SPACE:
                    word = int64(0)
                else:
                    words += word == 0
                    word += 1
                    longest_here = max(longest_here, word)
                i += length
            if longest >= 0 and longest_here > longest:
                continue
            i = start
            while i < end:
                if remove and buffer[i] == OPEN:
                    size = _citation(buffer, i, end, table, words_of_citations, citation_bounds)
                    if size:
                        i += size
                        continue
                out[o] = buffer[i]
                o += 1
                i += 1
            if stop:
                last = int64(out[o - 1]) if o > begin else int64(0)
                good = last in (DOT, QUESTION, EXCLAMATION, QUOTE, APOSTROPHE)
                if last == DOT and o - begin >= 3 and out[o - 2] == DOT and out[o - 3] == DOT:
                    good = False
                if not good:
                    o = begin
                    continue
            if words < least:
                o = begin
                continue
            found = _holds(out, begin, o, phrase_bytes, phrase_bounds, which)
            if found & 1:
                reasons[d] = LOREM_IPSUM
                break
            if found & 2:
                o = begin
                continue
            if curly:
                for k in range(begin, o):
                    if out[k] == CURLY:
                        reasons[d] = CURLY_BRACKET
                if reasons[d] != KEPT:
                    break
            if found & 4:
                o = begin
                continue
            kept_starts[n] = begin
            n += 1
            out[o] = NEWLINE
            o += 1
        if reasons[d] != KEPT:
            o, n = document_o, document_n
    kept_bounds[bounds.size - 1] = n
    kept_starts[n] = o


@kernel
def count_sentences(
    line_bounds: Offsets,
    token_firsts: Offsets,
    token_lasts: Offsets,
    begins: Bytes,
    blank: Bytes,
    sentences: NDArray[np.int64],
) -> None:
    """Add up the sentences of the lines of each document."""
    for d in range(line_bounds.size - 1):
        count = int64(0)
        for line in range(line_bounds[d], line_bounds[d + 1]):
            count += blank[line]
            for t in range(token_firsts[line], token_lasts[line]):
                count += begins[t]
        sentences[d] = count


@kernel
def rewritten(
    buffer: Bytes,
    documents: tuple[Offsets, Offsets],
    cleaned: Bytes,
    lines: tuple[Offsets, Offsets],
    passes: NDArray[np.bool_],
    separator: int,
    table: NDArray[np.uint16],
    out: Bytes,
    offsets: Offsets,
) -> None:
    """Write the texts: kept lines with a separator between them, or the original."""
    firsts, lasts = documents
    bounds, starts = lines
    o = int64(0)
    for d in range(firsts.size):
        offsets[d] = o
        if not passes[d]:
            for i in range(firsts[d], lasts[d]):
                out[o] = buffer[i]
                o += 1
            continue
        begin, end = starts[bounds[d]], starts[bounds[d + 1]]
        for line in range(bounds[d], bounds[d + 1] - 1):
            cleaned[starts[line + 1] - 1] = separator
        start, stop = stripped(cleaned, begin, max(begin, end - 1), table)
        for i in range(start, stop):
            out[o] = cleaned[i]
            o += 1
    offsets[firsts.size] = o
