"""Format 1 of a corpus: the schema of a row, the split rule, names and cuts (`docs/formats.md`)."""

import operator
import re
from typing import Any

import pyarrow as pa

MANIFEST_FILE = "_MANIFEST.json"
MAX_SHARDS = 99_999
MAX_TEXT_BYTES = 2**31 - 2
"""What one Arrow `string` array can hold."""

DEFAULT_ROW_GROUP_BYTES = 64 << 20

SHARD_COLUMNS = {
    "id": (pa.string(), "Unique id; rows are in ascending order of it, by code point."),
    "text": (pa.string(), "The document's text."),
    "source_id": (pa.string(), "Source the document comes from; a line of the ledger."),
    "url": (pa.string(), "Where the document was published."),
    "license_spdx": (pa.string(), "Licence as an SPDX expression."),
    "lang": (pa.string(), "Language code; `und` when unknown."),
    "n_chars": (pa.int32(), "Code points in `text`."),
    "sha256": (pa.binary(32), "SHA-256 of the UTF-8 bytes of `text`."),
    "minhash_cluster": (pa.int64(), "Smallest row index of the rows of its cluster."),
    "pii_redactions": (pa.int32(), "Personal data replaced in `text`."),
    "split": (pa.string(), "`train` or `val`, by a hash of `text` alone."),
}
"""Columns of a shard in order: name to (Arrow type, meaning)."""

SCHEMA = pa.schema([(name, kind) for name, (kind, _) in SHARD_COLUMNS.items()])

WRITER_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 1,
    "version": "2.6",
    "data_page_version": "1.0",
    "use_dictionary": True,
    "write_statistics": True,
    "store_schema": True,
    "write_page_index": False,
    "write_page_checksum": False,
}
"""pyarrow's defaults, spelled out, so that a changed default does not change files."""

_SHARD_NAME = re.compile(r"shard-([0-9]{5})-of-([0-9]{5})\.parquet")


def split_of(sha256: bytes, val_permille: int) -> str:
    """Return `val` or `train` for the digest (32 bytes) of a document's text.

    The first 8 bytes as a big-endian integer, modulo 1000, are below `val_permille` for `val`.
    """
    return "val" if int.from_bytes(sha256[:8], "big") % 1000 < val_permille else "train"


def shard_name(i: int, n: int) -> str:
    """Return the file name of shard `i` of `n`.

    Raises:
        ValueError: Not 0 <= i < n <= 99 999.
    """
    i, n = operator.index(i), operator.index(n)
    if not 0 <= i < n <= MAX_SHARDS:
        message = f"shard {i} of {n}: the format has 0 <= i < n <= {MAX_SHARDS}."
        raise ValueError(message)
    return f"shard-{i:05d}-of-{n:05d}.parquet"


def is_shard_name(name: str) -> bool:
    """Return whether `shard_name` gives this name for some shard."""
    match = _SHARD_NAME.fullmatch(name)
    return match is not None and int(match[1]) < int(match[2])


def shard_count(rows: int, shard_rows: int) -> int:
    """Return how many shards `rows` make; an empty corpus has one."""
    return max(1, -(-rows // shard_rows))


def group_budget(row_group_bytes: int) -> int:
    """Return the bytes of text that one row group may hold."""
    return min(row_group_bytes, MAX_TEXT_BYTES)
