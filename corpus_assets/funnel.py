"""The funnel: how many documents came in, what dropped the others and why, how many are left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corpus_assets.core.table import Table


@dataclass(frozen=True)
class Drop:
    """Documents that one reason took away."""

    stage: str
    reason: str
    """Rule and reason, `length/too_short`, or why a record was no document."""
    documents: int


@dataclass(frozen=True)
class Funnel:
    """Documents in, the drops in order of the stages, documents kept."""

    came_in: int
    drops: tuple[Drop, ...]
    kept: int

    def markdown(self) -> str:
        """Return the funnel as a Markdown table with shares of what came in."""
        rows = [("came in", "", self.came_in)]
        rows += [(f"dropped by {d.stage}", f"`{d.reason}`", d.documents) for d in self.drops]
        rows += [("kept", "", self.kept)]
        lines = ["| what | reason | documents | share |", "|---|---|---:|---:|"]
        for what, reason, number in rows:
            share = number / self.came_in if self.came_in else 0.0
            lines.append(f"| {what} | {reason} | {number:,} | {share:.1%} |")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the funnel as JSON."""
        return {
            "in": self.came_in,
            "dropped": {f"{d.stage}/{d.reason}": d.documents for d in self.drops},
            "kept": self.kept,
        }


def drops_of(stage: str, counts: Mapping[str, int]) -> list[Drop]:
    """Return what one table's counts say it dropped and rejected, in order of the reasons."""
    drops: list[Drop] = []
    for name, number in counts.items():
        kind, _, reason = name.partition("/")
        if kind in {"dropped", "rejected"} and number:
            drops.append(Drop(stage, reason, number))
    return drops


def funnel_of(tables: Sequence[Table]) -> Funnel:
    """Return the funnel of one table, or of consecutive ones from `raw_docs` on."""
    drops = [drop for table in tables for drop in drops_of(table.name, table.counts)]
    return Funnel(tables[0].counts.get("in", 0), tuple(drops), tables[-1].rows)
