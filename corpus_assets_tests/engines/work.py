"""What workers do in the tests: they import it, so it lies in a module."""

import os
import signal
import time
from pathlib import Path

import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import InputError


def square(number: int) -> int:
    return number * number


def threads(item: int) -> tuple[int, int, int]:
    return pl.thread_pool_size(), pa.cpu_count(), os.getpid()


def sleep_after(item: tuple[Path, int]) -> None:
    """Say which process this is, then work for a long time unless the number is 0."""
    folder, number = item
    (folder / f"{os.getpid()}.pid").touch()
    if number:
        time.sleep(600)


def refuse_once_all_work(item: tuple[Path, int]) -> None:
    """Raise in the last of three items, once the others are at work."""
    folder, number = item
    if number < 2:
        sleep_after((folder, 1))
    while len(list(folder.glob("*.pid"))) < 2:
        time.sleep(0.02)
    message = "item 2: refused."
    raise InputError(message)


def die(item: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def raise_what_cannot_be_pickled(item: int) -> None:
    class LocalError(Exception):
        pass

    raise LocalError("of this function alone")


def return_what_cannot_be_pickled(item: int) -> object:
    return lambda: item
