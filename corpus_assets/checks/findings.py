"""Audits as plans: what a check found in a rank is its output; an unchanged rank is not reread."""

from collections.abc import Iterator, Sequence

import polars as pl
import pyarrow as pa

from corpus_assets.checks.result import CheckResult
from corpus_assets.core.plan import Counts, Plan, RankInput, map_ranks
from corpus_assets.core.schema import schema_of
from corpus_assets.core.table import Table

VERSION = 1

FINDINGS = schema_of(
    {
        "check": (pa.large_string(), "Check that failed, or the fact that was noted."),
        "column": (pa.large_string(), "Column it is about, or what is wrong with the file."),
        "failures": (pa.int64(), "Rows that fail it; 0 where it is the file as a whole."),
        "example": (pa.large_string(), "Id of one of them; never a value."),
    }
)

Finding = tuple[str, str, int, str]
"""A row of the findings: check, column, failures, example."""


def findings_frame(findings: Sequence[Finding]) -> pl.DataFrame:
    """Return findings as a frame."""
    kinds = {"check": pl.String, "column": pl.String, "failures": pl.Int64, "example": pl.String}
    return pl.DataFrame(findings, schema=kinds, orient="row")


def schema_audit(scrubbed_docs: Table) -> Plan:
    """Return the plan that validates every row of `scrubbed_docs` with its pandera model."""
    return map_ranks(scrubbed_docs, "schema", audit_documents, None, FINDINGS, conserves=False)


def audit_documents(rank: RankInput, config: None, counts: Counts) -> Iterator[pl.DataFrame]:
    """Yield what the pandera model finds wrong in one rank."""
    from corpus_assets.checks.schemas import DOCUMENTS  # noqa: PLC0415 - see there

    for frame in rank.frames():
        found = violations(frame, DOCUMENTS)
        if found:
            yield findings_frame(found)


def violations(frame: pl.DataFrame, model: object) -> list[Finding]:
    """Return a finding for each check of a pandera model that some row of a frame fails."""
    from pandera.errors import SchemaErrors  # noqa: PLC0415 - see `checks.schemas`

    try:
        model.validate(frame, lazy=True)  # pyright: ignore[reportAttributeAccessIssue]
    except SchemaErrors as error:
        cases = error.failure_cases.with_columns(
            pl.col("index").cast(pl.Int64, strict=False), pl.col("check").cast(pl.String)
        )
        grouped = cases.group_by("check", "column", maintain_order=True).agg(
            pl.len(), pl.col("index").min()
        )
        return [
            (str(check), str(column), rows, _id_at(frame, index))
            for check, column, rows, index in grouped.iter_rows()
        ]
    return []


def _id_at(frame: pl.DataFrame, index: int | None) -> str:
    return "" if index is None or "id" not in frame.columns else str(frame["id"][index])


def schema_result(findings: Table) -> CheckResult:
    """Return the outcome of a schema audit."""
    rows = [row for rank in findings.ranks for f in findings.frames(rank) for row in f.iter_rows()]
    checked = findings.counts.get("in", 0)
    facts = {"rows_checked": checked, "failures": sum(row[2] for row in rows)}
    if rows:
        return CheckResult("schema", passed=False, summary=describe(rows), facts=facts)
    return CheckResult("schema", passed=True, summary=f"All {checked:,} rows fit.", facts=facts)


def describe(findings: Sequence[Finding], most: int = 5) -> str:
    """Return findings as one line for people."""
    parts = [
        f"{check}{' of ' + column if column else ''}: {rows} rows"
        + (f", such as id {example!r}" if example else "")
        if rows
        else column
        for check, column, rows, example in findings[:most]
    ]
    more = len(findings) - most
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
