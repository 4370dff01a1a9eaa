"""From a record to a document: the parts every reader shares."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from corpus_assets.core.plan import Counts, RankInput
from corpus_assets.core.spdx import normalised
from corpus_assets.readers.config import ReadConfig

BATCH_TEXT_CHARS = 16 << 20
BATCH_DOCUMENTS = 8_192

COLUMNS = {
    "id": pl.String,
    "text": pl.String,
    "url": pl.String,
    "license_spdx": pl.String,
    "lang": pl.String,
    "metadata": pl.String,
}


class RejectedError(Exception):
    """A record that is no document; the argument is the reason."""


@dataclass
class Batcher:
    """Gathers documents of one rank into frames of bounded size and numbers them."""

    rank: RankInput
    config: ReadConfig
    counts: Counts
    rows: int = 0
    _columns: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    _chars: int = 0

    def add(self, record: dict[str, Any], number: int) -> Iterator[pl.DataFrame]:
        """Take a record, which it empties; yield a frame when one is full.

        Raises:
            RejectedError: The record is no document.
        """
        values = document_of(record, self.rank.name, number, self.config)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        self._chars += len(values[1])
        if self._chars >= BATCH_TEXT_CHARS or len(self._columns["id"]) >= BATCH_DOCUMENTS:
            yield from self.rest()

    def rest(self) -> Iterator[pl.DataFrame]:
        """Yield what is left as a frame, if anything is."""
        count = len(self._columns["id"])
        if count:
            frame = pl.DataFrame(self._columns, schema=COLUMNS)
            yield frame.with_columns(
                pl.lit(self.config.source_id).alias("source_id"),
                pl.lit(self.rank.number, dtype=pl.Int32).alias("rank"),
                pl.int_range(self.rows, self.rows + count, dtype=pl.Int64).alias("row"),
            )
        self.rows += count
        self._columns, self._chars = {name: [] for name in COLUMNS}, 0


def document_of(
    record: dict[str, Any], name: str, number: int, config: ReadConfig
) -> tuple[str, str, str, str, str, str]:
    """Return id, text, url, licence, language and metadata of a record.

    What has no column of its own goes into the metadata. A field `metadata` that is an object, as
    datatrove writes it, is merged into the other fields, which win.

    Raises:
        RejectedError: Text missing or no string, an id that is neither string nor integer, or a
            licence that is no SPDX expression.
    """
    inner = record.get("metadata")
    if isinstance(inner, dict):
        del record["metadata"]
        record = inner | record
    text = record.pop(config.text_key, None)
    if not isinstance(text, str):
        reason = "missing_text" if text is None else "text_is_not_a_string"
        raise RejectedError(reason)
    return (
        _id(record, name, number, config),
        text,
        _field(record, config.url_key, config.url),
        _licence(record, config),
        _field(record, config.lang_key, config.lang),
        _json(record) if record else "{}",
    )


def _id(record: dict[str, Any], name: str, number: int, config: ReadConfig) -> str:
    own = None if config.id_key is None else record.pop(config.id_key, None)
    if own is None or own == "":
        return f"{config.source_id}:{name.removeprefix(config.source_id + '/')}/{number}"
    if isinstance(own, bool) or not isinstance(own, str | int):
        reason = "id_is_not_a_string_or_integer"
        raise RejectedError(reason)
    return f"{config.source_id}:{own}"


def _field(record: dict[str, Any], key: str | None, default: str) -> str:
    """Take a field out of a record; one that is blank or no string stays in the metadata."""
    if key is None:
        return default
    value = record.get(key)
    if not isinstance(value, str) or not value or value.isspace():
        return default
    return record.pop(key)


def _licence(record: dict[str, Any], config: ReadConfig) -> str:
    value = _field(record, config.license_key, "")
    if not value:
        return config.license_spdx
    try:
        return normalised(value)
    except ValueError:
        reason = "license_is_not_spdx"
        raise RejectedError(reason) from None


def _json(record: dict[str, Any]) -> str:
    """Return a record as JSON, integers of any size as they are."""
    try:
        return orjson.dumps(record, default=_encoded).decode()
    except orjson.JSONEncodeError:
        return json.dumps(record, default=_encoded, ensure_ascii=False, separators=(",", ":"))


def _encoded(value: Any) -> Any:
    """Return what JSON has no word for as a string: bytes in hex, the rest as Python prints it."""
    return value.hex() if isinstance(value, bytes) else str(value)
