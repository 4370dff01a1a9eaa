"""The manifest of a corpus: what goes in, its exact text, and when a read one is consistent."""

import json
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus_assets.core.errors import DocumentError
from corpus_assets.shards.document import PII_KEYS, as_integer, is_storable
from corpus_assets.shards.layout import DEFAULT_ROW_GROUP_BYTES, MAX_SHARDS, shard_name

DEDUP_DEFAULTS: dict[str, Any] = {
    "exact_dropped": 0,
    "near_dropped": 0,
    "decontaminated": 0,
    "jaccard_threshold": 0.8,
    "num_perm": 128,
    "bands": 16,
    "ngram": 13,
}

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DEDUP_LEAST = {name: 1 if name in {"num_perm", "bands", "ngram"} else 0 for name in DEDUP_DEFAULTS}


@dataclass(frozen=True)
class CorpusSettings:
    """The checked arguments of a corpus; make one with `checked_settings`."""

    dataset: str
    version: str
    shard_rows: int
    val_permille: int
    row_group_bytes: int
    filters: dict[str, int]
    dedup: dict[str, Any]
    ledger_ref: str
    config_sha256: str

    def manifest(
        self, shards: Sequence[Mapping[str, Any]], pii: Mapping[str, int]
    ) -> dict[str, Any]:
        """Return the manifest of a corpus with these shards and sums of PII by kind."""
        return {
            "dataset": self.dataset,
            "version": self.version,
            "n_docs": sum(shard["rows"] for shard in shards),
            "n_shards": len(shards),
            "shards": [
                {"name": shard["name"], "sha256": shard["sha256"], "rows": shard["rows"]}
                for shard in shards
            ],
            "filters": dict(self.filters),
            "dedup": dict(self.dedup),
            "pii": {plural: int(pii.get(kind, 0)) for kind, plural in PII_KEYS.items()},
            "ledger_ref": self.ledger_ref,
            "config_sha256": self.config_sha256,
        }


def checked_settings(  # noqa: PLR0913 - the arguments of `write_shards`
    *,
    dataset: str,
    version: str,
    shard_rows: int,
    val_permille: int = 5,
    row_group_bytes: int = DEFAULT_ROW_GROUP_BYTES,
    filters: Mapping[str, int] | None = None,
    dedup: Mapping[str, Any] | None = None,
    ledger_ref: str = "corpus/LEDGER.jsonl",
    config_sha256: str = "0" * 64,
) -> CorpusSettings:
    """Check the arguments of a corpus, in order; the first bad one raises.

    Raises:
        DocumentError: An argument breaks the format; the message names it.
    """
    return CorpusSettings(
        _matching("dataset", dataset, _SLUG),
        _matching("version", version, _SLUG),
        _integer("shard_rows", shard_rows, 1),
        _integer("val_permille", val_permille, 0, 1000),
        _integer("row_group_bytes", row_group_bytes, 1),
        _filters({} if filters is None else filters),
        _dedup({} if dedup is None else dedup),
        _text("ledger_ref", ledger_ref),
        _matching("config_sha256", config_sha256, _SHA256),
    )


def _matching(name: str, value: object, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        message = f"{name}: {value!r} does not match {pattern.pattern}."
        raise DocumentError(message)
    return value


def _integer(name: str, value: object, least: int, most: float = math.inf) -> int:
    number = as_integer(value)
    if number is None or not least <= number <= most:
        limits = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        message = f"{name}: expected an integer {limits}, got {value!r}."
        raise DocumentError(message)
    return number


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value or value.isspace() or not is_storable(value):
        message = f"{name}: expected a string that is not blank and has a UTF-8 form."
        raise DocumentError(message)
    return value


def _filters(filters: object) -> dict[str, int]:
    if not isinstance(filters, Mapping):
        message = f"filters: expected a mapping, got {type(filters).__name__}."
        raise DocumentError(message)
    return {_text("filters", k): _integer(f"filters[{k!r}]", v, 0) for k, v in filters.items()}


def _dedup(dedup: object) -> dict[str, Any]:
    if not isinstance(dedup, Mapping):
        message = f"dedup: expected a mapping, got {type(dedup).__name__}."
        raise DocumentError(message)
    for name in dedup:
        if name not in DEDUP_DEFAULTS:
            message = f"dedup: {name!r} is none of {', '.join(DEDUP_DEFAULTS)}."
            raise DocumentError(message)
    merged = DEDUP_DEFAULTS | dict(dedup)
    return {
        name: _threshold(value)
        if name == "jaccard_threshold"
        else _integer(f"dedup[{name!r}]", value, _DEDUP_LEAST[name])
        for name, value in merged.items()
    }


def _threshold(value: object) -> float:
    number = float(value) if isinstance(value, numbers.Real) else math.nan
    if isinstance(value, bool) or not 0 < number <= 1:
        message = f"dedup['jaccard_threshold']: expected a float in (0, 1], got {value!r}."
        raise DocumentError(message)
    return number


def manifest_text(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of `_MANIFEST.json`."""
    return (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()


def load_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest and check that it is consistent.

    Raises:
        FileNotFoundError: There is none.
        DocumentError: It is not JSON in UTF-8, of another format, or contradicts itself.
    """
    try:
        manifest = json.loads(path.read_bytes().decode())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        message = f"{path}: is not JSON in UTF-8 ({type(error).__name__}); build the corpus again."
        raise DocumentError(message) from None
    fault = _fault(manifest)
    if fault:
        message = f"{path}: {fault}."
        raise DocumentError(message)
    return manifest


def _fault(manifest: Any) -> str | None:
    """Return what makes a manifest inconsistent, or None."""
    if not isinstance(manifest, dict):
        return "is not a JSON object"
    if "format" in manifest and (manifest["format"] is True or manifest["format"] != 1):
        return f"format {manifest['format']!r}; this version reads format 1"
    shards = manifest.get("shards")
    if not isinstance(shards, list) or not 1 <= len(shards) <= MAX_SHARDS:
        return f"shards: expected a list of 1 to {MAX_SHARDS} objects"
    if as_integer(manifest.get("n_shards")) != len(shards):
        return f"n_shards is {manifest.get('n_shards')!r}, but {len(shards)} shards are listed"
    for i, shard in enumerate(shards):
        if fault := _shard_fault(shard, shard_name(i, len(shards))):
            return f"shards[{i}]: {fault}"
    total = sum(shard["rows"] for shard in shards)
    if as_integer(manifest.get("n_docs")) != total:
        return f"n_docs is {manifest.get('n_docs')!r}, but the shards have {total} rows"
    return None


def _shard_fault(shard: Any, name: str) -> str | None:
    if not isinstance(shard, dict):
        return "is not an object"
    if shard.get("name") != name:
        return f"name is not {name}"
    if not isinstance(shard.get("sha256"), str) or not _SHA256.fullmatch(shard["sha256"]):
        return "sha256 is not 64 lower-case hex digits"
    if not isinstance(shard.get("rows"), int) or as_integer(shard["rows"]) is None:
        return "rows is not an integer"
    return "rows is negative" if shard["rows"] < 0 else None
