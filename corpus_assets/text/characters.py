"""What the filters' kernels ask of a character, as flags in one table.

As Python's `str` and spaCy's `is_punct` have it, so by the Unicode version of this Python.
"""

import unicodedata
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.text.data import read_json
from corpus_assets.text.normalise import PUNCTUATION

SPACE = 1
"""White space."""
LINE_END = 2
"""Where `str.splitlines` cuts."""
SYMBOL = 4
"""Of datatrove's set of punctuation and symbols."""
ALPHA = 8
"""`str.isalpha`."""
DIGIT = 16
"""`str.isdecimal`, which is `\\d` of `re`."""
PUNCT = 32
"""Of a category P."""
SENTENCE_END = 64
"""Ends a sentence for spaCy's sentencizer."""
STOP_MARK = 128
"""Ends a line well for FineWeb: datatrove's terminal punctuation."""
BREAKING = 256
"""An affix rule of the English tokenizer may match in a chunk that holds it."""

CODE_POINTS = 0x40000
"""Above them there are no letters, digits, spaces or punctuation."""


def _points(ranges: list[list[int]]) -> list[int]:
    return [point for first, last in ranges for point in range(first, last + 1)]


@cache
def flags() -> NDArray[np.uint16]:
    """Return the flags of every code point below `CODE_POINTS`; takes 0.1 seconds once."""
    characters = list(map(chr, range(CODE_POINTS)))
    marks, breaking = read_json("sentence_marks.json"), read_json("english_rules.json")["breaking"]
    table = np.zeros(CODE_POINTS, np.uint16)

    def mark(points: Any, flag: int) -> None:
        table[points] |= flag

    mark(np.array([c.isspace() for c in characters]), SPACE)
    mark(np.array([c.isalpha() for c in characters]), ALPHA)
    mark(np.array([c.isdecimal() for c in characters]), DIGIT)
    mark(np.array([unicodedata.category(c)[0] == "P" for c in characters]), PUNCT)
    mark([ord(c) for c in characters[:0x3000] if f"a{c}a".splitlines() != [f"a{c}a"]], LINE_END)
    mark([*PUNCTUATION, *_points(marks["stop_marks"])], SYMBOL)
    mark(_points(marks["sentencizer"]), SENTENCE_END)
    mark(_points(marks["stop_marks"]), STOP_MARK)
    mark([point for point in _points(breaking) if point < CODE_POINTS], BREAKING)
    return table


@cache
def stop_marks() -> tuple[str, ...]:
    """Return datatrove's terminal punctuation."""
    return tuple(map(chr, _points(read_json("sentence_marks.json")["stop_marks"])))
