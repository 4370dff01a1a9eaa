"""`gopher_quality`: drop documents whose words, symbols or lines are not those of prose.

Rules of Rae et al. 2021 (*Gopher*, arXiv:2112.11446, section A.1.1) as datatrove 0.10.1 reads them.
"""

import numpy as np
from pydantic import AliasChoices, Field

from corpus_assets.core.plan import Config
from corpus_assets.filters.rules import Batch, Criterion, TokenizerLanguage, Verdict
from corpus_assets.text import characters
from corpus_assets.text.tokens import hashes_of


class GopherQualityConfig(Config):
    """Bounds of `gopher_quality`; None or 0 switches one off."""

    min_doc_words: int | None = Field(default=50, ge=0)
    """Words that are not only symbols."""
    max_doc_words: int | None = Field(default=100_000, ge=0)
    min_avg_word_length: float | None = Field(default=3, ge=0)
    """Characters, of the mean of these words."""
    max_avg_word_length: float | None = Field(default=10, ge=0)
    max_symbol_word_ratio: float | None = Field(default=0.1, ge=0)
    """`#` by words, and ellipses by words."""
    max_bullet_lines_ratio: float | None = Field(default=0.9, ge=0)
    """Lines that begin with `•` or `-`, of all."""
    max_ellipsis_lines_ratio: float | None = Field(default=0.3, ge=0)
    """Lines that end with an ellipsis, of all."""
    min_alpha_words_ratio: float | None = Field(
        default=0.8,
        ge=0,
        validation_alias=AliasChoices("min_alpha_words_ratio", "max_non_alpha_words_ratio"),
    )
    """Words with a letter, of all; datatrove calls it `max_non_alpha_words_ratio`."""
    min_stop_words: int | None = Field(default=2, ge=0)
    """Different stop words."""
    stop_words: tuple[str, ...] = ("the", "be", "to", "of", "and", "that", "have", "with")
    """As they are written: case counts."""
    language: TokenizerLanguage | None = None
    """Whose words are counted; by default the language of each document."""


def gopher_quality(batch: Batch, config: GopherQualityConfig) -> Verdict:
    """Drop documents unlike prose."""
    from corpus_assets.filters import quality_kernel as kernel  # noqa: PLC0415 - numba

    texts, tokens = batch.texts(), batch.tokens(config.language)
    values = np.empty((len(texts), 8))
    kernel.gopher(
        texts.buffer,
        (texts.firsts, texts.lasts),
        (tokens.firsts, tokens.lasts, tokens.hashes, tokens.chars, tokens.flags),
        characters.flags(),
        hashes_of(sorted(set(config.stop_words))),
        values,
    )
    symbols = config.max_symbol_word_ratio
    bounds = [
        ("short_doc", kernel.REAL_WORDS, np.less, config.min_doc_words),
        ("long_doc", kernel.REAL_WORDS, np.greater, config.max_doc_words),
        ("below_avg_threshold", kernel.MEAN_CHARS, np.less, config.min_avg_word_length),
        ("above_avg_threshold", kernel.MEAN_CHARS, np.greater, config.max_avg_word_length),
        ("too_many_hashes", kernel.HASHES, np.greater, symbols),
        ("too_many_ellipsis", kernel.ELLIPSES, np.greater, symbols),
        ("too_many_bullets", kernel.BULLETS, np.greater, config.max_bullet_lines_ratio),
        ("too_many_end_ellipsis", kernel.END_ELLIPSES, np.greater, config.max_ellipsis_lines_ratio),
        ("below_alpha_threshold", kernel.ALPHA_WORDS, np.less, config.min_alpha_words_ratio),
        ("enough_stop_words", kernel.STOP_WORDS, np.less, config.min_stop_words),
    ]
    return Verdict(
        [
            Criterion.measured(f"gopher_{reason}", values[:, column], compare, bound)
            for reason, column, compare, bound in bounds
            if bound
        ]
    )
