"""Replacing a folder as a whole: readers see the old version or the new one, after any crash.

Format 1, section 7. Where the system can exchange two folders, that is the commit; elsewhere two
renames, of which a crash leaves a state that the next writer mends and readers know how to read.
"""

import ctypes
import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from corpus_assets.core.errors import DocumentError, LockedError, TargetError
from corpus_assets.core.files import remove_tree, sync
from corpus_assets.shards.layout import MANIFEST_FILE, is_shard_name

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def beside(out: Path, suffix: str) -> Path:
    """Return `<out><suffix>`."""
    return out.with_name(out.name + suffix)


def current_version(out: Path) -> Path:
    """Return the folder a reader reads: `<out>`, or `<out>.old` where only that is complete."""
    old = beside(out, ".old")
    if not (out / MANIFEST_FILE).is_file() and (old / MANIFEST_FILE).is_file():
        return old
    return out


def check_target(out: Path) -> None:
    """Refuse a target that this format may not replace; nothing is changed.

    Raises:
        DocumentError: The name is reserved.
        TargetError: It is a link, no folder, or a folder with something else in it.
    """
    if out.name in {"", ".", ".."} or out.name.endswith((".tmp", ".old")):
        message = f"out: {str(out)!r}: names ending in .tmp or .old, '.', '..' and '' are reserved."
        raise DocumentError(message)
    if out.is_symlink() or (os.path.lexists(out) and not out.is_dir()):
        message = f"{out}: is not a folder of its own; choose another target or move it away."
        raise TargetError(message)
    if out.is_dir() and not os.path.lexists(out / MANIFEST_FILE):
        for path in out.iterdir():
            if not (is_shard_name(path.name) and path.is_file() and not path.is_symlink()):
                message = (
                    f"{out}: has no {MANIFEST_FILE} but holds {path.name!r}, so it is not a "
                    f"corpus and is left alone; choose another target or move it away."
                )
                raise TargetError(message)


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Yield the folder `<out>.tmp` to fill; on success it becomes `<out>`, else it is removed.

    The caller syncs the files it makes. Recovers first from what a crashed writer left.

    Raises:
        LockedError: Another writer is at work.
    """
    new = beside(out, ".tmp")
    out.parent.mkdir(parents=True, exist_ok=True)
    clear_interrupted(out)
    new.mkdir()
    lock = -1
    try:
        lock = os.open(new, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield new
        sync(new)
        _commit(out, new, lock)
        sync(out.parent)
    except BaseException:
        _remove_quietly(new)
        raise
    finally:
        if lock >= 0:
            os.close(lock)


def clear_interrupted(out: Path) -> None:
    """Finish what an interrupted replacement left, so that only `<out>` is there.

    Raises:
        LockedError: Another writer is at work.
    """
    new = beside(out, ".tmp")
    _refuse_live_writer(new)
    _recover(out)
    remove_tree(new)


def _refuse_live_writer(new: Path) -> None:
    if new.is_symlink() or not new.is_dir():
        return
    descriptor = os.open(new, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"{new}: another writer is at work; wait for it or end it."
        raise LockedError(message) from None
    finally:
        os.close(descriptor)


def _recover(out: Path) -> None:
    """Bring back, or clear, what an interrupted replacement left."""
    old = beside(out, ".old")
    if not os.path.lexists(old):
        return
    if not os.path.lexists(out):
        old.rename(out)
    elif (out / MANIFEST_FILE).is_file() or not (old / MANIFEST_FILE).is_file():
        remove_tree(old)


def _commit(out: Path, new: Path, lock: int) -> None:
    if not os.path.samestat(os.fstat(lock), new.stat()):
        message = f"{new}: was replaced by another writer; end it and run again."
        raise LockedError(message)
    old = beside(out, ".old")
    if not out.is_dir() or not any(out.iterdir()):
        new.rename(out)
    elif _exchange(new, out):
        _remove_quietly(new)
    else:
        _rename_twice(out, new, old)
    _remove_quietly(old)


def _remove_quietly(path: Path) -> None:
    """Remove a version that is out of use; what cannot be removed now, the next writer removes."""
    with suppress(OSError):
        remove_tree(path)


def _rename_twice(out: Path, new: Path, old: Path) -> None:
    if os.path.lexists(old):
        # Only the incomplete `out` stands before `old`, which readers still read.
        remove_tree(out)
        new.rename(out)
        return
    out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        old.rename(out)
        raise


def _exchange(left: Path, right: Path) -> bool:
    """Exchange two folders in one step; return False where the system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(left), os.fsencode(right)
    try:
        if sys.platform == "darwin":
            failed = libc.renamex_np(*names, _RENAME_EXCHANGE)
        else:
            failed = libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    except AttributeError:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(left), None, str(right))
