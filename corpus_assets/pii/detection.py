"""Detection: all kinds on the original text, closed under replacement.

What stands beside a number decides what it is, so replacing one span can uncover another (the
address after a version, once the word before it has gone). Therefore the text with its replacements
is looked at again, until nothing more is found: a second pass over a scrubbed text changes nothing.
That ends even where a model finds other names in each look: every look replaces some characters
that no look had replaced.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.folding import fold, has_dashes
from corpus_assets.pii.kinds import finders_of
from corpus_assets.pii.replacing import Replacer, own_replacements, replaced, replacer_of
from corpus_assets.pii.spans import Bounds, Finder, Span, without_overlaps

KindFinder = tuple[str, Finder]


class Search(NamedTuple):
    """What a config looks for, and what it puts in its place."""

    finders: tuple[KindFinder, ...]
    replacer: Replacer
    own: re.Pattern[str]
    """Finds what the config puts there: no personal data overlaps that."""


def search_of(config: PiiConfig) -> Search:
    """Return the search of a config.

    Raises:
        InputError: `mode: hash` has no key.
    """
    finders = tuple(finders_of(config.kinds, config.countries, config.name_model))
    return Search(finders, replacer_of(config), own_replacements(config))


def detect(text: str, config: PiiConfig | None = None) -> list[Span]:
    """Return the personal data of a text: ordered, without overlaps, in code points.

    Raises:
        InputError: A kind needs what is not installed, or `mode: hash` has no key.
    """
    search = search_of(config or PiiConfig())
    found: list[Span] = []
    while True:
        left = replaced(text, found, search.replacer)
        more = spans_once(left, fold(left), search.finders, search.own)
        if not more:
            return found
        found = with_more(text, found, more, search.replacer)


def scrub(text: str, config: PiiConfig | None = None) -> tuple[str, Counter[str]]:
    """Return a text with its personal data replaced, and the counts by kind.

    In `mode: datatrove` the text is taken as the first of a rank.

    Raises:
        InputError: As `detect`.
    """
    config = config or PiiConfig()
    if config.mode == "datatrove":
        from corpus_assets.pii.datatrove import Rotation  # noqa: PLC0415 - it needs this module

        return Rotation(config).scrub(text)
    spans = detect(text, config)
    counts = Counter(dict.fromkeys(config.kinds, 0))
    counts.update(span.kind for span in spans)
    return replaced(text, spans, replacer_of(config)), counts


def spans_once(
    text: str, folded: str, finders: Sequence[KindFinder], own: re.Pattern[str]
) -> list[Span]:
    """Return what one look at a text finds, without what overlaps replacements of the config."""
    taken = [match.span() for match in own.finditer(text)]
    plain = _masked(folded, taken) if taken else folded
    dashed = plain
    if (
        folded is not text
        and any(finder.keeps_dashes for _, finder in finders)
        and has_dashes(text)
    ):
        dashed = _masked(fold(text, dashes=False), taken)
    spans = without_overlaps(
        Span(kind, start, end)
        for kind, finder in finders
        for start, end in finder.find(dashed if finder.keeps_dashes else plain)
    )
    return _outside(spans, taken) if taken else spans


def _masked(folded: str, taken: Iterable[Bounds]) -> str:
    """Return a text without the words of replacements: `<PHONE>` announces no number after it.

    Nor are they tags, which may stand between a word and the number that it announces.
    """
    parts: list[str] = []
    last = 0
    for start, end in taken:
        parts += [folded[last:start], re.sub("[^\\W_]", "x", folded[start:end]).translate(_NO_TAG)]
        last = end
    return "".join([*parts, folded[last:]])


_NO_TAG = str.maketrans("<>", "{}")


def _outside(spans: Sequence[Span], taken: Sequence[Bounds]) -> list[Span]:
    """Return the spans that overlap none of some ordered bounds."""
    starts = [start for start, _ in taken]

    def is_free(span: Span) -> bool:
        place = bisect_right(starts, span.end - 1) - 1
        return place < 0 or taken[place][1] <= span.start

    return [span for span in spans if is_free(span)]


def with_more(
    text: str, found: Sequence[Span], more: Sequence[Span], replacer: Replacer
) -> list[Span]:
    """Return spans of a text joined by those found in it after replacement."""
    shifts = [0]
    ends = [0]
    for kind, start, end in found:
        put = len(replacer(kind, text[start:end]))
        ends.append(start + shifts[-1] + put)
        shifts.append(shifts[-1] + put - (end - start))
    moved = (
        Span(kind, start - shift, end - shift)
        for kind, start, end in more
        for shift in [shifts[bisect_right(ends, start) - 1]]
    )
    return sorted([*found, *moved], key=lambda span: span.start)
