"""JSON lines, plain or compressed: one bad line never stops a file."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
import polars as pl

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Counts, RankInput
from corpus_assets.core.streams import decompressed, lines
from corpus_assets.readers.config import ReadConfig
from corpus_assets.readers.documents import Batcher, RejectedError

VERSION = 1

LONG_NUMBER = re.compile(rb"[0-9]{19}")

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_jsonl(rank: RankInput, config: ReadConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield the documents of a file; lines that are none are rejected with a reason.

    Blank lines are no records. A document without an id of its own is numbered by its line, from
    0, so that mending a bad line renames no other document.

    Raises:
        InputError: The compressed data is cut or damaged.
    """
    batcher = Batcher(rank, config, counts)
    counts["in"] += 0
    for number, line in enumerate(_lines(rank)):
        data = line.removeprefix(BYTE_ORDER_MARK) if number == 0 else line
        if not data or data.isspace():
            continue
        counts["in"] += 1
        try:
            yield from batcher.add(parse(data), number)
        except RejectedError as error:
            rank.reject(_rejection(rank.name, number + 1, str(error), data))
    yield from batcher.rest()


def _lines(rank: RankInput) -> Iterator[bytes]:
    number = 0
    try:
        for number, line in enumerate(lines(decompressed(rank.open(), rank.name)), 1):  # noqa: B007
            yield line
    except OSError as error:
        message = (
            f"{rank.name}: the compressed data is cut or damaged after line {number} "
            f"({error}); fetch the file again."
        )
        raise InputError(message) from error


def parse(line: bytes) -> dict[str, Any]:
    """Return the object of one line.

    Raises:
        RejectedError: It is not a JSON object in UTF-8.
    """
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise RejectedError(_why_not_json(line)) from None
    if not isinstance(value, dict):
        reason = "not_an_object"
        raise RejectedError(reason)
    # The fast parser makes a float of an integer beyond 64 bits, and digits would be lost.
    return json.loads(line) if LONG_NUMBER.search(line) else value


def _why_not_json(line: bytes) -> str:
    try:
        json.loads(line.decode())
    except UnicodeDecodeError:
        return "not_utf8"
    except (ValueError, RecursionError):
        return "not_json"
    # What the strict parser alone refuses: \ud800 escapes, NaN and Infinity.
    return "lone_surrogate" if b"\\u" in line else "not_json"


def _rejection(name: str, line: int, reason: str, content: bytes) -> dict[str, Any]:
    """Return the record of a rejected line, with its content, so that nothing is lost."""
    record: dict[str, Any] = {"file": name, "line": line, "reason": reason}
    try:
        return record | {"content": content.decode()}
    except UnicodeDecodeError:
        return record | {"content_base64": base64.b64encode(content).decode()}
