"""`bad_words`: C4's rule against documents with a word of a list, as datatrove 0.10.1 has it.

The list is the user's: the usual one, whose licence is CC-BY-4.0, is that of LDNOOBW at the commits
which datatrove names.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, field_validator

from corpus_assets.core.errors import DocumentError, InputError
from corpus_assets.core.plan import Config
from corpus_assets.filters.codes import UNKNOWN, parsed
from corpus_assets.filters.files import located
from corpus_assets.filters.rules import Batch, Criterion, Verdict

ALLOWED = {"sm", "グロ", "女の子", "性"}
"""C4 takes them off every list: each would drop a tenth of the Japanese or Chinese documents."""

WITHOUT_SPACES = {"ja", "th", "zh"}
"""Languages in which a word counts wherever it stands."""


class BadWordsConfig(Config):
    """Lists of `bad_words`, and which documents with such a word stay all the same."""

    lists: dict[str, str] = Field(min_length=1)
    """Language codes and their files: a word or phrase a line."""
    keep_fraction: float = Field(default=0.0, ge=0, le=1)
    """Share of the documents with a listed word to keep."""
    seed: int = 0
    """Another one keeps others of them."""
    fail_on_missing_language: bool = True
    """Refuse a document in a language without a list; otherwise it passes."""
    default_language: str = "en"
    """Language of documents of unknown language."""

    @field_validator("lists")
    @classmethod
    def _have_known_languages(cls, value: dict[str, str]) -> dict[str, str]:
        return {str(parsed(code)): path for code, path in value.items()}

    @field_validator("default_language")
    @classmethod
    def _is_known(cls, value: str) -> str:
        return str(parsed(value))


class OpenedBadWordsConfig(BadWordsConfig):
    """The same with the words."""

    lists: dict[str, str] = Field(default_factory=dict, exclude=True)
    words: dict[str, tuple[str, ...]]


def open_bad_words(config: BadWordsConfig, base: Path) -> OpenedBadWordsConfig:
    """Read the lists.

    Raises:
        InputError: One is missing or cannot be read.
    """
    words = {code: _words(located(path, base)) for code, path in config.lists.items()}
    settings = {name: getattr(config, name) for name in BadWordsConfig.model_fields}
    return OpenedBadWordsConfig(**settings, words=words)


def _words(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be read as a list of words ({error})."
        raise InputError(message) from error
    words = {line.strip() for line in lines if line[:1] != "#"} - ALLOWED - {""}
    if not words:
        message = f"{path}: holds no words, one a line; take it off `lists`."
        raise InputError(message)
    return tuple(sorted(words))


def judge_bad_words(batch: Batch, config: BadWordsConfig) -> Verdict:
    """Drop documents that hold a word of their language's list.

    Which of them `keep_fraction` keeps is decided by a hash of the text and the seed, so that it
    depends on neither order nor workers; datatrove draws from a generator as documents come.

    Raises:
        DocumentError: A language has no list.
    """
    if not isinstance(config, OpenedBadWordsConfig):
        config = open_bad_words(config, Path())
    frame = batch.frame
    languages = [_language(lang, config.default_language) for lang in frame["lang"]]
    fails = np.zeros(len(batch), np.bool_)
    for language in sorted(set(languages)):
        words = config.words.get(language)
        rows = [row for row, found in enumerate(languages) if found == language]
        if words is not None:
            fails[rows] = _holding(frame["text"].gather(rows), words, language, config)
        elif config.fail_on_missing_language:
            message = (
                f"rule bad_words: there is no list for {language}, the language of document "
                f"{frame['id'][rows[0]]!r}; name one, or set `fail_on_missing_language: false`."
            )
            raise DocumentError(message)
    return Verdict([Criterion("document_removed_with_badwords", fails)])


def _language(lang: str, default: str) -> str:
    try:
        return default if lang == UNKNOWN else str(parsed(lang))
    except ValueError:
        return lang


def _holding(
    texts: pl.Series, words: tuple[str, ...], language: str, config: OpenedBadWordsConfig
) -> NDArray[np.bool_]:
    """Return which texts hold a word and are not kept all the same."""
    lowered = pl.Series([text.lower() for text in texts], dtype=pl.String)
    # The search for all words at once leaves few texts to the patterns.
    fails = lowered.str.contains_any(list(words)).to_numpy().copy()
    for row in np.flatnonzero(fails):
        text = lowered[int(row)]
        fails[row] = language in WITHOUT_SPACES or any(
            _pattern(word).search(text) for word in words if word in text
        )
        if fails[row] and config.keep_fraction:
            fails[row] = _draw(texts[int(row)], config.seed) >= config.keep_fraction
    return fails


@lru_cache(maxsize=10_000)
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?:\W|^){re.escape(word)}(?:\W|$)")


def _draw(text: str, seed: int) -> float:
    """Return a number in [0, 1) that follows from a text alone."""
    digest: Any = blake2b(f"{seed}\n{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2**64
