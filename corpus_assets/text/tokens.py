"""Tokens of raw documents with what filters ask of them, each document by its language.

The arrays cannot be written, so that each kernel is compiled for one kind of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import pairwise
from threading import local

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from corpus_assets.core.errors import InputError
from corpus_assets.core.texts import string_buffers
from corpus_assets.text import characters
from corpus_assets.text.data import Bytes, Offsets, packed, read_only
from corpus_assets.text.languages import tokenizer_of, tokenizers
from corpus_assets.text.words import WordSplitter, load_splitter

ENGLISH = "eng"
UNKNOWN = ("", "und")


@dataclass(frozen=True)
class Texts:
    """Documents as ranges of one buffer of UTF-8."""

    buffer: Bytes
    firsts: Offsets
    """Where each document begins, shape (documents,)."""
    lasts: Offsets
    """Where each ends."""

    def __post_init__(self) -> None:
        """Make the arrays such that they cannot be written."""
        _freeze(self)

    @classmethod
    def of(cls, series: pl.Series) -> "Texts":
        """Return the texts of a column."""
        buffer, offsets = string_buffers(series)
        return cls(buffer, offsets[:-1], offsets[1:])

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.firsts)

    def where(self, rows: NDArray[np.bool_]) -> "Texts":
        """Return some of the documents, of the same buffer."""
        return Texts(self.buffer, self.firsts[rows], self.lasts[rows])


def text_column(buffer: Bytes, offsets: Offsets) -> pl.Series:
    """Return the texts `buffer[offsets[i] : offsets[i + 1]]` as a column."""
    array = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(buffer)
    )
    return pl.Series("text", array)


@dataclass(frozen=True)
class Tokens:
    """Tokens of documents."""

    firsts: Offsets
    """First token of each document, shape (documents,)."""
    lasts: Offsets
    """The one after its last."""
    starts: Offsets
    """Where each token begins in the buffer of the texts, shape (tokens,); for other languages
    than English in a buffer of their own."""
    ends: Offsets
    hashes: NDArray[np.uint64]
    """Polynomial hash of the bytes, so that hashes of concatenations follow from it."""
    chars: NDArray[np.int32]
    """Code points."""
    flags: Bytes
    """`marks_kernel.REAL` and so on."""

    def __post_init__(self) -> None:
        """Make the arrays such that they cannot be written."""
        _freeze(self)

    def where(self, rows: NDArray[np.bool_]) -> "Tokens":
        """Return the tokens of some of the documents."""
        return replace(self, firsts=self.firsts[rows], lasts=self.lasts[rows])


def _freeze(arrays: Texts | Tokens) -> None:
    for field in fields(arrays):
        view = getattr(arrays, field.name).view()
        view.flags.writeable = False
        object.__setattr__(arrays, field.name, view)


class _Loaded(local):
    """Tokenizers of this thread."""

    def __init__(self) -> None:
        from corpus_assets.text.tokens_kernel import EnglishTokenizer  # noqa: PLC0415

        self.english = EnglishTokenizer()
        self.others: dict[str, WordSplitter] = {}

    def other(self, language: str) -> WordSplitter:
        if language not in self.others:
            try:
                self.others[language] = load_splitter(language)
            except InputError as error:
                message = (
                    f"a document is in the language {language}: {error} Or keep other languages "
                    f"with the rule `language`, or set `language` of the quality rules."
                )
                raise InputError(message) from error
        return self.others[language]


@cache
def _loaded() -> _Loaded:
    return _Loaded()


def tokenised(texts: Texts, languages: Sequence[str | None] | str) -> Tokens:
    """Return the tokens of documents.

    Args:
        texts: The documents.
        languages: One language for all, or that of each. Those that are not known, or have no
            tokenizer, count as English.

    Raises:
        InputError: A package that splits one of the languages is not installed.
    """
    if isinstance(languages, str):
        kinds = {tokenizer_name(languages): np.ones(len(texts), np.bool_)}
    else:
        by_name = {code: tokenizer_name(code) for code in set(languages)}
        names = np.array([by_name[code] for code in languages], dtype=object)
        kinds = {name: names == name for name in sorted(set(by_name.values()))}
    if set(kinds) <= {"english"}:
        return _english(texts)
    parts = [_split(name)(texts.where(rows)) for name, rows in kinds.items()]
    return _merged(parts, list(kinds.values()), len(texts))


def hashes_of(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes that tokens have which are these words."""
    buffer, bounds = packed(words)
    flags = np.zeros(len(words), np.uint8)
    return _described(buffer, bounds[:1].repeat(2), bounds[:-1], bounds[1:], flags).hashes


def tokenizer_name(language: str | None) -> str:
    """Return the name of the tokenizer for documents of a language."""
    code = (language or "").partition("-")[0]
    if code in UNKNOWN or (code not in tokenizers(datatrove_codes=False) and ":" not in code):
        return "english"
    return tokenizer_of(code, datatrove_codes=False)


def _split(name: str) -> Callable[[Texts], Tokens]:
    if name == "english":
        return _english
    splitter = _loaded().other(name)
    return lambda texts: _by_splitter(texts, splitter)


def _english(texts: Texts) -> Tokens:
    bounds, starts, ends, gaps = _loaded().english(texts.buffer, texts.firsts, texts.lasts)
    return _described(texts.buffer, bounds, starts, ends, gaps)


def _by_splitter(texts: Texts, splitter: WordSplitter) -> Tokens:
    pieces = [
        texts.buffer[first:last]
        for first, last in zip(texts.firsts.tolist(), texts.lasts.tolist(), strict=True)
    ]
    offsets = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    words = splitter(np.concatenate([np.empty(0, np.uint8), *pieces]), offsets)
    starts, ends = words.starts[:-1], words.starts[1:] - 1
    return _described(words.buffer, words.documents, starts, ends, np.zeros(len(starts), np.uint8))


def _described(
    buffer: Bytes, bounds: Offsets, starts: Offsets, ends: Offsets, flags: Bytes
) -> Tokens:
    # numba takes a second to import, which those who only state settings need not wait for.
    from corpus_assets.text.marks_kernel import describe  # noqa: PLC0415

    hashes = np.empty(len(starts), np.uint64)
    chars = np.empty(len(starts), np.int32)
    buffer, starts = read_only(buffer, starts)
    buffer, ends = read_only(buffer, ends)
    describe(buffer, starts, ends, characters.flags(), hashes, chars, flags)
    return Tokens(bounds[:-1], bounds[1:], starts, ends, hashes, chars, flags)


def _merged(parts: list[Tokens], rows: list[NDArray[np.bool_]], documents: int) -> Tokens:
    firsts, lasts = np.zeros(documents, np.int64), np.zeros(documents, np.int64)
    sums = np.cumsum([0, *(len(part.starts) for part in parts)])
    for part, where, (before, _) in zip(parts, rows, pairwise(sums), strict=True):
        firsts[where] = part.firsts + before
        lasts[where] = part.lasts + before
    columns = (
        np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Tokens)[2:]
    )
    return Tokens(firsts, lasts, *columns)
