"""The figures of a report, and how they are shown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One line of a report."""

    name: str
    documents: int
    value: float
    unit: str
    holds: bool | None = None
    """Whether its limit holds; None where there is none."""
    limit: str = ""


def at_least(name: str, documents: int, value: float, limit: float) -> Figure:
    """Return how many times as fast as its peer something is, and must be."""
    return Figure(name, documents, value, "x", value >= limit, f"at least {limit:g}")


def write_report(name: str, facts: Mapping[str, Any], figures: Sequence[Figure]) -> str:
    """Write `results/<name>.md` and `.json`; return the Markdown."""
    RESULTS.mkdir(exist_ok=True)
    text = markdown(facts, figures)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    value = {"machine": facts, "figures": [asdict(figure) for figure in figures]}
    (RESULTS / f"{name}.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    return text


def markdown(facts: Mapping[str, Any], figures: Sequence[Figure]) -> str:
    """Return machine, versions and figures as Markdown."""
    head = ", ".join(f"{name} {value}" for name, value in facts.items())
    lines = ["| figure | documents | value | limit | holds |", "|---|---:|---:|---|---|"]
    for figure in figures:
        holds = {None: "", True: "yes", False: "**no**"}[figure.holds]
        value = f"{figure.value:,.2f} {figure.unit}"
        lines.append(
            f"| {figure.name} | {figure.documents:,} | {value} | {figure.limit} | {holds} |"
        )
    note = "CPU is user and system time; per document in µs. Peak is that of the largest process."
    return "\n".join([head, "", *lines, "", note]) + "\n"
