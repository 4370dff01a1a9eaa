"""Indexes: signatures of other corpora, against which documents are deduplicated.

Either the `minhash_signatures` of another corpus of ours, whose matches have an id, or a folder of
datatrove's `.minhash.index` files, which hold distinct minima and no document.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus_assets.core.errors import InputError
from corpus_assets.core.files import digest_of_file
from corpus_assets.core.table import TABLE_FILE, FileRecord, RankRecord, Table
from corpus_assets.dedup.settings import MinhashConfig

SUFFIX = ".minhash.index"


def open_index(folder: Path) -> Table:
    """Open an index: a table of signatures, or a folder with datatrove's index files.

    Raises:
        InputError: It is neither.
        TableError: The table is damaged.
    """
    if (folder / TABLE_FILE).is_file():
        return Table.open(folder)
    files = sorted(folder.glob(f"bucket_*/*{SUFFIX}"))
    if not files:
        message = (
            f"{folder}: is no index: neither a table of signatures ({TABLE_FILE}) nor a folder "
            f"with bucket_000/*{SUFFIX}."
        )
        raise InputError(message)
    names = sorted({path.name for path in files})
    ranks: list[RankRecord] = []
    for number, name in enumerate(names):
        paths = [path for path in files if path.name == name]
        records = {
            path.parent.name: FileRecord(
                f"{path.parent.name}/{name}", path.stat().st_size, digest_of_file(path), 0
            )
            for path in paths
        }
        ranks.append(RankRecord(number, name, records, {}))
    return Table(folder, "index", tuple(ranks))


def index_record(config: MinhashConfig) -> np.dtype:
    """Return the layout of a record of an index file: minima without a document."""
    kind = "<u8" if config.precision == 64 else "<u4"  # noqa: PLR2004 - bits
    return np.dtype([("values", kind, (config.hashes_per_bucket,))])


def index_runs(indexes: Sequence[Table], bucket: int) -> list[tuple[int, Table, RankRecord]]:
    """Return the runs of a bucket of all indexes; numbers below 0, so that they sort first."""
    runs = [
        (index, rank)
        for index in indexes
        for rank in index.ranks
        if f"bucket_{bucket:03d}" in rank.files
    ]
    return [(i - len(runs), index, rank) for i, (index, rank) in enumerate(runs)]


def index_readers(
    indexes: Sequence[Table], bucket: int, config: MinhashConfig
) -> list[tuple[int, Path, np.dtype]]:
    """Return number, path and record layout of the index files of a bucket."""
    readers: list[tuple[int, Path, np.dtype]] = []
    for number, index, rank in index_runs(indexes, bucket):
        path = index.path(rank.files[f"bucket_{bucket:03d}"])
        record = index_record(config) if path.name.endswith(SUFFIX) else config.record
        readers.append((number, path, record))
    return readers


def write_index(path: Path, minima: NDArray[np.uint64], config: MinhashConfig) -> None:
    """Append distinct minima, which come in order, to an index file."""
    records = np.empty(len(minima), index_record(config))
    records["values"] = minima
    with path.open("ab") as stream:
        records.tofile(stream)
