"""Folding in bytes: see `folding`, whose tables these kernels apply."""

import numpy as np
from numba import uint8

from corpus_assets.pii.bytes_kernel import ROOM, next_mark
from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import code_point, kernel


@kernel
def mark_foreign(b: Bytes, marks: Bytes) -> tuple[bool, bool]:
    """Mark the lead bytes of what may be folded; return whether there are some, and quotes for @.

    As all loops without a branch it is compiled to SIMD, the more so as a slice has no negative
    index.
    """
    fold, quote = False, False
    for i in range(b.size - 2):
        a, c, d = b[i], b[i + 1], b[i + 2]
        quote |= (a == uint8(0xC2)) & (c == uint8(0xAB))
        quote |= (a == uint8(0xE3)) & (c == uint8(0x80)) & ((d == uint8(0x8C)) | (d == uint8(0x90)))
        one = (a == uint8(0xC2)) & (c == uint8(0xA0))
        spaces = (d <= uint8(0x95)) & ((d <= uint8(0x8A)) | (d >= uint8(0x90)))
        one |= (a == uint8(0xE2)) & (c == uint8(0x80)) & (spaces | (d == uint8(0xAF)))
        one |= (a == uint8(0xE2)) & (c == uint8(0x81)) & (d == uint8(0x9F))
        one |= (a == uint8(0xE2)) & (c == uint8(0x88)) & (d == uint8(0x92))
        one |= (a == uint8(0xE3)) & (c == uint8(0x80)) & (d == uint8(0x80))
        one |= (a == uint8(0xEF)) & (c >= uint8(0xB9)) & (c <= uint8(0xBD))
        # Digits of other scripts: near them, as far as bytes say it in short.
        one |= (a == uint8(0xD9)) & (c >= uint8(0xA0)) & (c <= uint8(0xA9))
        one |= (a == uint8(0xDB)) & (c >= uint8(0xB0)) & (c <= uint8(0xB9))
        one |= a == uint8(0xDF)
        one |= (a == uint8(0xE0)) & (d >= uint8(0x90)) & (d <= uint8(0xAF))
        one |= (a == uint8(0xE1)) & (c < uint8(0xB8))
        one |= (a == uint8(0xEA)) & (c < uint8(0xB0))
        one |= a >= uint8(0xF0)
        marks[i] = uint8(one)
        fold |= one
    for i in range(max(0, b.size - 2), b.size):
        marks[i] = uint8(b[i] >= uint8(0xC0))
        fold |= b[i] >= uint8(0xC0)
    marks[b.size : b.size + ROOM] = 0
    return fold, quote


@kernel
def fold_bytes(b: Bytes, marks: Bytes, folded: Bytes, pages: Bytes, out: Bytes) -> int:
    """Write the bytes folded, which are no more than they were; return how many.

    Args:
        b: UTF-8.
        marks: What `mark_foreign` marked.
        folded: As in `Words`.
        pages: As in `Words`.
        out: Receives the bytes.
    """
    i, n, end = 0, 0, b.size
    eights = marks.view(np.uint64)
    while i < end:
        p = next_mark(eights, i, end)
        source, target = b[i:p], out[n : n + p - i]
        for k in range(source.size):
            target[k] = source[k]
        n += p - i
        i = p
        if i < end:
            point, size = code_point(b, i, end)
            if point < 0x110000 and pages[point >> 8] and folded[point]:
                out[n] = folded[point]
                n += 1
            else:
                for k in range(size):
                    out[n + k] = b[i + k]
                n += size
            i += size
    return n


@kernel
def folded_bytes(b: Bytes, folded: Bytes, pages: Bytes) -> Bytes:
    """Return one text folded, for Python."""
    marks = np.zeros((b.size + ROOM + 7) & ~7, np.uint8)
    fold, _ = mark_foreign(b, marks)
    if not fold:
        return b
    out = np.empty(b.size, np.uint8)
    return out[: fold_bytes(b, marks, folded, pages, out)]
