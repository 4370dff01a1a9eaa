"""Rules that rewrite the text and drop nothing: `symbol_lines` and `ftfy`.

They do what the formatters of datatrove 0.10.1 do by default.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config
from corpus_assets.filters.rules import Batch, Verdict
from corpus_assets.text.characters import SYMBOL, flags


def _rewritten(batch: Batch, rewrite: Callable[[str], str]) -> Verdict:
    texts = [rewrite(text) for text in batch.frame["text"]]
    return Verdict([], {"text": pl.Series(texts, dtype=pl.String)})


class SymbolLinesConfig(Config):
    """Which lines `symbol_lines` removes."""

    symbols_to_remove: tuple[str, ...] | None = None
    """Characters of which such lines consist; None takes datatrove's 281 punctuation marks."""
    replace_char: str = ""
    """Line that takes the place of removed ones that follow each other; empty for none."""

    @field_validator("symbols_to_remove")
    @classmethod
    def _are_characters(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if any(len(symbol) != 1 for symbol in value or ()):
            message = "each symbol is one character"
            raise ValueError(message)
        return value


def remove_symbol_lines(batch: Batch, config: SymbolLinesConfig) -> Verdict:
    """Remove lines that consist of symbols and spaces; every line ends with a line feed then."""
    symbols = config.symbols_to_remove
    if symbols is None:
        symbols = [chr(point) for point in np.flatnonzero(flags() & SYMBOL)]
    nothing = "".join(symbols) + " "
    return _rewritten(batch, lambda text: _without_lines(text, nothing, config.replace_char))


def _without_lines(text: str, nothing: str, replacement: str) -> str:
    kept: list[str] = []
    in_removed = False
    for line in text.splitlines():
        removed = not line.strip(nothing) and bool(line.strip())
        if not removed:
            kept.append(line)
        elif replacement and not in_removed:
            kept.append(replacement)
        in_removed = removed
    return "\n".join(kept)


class FtfyConfig(Config):
    """What `ftfy` repairs, in ftfy's names; the defaults are datatrove's."""

    unescape_html: bool | Literal["auto"] = "auto"
    remove_terminal_escapes: bool = True
    fix_encoding: bool = True
    restore_byte_a0: bool = True
    replace_lossy_sequences: bool = True
    decode_inconsistent_utf8: bool = True
    fix_c1_controls: bool = True
    fix_latin_ligatures: bool = False
    fix_character_width: bool = False
    uncurl_quotes: bool = False
    fix_line_breaks: bool = False
    fix_surrogates: bool = True
    remove_control_chars: bool = True
    normalization: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None


class OpenedFtfyConfig(FtfyConfig):
    """The same with the version of ftfy, which decides what is repaired."""

    version: str = Field(min_length=1)


def open_ftfy(config: FtfyConfig, base: Path) -> OpenedFtfyConfig:
    """Add the version of ftfy.

    Raises:
        InputError: It is not installed.
    """
    try:
        return OpenedFtfyConfig(**config.model_dump(), version=version("ftfy"))
    except PackageNotFoundError:
        message = "rule ftfy needs the package ftfy; `pip install 'corpus-assets[recipes]'`."
        raise InputError(message) from None


def repair(batch: Batch, config: FtfyConfig) -> Verdict:
    """Repair text that was decoded wrongly, with ftfy."""
    ftfy: Any = import_module("ftfy")
    settings = ftfy.TextFixerConfig(**config.model_dump(include=set(FtfyConfig.model_fields)))
    return _rewritten(batch, lambda text: ftfy.fix_text(text, config=settings))
