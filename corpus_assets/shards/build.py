"""The large writer: a corpus from a table, on an engine, without ever holding the corpus.

Sampled id ranges, scatter, order per range, cut shards, commit: the same bytes as `write_shards`
(format 1, section 10). Passes lie in `<out>.work`, resume like any table, and go when the corpus
is in place; what stays there is the receipt, by which an unchanged corpus is recognised.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from corpus_assets.core.errors import DocumentError
from corpus_assets.core.files import (
    digest_of_file,
    digest_of_json,
    link_or_copy,
    locked,
    read_json,
    remove_temporaries,
    remove_tree,
    sync,
    write_json,
)
from corpus_assets.core.plan import Config, exchange, map_ranks
from corpus_assets.core.receipt import Stamp
from corpus_assets.core.run import Engine, Report, run_plan
from corpus_assets.core.slices import SliceWriter
from corpus_assets.core.table import Table
from corpus_assets.shards import cut, order, scatter
from corpus_assets.shards.layout import (
    DEFAULT_ROW_GROUP_BYTES,
    MANIFEST_FILE,
    SCHEMA,
    shard_name,
)
from corpus_assets.shards.manifest import CorpusSettings, load_manifest, manifest_text
from corpus_assets.shards.replace import beside, check_target, clear_interrupted, replacing
from corpus_assets.shards.write import check_shard_count

WORK = ".work"
RECEIPT_FILE = "receipt.json"
SPILL = ("scatter", "order", "keys", "clusters", "places", "shards")
REMOVED = ".removed"
VERSION = 1


class ShardConfig(Config):
    """How the corpus is cut and split."""

    shard_rows: int = Field(default=100_000, ge=1)
    """Documents per shard."""
    val_permille: int = Field(default=5, ge=0, le=1000)
    """Share of the `val` split, in thousandths."""
    row_group_bytes: int = Field(default=DEFAULT_ROW_GROUP_BYTES, ge=1)
    """UTF-8 bytes of text per Parquet row group."""


@dataclass(frozen=True)
class Corpus:
    """A finished corpus: its folder and its manifest."""

    directory: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Read the manifest of a corpus.

        Raises:
            FileNotFoundError: There is none.
            DocumentError: It is not consistent.
        """
        return cls(directory, load_manifest(directory / MANIFEST_FILE))

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest, which names every shard's: the data version of the corpus."""
        return digest_of_file(self.directory / MANIFEST_FILE)


@dataclass(frozen=True)
class CorpusPlan:
    """What will make a corpus; `build_corpus_shards` executes it."""

    table: Table
    settings: CorpusSettings
    pii_columns: Mapping[str, str]
    """Column of the table by PII kind of the manifest."""


@dataclass(frozen=True)
class Receipt:
    """What made the shards that are in place, and how to recognise them without reading."""

    shards: str
    """Fingerprint of the shards."""
    stamps: Mapping[str, Stamp]
    pii: Mapping[str, int]


def build_corpus_shards(
    plan: CorpusPlan,
    out: Path,
    engine: Engine,
    *,
    range_bytes: int = scatter.RANGE_BYTES,
    report: Report | None = None,
) -> Corpus:
    """Make, or bring up to date, the corpus of a table's kept documents.

    Args:
        plan: Table with the columns of `scrubbed_docs`, and what to make of it.
        out: Folder of the corpus.
        engine: Where the passes run.
        range_bytes: Text per id range; sets the memory, never the output.
        report: Told of the progress of each pass.

    Raises:
        DocumentError: A document breaks the format, or an id repeats. Nothing is left of the run.
        TargetError: `out` holds something else than a corpus.
        LockedError: Another run is writing it.
    """
    check_target(out)
    work = beside(out, WORK)
    fingerprint = _fingerprint(plan)
    made = [parent for parent in work.parents if not parent.exists()]
    with locked(work):
        receipt = _standing(work, out)
        if receipt is None or receipt.shards != fingerprint:
            try:
                shards, pii = _make_shards(plan, work, range_bytes, engine, report)
            except DocumentError:
                _remove_spill(work)
                _remove_empty([work, *made])
                raise
        else:
            names = load_manifest(out / MANIFEST_FILE)["shards"]
            shards = {entry["name"]: (out / entry["name"], entry) for entry in names}
            pii = receipt.pii
        manifest = plan.settings.manifest([entry for _, entry in shards.values()], pii)
        if _is_in_place(out, manifest, receipt, fingerprint):
            clear_interrupted(out)
        else:
            _commit(out, manifest, {name: path for name, (path, _) in shards.items()})
            stamps = {name: Stamp.of(out / name) for name in shards}
            write_json(work / RECEIPT_FILE, asdict(Receipt(fingerprint, stamps, pii)))
        _remove_spill(work)
    return Corpus(out, manifest)


def _fingerprint(plan: CorpusPlan) -> str:
    settings = plan.settings
    cuts = [settings.shard_rows, settings.val_permille, settings.row_group_bytes]
    versions = [VERSION, scatter.VERSION, order.VERSION, cut.VERSION, cut.ShardWriter.IDENTITY]
    return digest_of_json([versions, plan.table.digest, cuts, dict(plan.pii_columns)])


