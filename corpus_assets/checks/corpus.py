"""The audit of a corpus: every shard is read whole, against manifest, schema and the split rule."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from math import exp, lgamma, log, log1p, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.checks.findings import FINDINGS, Finding, describe, findings_frame, violations
from corpus_assets.checks.result import CheckResult
from corpus_assets.core.files import digest_of_stream
from corpus_assets.core.parquet import BATCH_BYTES, to_frame
from corpus_assets.core.plan import Config, Counts, Plan, RankInput, RawFile, Step
from corpus_assets.core.table import Table
from corpus_assets.core.texts import text_digests
from corpus_assets.shards.layout import SCHEMA

VERSION = 1

CHECKS = {
    "manifest": "Each shard has the SHA-256 and the number of rows that the manifest says.",
    "schema": "Each row fits the schema of a shard.",
    "ids_sorted_unique": "Ids ascend over all shards, and none repeats.",
    "split_rule": "Text digest, length and split of each row are those of its text.",
    "val_share": "The share of `val` is within 4 standard deviations of what the split rule gives.",
    "sources_in_ledger": "Each source and licence of a row is in the ledger.",
}
"""Checks of an audit and the law of each."""

FOUR_DEVIATIONS = 3.17e-5
"""Chance of one side of the normal curve beyond 4 standard deviations."""

FIRST, LAST = "first_id", "last_id"
"""Facts an audit notes of each shard, to compare neighbours."""

VAL_TOP, TRAIN_BOTTOM = "val_top", "train_bottom"
"""Largest residue of a row in val, smallest of one in train: the rule puts a border between."""

FACTS = {FIRST, LAST, VAL_TOP, TRAIN_BOTTOM}


class ShardAudit(Config):
    """What a shard must be, by the manifest."""

    sha256: str
    rows: int
    val_permille: int | None


def corpus_audit(directory: Path, manifest: Mapping[str, Any], val_permille: int | None) -> Plan:
    """Return the plan that audits every shard of a corpus; a rank is a shard.

    Where `val_permille` is not known (the manifest does not say it), the split must still be that
    of some value.
    """
    files = tuple(
        RawFile(
            directory / shard["name"],
            shard["name"],
            ShardAudit(sha256=shard["sha256"], rows=shard["rows"], val_permille=val_permille),
        )
        for shard in manifest["shards"]
    )
    return Plan("audit", files, Step(audit_shard), schema=FINDINGS, conserves=False)


def audit_shard(rank: RankInput, config: ShardAudit, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield what is wrong in one shard, and its first and last id."""
    stream = rank.open()
    differs = digest_of_stream(stream) != config.sha256
    if differs:
        yield findings_frame([("manifest", f"SHA-256 of {rank.name} is another", 0, "")])
    stream.seek(os.SEEK_SET)
    try:
        file = pq.ParquetFile(stream, pre_buffer=False)
    except (OSError, pa.ArrowInvalid):
        yield findings_frame([("manifest", f"{rank.name} is no Parquet file", 0, "")])
        return
    with closing(file):
        if file.metadata.num_rows != config.rows:
            yield findings_frame(
                [("manifest", f"rows of {rank.name} are {file.metadata.num_rows}", 0, "")]
            )
        if not file.schema_arrow.equals(SCHEMA):
            yield findings_frame([("schema", f"schema of {rank.name} is another", 0, "")])
            return
        last: str | None = None
        try:
            for frame in _frames(file):
                yield findings_frame(_findings(frame, last, config, counts))
                last = frame["id"][-1]
        except (OSError, pa.ArrowException):
            # With the digest of the manifest it is the disk that fails, not the shard.
            if not differs:
                raise
            yield findings_frame([("manifest", "", config.rows, f"{rank.name} cannot be read")])


