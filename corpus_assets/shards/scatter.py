"""First pass of the large writer: every row, checked and hashed, into the range its id falls in."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.core.errors import DocumentError
from corpus_assets.core.plan import Config, Counts, RankInput
from corpus_assets.core.schema import schema_of
from corpus_assets.core.slices import SLICE
from corpus_assets.core.table import FileRecord, Table, open_verified
from corpus_assets.core.texts import text_digests
from corpus_assets.shards.document import MAX_REDACTIONS, PII_KEYS
from corpus_assets.shards.layout import MAX_TEXT_BYTES

VERSION = 1

RANGE_BYTES = 32 << 20
"""Text that one id range should hold: what sets the memory of the passes after this one."""

SAMPLES_PER_RANGE = 256

NAMES = ("source_id", "url", "license_spdx", "lang")
"""Columns that may not be blank."""

BLANK = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
"""What Python takes for white space; Polars' own set lacks U+001C to U+001F."""

RUN_COLUMNS = {
    "id": (pa.large_string(), "Unique id."),
    "text": (pa.large_string(), "The text."),
    "source_id": (pa.large_string(), "Source."),
    "url": (pa.large_string(), "Where it was published."),
    "license_spdx": (pa.large_string(), "Licence."),
    "lang": (pa.large_string(), "Language."),
    "n_chars": (pa.int32(), "Code points in the text."),
    "sha256": (pa.large_binary(), "SHA-256 of the text."),
    "cluster": (pa.int64(), "Opaque key of the cluster; null when it has none."),
    "pii_redactions": (pa.int32(), "Personal data replaced."),
    "text_bytes": (pa.int64(), "UTF-8 bytes of the text."),
    "rank": (pa.int32(), "Rank, to name the document in an error."),
    "row": (pa.int64(), "Row, to name the document in an error."),
}
RUN = schema_of(RUN_COLUMNS)


class ScatterConfig(Config):
    """Where the id ranges begin: range k holds ids from splitter k - 1 up to splitter k."""

    splitters: tuple[str, ...]
    pii_columns: tuple[tuple[str, str], ...] = ()
    """Kind of the manifest and the table's column that counts it."""


def range_count(table: Table, range_bytes: int) -> int:
    """Return into how many ranges of about `range_bytes` a table's rows go."""
    return max(1, -(-sum(content_bytes(table).values()) // range_bytes))


def content_bytes(table: Table) -> dict[int, int]:
    """Return the uncompressed bytes of each rank, from the Parquet footers."""
    return {rank.number: _uncompressed(table, rank.files["kept"]) for rank in table.ranks}


def _uncompressed(table: Table, record: FileRecord) -> int:
    with _parquet(table, record) as file:
        groups = range(file.metadata.num_row_groups)
        return sum(file.metadata.row_group(i).total_byte_size for i in groups)


@contextmanager
def _parquet(table: Table, record: FileRecord) -> Iterator[pq.ParquetFile]:
    """Open a table's file for a look, without its digest unless something is wrong with it.

    Raises:
        TableError: It cannot be read, and is not what the table lists.
    """
    path = table.path(record)
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            yield file
    except (OSError, pa.ArrowException):
        open_verified(path, record.sha256, table.name).close()
        raise


def sample_splitters(table: Table, ranges: int) -> tuple[str, ...]:
    """Return `ranges - 1` ids that cut the table into parts of about equal bytes.

    Every row group gives ids at even distances, as many as its bytes are worth. The choice moves
    only where the work is cut, never a byte of the output.
    """
    if ranges == 1:
        return ()
    step = max(1, sum(content_bytes(table).values()) // (ranges * SAMPLES_PER_RANGE))
    samples: list[str] = []
    for rank in table.ranks:
        with _parquet(table, rank.files["kept"]) as file:
            for group in range(file.metadata.num_row_groups):
                wanted = max(1, file.metadata.row_group(group).total_byte_size // step)
                ids = file.read_row_group(group, columns=["id"], use_threads=False)["id"]
                places = np.linspace(0, len(ids) - 1, min(wanted, len(ids)), dtype=np.int64)
                samples += ids.take(pa.array(places)).to_pylist()
    ids = sorted(samples)
    chosen = {ids[len(ids) * k // ranges] for k in range(1, ranges)} if ids else set()
    return tuple(sorted(chosen))


def scatter_rows(rank: RankInput, config: ScatterConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield a rank's rows, checked, with digest, lengths and the range of their id as `slice`."""
    splitters = pl.Series(config.splitters, dtype=pl.String)
    for frame in rank.frames():
        check_rows(frame)
        for kind, column in config.pii_columns:
            counts[f"pii/{kind}"] += int(frame[column].sum())
        digests = pl.Series("sha256", text_digests(frame["text"]), dtype=pl.Binary)
        yield frame.select(
            *("id", "text", *NAMES),
            pl.col("text").str.len_chars().cast(pl.Int32).alias("n_chars"),
            digests,
            _column(frame, "minhash_cluster", pl.Int64).alias("cluster"),
            _column(frame, "pii_redactions", pl.Int32).fill_null(0).alias("pii_redactions"),
            pl.col("text").str.len_bytes().cast(pl.Int64).alias("text_bytes"),
            *("rank", "row"),
            splitters.search_sorted(frame["id"], side="right").cast(pl.Int32).alias(SLICE),
        )


def _column(frame: pl.DataFrame, name: str, kind: type[pl.DataType]) -> pl.Expr:
    return pl.col(name) if name in frame.columns else pl.lit(None, dtype=kind)


def check_rows(frame: pl.DataFrame) -> None:
    """Refuse rows that format 1 could not store; the same rules as `document.row_of`.

    Raises:
        DocumentError: Names the first such document and the field.
    """
    faults = {name: _is_blank(name) for name in NAMES}
    faults["id"] = pl.col("id").is_null() | (pl.col("id") == "")
    faults["text"] = pl.col("text").is_null() | (pl.col("text").str.len_bytes() > MAX_TEXT_BYTES)
    if "pii_redactions" in frame.columns:
        faults["pii_redactions"] = ~pl.col("pii_redactions").is_between(0, MAX_REDACTIONS)
    found = frame.select(pl.any_horizontal(*faults.values()).alias("bad"))["bad"].fill_null(True)
    if not found.any():
        return
    bad = frame.filter(found).head(1)
    field = next(name for name, fault in faults.items() if bad.select(fault.fill_null(True)).item())
    message = (
        f"document {bad['id'].item()!r} (rank {bad['rank'].item()}, row {bad['row'].item()}): "
        f"{field}: missing, blank or out of range."
    )
    raise DocumentError(message)


def _is_blank(name: str) -> pl.Expr:
    return pl.col(name).is_null() | (pl.col(name).str.strip_chars(BLANK) == "")


def total_pii(counts: dict[str, int]) -> dict[str, int]:
    """Return the sums of PII by the manifest's kinds, from a table's counts."""
    return {kind: counts.get(f"pii/{kind}", 0) for kind in PII_KEYS}
