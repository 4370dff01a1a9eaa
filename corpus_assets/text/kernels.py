"""What the kernels of this package share."""
# ruff: noqa: PLR2004  # the numbers are those of UTF-8

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba.core.config
import numpy as np
from numba import int64, njit, uint64
from numpy.typing import NDArray

from corpus_assets.text.data import Bytes

config: Any = numba.core.config
Function = TypeVar("Function", bound=Callable[..., Any])

_ROOT = Path(__file__).parents[1]
_IMPORT = re.compile(r"^from corpus_assets\.([\w.]+) import", re.MULTILINE)


def kernel(function: Function) -> Function:
    """Compile a function at its first call, or load what an earlier process compiled.

    numba asks only whether the file of a kernel is the same, but inlines what others hold. So
    machine code is kept in a folder named after all sources that the file imports, and no release
    runs what an older one compiled.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_cache_folder(Path(function.__code__.co_filename), before))
    try:
        compiled: Any = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
        return compiled(function)
    finally:
        config.CACHE_DIR = before


@cache
def _cache_folder(file: Path, wanted: str) -> Path:
    """Return where machine code of a file is kept: where numba is told to, or beside the source."""
    digest = hashlib.sha256()
    for source in sorted(_sources(file)):
        digest.update(source.read_bytes())
    beside = file.parent / "__pycache__"
    if wanted:
        base = Path(wanted)
    elif os.access(beside if beside.exists() else file.parent, os.W_OK):
        base = beside
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "corpus-assets"
    return base / f"{file.stem}-{digest.hexdigest()[:16]}"


@cache
def _sources(file: Path) -> frozenset[Path]:
    """Return a file and the modules of this package that it imports, and those that they do."""
    names = _IMPORT.findall(file.read_text(encoding="utf-8"))
    paths = [_ROOT.joinpath(*name.split(".")).with_suffix(".py") for name in names]
    return frozenset([file]).union(*(_sources(path) for path in paths if path.exists()))


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
