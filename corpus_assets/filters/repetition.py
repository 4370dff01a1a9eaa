"""`gopher_repetition`: drop documents that repeat their paragraphs, lines or n-grams.

Rules of Rae et al. 2021 (*Gopher*, arXiv:2112.11446, table A1) as datatrove 0.10.1 reads them.
"""

import numpy as np
from pydantic import Field

from corpus_assets.core.plan import Config
from corpus_assets.filters.rules import Batch, Criterion, TokenizerLanguage, Verdict
from corpus_assets.text import characters

NGramLimits = tuple[tuple[int, float], ...]


class GopherRepetitionConfig(Config):
    """Limits of `gopher_repetition`: shares above which a document is dropped."""

    dup_para_frac: float | None = Field(default=0.3, ge=0)
    """Paragraphs that were there before, of all; None or 0 switches a limit off, as below."""
    dup_para_char_frac: float | None = Field(default=0.2, ge=0)
    """Their characters, of those of the document."""
    dup_line_frac: float | None = Field(default=0.3, ge=0)
    dup_line_char_frac: float | None = Field(default=0.2, ge=0)
    top_n_grams: NGramLimits = ((2, 0.2), (3, 0.18), (4, 0.16))
    """Words n, and the limit of the characters in all places of the most frequent n-gram."""
    dup_n_grams: NGramLimits = ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1))
    """Words n, and the limit of the characters in n-grams that were there before."""
    language: TokenizerLanguage | None = None
    """Whose words are counted; by default the language of each document."""


def gopher_repetition(batch: Batch, config: GopherRepetitionConfig) -> Verdict:
    """Drop documents with much repetition."""
    from corpus_assets.filters.repetition_kernel import powers, repetition  # noqa: PLC0415 - numba

    texts, tokens = batch.texts(), batch.tokens(config.language)
    names = [
        ("dup_para_frac", config.dup_para_frac or None),
        ("dup_para_char_frac", config.dup_para_char_frac or None),
        ("dup_line_frac", config.dup_line_frac or None),
        ("dup_line_char_frac", config.dup_line_char_frac or None),
        *((f"top_{n}_gram", limit) for n, limit in config.top_n_grams),
        *((f"duplicated_{n}_n_grams", limit) for n, limit in config.dup_n_grams),
    ]
    values = np.full((len(texts), len(names)), np.nan)
    repetition(
        texts.buffer,
        (texts.firsts, texts.lasts),
        (tokens.firsts, tokens.lasts, tokens.starts, tokens.ends, tokens.hashes, tokens.chars),
        characters.flags(),
        powers(),
        np.array([np.nan if limit is None else limit for _, limit in names]),
        np.array([n for n, _ in config.top_n_grams], np.int64),
        np.array([n for n, _ in config.dup_n_grams], np.int64),
        values,
    )
    criteria = [Criterion("empty", texts.firsts == texts.lasts)]
    criteria += [
        Criterion.measured(name, values[:, k], np.greater, limit)
        for k, (name, limit) in enumerate(names)
        if limit is not None
    ]
    return Verdict(criteria)
