"""spaCy 3.8's English tokenizer, without spaCy: the same rules, read from `english_rules.json`.

A chunk between white space is split by rules for its ends, then for its inside, with exceptions
for whole chunks. A last pass joins tokens that spell an exception which the rules took apart,
such as an emoticon. That pass also looks across white space, where it can only prevent a join:
`split_text` is exact for any text, `split_chunk` for a chunk that stands alone. The two agree on
normalised text, in which no joinable exception is left.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise, takewhile

from corpus_assets.text.data import read_json

VERSION = 1

Tokens = tuple[str, ...]

SUFFIX_WINDOW = 16
"""Characters at the end of a chunk in which suffixes are sought; the longest has 5, and looks
back at 2. Dots are the exception, see `_suffix`."""

SHORT = 32
"""Characters of the longest chunk that is worth remembering."""

_CHUNK = re.compile(r"\S+")


@dataclass(frozen=True)
class Rules:
    """The rules, ready for use."""

    exceptions: dict[str, Tokens]
    longest: int
    """Characters of the longest exception."""
    prefix: re.Pattern[str]
    suffix: re.Pattern[str]
    infix: re.Pattern[str]
    url: re.Pattern[str]
    sequences: dict[str, list[Tokens]]
    """What the affix rules alone make of exceptions that hold an affix, by the first token."""
    reach: int
    """Tokens on either side of one that may decide whether it is joined."""

    def exception(self, chunk: str, start: int, end: int) -> Tokens | None:
        """Return the tokens of `chunk[start:end]` if it is an exception."""
        if end - start > self.longest:
            return None
        return self.exceptions.get(chunk[start:end])


@cache
def rules() -> Rules:
    """Return the rules of English."""
    data = read_json("english_rules.json")
    sequences: dict[str, list[Tokens]] = defaultdict(list)
    for tokens in data["sequences"].values():
        sequences[tokens[0]].append(tuple(tokens))
    exceptions = {text: tuple(tokens) for text, tokens in data["exceptions"].items()}
    return Rules(
        exceptions,
        max(map(len, exceptions)),
        re.compile("|".join(data["prefixes"])),
        re.compile("|".join(f"{piece}$" for piece in data["suffixes"])),
        re.compile("|".join(data["infixes"])),
        re.compile(data["url"]),
        dict(sequences),
        max(len(tokens) for tokens in data["sequences"].values()) - 1,
    )


def split_chunk(chunk: str) -> list[str]:
    """Return the tokens of a chunk without white space; joined they are the chunk."""
    return split_and_tell(chunk)[0]


def split_and_tell(chunk: str) -> tuple[list[str], tuple[set[str], set[str]]]:
    """Return the tokens, and which tokens right before and after may prevent a join in it."""
    tokens = _by_affixes(chunk)
    joined = _joined(tokens, [0] * len(tokens))
    return joined, (set(), set()) if joined == tokens else _open_ends(tokens)


def split_among(before: str, chunk: str, after: str) -> list[str]:
    """Return the tokens of a chunk between two texts, of each of which `reach` chunks suffice."""
    first = len("".join(before.split()))
    position, found = 0, []
    for token in split_text(before + chunk + after):
        if first <= position < first + len(chunk):
            found.append(token)
        position += len(token)
    return found


def _open_ends(tokens: list[str]) -> tuple[set[str], set[str]]:
    """Return the tokens before and after with which these may be part of a sequence."""
    known = _inner_places()
    head = tuple(takewhile(known.__contains__, tokens))
    tail = tuple(takewhile(known.__contains__, reversed(tokens)))[::-1]
    return _before(head), _after(tail)


@lru_cache(maxsize=4096)
def _before(head: Tokens) -> set[str]:
    places = _inner_places().get(head[0], ()) if head else ()
    return {
        sequence[i - 1]
        for sequence, i in places
        if i and sequence[i : i + len(head)] == head[: len(sequence) - i]
    }


@lru_cache(maxsize=4096)
def _after(tail: Tokens) -> set[str]:
    places = _inner_places().get(tail[-1], ()) if tail else ()
    return {
        sequence[i + 1]
        for sequence, i in places
        if i + 1 < len(sequence) and sequence[max(i + 1 - len(tail), 0) : i + 1] == tail[-i - 1 :]
    }


@cache
def _inner_places() -> dict[str, list[tuple[Tokens, int]]]:
    """Return the places of each token in the sequences."""
    places: dict[str, list[tuple[Tokens, int]]] = defaultdict(list)
    for sequences in rules().sequences.values():
        for sequence in sequences:
            for i, token in enumerate(sequence):
                places[token].append((sequence, i))
    return dict(places)


def split_text(text: str) -> list[str]:
    """Return the tokens of a text; none holds white space."""
    tokens: list[str] = []
    chunks: list[int] = []
    number, last = 0, 0
    for match in _CHUNK.finditer(text):
        # Other white space than one space is a token of its own in spaCy: nothing spans it.
        number += 1 if text[last : match.start()] == " " else 2
        chunk = match.group()
        found = _remembered(chunk) if len(chunk) <= SHORT else _by_affixes(chunk)
        tokens += found
        chunks += [number] * len(found)
        last = match.end()
    return _joined(tokens, chunks)


def _suffix(chunk: str, start: int, end: int) -> int:
    """Return the length of the suffix of `chunk[start:end]`, 0 if it has none."""
    if chunk.endswith("..", start, end):
        return end - max(start, len(chunk[:end].rstrip(".")))
    # spaCy searches the whole chunk: quadratic in a long run of symbols.
    match = rules().suffix.search(chunk[max(start, end - SUFFIX_WINDOW) : end])
    return match.end() - match.start() if match else 0


@lru_cache(maxsize=1 << 14)
def _remembered(chunk: str) -> list[str]:
    return _by_affixes(chunk)


def _by_affixes(chunk: str) -> list[str]:
    """Return the tokens by all rules but the last pass."""
    english = rules()
    start, end = 0, len(chunk)
    before: list[str] = []
    after: list[str] = []
    exception = None
    while start < end:
        exception = english.exception(chunk, start, end)
        if exception:
            break
        match = english.prefix.match(chunk, start, end)
        inner_start = match.end() if match else start
        exception = english.exception(chunk, inner_start, end) if match else None
        if exception:
            before.append(chunk[start:inner_start])
            break
        inner_end = end - _suffix(chunk, inner_start, end)
        exception = english.exception(chunk, start, inner_end) if inner_end < end else None
        if exception:
            after.append(chunk[inner_end:end])
            break
        if inner_start == start and inner_end == end:
            break
        if inner_start > start:
            before.append(chunk[start:inner_start])
        if inner_end < end:
            after.append(chunk[inner_end:end])
        start, end = inner_start, inner_end
    if exception:
        before += exception
    elif start < end:
        before += _inside(chunk[start:end])
    return before + after[::-1]


def _inside(chunk: str) -> list[str]:
    """Return the tokens of a chunk without affixes."""
    english = rules()
    if "." in chunk and english.url.match(chunk):
        return [chunk]
    tokens = []
    start = 0
    for match in english.infix.finditer(chunk):
        if match.start() == 0:
            continue
        if match.start() > start:
            tokens.append(chunk[start : match.start()])
        tokens.append(match.group())
        start = match.end()
    if start < len(chunk):
        tokens.append(chunk[start:])
    return tokens


def _joined(tokens: list[str], chunks: list[int]) -> list[str]:
    """Return the tokens with the exceptions that they spell in place of their parts.

    The longest come first, then the leftmost; what overlaps an earlier span is left, and blocks
    later ones all the same.

    Args:
        tokens: Tokens of consecutive chunks.
        chunks: Number of the chunk of each token; spans do not reach over gaps in the numbers.
    """
    english = rules()
    spans = []
    for start, token in enumerate(tokens):
        for sequence in english.sequences.get(token, ()):
            end = start + len(sequence)
            if tuple(tokens[start:end]) == sequence and all(
                after - before <= 1 for before, after in pairwise(chunks[start:end])
            ):
                spans.append((start, end))
    if not spans:
        return tokens
    spans.sort(key=lambda span: (span[0] - span[1], span[0]))
    seen: set[int] = set()
    replacement: dict[int, tuple[int, Tokens]] = {}
    for start, end in spans:
        if start not in seen and end - 1 not in seen and chunks[start] == chunks[end - 1]:
            replacement[start] = end, english.exceptions["".join(tokens[start:end])]
        seen.update(range(start, end))
    joined: list[str] = []
    position = 0
    while position < len(tokens):
        end, found = replacement.get(position, (position + 1, (tokens[position],)))
        joined += found
        position = end
    return joined
