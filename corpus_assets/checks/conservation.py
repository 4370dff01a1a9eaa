"""Counts add up: every document that came in was kept or dropped for a named reason."""

from collections.abc import Mapping

import pyarrow.parquet as pq

from corpus_assets.checks.result import CheckResult
from corpus_assets.core.table import Table

NAME = "counts_add_up"


def table_counts_add_up(table: Table, upstream: Table | None) -> CheckResult:
    """Check a table's counts against each other, its files' footers, and the table before it."""
    counts = table.counts
    dropped = _total(counts, "dropped")
    rejected = _total(counts, "rejected")
    in_files = {role: _rows_in_files(table, role) for role in ("kept", "excluded")}
    rejected_lines = sum(r.files["rejected"].rows for r in table.ranks if "rejected" in r.files)
    equal = {
        "came in = kept + dropped + rejected": (
            counts.get("in", 0),
            counts.get("kept", 0) + dropped + rejected,
        ),
        "kept = rows in the files": (counts.get("kept", 0), in_files["kept"]),
        "dropped = rows under excluded/": (dropped, in_files["excluded"]),
        "rejected = lines under rejected/": (rejected, rejected_lines),
    }
    if upstream is not None:
        equal[f"came in = kept by {upstream.name}"] = (counts.get("in", 0), upstream.rows)
    return _compared(equal)


def corpus_counts_add_up(n_docs: int, tables: Mapping[str, Table]) -> CheckResult:
    """Check that the corpus holds what came in less all that any stage dropped or rejected."""
    raw, last = tables["raw_docs"], tables["scrubbed_docs"]
    lost = sum(
        _total(table.counts, kind) for table in tables.values() for kind in ("dropped", "rejected")
    )
    return _compared(
        {
            "documents in the corpus = kept by scrubbed_docs": (n_docs, last.rows),
            "documents in the corpus = records read - all drops": (
                n_docs,
                raw.counts.get("in", 0) - lost,
            ),
        }
    )


def _compared(equal: Mapping[str, tuple[int, int]]) -> CheckResult:
    wrong = [
        f"{law}: {left} is not {right}" for law, (left, right) in equal.items() if left != right
    ]
    summary = "; ".join(wrong) or "Every document is accounted for."
    return CheckResult(NAME, not wrong, summary, {law: left for law, (left, _) in equal.items()})


def _total(counts: Mapping[str, int], kind: str) -> int:
    return sum(number for name, number in counts.items() if name.startswith(f"{kind}/"))


def _rows_in_files(table: Table, role: str) -> int:
    files = [rank.files[role] for rank in table.ranks if role in rank.files]
    return sum(pq.read_metadata(table.path(file)).num_rows for file in files)
