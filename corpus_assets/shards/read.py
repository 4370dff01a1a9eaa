"""`read_shards`: the documents of a corpus, each shard verified before its first row."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow.parquet as pq

from corpus_assets.core.errors import DocumentError
from corpus_assets.core.files import digest_of_stream
from corpus_assets.shards.document import Doc
from corpus_assets.shards.layout import MANIFEST_FILE, SCHEMA
from corpus_assets.shards.manifest import load_manifest
from corpus_assets.shards.replace import current_version

ROWS_AT_ONCE = 1_024


class MissingShardError(FileNotFoundError, ValueError):
    """A shard that the manifest lists is not there."""


def read_shards(out: str | PathLike[str], split: str | None = None) -> Iterator[Doc]:
    """Return the documents of a corpus in order, verifying each shard before its first row.

    Manifest, split and the presence of the shards are checked at the call. At most one row group
    is held.

    Args:
        out: Folder of the corpus.
        split: `train`, `val`, or None for both. Every shard is verified whatever it is.

    Raises:
        FileNotFoundError: No manifest, or a listed shard is missing.
        ValueError: The split is none, the manifest is not consistent, or (while reading) a shard
            differs from it; the message names the shard.
    """
    if split not in {None, "train", "val"}:
        message = f"split: {split!r} is none of None, 'train', 'val'."
        raise DocumentError(message)
    folder, manifest = open_corpus(Path(out))
    return _documents(folder, manifest["shards"], split)


def open_corpus(out: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder to read and its manifest, after checking that every shard is there.

    Raises:
        FileNotFoundError: No manifest, or a listed shard is missing.
        DocumentError: The manifest is not consistent.
    """
    folder = current_version(out)
    manifest = load_manifest(folder / MANIFEST_FILE)
    for shard in manifest["shards"]:
        path = folder / shard["name"]
        if not path.is_file():
            message = f"{path}: listed in {MANIFEST_FILE} but missing; build the corpus again."
            raise MissingShardError(message)
    return folder, manifest


def column_counts(out: Path, manifest: Mapping[str, Any], column: str) -> dict[str, int]:
    """Return how often each value of a string column is there, reading that column alone."""
    counts: Counter[str] = Counter()
    for shard in manifest["shards"]:
        table = pq.read_table(out / shard["name"], columns=[column], use_threads=False)
        for entry in table[column].value_counts().to_pylist():
            counts[entry["values"]] += entry["counts"]
    return dict(sorted(counts.items()))


def open_shard(path: Path, shard: dict[str, Any]) -> tuple[BinaryIO, pq.ParquetFile]:
    """Open a shard whose digest, rows and schema are those of the manifest.

    Raises:
        DocumentError: They are not.
    """
    stream = path.open("rb")
    try:
        _check_digest(path, digest_of_stream(stream), shard)
        stream.seek(0)
        file = pq.ParquetFile(stream, pre_buffer=False)
        _check_content(path, file, shard)
    except OSError as error:
        stream.close()
        message = f"{path}: cannot be read as Parquet ({type(error).__name__})."
        raise DocumentError(message) from error
    except BaseException:
        stream.close()
        raise
    return stream, file


def _check_digest(path: Path, found: str, shard: dict[str, Any]) -> None:
    if found != shard["sha256"]:
        message = f"{path}: SHA-256 {found[:12]}…, the manifest says {shard['sha256'][:12]}…."
        raise DocumentError(message)


def _check_content(path: Path, file: pq.ParquetFile, shard: dict[str, Any]) -> None:
    if file.metadata.num_rows != shard["rows"]:
        message = f"{path}: {file.metadata.num_rows} rows, the manifest says {shard['rows']}."
        raise DocumentError(message)
    if not file.schema_arrow.equals(SCHEMA):
        message = f"{path}: its schema is not that of format 1."
        raise DocumentError(message)


def _documents(folder: Path, shards: list[dict[str, Any]], split: str | None) -> Iterator[Doc]:
    for shard in shards:
        stream, file = open_shard(folder / shard["name"], shard)
        with closing(stream), closing(file):
            for number, row in enumerate(_rows(file)):
                if split is None or row["split"] == split:
                    yield _document(row, shard["name"], number)


def _rows(file: pq.ParquetFile) -> Iterator[dict[str, Any]]:
    for group in range(file.metadata.num_row_groups):
        table = file.read_row_group(group, use_threads=False)
        for start in range(0, len(table), ROWS_AT_ONCE):
            yield from table.slice(start, ROWS_AT_ONCE).to_pylist()


def _document(row: dict[str, Any], shard: str, number: int) -> Doc:
    meta = {name: row[name] for name in SCHEMA.names if name not in {"id", "text", "source_id"}}
    meta |= {"sha256": row["sha256"].hex(), "shard": shard, "row": number}
    return Doc(row["id"], row["source_id"], row["text"], meta)
