"""`fineweb_quality`: drop documents whose lines are those of lists and menus.

Rules of Penedo et al. 2024 (*FineWeb*, arXiv:2406.17557) as datatrove 0.10.1 has them. FineWeb runs
them on what `c4_quality` left of a text.
"""

import numpy as np
from pydantic import Field

from corpus_assets.core.plan import Config
from corpus_assets.filters.rules import Batch, Criterion, TokenizerLanguage, Verdict
from corpus_assets.text import characters
from corpus_assets.text.data import packed


class FineWebQualityConfig(Config):
    """Thresholds of `fineweb_quality`, on lines that are not blank."""

    line_punct_thr: float = 0.12
    """Least share of lines that end with a stop mark."""
    line_punct_exclude_zero: bool = False
    """Let documents pass in which no line does."""
    stop_chars: tuple[str, ...] | None = None
    """The stop marks; by default 159 of all scripts, without quotes."""
    short_line_thr: float = 0.67
    """Largest share of short lines."""
    short_line_length: int = Field(default=30, ge=0)
    """Characters of the longest short line."""
    char_duplicates_ratio: float = 0.01
    """Largest share of characters in lines that were there before."""
    new_line_ratio: float = 0.3
    """Most newlines by words."""
    language: TokenizerLanguage | None = None
    """Whose words are counted; by default the language of each document."""


def fineweb_quality(batch: Batch, config: FineWebQualityConfig) -> Verdict:
    """Drop documents that look like lists."""
    from corpus_assets.filters import quality_kernel as kernel  # noqa: PLC0415 - numba

    texts, tokens = batch.texts(), batch.tokens(config.language)
    # An empty tuple ends no line; the kernel takes no marks for the default ones.
    marks = ("\n",) if config.stop_chars == () else config.stop_chars or ()
    values = np.empty((len(texts), 5))
    kernel.fineweb(
        texts.buffer,
        (texts.firsts, texts.lasts),
        tokens.lasts - tokens.firsts,
        characters.flags(),
        *packed(marks),
        config.short_line_length,
        values,
    )
    stopped = values[:, kernel.STOPPED_LINES]
    if config.line_punct_exclude_zero:
        stopped = np.where(stopped == 0, np.nan, stopped)
    bounds = [
        ("short_line_ratio", kernel.SHORT_LINES, config.short_line_thr),
        ("char_dup_ratio", kernel.REPEATED_CHARS, config.char_duplicates_ratio),
        ("list_ratio", kernel.NEWLINES, config.new_line_ratio),
    ]
    return Verdict(
        [
            Criterion("empty", values[:, kernel.FULL_LINES] == 0),
            Criterion.measured("line_punct_ratio", stopped, np.less, config.line_punct_thr),
            *(
                Criterion.measured(reason, values[:, column], np.greater, limit)
                for reason, column, limit in bounds
            ),
        ]
    )
