"""What the kernels of this package share.

numba looks only at the file of a kernel when it asks whether its cache is current: after an edit
here, touch the files of the kernels.
"""
# ruff: noqa: PLR2004  # the numbers are those of UTF-8

from numba import int64, njit

from corpus_assets.text.data import Bytes

kernel = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
"""Compiles at the first call, or loads what an earlier process compiled."""

inline = njit(inline="always", boundscheck=False, error_model="numpy")


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
