"""What a detector returns: spans in code points, and which of two overlapping ones counts."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import re2


class Span(NamedTuple):
    """One piece of personal data: `text[start:end]`, in code points."""

    kind: str
    start: int
    end: int


Bounds = tuple[int, int]
Accept = Callable[[str, int, int], Bounds | None]
"""Takes a text and a candidate's bounds; returns the bounds of personal data there, or None."""


class Pattern(Protocol):
    """A compiled pattern, of `re` or of `re2`."""

    def finditer(self, string: Any, /) -> Iterator[Any]:
        """Yield the matches of a text."""
        ...

    def search(self, string: Any, /) -> Any:
        """Return the first match of a text, or None."""
        ...


@dataclass(frozen=True)
class Finder:
    """One way in which personal data of a kind is written."""

    find: Callable[[str], Iterable[Bounds]]
    """Finds the bounds in a folded text, in time linear in its length."""
    hint: int = 0
    """Bit of `hint_bits` without which a text holds nothing of it; kinds that are looked for by
    default have one."""
    keeps_dashes: bool = False
    """Whether dashes of print are none of its hyphens, as in an address between two of them."""
    is_local: bool = True
    """Whether what is found at a place depends on its surroundings alone."""
    core: str = ""
    """Where there is no hint, a cheap necessary condition for the Rust engine. Classes are ASCII
    (`[0-9]`, `(?-u:\\b)`): the Unicode ones are ten to fifty times slower."""


TOUCHING, AHEAD = 2, 600
"""Characters between two candidates, and characters that decide on one after its start, at most."""


def by_pattern(pattern: Pattern, accept: Accept) -> Callable[[str], Iterator[Bounds]]:
    """Return a search for candidates, of which those count that are accepted.

    One that only touches what was accepted before it is taken without that, as it would be once
    that is replaced: of a list of numbers all are found at once.
    """
    bounds_of = _bounds if isinstance(pattern, re.Pattern) else _bounds_in_bytes

    def find(text: str) -> Iterator[Bounds]:
        last = -1 - TOUCHING
        for start, end in bounds_of(pattern, text):
            bounds = accept(text, start, end)
            if bounds is None and last <= start <= last + TOUCHING and end < last + AHEAD:
                alone = accept(text[last : last + AHEAD], start - last, end - last)
                bounds = alone and (alone[0] + last, alone[1] + last)
            if bounds is not None:
                last = bounds[1]
                yield bounds

    return find


def _bounds(pattern: Pattern, text: str) -> Iterator[Bounds]:
    return (match.span() for match in pattern.finditer(text))


def _bounds_in_bytes(pattern: Pattern, text: str) -> Iterator[Bounds]:
    return ((start, end) for start, end, _ in matches_in_bytes(pattern, text))


def matches_in_bytes(pattern: Pattern, text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the bounds in code points of what RE2 finds, and its match of bytes.

    RE2 searches bytes; its own way from those to code points takes as long as the search.
    """
    data = text.encode()
    matches = pattern.finditer(data)
    if len(data) == len(text):
        yield from ((*match.span(), match) for match in matches)
        return
    place, last = 0, 0
    for match in matches:
        first, end = match.span()
        start = place + len(data[last:first].decode())
        place, last = start + len(data[first:end].decode()), end
        yield start, place, match


def linear(pattern: str) -> Pattern:
    """Return a pattern compiled by RE2, whose searches are linear in the text."""
    options = re2.Options()
    options.max_mem = 64 << 20
    options.log_errors = False
    return re2.compile(pattern, options)


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return the spans that count: of two that overlap the one that starts first.

    Of those that start together the longer one, and then the one of the kind listed first.
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept
