"""Words of normalised documents, by language."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from corpus_assets.text.data import Bytes, Offsets, decoded
from corpus_assets.text.languages import tokenizer_of, word_function


@dataclass
class Words:
    """Words of a batch of documents.

    Word i is `buffer[starts[i] : starts[i + 1] - 1]`. Exactly one space follows each word, so n
    words in a row are the bytes `buffer[starts[i] : starts[i + n] - 1]`.
    """

    buffer: Bytes
    starts: Offsets
    """Shape (words + 1)."""
    documents: Offsets
    """Document d has the words from `documents[d]` to `documents[d + 1]`; shape (documents + 1)."""


class WordSplitter(Protocol):
    """Splits batches of documents into words; one for each thread."""

    @property
    def identity(self) -> str:
        """What decides the words, with versions, for fingerprints."""
        ...

    def __call__(self, buffer: Bytes, offsets: Offsets) -> Words:
        """Return the words of the documents `buffer[offsets[i] : offsets[i + 1]]`."""
        ...


class PlainSplitter:
    """Splits by a function of one text."""

    def __init__(self, function: Callable[[str], list[str]], identity: str) -> None:
        """Take the function, which returns words that are not empty, and its name."""
        self._function = function
        self._identity = identity

    @property
    def identity(self) -> str:
        """What decides the words, with versions, for fingerprints."""
        return self._identity

    def __call__(self, buffer: Bytes, offsets: Offsets) -> Words:
        """Return the words of the documents `buffer[offsets[i] : offsets[i + 1]]`."""
        counts, words = [0], []
        for document in range(len(offsets) - 1):
            found = self._function(decoded(buffer, offsets, document))
            counts.append(len(found))
            words += [word.encode() for word in found]
        lengths = np.fromiter((len(word) + 1 for word in words), np.int64, len(words))
        data = b"".join(word + b" " for word in words)
        return Words(
            np.frombuffer(data, np.uint8),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            np.cumsum(counts, dtype=np.int64),
        )


def load_splitter(language: str, *, datatrove_codes: bool = False) -> WordSplitter:
    """Return the splitter of a language.

    Args:
        language: ISO 639-3 or 639-1 code, with a script (`hin_Deva`) or bare, or a tokenizer by
            its own name (`spacy:xx`); see `languages.tsv`.
        datatrove_codes: Take the tokenizer that datatrove 0.10.1 takes, which is another one for
            the codes in `languages_datatrove.tsv`: that of Northern Kurdish for `hin`.

    Raises:
        InputError: The code is unknown, or a package is not installed.
    """
    tokenizer = tokenizer_of(language, datatrove_codes=datatrove_codes)
    if tokenizer == "english":
        # numba takes a second to import, which those who only state settings need not wait for.
        from corpus_assets.text.english_kernel import EnglishSplitter  # noqa: PLC0415

        return EnglishSplitter()
    return PlainSplitter(*word_function(tokenizer))
