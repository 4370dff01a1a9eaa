"""MinHash stage 2: pairs of documents that agree in a whole band, in datatrove's `.dups` files."""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pyarrow as pa

from corpus_assets.core.errors import InputError, TableError
from corpus_assets.core.plan import Counts, Plan, RankInput, exchange
from corpus_assets.core.table import Table
from corpus_assets.dedup.index import SUFFIX as INDEX_SUFFIX
from corpus_assets.dedup.index import index_readers, write_index
from corpus_assets.dedup.merging import RunReader, merge_runs
from corpus_assets.dedup.pairs import PairFinder, PairRule
from corpus_assets.dedup.settings import COMPILING, PRIME, BucketConfig, MinhashConfig
from corpus_assets.dedup.signature_files import check_whole

VERSION = 1


def minhash_buckets(
    signatures: Table, config: BucketConfig, indexes: tuple[Table, ...] = ()
) -> Plan:
    """Return the plan of the pairs of all buckets: a rank for each bucket and hash range.

    Raises:
        InputError: An index is made of the very signatures, so that all would be dropped.
    """
    own = signatures.directory.resolve()
    if any(index.directory.resolve() == own for index in indexes):
        message = f"{own}: a corpus cannot be deduplicated against itself; take it off `against`."
        raise InputError(message)
    return exchange(
        signatures,
        "minhash_buckets",
        config.num_buckets * config.workers_per_bucket,
        find_pairs,
        config,
        pa.schema([]),
        writer=None,
        conserves=False,
        references=indexes,
        facts=config.facts_of(signatures.facts.get("documents")),
        prepare=(COMPILING, prepare_pairing),
    )


def find_pairs(rank: RankInput, config: BucketConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Write the pairs of one bucket, or of a hash range of it, in merge order.

    Consecutive records with equal minima make a pair: m equal ones make m - 1 pairs, which connect
    them as well as all would.
    """
    for table in (rank.table, *rank.references):
        config.check_same(table)
    bucket, worker = divmod(rank.number, config.workers_per_bucket)
    runs = bucket_runs(rank.table, bucket, config)
    low, high = hash_range(runs, worker, config)
    readers = [
        part_of(path, number, record, low, high)
        for number, path, record in (
            *index_readers(rank.references, bucket, config),
            *((number, path, config.record) for number, path in runs),
        )
    ]
    rule = PairRule(bool(rank.references), config.among_documents, config.index_as_datatrove)
    find = PairFinder(rule)
    stem = f"{bucket:05d}_{worker:02d}"
    pairs_path, matches_path = rank.create("pairs", f"{stem}.dups"), None
    index_path = None
    if rank.references:
        matches_path = rank.create("matches", f"matches/{stem}.npy")
    if config.create_index:
        name = f"index/bucket_{bucket:03d}/{config.create_index}_{worker:02d}{INDEX_SUFFIX}"
        index_path = rank.create("index", name)
        index_path.touch()
    all_matches = [np.empty((0, 4), np.int64)]
    with pairs_path.open("wb") as stream:
        for merged in merge_runs(readers, config.record):
            pairs, matches, fresh = find(merged)
            pairs.tofile(stream)
            counts["kept"] += len(pairs)
            counts["index_matches"] += len(matches)
            all_matches.append(matches)
            if index_path is not None:
                write_index(index_path, fresh, config)
    rank.note_rows("pairs", counts["kept"])
    if matches_path is not None:
        with matches_path.open("wb") as stream:
            np.save(stream, np.concatenate(all_matches))
    return iter(())


def bucket_runs(signatures: Table, bucket: int, config: MinhashConfig) -> list[tuple[int, Path]]:
    """Return number and path of a bucket's signature files, in datatrove's order of names.

    Raises:
        TableError: A rank's file was cut or made with other settings.
    """
    runs: list[tuple[int, Path]] = []
    for rank in sorted(signatures.ranks, key=lambda rank: f"{rank.number:05d}"):
        record = rank.files.get(f"bucket_{bucket:03d}")
        if record is None:
            message = (
                f"{signatures.directory}: rank {rank.number} ({rank.name}) has no bucket {bucket}; "
                f"it was made with fewer buckets. Materialize minhash_signatures again."
            )
            raise TableError(message)
        path = signatures.path(record)
        check_whole(path, config.record)
        runs.append((rank.number, path))
    return runs


def hash_range(runs: list[tuple[int, Path]], worker: int, config: BucketConfig) -> tuple[int, int]:
    """Return the range of first minima, from and up to, that a worker of a bucket takes.

    The cuts are quantiles of the first signature file alone, as datatrove's.

    Raises:
        TableError: That file has fewer records than there are workers.
    """
    # The 32-bit bound is exclusive too: datatrove passes over a first minimum of all ones.
    top = min(PRIME, config.mask)
    workers = config.workers_per_bucket
    if workers == 1:
        return 0, top
    path = runs[0][1]
    records = check_whole(path, config.record)
    if records < workers:
        message = (
            f"{path}: {records} signatures cannot cut a bucket for {workers} workers; set "
            f"workers_per_bucket to at most {max(records, 1)}."
        )
        raise TableError(message)
    firsts = np.memmap(path, config.record, mode="r")["values"][:, 0]
    step = records // workers
    cuts = [0, *(int(firsts[step * w]) for w in range(1, workers)), top]
    return cuts[worker], cuts[worker + 1]


def part_of(path: Path, number: int, record: np.dtype, low: int, high: int) -> RunReader:
    """Return the reader of the records of a file whose first minimum is in a range."""
    if path.stat().st_size == 0:
        return RunReader(path, record, number)
    # Bisected by hand: numpy would copy the column, and so read the whole file.
    firsts = np.memmap(path, record, mode="r")["values"]
    places = range(len(firsts))
    start = bisect_left(places, low, key=lambda i: int(firsts[i, 0]))
    stop = bisect_left(places, high, lo=start, key=lambda i: int(firsts[i, 0]))
    return RunReader(path, record, number, start, stop)


def prepare_pairing() -> None:
    """Compile, or load, the kernels of this stage, before workers start."""
    config = MinhashConfig()
    with TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in "ab"]
        for path in paths:
            np.zeros(2, config.record).tofile(path)
        readers = [RunReader(path, config.record, number) for number, path in enumerate(paths)]
        find = PairFinder(PairRule())
        for merged in merge_runs(readers, config.record):
            find(merged)
