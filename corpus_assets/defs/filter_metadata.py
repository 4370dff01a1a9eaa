"""What the asset catalog shows of `filtered_docs`: funnel, samples of what was dropped, groups."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl
import pyarrow.parquet as pq

from corpus_assets.core.parquet import to_frame
from corpus_assets.core.table import Table
from corpus_assets.defs.markdown import funnel_plot, markdown_table, plain
from corpus_assets.filters.report import NOTE, Decision, decisions
from corpus_assets.funnel import Drop, Funnel, drops_of

SAMPLES = 5
"""Dropped documents shown for each reason."""

SAMPLE_CHARS = 300

GROUPS_SHOWN = 30

Reason = tuple[str, str]
"""Rule and reason."""


def filter_metadata(table: Table) -> dict[str, Any]:
    """Return what is shown of `filtered_docs` beside the usual."""
    funnel = filter_funnel(table)
    shown: dict[str, Any] = {
        "documents in and out": _markdown(f"{funnel_plot(funnel)}\n\n{funnel_table(funnel)}"),
    }
    if notes := table.facts.get("notes"):
        shown["notes"] = _markdown("\n".join(f"* {note}" for note in notes))
    if funnel.drops:
        shown["dropped documents"] = _markdown(samples_text(table, funnel))
    for group in ("language", "source"):
        shown[f"by {group}"] = _markdown(group_table(table.counts, group))
    if found := decisions(table.counts, table.facts.get("rules", ())):
        shown["what if"] = _markdown(f"{NOTE}\n\n{decision_table(found)}")
    return shown


def _markdown(text: str) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(text)


def filter_funnel(table: Table) -> Funnel:
    """Return the funnel of the table, with rules in the recipe's order."""
    order = {name: place for place, name in enumerate(table.facts.get("rules", ()))}
    drops = sorted(
        drops_of(table.name, table.counts),
        key=lambda drop: (order.get(drop.reason.split("/")[0], len(order)), -drop.documents),
    )
    named: list[Drop] = []
    for drop in drops:
        rule, reason = drop.reason.split("/", 1)
        named.append(Drop(rule, reason, drop.documents))
    return Funnel(table.counts.get("in", 0), tuple(named), table.rows)


def funnel_table(funnel: Funnel) -> str:
    """Return the funnel as a Markdown table; numbers first, as the page cuts wide ones."""
    total = funnel.came_in or 1
    rows = [(f"{funnel.came_in:,}", "", "", "came in")]
    rows += [
        (f"{d.documents:,}", f"{d.documents / total:.2%}", d.stage, f"`{d.reason}`")
        for d in funnel.drops
    ]
    rows.append((f"{funnel.kept:,}", f"{funnel.kept / total:.2%}", "", "kept"))
    return markdown_table(("documents", "share", "rule", "reason"), rows)


def samples_text(table: Table, funnel: Funnel) -> str:
    """Return the first dropped documents of every reason as Markdown."""
    wanted: Counter[Reason] = Counter(
        {(d.stage, d.reason): min(SAMPLES, d.documents) for d in funnel.drops}
    )
    found = pl.concat([*_first_dropped(table, Counter(wanted)), _no_samples()])
    parts: list[str] = []
    for rule, reason in wanted:
        of_this = found.filter((pl.col("drop_rule") == rule) & (pl.col("drop_reason") == reason))
        rows = [
            (plain(row["id"]), _number(row["drop_value"]), _number(row["drop_threshold"]),
             plain(row["text"], SAMPLE_CHARS))
            for row in of_this.iter_rows(named=True)
        ]  # fmt: skip
        head = ("id", "value", "threshold", "text begins")
        parts.append(f"**{rule}: `{reason}`**\n\n{markdown_table(head, rows)}")
    return "\n\n".join(parts)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


SAMPLE_COLUMNS = ("drop_rule", "drop_reason", "id", "drop_value", "drop_threshold", "text")


def _no_samples() -> pl.DataFrame:
    numbers = {"drop_value", "drop_threshold"}
    return pl.DataFrame(
        schema={n: pl.Float64() if n in numbers else pl.String() for n in SAMPLE_COLUMNS}
    )


def _first_dropped(table: Table, missing: Counter[Reason]) -> Iterator[pl.DataFrame]:
    """Yield the first dropped documents of every reason.

    Of the files only those are opened whose counts tell of a reason that is still missing, and of
    them only the columns that name reasons are read, until a row group has such a document.
    """
    for rank in table.ranks:
        if not any(rank.counts.get(f"dropped/{rule}/{why}") for rule, why in +missing):
            continue
        with pq.ParquetFile(table.path(rank.files["excluded"])) as file:
            for group in range(file.num_row_groups):
                rows = _rows_of(file, group, missing)
                if rows:
                    columns = list(SAMPLE_COLUMNS)
                    frame = to_frame(file.read_row_group(group, columns=columns))
                    yield frame.select(pl.col(SAMPLE_COLUMNS[:3]).cast(pl.String),
                                       *SAMPLE_COLUMNS[3:])[rows]  # fmt: skip
                if not +missing:
                    return


def _rows_of(file: pq.ParquetFile, group: int, missing: Counter[Reason]) -> list[int]:
    """Return rows of a row group that have a missing reason, and take them off it."""
    names = to_frame(file.read_row_group(group, columns=["drop_rule", "drop_reason"]))
    rows: list[int] = []
    for row, reason in enumerate(names.iter_rows()):
        if missing[reason] > 0:
            missing[reason] -= 1
            rows.append(row)
    return rows


def decision_table(found: Sequence[Decision]) -> str:
    """Return what thresholds decide as a Markdown table; the ones in force are bold."""
    rows = [
        (
            d.rule,
            d.reason,
            f"{d.dropped:,} of {d.reached:,}",
            " · ".join(
                f"**{t:g}: {n:,}**" if t == d.threshold else f"{t:g}: {n:,}"
                for t, n in d.others.items()
            ),
        )
        for d in found
    ]
    return markdown_table(("rule", "reason", "drops", "threshold: drops"), rows)


def group_table(counts: Mapping[str, int], group: str) -> str:
    """Return kept and dropped documents by language or source, the largest first."""
    numbers: dict[str, Counter[str]] = {}
    for name, number in counts.items():
        kind, _, rest = name.partition("/")
        value, _, what = rest.rpartition("/")
        if kind == group and value:
            numbers.setdefault(value, Counter())[what] += number
    ordered = sorted(numbers.items(), key=lambda item: -item[1].total())
    rows = [
        (f"{n['kept']:,}", f"{n['dropped']:,}", f"{n['kept'] / n.total():.1%}", plain(value))
        for value, n in ordered[:GROUPS_SHOWN]
    ]
    table = markdown_table(("kept", "dropped", "kept share", group), rows)
    hidden = len(ordered) - GROUPS_SHOWN
    return f"{table}\n\n… and {hidden} more" if hidden > 0 else table
