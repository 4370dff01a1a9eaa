"""Files that are whole or absent: temporary name, sync, rename. What they hold is not known."""

import errno
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from corpus_assets.core.errors import InputError, LockedError

HASH_BLOCK_BYTES = 1 << 20


def canonical_json(value: object) -> str:
    """Return the one JSON text of a value: sorted keys, no white space, UTF-8 as it is."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest_of_json(value: object) -> str:
    """Return the SHA-256 (hex) of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def digest_of_stream(stream: BinaryIO | RawIOBase) -> str:
    """Return the SHA-256 (hex) of what is left of an open file."""
    digest = hashlib.sha256()
    while block := stream.read(HASH_BLOCK_BYTES):
        digest.update(block)
    return digest.hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes."""
    with path.open("rb", buffering=0) as stream:
        return digest_of_stream(stream)


def sync(path: Path) -> None:
    """Make a file or a folder durable.

    Some network file systems refuse to sync a folder (EINVAL, ENOTSUP); their rename is durable
    or there is nothing we can do, so that alone is passed over.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if not (path.is_dir() and error.errno in {errno.EINVAL, errno.ENOTSUP}):
            raise
    finally:
        os.close(descriptor)


def temporary_path(path: Path) -> Path:
    """Return this process's temporary name beside a target."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished temporary file its name, durably."""
    sync(temporary)
    temporary.replace(path)
    sync(path.parent)


def remove_temporaries(path: Path) -> None:
    """Remove what killed writers of a file left beside it; for the one who may write it now."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        left.unlink(missing_ok=True)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes the name, else nothing is left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_path(path)
    try:
        yield temporary
        put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a small text file whole, unless it already says just that."""
    data = text.encode()
    if path.is_file() and path.read_bytes() == data:
        return
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_json(path: Path, value: object) -> None:
    """Write a small JSON file whole, indented for people."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Return what a JSON file says.

    Raises:
        OSError: It cannot be read.
        ValueError: It is not JSON in UTF-8.
    """
    return json.loads(path.read_bytes())


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file a second name; where the file system has no hard links, copy and sync it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        sync(target)


def remove_tree(path: Path) -> None:
    """Remove a folder, file or link (never what a link points to); absent is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the one writer's lock of a folder, which is made if it is absent.

    The lock dies with its process and leaves no file. It does not reach across machines on every
    network file system.

    Raises:
        LockedError: Another process holds it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"{directory}: another run is writing here; wait for it or terminate it."
            raise LockedError(message) from None
        yield
    finally:
        os.close(descriptor)


VARIABLE = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}")
"""What a path may hold: `{{ env.NAME }}`."""


def filled(path: str) -> str:
    """Return a path with its `{{ env.NAME }}` replaced by the environment's variables.

    Raises:
        InputError: A variable is not set.
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            message = f"{path!r} asks for the environment variable {match[1]}, which is not set."
            raise InputError(message)
        return found

    return VARIABLE.sub(value, path)
