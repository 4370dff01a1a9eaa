"""Byte streams of input files: digested while they are read, decompressed, cut into lines."""

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

BLOCK_BYTES = 1 << 20


class DigestingStream(io.RawIOBase):
    """A file that computes the SHA-256 of what is read from it in order.

    A reader that seeks (Parquet) loses the digest, and the file is digested in a pass of its own.
    """

    def __init__(self, path: Path) -> None:
        """Open `path` for reading."""
        super().__init__()
        self._file = path.open("rb", buffering=0)
        self._sha256: Any = hashlib.sha256()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the bytes read."""
        count = self._file.readinto(buffer)
        if self._sha256 is not None:
            self._sha256.update(memoryview(buffer)[:count])
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move; from now on there is no digest, unless nothing was moved."""
        before = self._file.tell()
        after = self._file.seek(offset, whence)
        if after != before:
            self._sha256 = None
        return after

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def digest(self) -> str | None:
        """Read what is left, close the file, return the digest (hex); None after a seek."""
        while self._sha256 is not None and self.read(BLOCK_BYTES):
            pass
        self.release()
        return self._sha256 and self._sha256.hexdigest()

    def close(self) -> None:
        """Leave the file open: who parsed it may have stopped before its last bytes."""

    def release(self) -> None:
        """Close the file."""
        self._file.close()


def decompressed(stream: BinaryIO, name: str) -> Any:
    """Return a stream of the content of a file, by its name's ending: .gz, .zst or neither.

    Concatenated members are read one after another, as gzip and zstd themselves do.
    """
    source = pa.PythonFile(stream, mode="r")
    for ending, codec in ((".gz", "gzip"), (".zst", "zstd")):
        if name.endswith(ending):
            return pa.CompressedInputStream(source, codec)
    return source


def lines(stream: Any) -> Iterator[bytes]:
    """Yield the lines of a stream without their line feeds; the last needs none."""
    rest: list[bytes] = []
    while block := stream.read(BLOCK_BYTES):
        first, *others = block.split(b"\n")
        rest.append(first)
        if others:
            yield b"".join(rest)
            yield from others[:-1]
            rest = [others[-1]]
    last = b"".join(rest)
    if last:
        yield last
