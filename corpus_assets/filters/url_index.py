"""URL lists of the user's: found by the names of their files, hashed into one file workers map.

The index is the sorted 64-bit BLAKE2b of every entry: 8 bytes each, and loading is a memory map. An
entry that is in no list is taken for one that is with probability n / 2^64: for 5 million entries
3e-13 a lookup, so that among 10^12 documents with three lookups each about one is dropped wrongly.
"""

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.core.errors import InputError
from corpus_assets.core.files import atomic_path, digest_of_json
from corpus_assets.core.streams import decompressed, lines
from corpus_assets.filters.files import OpenedFile, opened

FORMAT = 1

INDEXED = ("domains", "urls")
WORDS = ("banned_words", "soft_banned_words", "banned_subwords")
ROLES = (*INDEXED, *WORDS)
"""Names of list files, before any `.txt`, `.gz` or `.zst`: those of UT1 and of datatrove."""

COMMENT = ord("#")

TARS = (".tar", ".tar.gz", ".tgz")

CACHE = "CORPUS_ASSETS_CACHE"


class ListFile(OpenedFile):
    """A list: a file, or a member of a tar file, whose digest is then that of the tar file."""

    role: str
    member: str | None = None


def find_lists(path: Path) -> list[ListFile]:
    """Return the lists of a file, of a tar file, or of all files below a folder.

    Raises:
        InputError: There is none.
    """
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = [item for file in paths if file.is_file() for item in _lists_in(file)]
    if not found:
        message = (
            f"{path}: holds no list; lists are files called {', '.join(ROLES)}, with or without "
            f".txt, .gz or .zst, alone, in a folder or in a tar file."
        )
        raise InputError(message)
    return found


def _lists_in(path: Path) -> Iterator[ListFile]:
    if path.name.endswith(TARS):
        file = opened(path)
        for member in _members(path):
            if role := _role(member):
                yield ListFile(path=path, sha256=file.sha256, role=role, member=member)
    elif role := _role(path.name):
        file = opened(path)
        yield ListFile(path=path, sha256=file.sha256, role=role)


def _members(path: Path) -> list[str]:
    try:
        with tarfile.open(path) as tar:
            return sorted(member.name for member in tar if member.isfile())
    except (tarfile.TarError, OSError, EOFError) as error:
        message = f"{path}: cannot be read as a tar file ({error})."
        raise InputError(message) from error


def _role(name: str) -> str | None:
    name = name.rsplit("/", 1)[-1]
    for ending in (".gz", ".zst", ".txt"):
        name = name.removesuffix(ending)
    return name if name in ROLES else None


def entries(file: ListFile) -> Iterator[str]:
    """Yield the entries of a list: lines that are not blank and do not start with `#`.

    Raises:
        InputError: It cannot be read.
    """
    return (entry.decode("utf-8", "surrogateescape") for entry in _entries(file))


def _entries(file: ListFile) -> Iterator[bytes]:
    try:
        with _stream(file) as stream:
            for line in lines(decompressed(stream, file.member or file.path.name)):
                entry = line.strip()
                if entry and line[0] != COMMENT:
                    yield entry
    except (OSError, tarfile.TarError) as error:
        message = f"{file.path}: {file.member or ''} cannot be read ({error})."
        raise InputError(message) from error


@contextmanager
def _stream(file: ListFile) -> Iterator[BinaryIO]:
    if file.member is None:
        with file.path.open("rb") as stream:
            yield stream
        return
    with tarfile.open(file.path) as tar:
        inner: Any = tar.extractfile(file.member)
        yield inner


def entry_hash(role: str, entry: bytes) -> bytes:
    """Return the 64-bit hash of an entry of a list."""
    return blake2b(b"%b\n%b" % (role.encode(), entry), digest_size=8).digest()


def cache_folder() -> Path:
    """Return where indexes are kept: `CORPUS_ASSETS_CACHE`, or the user's cache folder."""
    own = os.environ.get(CACHE)
    shared = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(own) if own else Path(shared) / "corpus_assets"


def index_path(files: Sequence[ListFile], *, fold_case: bool) -> Path:
    """Return the file of an index, which is named by the content of its lists."""
    content = sorted([f.sha256, f.member or "", f.role] for f in files)
    return cache_folder() / f"url-lists/{digest_of_json([FORMAT, fold_case, content])}.npy"


def build_index(files: Sequence[ListFile], *, fold_case: bool) -> Path:
    """Make the index of some lists, unless it is there; return its file.

    Two processes that make it at once make the same bytes, and the later one replaces the file.

    Args:
        files: Lists of domains and of URLs.
        fold_case: Take domains in lower case.

    Raises:
        InputError: A list cannot be read, or the index cannot be written.
    """
    path = index_path(files, fold_case=fold_case)
    if not path.exists():
        hashes = bytearray()
        for file in files:
            fold = fold_case and file.role == "domains"
            for entry in _entries(file):
                hashes += entry_hash(file.role, _lower(entry) if fold else entry)
        try:
            with atomic_path(path) as temporary, temporary.open("wb") as stream:
                np.save(stream, _distinct(np.frombuffer(hashes, "<u8")))
        except OSError as error:
            message = (
                f"{path}: the index of the URL lists cannot be written ({error.strerror}); set "
                f"{CACHE} to a folder that can."
            )
            raise InputError(message) from error
    return path


def _distinct(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return different hashes, ascending; sorts in place, where `np.unique` takes 200 MB more."""
    hashes.sort()
    return hashes[np.diff(hashes, prepend=~hashes[:1]) != 0]


def _lower(entry: bytes) -> bytes:
    return entry.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


class Index:
    """Hashes of the entries of some lists, in memory that processes share."""

    def __init__(self, path: Path) -> None:
        """Map an index."""
        self._hashes: NDArray[np.uint64] = np.load(path, mmap_mode="r")

    def __len__(self) -> int:
        """Return the number of distinct entries."""
        return len(self._hashes)

    def holds(self, role: str, entries: Sequence[str]) -> NDArray[np.bool_]:
        """Return for each entry whether a list of that role has it."""
        hashes = np.frombuffer(
            b"".join(entry_hash(role, e.encode("utf-8", "surrogateescape")) for e in entries), "<u8"
        )
        if not len(self) or not len(hashes):
            return np.zeros(len(hashes), np.bool_)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self) - 1)
        return self._hashes[places] == hashes


@lru_cache(maxsize=4)
def open_index(files: tuple[ListFile, ...], fold_case: bool) -> Index:  # noqa: FBT001 - cached by position
    """Return the index of some lists, made if this machine has it not yet."""
    return Index(build_index(files, fold_case=fold_case))
