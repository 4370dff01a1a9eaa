"""`c4_quality`: keep the lines of a text that are prose, and documents with enough sentences.

Rules of Raffel et al. 2020 (*T5*, arXiv:1910.10683, section 2.2, and the code of its data set) as
datatrove 0.10.1 has them.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from pydantic import Field

from corpus_assets.core.plan import Config
from corpus_assets.filters import c4_kernel as kernel
from corpus_assets.filters.rules import Batch, Criterion, Verdict
from corpus_assets.text import characters
from corpus_assets.text.data import Bytes, Offsets, read_only
from corpus_assets.text.marks_kernel import sentence_starts
from corpus_assets.text.tokens import Texts, Tokens, text_column, tokenised

CITATIONS = ("[edit]", "[citation needed]")
LOREM_IPSUM = "lorem ipsum"
JAVASCRIPT = "javascript"
POLICY = (
    "terms of use",
    "privacy policy",
    "cookie policy",
    "uses cookies",
    "use of cookies",
    "use cookies",
)


class C4QualityConfig(Config):
    """Settings of `c4_quality`. FineWeb sets `filter_no_terminal_punct: false`."""

    split_paragraph: bool = True
    """Judge each line; if false, each sentence."""
    remove_citations: bool = True
    """Take out `[1]`, `[edit]` and `[citation needed]`."""
    filter_no_terminal_punct: bool = True
    """Drop lines that do not end with a full stop, question or exclamation mark, or quote."""
    min_num_sentences: int = Field(default=5, ge=-1)
    """Of what is left of a document; -1 switches a bound off, as below."""
    min_words_per_line: int = Field(default=3, ge=-1)
    """Words between white space."""
    max_word_length: int = Field(default=1000, ge=-1)
    """Characters of a word above which its line is dropped."""
    filter_lorem_ipsum: bool = True
    """Drop documents that hold `lorem ipsum`."""
    filter_javascript: bool = True
    """Drop lines that hold `javascript`."""
    filter_curly_bracket: bool = True
    """Drop documents that hold `{`."""
    filter_policy: bool = True
    """Drop lines about cookies and terms of use."""
    language: str | None = None
    """Whose sentences are counted; by default the language of each document."""


def c4_quality(batch: Batch, config: C4QualityConfig) -> Verdict:
    """Rewrite texts to their good lines; drop those with few sentences in them."""
    texts = batch.texts()
    bounds, starts, ends = _lines(texts) if config.split_paragraph else _sentences(batch, config)
    size = int((ends - starts).sum()) + len(starts)
    cleaned = np.empty(size + 1, np.uint8)
    kept_bounds, kept_starts = (
        np.empty(len(texts) + 1, np.int64),
        np.empty(len(starts) + 1, np.int64),
    )
    reasons = np.empty(len(texts), np.uint8)
    phrases = [(LOREM_IPSUM, 0)] * config.filter_lorem_ipsum
    phrases += [(JAVASCRIPT, 1)] * config.filter_javascript
    phrases += [(phrase, 2) for phrase in POLICY if config.filter_policy]
    kernel.clean_lines(
        texts.buffer,
        (bounds, starts, ends),
        characters.flags(),
        _packed(CITATIONS),
        (*_packed([phrase for phrase, _ in phrases]), np.array([k for _, k in phrases], np.uint8)),
        (
            config.remove_citations,
            config.filter_no_terminal_punct,
            config.min_words_per_line,
            config.max_word_length,
            config.filter_curly_bracket,
        ),
        cleaned,
        (kept_bounds, kept_starts),
        reasons,
    )
    kept_starts = kept_starts[: kept_bounds[-1] + 1]
    criteria = [
        Criterion("lorem_ipsum", reasons == kernel.LOREM_IPSUM),
        Criterion("curly_bracket", reasons == kernel.CURLY_BRACKET),
    ]
    if config.min_num_sentences != -1:
        sentences = np.diff(kept_bounds)
        if config.split_paragraph:
            sentences = _count(batch, config.language, cleaned, kept_bounds, kept_starts)
        criteria.append(
            Criterion.measured("too_few_sentences", sentences, np.less, config.min_num_sentences)
        )
    verdict = Verdict(criteria)
    passes = verdict.first_failures(len(texts)) < 0
    out = np.empty(int(np.where(passes, 0, texts.lasts - texts.firsts).sum()) + size, np.uint8)
    offsets = np.empty(len(texts) + 1, np.int64)
    kernel.rewritten(
        texts.buffer,
        (texts.firsts, texts.lasts),
        cleaned,
        (kept_bounds, kept_starts),
        passes,
        ord("\n" if config.split_paragraph else " "),
        characters.flags(),
        out,
        offsets,
    )
    return Verdict(criteria, {"text": text_column(out[: offsets[-1]], offsets)})


def _packed(texts: Sequence[str]) -> tuple[Bytes, Offsets]:
    data = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, data)], dtype=np.int64)
    return np.frombuffer(b"".join(data) or b" ", np.uint8), bounds


def _lines(texts: Texts) -> tuple[Offsets, Offsets, Offsets]:
    """Return the first line of each document, where each line begins and ends."""
    bounds = np.empty(len(texts) + 1, np.int64)
    places = 64 * len(texts)
    while True:
        starts, ends = np.empty(places, np.int64), np.empty(places, np.int64)
        lines = kernel.split_lines(
            texts.buffer, texts.firsts, texts.lasts, characters.flags(), bounds, starts, ends
        )
        if lines <= places:
            return bounds, starts[:lines], ends[:lines]
        places = lines


def _sentences(batch: Batch, config: C4QualityConfig) -> tuple[Offsets, Offsets, Offsets]:
    """Return the first sentence of each document, where each sentence begins and ends.

    By the rules of English for all languages: those of others do not say where words stand.
    """
    texts, tokens = batch.texts(), batch.tokens("eng")
    begins, blank = _begins(texts, tokens)
    bounds = np.empty(len(texts) + 1, np.int64)
    sentences = len(texts) + int(begins.sum())
    starts, ends = np.empty(sentences, np.int64), np.empty(sentences, np.int64)
    kernel.sentence_ranges(
        texts.lasts,
        (tokens.firsts, tokens.lasts, tokens.starts, tokens.ends),
        begins,
        blank,
        bounds,
        starts,
        ends,
    )
    return bounds, starts[: bounds[-1]], ends[: bounds[-1]]


def _begins(texts: Texts, tokens: Tokens) -> tuple[Bytes, Bytes]:
    """Return which tokens begin a sentence, and which texts have a blank one beside."""
    begins, blank = np.zeros(len(tokens.flags), np.uint8), np.empty(len(texts), np.uint8)
    sentence_starts(
        texts.buffer,
        (texts.firsts, texts.lasts),
        (tokens.firsts, tokens.lasts, tokens.flags),
        characters.flags(),
        begins,
        blank,
    )
    return begins, blank


def _count(
    batch: Batch, language: str | None, cleaned: Bytes, bounds: Offsets, starts: Offsets
) -> Offsets:
    """Return the number of sentences of each document, counted line by line."""
    lines = Texts(*read_only(cleaned, starts[:-1]), starts[1:] - 1)
    languages = language or np.repeat(batch.frame["lang"].to_numpy(), np.diff(bounds)).tolist()
    tokens = tokenised(lines, languages)
    sentences = np.empty(len(bounds) - 1, np.int64)
    kernel.count_sentences(
        bounds, tokens.firsts, tokens.lasts, *_begins(lines, tokens), sentences
    )
    return sentences
