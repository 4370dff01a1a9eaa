"""A document and the checks that format 1 asks for before it is stored."""

import hashlib
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from corpus_assets.core.errors import DocumentError
from corpus_assets.shards.layout import MAX_TEXT_BYTES

PII_KEYS = {"email": "emails", "phone": "phones", "card": "cards", "ip": "ips", "key": "keys"}
"""Kinds a document may count, and the manifest's name for their sums."""

MAX_REDACTIONS = 2**31 - 1


@dataclass(frozen=True)
class Doc:
    """One document: `meta` must hold `url` and `license_spdx` for a writer."""

    id: str
    source_id: str
    text: str
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A checked document, as a shard stores it but for its place."""

    id: str
    text: str
    source_id: str
    url: str
    license_spdx: str
    lang: str
    n_chars: int
    sha256: bytes
    cluster: str | int | None
    pii_redactions: int
    pii: Mapping[str, int]
    text_bytes: int


def row_of(doc: Doc, number: int) -> Row:
    """Return a document as a checked row; `number` names it where its id cannot.

    Raises:
        DocumentError: A field breaks the format; the message names document and field.
    """
    if not isinstance(doc.id, str) or not doc.id:
        message = f"document number {number}: id: expected a string that is not empty."
        raise DocumentError(message)
    check_stored(doc.id, doc.id, "id")
    if not isinstance(doc.meta, Mapping):
        raise _error(doc.id, "meta", "expected a mapping", doc.meta)
    text = _text_bytes(doc)
    return Row(
        id=str(doc.id),
        text=doc.text,
        source_id=_name(doc.id, "source_id", doc.source_id),
        url=_name(doc.id, "url", doc.meta.get("url")),
        license_spdx=_name(doc.id, "license_spdx", doc.meta.get("license_spdx")),
        lang=_name(doc.id, "lang", _or(doc.meta.get("lang"), "und")),
        n_chars=len(doc.text),
        sha256=hashlib.sha256(text).digest(),
        cluster=_cluster(doc.id, doc.meta.get("minhash_cluster")),
        pii_redactions=_count(doc.id, "pii_redactions", _or(doc.meta.get("pii_redactions"), 0)),
        pii=_pii(doc.id, doc.meta.get("pii")),
        text_bytes=len(text),
    )


def as_integer(value: object) -> int | None:
    """Return what `operator.index` takes, but no bool; else None."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return None


def is_storable(value: str) -> bool:
    """Return whether a string has a UTF-8 form: no lone surrogate."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_stored(name: str, value: str, field: str) -> None:
    """Refuse a string that has no UTF-8 form.

    Raises:
        DocumentError: It holds a lone surrogate.
    """
    if not is_storable(value):
        message = f"document {name!a}: {field}: holds a lone surrogate, which has no UTF-8."
        raise DocumentError(message)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _error(name: str, field: str, expected: str, found: object) -> DocumentError:
    return DocumentError(f"document {name!r}: {field}: {expected}, got {type(found).__name__}.")


def _name(name: str, field: str, value: object) -> str:
    if not isinstance(value, str) or not value or value.isspace():
        raise _error(name, field, "expected a string that is not blank", value)
    check_stored(name, value, field)
    return value


def _text_bytes(doc: Doc) -> bytes:
    if not isinstance(doc.text, str):
        raise _error(doc.id, "text", "expected a string", doc.text)
    check_stored(doc.id, doc.text, "text")
    data = doc.text.encode()
    if len(data) > MAX_TEXT_BYTES:
        message = f"document {doc.id!r}: text: {len(data)} bytes, at most {MAX_TEXT_BYTES}."
        raise DocumentError(message)
    return data


def _cluster(name: str, value: object) -> str | int | None:
    if value is None or isinstance(value, str):
        return value
    number = as_integer(value)
    if number is None:
        raise _error(name, "minhash_cluster", "expected a string or an integer", value)
    return number


def _count(name: str, field: str, value: object) -> int:
    number = as_integer(value)
    if number is None:
        raise _error(name, field, "expected an integer", value)
    if not 0 <= number <= MAX_REDACTIONS:
        message = f"document {name!r}: {field}: {number} is not from 0 to {MAX_REDACTIONS}."
        raise DocumentError(message)
    return number


def _pii(name: str, value: object) -> Mapping[str, int]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _error(name, "pii", "expected a mapping", value)
    counts: dict[str, int] = {}
    for key, number in value.items():
        if key not in PII_KEYS:
            message = f"document {name!r}: pii: {key!r} is none of {', '.join(PII_KEYS)}."
            raise DocumentError(message)
        count = as_integer(number)
        if count is None or count < 0:
            message = f"document {name!r}: pii.{key}: expected an integer of at least 0."
            raise DocumentError(message)
        counts[key] = count
    return counts
