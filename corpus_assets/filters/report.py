"""What if: how many documents each threshold decides, from the statistics that a table keeps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus_assets.filters.rules import alternatives

NOTE = (
    "Of the documents that reach a test: how many it drops at its threshold and would at others. "
    "What a change would pass on to later rules is not counted."
)


@dataclass(frozen=True)
class Decision:
    """One test of a rule, and what it drops at which threshold."""

    rule: str
    reason: str
    threshold: float
    """The one in force."""
    reached: int
    """Documents that no earlier rule or test dropped."""
    dropped: int
    others: Mapping[float, int]
    """Documents that would be dropped, by threshold, ascending; the one in force among them."""


def decisions(counts: Mapping[str, int], rules: Sequence[str] = ()) -> list[Decision]:
    """Return the tests of a table, in the order in which documents met them.

    Args:
        counts: Counts of a table, with those of `rules.note_statistics`.
        rules: Names of its rules, in order.
    """
    order = {name: place for place, name in enumerate(rules)}
    # A later test of a rule is reached by fewer.
    found = sorted(_decisions(counts), key=lambda d: (order.get(d.rule, len(order)), -d.reached))
    return [decision for decision in found if decision.reached]


def _decisions(counts: Mapping[str, int]) -> Iterator[Decision]:
    for name, dropped in counts.items():
        kind, _, rest = name.partition("/")
        path, _, written = rest.rpartition("/at ")
        if kind != "stats" or not path:
            continue
        rule, reason = path.split("/", 1)
        threshold = float(written) if set(written) & set(".e") else int(written)
        others = {t: counts.get(f"stats/{path}/{t:g}", 0) for t in alternatives(threshold)}
        reached = counts.get(f"stats/{path}/reached", 0)
        yield Decision(rule, reason, threshold, reached, dropped, others)


def report_text(found: Sequence[Decision]) -> str:
    """Return the decisions as aligned text."""
    return "\n".join([NOTE, *(line for decision in found for line in _lines(decision))])


def _lines(decision: Decision) -> Iterator[str]:
    cells = [(_shown(t, decision), f"{n:,}") for t, n in decision.others.items()]
    widths = [max(map(len, pair)) for pair in cells]
    share = decision.dropped / decision.reached
    counted = f"{decision.dropped:,} of {decision.reached:,} ({share:.1%})"
    yield ""
    yield f"{decision.rule}: {decision.reason}: {counted}"
    for row, name in enumerate(("threshold", "drops")):
        columns = (f"{pair[row]:>{width}}" for pair, width in zip(cells, widths, strict=True))
        yield f"  {name:<9} {' '.join(columns)}"


def _shown(threshold: float, decision: Decision) -> str:
    text = f"{threshold:g}"
    return f"[{text}]" if threshold == decision.threshold else text