def _frames(file: pq.ParquetFile) -> Iterator[pl.DataFrame]:
    """Yield a shard in frames of bounded text."""
    for group in range(file.metadata.num_row_groups):
        table = file.read_row_group(group, use_threads=False)
        for batch in table.to_batches(max(1, len(table) * BATCH_BYTES // max(table.nbytes, 1))):
            yield to_frame(batch)


def _findings(
    frame: pl.DataFrame, last: str | None, config: ShardAudit, counts: Counts
) -> list[Finding]:
    """Return what is wrong in one frame; `last` is the id before it."""
    from corpus_assets.checks.schemas import SHARD  # noqa: PLC0415 - see there

    findings = [("schema", f"{column} ({check})", n, example)
                for check, column, n, example in violations(frame, SHARD)]  # fmt: skip
    before = frame["id"].shift(1, fill_value=last)
    unsorted = (frame["id"] <= before).fill_null(value=False)
    digests = pl.Series("computed", text_digests(frame["text"]), dtype=pl.Binary)
    heads = np.frombuffer(b"".join(digests.to_list()), dtype=">u8").reshape(-1, 4)[:, 0]
    residues, is_val = pl.Series((heads % 1000).astype(np.int64)), frame["split"] == "val"
    unruly = (digests != frame["sha256"]) | (frame["text"].str.len_chars() != frame["n_chars"])
    if config.val_permille is not None:
        unruly |= (residues < config.val_permille) != is_val
    for name, failing in (("ids_sorted_unique", unsorted), ("split_rule", unruly)):
        if failing.any():
            example = str(frame["id"][int(failing.arg_true()[0])])
            findings.append((name, "", int(failing.sum()), example))
    counts["rows"] += frame.height
    counts["val"] += int((frame["split"] == "val").sum())
    for source, licence, rows in frame.group_by("source_id", "license_spdx").len().iter_rows():
        counts[f"license/{source}/{licence}"] += rows
    noted = (
        (VAL_TOP, residues.filter(is_val).max()),
        (TRAIN_BOTTOM, residues.filter(~is_val).min()),
    )
    findings += [(fact, "", residue, "") for fact, residue in noted if isinstance(residue, int)]
    if last is None:
        findings.append((FIRST, "", 0, str(frame["id"][0])))
    return [*findings, (LAST, "", 0, str(frame["id"][-1]))]


def audit_results(
    audit: Table, val_permille: int, licences: set[tuple[str, str]]
) -> list[CheckResult]:
    """Return the outcome of every check from the findings of all shards."""
    counts = Counter(audit.counts)
    results = shard_results(audit)
    return [*results, _val_share(counts, val_permille), _sources(counts, licences)]


def shard_results(audit: Table) -> list[CheckResult]:
    """Return the outcome of the checks that need nothing but the shards and the manifest."""
    findings: list[Finding] = []
    bounds: list[tuple[str, str]] = []
    top, bottom = -1, 1000
    for rank in audit.ranks:
        rows: list[Finding] = [row for f in audit.frames(rank) for row in f.iter_rows()]
        findings += [row for row in rows if row[0] not in FACTS]
        noted = {row[0]: row[3] for row in rows}
        if FIRST in noted:
            bounds.append((noted[FIRST], noted[LAST]))
        top = max([top, *(row[2] for row in rows if row[0] == VAL_TOP)])
        bottom = min([bottom, *(row[2] for row in rows if row[0] == TRAIN_BOTTOM)])
    for (_, last), (first, _) in pairwise(bounds):
        if first <= last:
            findings.append(("ids_sorted_unique", "", 1, first))
    if top >= bottom:
        findings.append(("split_rule", "no val_permille gives this split", 1, ""))
    names = [name for name in CHECKS if name not in _DERIVED]
    return [_result(name, findings, audit.counts.get("rows", 0)) for name in names]


_DERIVED = {"val_share", "sources_in_ledger"}


def _result(name: str, findings: Sequence[Finding], rows: int) -> CheckResult:
    mine = [finding for finding in findings if finding[0] == name]
    summary = describe(mine) if mine else CHECKS[name]
    return CheckResult(name, not mine, summary, {"rows_checked": rows, "findings": len(mine)})


def _val_share(counts: Counter[str], val_permille: int) -> CheckResult:
    rows, share = counts["rows"], val_permille / 1000
    expected, deviation = rows * share, sqrt(rows * share * (1 - share))
    passed = (
        abs(counts["val"] - expected) <= 4 * deviation
        or _tail(rows, share, counts["val"]) > FOUR_DEVIATIONS
    )
    summary = (
        f"{counts['val']:,} of {rows:,} documents are in val, {expected:.1f} expected, standard "
        f"deviation {deviation:.1f}."
    )
    facts = {"val": counts["val"], "expected": expected, "standard_deviation": deviation}
    return CheckResult("val_share", passed, summary, facts)


def _tail(rows: int, share: float, count: int) -> float:
    """Return the chance of a count at least as far out as this one, on its side of the mean.

    For small corpora four deviations of the normal curve are less than one document, and one in
    200 corpora of a single document would fail.
    """
    if not 0 < share < 1:
        return 0.0
    outer = range(count, rows + 1) if count > rows * share else range(count + 1)
    logs = (
        lgamma(rows + 1) - lgamma(k + 1) - lgamma(rows - k + 1)
        + k * log(share) + (rows - k) * log1p(-share)
        for k in outer
    )  # fmt: skip
    return sum(exp(value) for value in logs)


def _sources(counts: Counter[str], licences: set[tuple[str, str]]) -> CheckResult:
    pairs = {
        (source, licence)
        for _, source, licence in (
            name.split("/", 2) for name in counts if name.startswith("license/")
        )
    }
    unknown = sorted(pairs - licences)
    listed = ", ".join(f"{source}: {licence}" for source, licence in unknown)
    summary = f"Not in the ledger: {listed}." if unknown else CHECKS["sources_in_ledger"]
    facts = {"pairs": len(pairs), "unknown": len(unknown)}
    return CheckResult("sources_in_ledger", not unknown, summary, facts)
