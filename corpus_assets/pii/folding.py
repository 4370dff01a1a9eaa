"""Folding: the one form in which digits, spaces, hyphens and signs are looked for.

A code point becomes one code point, so bounds found in the folded text are bounds of the text.
"""

from functools import cache

import numpy as np
import polars as pl

from corpus_assets.pii.folding_kernel import folded_bytes
from corpus_assets.text.data import Bytes, read_json

_SPACES = (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_HYPHENS = (*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63)
_DASHES = "\u2012\u2013\u2014\u2015\u2212\ufe58"
"""Of the hyphens those that are dashes or signs of print: they part words."""
_FULL_WIDTH = range(0xFF01, 0xFF5F)
_FULL_WIDTH_TO_ASCII = 0xFEE0


def _digits() -> dict[str, str]:
    """Return the decimal digits of all scripts; every script has its ten in a row."""
    ranges = read_json("decimal_digits.json")["ranges"]
    return {
        chr(point): str((point - first) % 10)
        for first, last in ranges
        for point in range(first, last + 1)
        if point > ord("9")
    }


@cache
def table() -> dict[str, str]:
    """Return what each folded character becomes."""
    return {
        **{chr(point): chr(point - _FULL_WIDTH_TO_ASCII) for point in _FULL_WIDTH},
        **_digits(),
        **{chr(point): " " for point in _SPACES},
        **{chr(point): "-" for point in _HYPHENS},
        "\ufe6b": "@",
    }


@cache
def tables(*, dashes: bool = True) -> tuple[Bytes, Bytes]:
    """Return what each code point becomes, 0 if it stays, and which 256 of them hold one.

    Args:
        dashes: Whether dashes of print become hyphens.
    """
    folded = np.zeros(0x110000, np.uint8)
    for character, plain in table().items():
        folded[ord(character)] = ord(plain) if dashes or character not in _DASHES else 0
    return folded, np.asarray(folded.reshape(-1, 256).any(axis=1), np.uint8)


@cache
def _rust_class() -> str:
    return "[" + "".join(f"\\x{{{ord(character):x}}}" for character in sorted(table())) + "]"


def fold(text: str, *, dashes: bool = True) -> str:
    """Return a text with foreign digits, wide forms, spaces and hyphens as ASCII.

    Args:
        text: Any text.
        dashes: Whether dashes of print become hyphens.
    """
    if text.isascii():
        return text
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    folded = folded_bytes(data, *tables(dashes=dashes))
    if folded.size == data.size:
        return text
    return folded.tobytes().decode("utf-8", "surrogatepass")


def has_dashes(text: str) -> bool:
    """Return whether a text has dashes of print."""
    return any(dash in text for dash in _DASHES)


def fold_series(texts: pl.Series) -> pl.Series:
    """Return texts folded; those that hold nothing to fold are not touched."""
    foreign = (texts.str.len_bytes() != texts.str.len_chars()).arg_true()
    places = foreign.filter(texts.gather(foreign).str.contains(_rust_class()))
    if places.is_empty():
        return texts
    folded = texts.gather(places).str.replace_many(table())
    return texts.clone().scatter(places, folded)
