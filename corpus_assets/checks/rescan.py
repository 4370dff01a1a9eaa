"""The rescan: what is still personal data in the scrubbed documents. It must be nothing."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from corpus_assets.checks.findings import FINDINGS, Finding, describe, findings_frame
from corpus_assets.checks.result import CheckResult
from corpus_assets.core.plan import Counts, Plan, RankInput, map_ranks
from corpus_assets.core.table import Table
from corpus_assets.pii import PiiConfig
from corpus_assets.pii.scrubbing import fingerprinted, spans_of_texts

VERSION = 1

NAME = "no_personal_data"


def rescan(scrubbed_docs: Table, config: PiiConfig, base: Path = Path()) -> Plan:
    """Return the plan that looks for personal data in every row of `scrubbed_docs`.

    Args:
        scrubbed_docs: The table.
        config: That which made it.
        base: Folder at which a relative `name_model` starts.

    Raises:
        InputError: `mode: hash` has no key, or the kind `name` no model.
    """
    wanted = fingerprinted(config, base)
    return map_ranks(scrubbed_docs, "rescan", rescan_rank, wanted, FINDINGS, conserves=False)


def rescan_rank(rank: RankInput, config: PiiConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield how many documents of a rank hold personal data of each kind, and the id of one."""
    for frame in rank.frames(["id", "text"]):
        findings: dict[str, tuple[int, str]] = {}
        for place, spans in spans_of_texts(frame["text"], config).items():
            for kind in {span.kind for span in spans}:
                number, example = findings.get(kind, (0, frame["id"][place]))
                findings[kind] = (number + 1, example)
        rows: list[Finding] = [(NAME, kind, n, name) for kind, (n, name) in findings.items()]
        if rows:
            yield findings_frame(rows)


def rescan_result(findings: Table) -> CheckResult:
    """Return the outcome of a rescan."""
    rows = [row for rank in findings.ranks for f in findings.frames(rank) for row in f.iter_rows()]
    checked = findings.counts.get("in", 0)
    facts = {"rows_checked": checked, "documents": sum(row[2] for row in rows)}
    summary = describe(rows) if rows else f"Nothing was found in {checked:,} documents."
    return CheckResult(NAME, not rows, summary, facts)
