"""`write_shards`: a corpus from documents in memory, byte for byte as format 1 says.

The same bytes as `shards.build` makes from a table without holding the corpus.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from corpus_assets.core.errors import DocumentError
from corpus_assets.core.files import digest_of_file, sync
from corpus_assets.core.parquet import GroupedWriter, take_rows
from corpus_assets.shards.document import Doc, Row, row_of
from corpus_assets.shards.layout import (
    DEFAULT_ROW_GROUP_BYTES,
    MANIFEST_FILE,
    MAX_SHARDS,
    SCHEMA,
    WRITER_OPTIONS,
    group_budget,
    shard_count,
    shard_name,
    split_of,
)
from corpus_assets.shards.manifest import CorpusSettings, checked_settings, manifest_text
from corpus_assets.shards.replace import check_target, replacing


def write_shards(  # noqa: PLR0913 - format 1 fixes the signature
    docs: Iterable[Doc],
    out: str | os.PathLike[str],
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
) -> dict[str, Any]:
    """Write documents as a corpus: sorted, split, cut into shards, with a manifest.

    All documents are read and checked before anything is written; an older corpus at `out` is
    replaced as a whole, and stays as it was after any error or crash.

    Args:
        docs: The documents, in any order.
        out: Folder of the corpus.
        dataset: Name of the data set.
        version: Its version.
        shard_rows: Documents per shard.
        val_permille: Share of the `val` split in thousandths, 0 to 1000.
        row_group_bytes: UTF-8 bytes of text per row group.
        filters: Dropped documents by filter, for the manifest.
        dedup: Values in place of `DEDUP_DEFAULTS`, for the manifest.
        ledger_ref: Where the ledger is, for the manifest.
        config_sha256: Digest of the configuration, for the manifest.

    Returns:
        The manifest, as the file says it.

    Raises:
        ValueError: A bad argument, document or reserved name.
        FileExistsError: `out` holds something else than a corpus.
        BlockingIOError: Another writer is at work on `out`.
    """
    settings = checked_settings(
        dataset=dataset,
        version=version,
        shard_rows=shard_rows,
        val_permille=val_permille,
        row_group_bytes=row_group_bytes,
        filters=filters,
        dedup=dedup,
        ledger_ref=ledger_ref,
        config_sha256=config_sha256,
    )
    text = os.fspath(out)
    if not isinstance(text, str) or not text:
        message = f"out: expected a path, got {out!r}."
        raise DocumentError(message)
    target = Path(text)
    check_target(target)
    rows = sorted_rows(docs, settings)
    with replacing(target) as folder:
        manifest = _write_all(rows, folder, settings)
        path = folder / MANIFEST_FILE
        path.write_bytes(manifest_text(manifest))
        sync(path)
    return manifest


def sorted_rows(docs: Iterable[Doc], settings: CorpusSettings) -> list[Row]:
    """Return all documents checked and in order of id.

    Raises:
        DocumentError: A document breaks the format, an id repeats, or there are too many shards.
    """
    rows = sorted((row_of(doc, i) for i, doc in enumerate(docs)), key=lambda row: row.id)
    for first, second in pairwise(rows):
        if first.id == second.id:
            message = f"document {first.id!r}: id: two documents have it; ids must be unique."
            raise DocumentError(message)
    check_shard_count(len(rows), settings.shard_rows)
    return rows


def check_shard_count(rows: int, shard_rows: int) -> int:
    """Return the number of shards.

    Raises:
        DocumentError: There would be more than the format names.
    """
    count = shard_count(rows, shard_rows)
    if count > MAX_SHARDS:
        message = (
            f"shard_rows: {rows} documents by {shard_rows} make {count} shards, at most "
            f"{MAX_SHARDS}; choose {-(-rows // MAX_SHARDS)} or more."
        )
        raise DocumentError(message)
    return count


def _write_all(rows: list[Row], folder: Path, settings: CorpusSettings) -> dict[str, Any]:
    clusters = cluster_rows([row.cluster for row in rows])
    count = shard_count(len(rows), settings.shard_rows)
    shards: list[dict[str, Any]] = []
    pii: Counter[str] = Counter()
    for row in rows:
        pii.update(row.pii)
    for i in range(count):
        start = i * settings.shard_rows
        part = slice(start, start + settings.shard_rows)
        path = folder / shard_name(i, count)
        _write_shard(rows[part], clusters[part], path, settings)
        shards.append({"name": path.name, "sha256": digest_of_file(path), "rows": len(rows[part])})
    return settings.manifest(shards, pii)


def cluster_rows(keys: Sequence[str | int | None]) -> list[int]:
    """Return for each row, in order, the index of the first row with its key; None is no key."""
    first: dict[str | int, int] = {}
    return [i if key is None else first.setdefault(key, i) for i, key in enumerate(keys)]


def _write_shard(
    rows: list[Row], clusters: list[int], path: Path, settings: CorpusSettings
) -> None:
    """Write one shard. The row groups are cut here, so that a table holds one group at most."""
    lengths = np.array([row.text_bytes for row in rows], dtype=np.int64)
    budget = group_budget(settings.row_group_bytes)
    writer = GroupedWriter(
        path, SCHEMA, group_bytes=budget, group_rows=None, options=WRITER_OPTIONS
    )
    start = 0
    while start < len(rows):
        stop = start + take_rows(lengths[start:], budget, empty=True)
        writer.write(_table(rows[start:stop], clusters[start:stop], settings.val_permille))
        start = stop
    writer.close()
    sync(path)


def _table(rows: list[Row], clusters: list[int], val_permille: int) -> pa.Table:
    columns = {
        name: [getattr(row, name) for row in rows]
        for name in SCHEMA.names
        if name not in {"minhash_cluster", "split"}
    }
    columns["minhash_cluster"] = clusters
    columns["split"] = [split_of(row.sha256, val_permille) for row in rows]
    return pa.table({name: columns[name] for name in SCHEMA.names}, schema=SCHEMA)