def _standing(work: Path, out: Path) -> Receipt | None:
    """Return the receipt of the corpus in place if its shards are as they were written."""
    try:
        value = read_json(work / RECEIPT_FILE)
        stamps = {name: Stamp(**stamp) for name, stamp in value["stamps"].items()}
        receipt = Receipt(value["shards"], stamps, value["pii"])
        listed = {entry["name"]: entry for entry in load_manifest(out / MANIFEST_FILE)["shards"]}
        same = listed.keys() == stamps.keys() and all(
            _is_unchanged(out / name, stamps[name], entry["sha256"])
            for name, entry in listed.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return receipt if same else None


def _is_unchanged(path: Path, stamp: Stamp, sha256: str) -> bool:
    now = Stamp.of(path)
    return now == stamp or (now.bytes == stamp.bytes and digest_of_file(path) == sha256)


def _make_shards(
    plan: CorpusPlan, work: Path, range_bytes: int, engine: Engine, report: Report | None
) -> tuple[dict[str, tuple[Path, dict[str, Any]]], dict[str, int]]:
    """Run the passes; return path and manifest entry by shard name, and the sums of PII."""
    table, settings = plan.table, plan.settings
    count = check_shard_count(table.rows, settings.shard_rows)
    splitters = scatter.sample_splitters(table, scatter.range_count(table, range_bytes))
    config = scatter.ScatterConfig(splitters=splitters, pii_columns=tuple(plan.pii_columns.items()))
    scattering = map_ranks(
        table,
        "scatter",
        scatter.scatter_rows,
        config,
        scatter.RUN,
        writer=SliceWriter,
    )
    runs = run_plan(scattering, work / "scatter", engine, report)
    places, starts = _place(runs, work, len(splitters) + 1, engine, report)
    cutting = exchange(
        runs,
        "shards",
        count,
        cut.cut_shard,
        cut.CutConfig(
            starts=starts,
            n_docs=table.rows,
            shard_rows=settings.shard_rows,
            val_permille=settings.val_permille,
            row_group_bytes=settings.row_group_bytes,
            piece_bytes=2 * range_bytes,
        ),
        SCHEMA,
        side=places,
        rank_names=tuple(shard_name(i, count) for i in range(count)),
        writer=cut.ShardWriter,
    )
    shards = run_plan(cutting, work / "shards", engine, report)
    made = {rank.name: rank.files["kept"] for rank in shards.ranks}
    entries = {
        name: (shards.path(file), {"name": name, "sha256": file.sha256, "rows": file.rows})
        for name, file in made.items()
    }
    return entries, scatter.total_pii(runs.counts)


def _place(
    runs: Table, work: Path, ranges: int, engine: Engine, report: Report | None
) -> tuple[Table, tuple[int, ...]]:
    """Return the table of sorted positions per range, and the row index each range starts at."""
    plan = exchange(runs, "order", ranges, order.order_rows, None, order.ORDER)
    ordered = run_plan(plan, work / "order", engine, report)
    rows = [rank.files["kept"].rows for rank in ordered.ranks]
    starts = tuple(accumulate(rows[:-1], initial=0))
    into = 1 + ordered.counts.get("keyed", 0) // order.KEYS_PER_SLICE
    config = order.RangeConfig(starts=starts, into=into)
    keys = map_ranks(
        ordered, "keys", order.key_rows, config, order.KEYS, writer=SliceWriter, conserves=False
    )
    keys_table = run_plan(keys, work / "keys", engine, report)
    firsts = exchange(
        keys_table, "clusters", into, order.first_rows, config, order.KEYS, writer=SliceWriter
    )
    side = run_plan(firsts, work / "clusters", engine, report)
    places = map_ranks(ordered, "places", order.place_rows, config, order.PLACE, side=side)
    return run_plan(places, work / "places", engine, report), starts


def _is_in_place(
    out: Path, manifest: Mapping[str, Any], receipt: Receipt | None, fingerprint: str
) -> bool:
    if receipt is None or receipt.shards != fingerprint:
        return False
    return (out / MANIFEST_FILE).read_bytes() == manifest_text(manifest)


def _commit(out: Path, manifest: Mapping[str, Any], shards: Mapping[str, Path]) -> None:
    """Put a new version in place; the shards get a second name there, no copy."""
    with replacing(out) as folder:
        for name, path in shards.items():
            link_or_copy(path, folder / name)
        path = folder / MANIFEST_FILE
        path.write_bytes(manifest_text(manifest))
        sync(path)


def _remove_spill(work: Path) -> None:
    remove_temporaries(work / RECEIPT_FILE)
    # Under another name first: half removed, it may lack the marks by which a plan knows its own.
    removed = work / REMOVED
    remove_tree(removed)
    for name in SPILL:
        if os.path.lexists(work / name):
            (work / name).rename(removed)
            remove_tree(removed)


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, inner ones first, up to the first that holds something."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()
