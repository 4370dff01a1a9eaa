"""Scores of a detector on labelled lines: `python -m corpus_assets.pii FILE...`.

A line is JSON: `id`, `text`, `spans` (`kind`, `start`, `end` in code points) and `note`, whose
second part (`lang; class; remark`) is `pos`, `neg` or `policy`. Lines of policy, in which sound
products differ, are left out of the scores.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.detection import detect
from corpus_assets.pii.kinds import KINDS
from corpus_assets.pii.spans import Span

Detector = Callable[[str], Sequence[Span]]

WITHOUT_MODEL = tuple(name for name in KINDS if name != "name")


@dataclass
class Score:
    """Counts of one kind."""

    hits: int = 0
    """Labelled spans that a found span of the kind overlaps."""
    exact: int = 0
    """Of these, found with the same bounds."""
    missed: int = 0
    wrong: int = 0
    """Found spans that overlap no labelled one of the kind."""
    faults: list[str] = field(default_factory=list)
    """Ids of the lines with something missed or wrong."""

    @property
    def precision(self) -> float:
        """Share of what was found that is right; 1 where nothing was found."""
        return self.hits / (self.hits + self.wrong) if self.hits + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of what is there that was found; 1 where nothing is there."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0

    @property
    def exact_share(self) -> float:
        """Share of what is there that was found with its very bounds."""
        return self.exact / (self.hits + self.missed) if self.hits + self.missed else 1.0


def read_lines(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the labelled lines of some files."""
    return [
        json.loads(line)
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
        if line
    ]


def is_policy(line: Mapping[str, Any]) -> bool:
    """Return whether a line is left out of the scores."""
    return line["note"].split(";")[1].strip() == "policy"


def evaluate(lines: Iterable[Mapping[str, Any]], detector: Detector = detect) -> dict[str, Score]:
    """Return the score of a detector by kind."""
    scores: dict[str, Score] = {}
    for line in lines:
        if is_policy(line):
            continue
        labelled = [Span(span["kind"], span["start"], span["end"]) for span in line["spans"]]
        found = [Span(*span) for span in detector(line["text"])]
        for kind in {span.kind for span in (*labelled, *found)}:
            score = scores.setdefault(kind, Score())
            _add(score, line["id"], _of(kind, labelled), _of(kind, found))
    return dict(sorted(scores.items()))


def _of(kind: str, spans: Iterable[Span]) -> list[Span]:
    return [span for span in spans if span.kind == kind]


def _add(score: Score, name: str, labelled: Sequence[Span], found: Sequence[Span]) -> None:
    hits = sum(any(map(partial(overlap, span), found)) for span in labelled)
    wrong = sum(not any(map(partial(overlap, span), labelled)) for span in found)
    score.hits += hits
    score.exact += len(set(labelled) & set(found))
    score.missed += len(labelled) - hits
    score.wrong += wrong
    if wrong or hits < len(labelled):
        score.faults.append(name)


def overlap(one: Span, other: Span) -> bool:
    """Return whether two spans share a character."""
    return one.start < other.end and other.start < one.end


def report(scores: Mapping[str, Score]) -> str:
    """Return scores as a table."""
    rows = ["kind         precision  recall  exact  spans  faults"]
    rows += [
        f"{kind:<12} {score.precision:9.3f} {score.recall:7.3f} {score.exact_share:6.3f} "
        f"{score.hits + score.missed:6}  {' '.join(score.faults)}"
        for kind, score in scores.items()
    ]
    return "\n".join(rows)


def main() -> None:
    """Print the scores of this package's detector, all kinds that need no model."""
    lines = read_lines(map(Path, sys.argv[1:]))
    scores = evaluate(lines, partial(detect, config=PiiConfig(kinds=WITHOUT_MODEL)))
    policy = sum(map(is_policy, lines))
    sys.stdout.write(f"{report(scores)}\n{len(lines)} lines, {policy} of policy left out\n")
