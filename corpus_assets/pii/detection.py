"""Detection: all kinds on the original text, closed under replacement.

What stands beside a number decides what it is, so replacing one span can uncover another (the
address after a version, once the word before it has gone). Therefore the text with its replacements
is looked at again, until nothing more is found: a second pass over a scrubbed text changes nothing.
That ends even where a model finds other names in each look: every look replaces some characters
that no look had replaced.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.folding import fold, fold_series, has_dashes
from corpus_assets.pii.hint_bits import FOLDED
from corpus_assets.pii.hints import hints
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
    puts_digits: bool
    """Whether digits may be put there."""
    is_local: bool
    """Whether all finders are."""


def search_of(config: PiiConfig) -> Search:
    """Return the search of a config.

    Raises:
        InputError: `mode: hash` has no key.
    """
    finders = tuple(finders_of(config.kinds, config.countries, config.name_model))
    tags = "".join(config.tag(kind) for kind in config.kinds)
    puts_digits = config.mode != "tags" or any(character.isdigit() for character in tags)
    is_local = all(finder.is_local for _, finder in finders)
    return Search(finders, replacer_of(config), own_replacements(config), puts_digits, is_local)


class Found(NamedTuple):
    """A text that holds personal data, and what it holds: ordered, without overlaps."""

    text: str
    spans: list[Span]


def detect(text: str, config: PiiConfig | None = None) -> list[Span]:
    """Return the personal data of a text: ordered, without overlaps, in code points.

    Raises:
        InputError: A kind needs what is not installed, or `mode: hash` has no key.
    """
    whole = _SURROGATES.sub("\ufffd", text)
    found = detect_all(pl.Series([whole], dtype=pl.String), search_of(config or PiiConfig()))
    return found[0].spans if found else []


_SURROGATES = re.compile("[\ud800-\udfff]")


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


def detect_all(texts: pl.Series, search: Search) -> dict[int, Found]:
    """Return those texts that hold something, by their place.

    Python looks only at texts that may hold something, by `hints`, and then at the surroundings
    of what was found, with that replaced, until no look finds more.
    """
    found = _look(texts, search)
    fresh = {place: entry.spans for place, entry in found.items()}
    while fresh:
        windows = [
            window
            for place, spans in fresh.items()
            for window in windows_around(place, found[place], spans, search)
        ]
        pieces = pl.Series([window.text for window in windows], dtype=pl.String)
        fresh = {}
        for number, piece in _look(pieces, search).items():
            window = windows[number]
            more = window.in_whole(piece.spans, search.replacer)
            if more:
                fresh[window.place] = [*fresh.get(window.place, ()), *more]
        for place, more in fresh.items():
            found[place].spans.extend(more)
            found[place].spans.sort(key=lambda span: span.start)
    return found


def _look(texts: pl.Series, search: Search) -> dict[int, Found]:
    """Return the texts in which one look finds something, and what, by the place of the text."""
    bits = hints(texts)
    hits = _by_hint(bits, search.finders)
    for place, more in _by_core(texts, search.finders).items():
        hits[place] = [*hits.get(place, ()), *more]
    for place in _with_digits_put(texts, search):
        hits[place] = list(search.finders)
    found: dict[int, Found] = {}
    places = sorted(hits)
    folded = (bits[places] & np.uint32(FOLDED)).astype(bool).tolist()
    for place, text, is_folded in zip(places, texts.gather(places).to_list(), folded, strict=True):
        plain = fold(text) if is_folded else text
        spans = spans_once(text, plain, hits[place], search.own)
        if spans:
            found[place] = Found(text, spans)
    return found


def _by_hint(
    bits: NDArray[np.uint32], finders: Sequence[KindFinder]
) -> dict[int, list[KindFinder]]:
    """Return the finders that may find something, by the place of the text, of those with a bit."""
    wanted = bits & np.uint32(reduce(or_, (finder.hint for _, finder in finders), 0))
    places = np.flatnonzero(wanted)
    by_bits = {
        value: [entry for entry in finders if entry[1].hint & value]
        for value in np.unique(wanted[places]).tolist()
    }
    values = wanted[places].tolist()
    return {place: by_bits[value] for place, value in zip(places.tolist(), values, strict=True)}


def _by_core(texts: pl.Series, finders: Sequence[KindFinder]) -> dict[int, list[KindFinder]]:
    """Return the same of those with a core."""
    hits: defaultdict[int, list[KindFinder]] = defaultdict(list)
    cores = [entry for entry in finders if entry[1].core]
    folded = fold_series(texts) if cores else texts
    for kind, finder in cores:
        for place in folded.str.contains(finder.core).arg_true().to_list():
            hits[place].append((kind, finder))
    return hits


def _with_digits_put(texts: pl.Series, search: Search) -> list[int]:
    """Return the texts with replacements that hold digits: hints are of those as well."""
    if not search.puts_digits:
        return []
    return texts.str.contains(search.own.pattern).arg_true().to_list()


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


INNER, OUTER = 500, 1200
"""Characters around what was replaced in which more may be found, and those that may decide on it.

Keys and blocks may be longer, but nothing beside them decides on what follows that far away.
"""


class Window(NamedTuple):
    """A part of a text around what was found last, with all found in it replaced."""

    place: int
    first: int
    """Where it starts in the text."""
    text: str
    spans: list[Span]
    """What was found in it, with bounds in the text."""
    whole: str
    """The text."""
    inner: Bounds
    """Bounds in the text between which more may be found."""

    def in_whole(self, spans: Iterable[Span], replacer: Replacer) -> list[Span]:
        """Return those spans of the window that are near enough, with bounds in the text."""
        ends, shifts = [0], [-self.first]
        for kind, start, end in self.spans:
            size = len(replacer(kind, self.whole[start:end]))
            put = start + shifts[-1] + size
            ends.append(put)
            shifts.append(put - end)
        moved = (
            Span(kind, start - shift, end - shift)
            for kind, start, end in spans
            for shift in [shifts[bisect_right(ends, start) - 1]]
        )
        low, high = self.inner
        near = [span for span in moved if low <= span.start < span.end <= high]
        return _outside(near, [(span.start, span.end) for span in self.spans])


def windows_around(
    place: int, found: Found, fresh: Iterable[Span], search: Search
) -> Iterator[Window]:
    """Yield windows around some of the spans of a text, which do not overlap.

    For finders that are not local there is one, the text.
    """
    text, spans = found
    if not search.is_local:
        whole = replaced(text, spans, search.replacer)
        yield Window(place, 0, whole, list(spans), text, (0, len(text)))
        return
    starts, ends = [span.start for span in spans], [span.end for span in spans]
    for low, high in _joined((span.start - INNER, span.end + INNER) for span in fresh):
        first, last = max(0, low - OUTER + INNER), min(len(text), high + OUTER - INNER)
        within = spans[bisect_right(ends, first) : bisect_left(starts, last)]
        if within:
            first, last = min(first, within[0].start), max(last, within[-1].end)
        moved = [Span(kind, start - first, end - first) for kind, start, end in within]
        piece = replaced(text[first:last], moved, search.replacer)
        yield Window(place, first, piece, within, text, (low, high))


def _joined(bounds: Iterable[Bounds]) -> list[Bounds]:
    """Return ordered bounds with those joined whose windows would overlap."""
    joined: list[Bounds] = []
    for low, high in bounds:
        if joined and low - joined[-1][1] < 2 * (OUTER - INNER):
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
