"""How `c4_quality` judges: lines are cut and cleaned, sentences counted, texts put together."""

from dataclasses import dataclass

import numpy as np

from corpus_assets.filters import c4_kernel as kernel
from corpus_assets.filters.c4 import C4QualityConfig
from corpus_assets.filters.rules import Batch, Criterion, Verdict
from corpus_assets.text import characters
from corpus_assets.text.data import Bytes, Offsets, packed
from corpus_assets.text.marks_kernel import sentence_starts
from corpus_assets.text.tokens import ENGLISH, Texts, Tokens, text_column, tokenised

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


@dataclass(frozen=True)
class Lines:
    """Lines of documents as ranges of a buffer."""

    bounds: Offsets
    """First line of each document, shape (documents + 1)."""
    starts: Offsets
    """Where each line begins, shape (lines,)."""
    ends: Offsets
    """Where each line ends."""


@dataclass(frozen=True)
class Cleaned:
    """The lines that stay, each with a newline after it, and why documents are dropped."""

    buffer: Bytes
    bounds: Offsets
    """First line of each document, shape (documents + 1)."""
    starts: Offsets
    """Where each line begins, shape (lines + 1)."""
    reasons: Bytes
    """`c4_kernel.KEPT` or why each document is dropped, shape (documents,)."""


def judged(batch: Batch, config: C4QualityConfig) -> Verdict:
    """Return the verdict with the texts rewritten."""
    lines = _lines(batch.texts()) if config.split_paragraph else _sentences(batch)
    cleaned = _cleaned(batch.texts(), lines, config)
    criteria = [
        Criterion("lorem_ipsum", cleaned.reasons == kernel.LOREM_IPSUM),
        Criterion("curly_bracket", cleaned.reasons == kernel.CURLY_BRACKET),
    ]
    if config.min_num_sentences != -1:
        count = _sentence_counts if config.split_paragraph else _line_counts
        found = count(batch, cleaned, config)
        criteria.append(
            Criterion.measured("too_few_sentences", found, np.less, config.min_num_sentences)
        )
    passes = Verdict(criteria).first_failures(len(batch)) < 0
    separator = "\n" if config.split_paragraph else " "
    text = text_column(*_rewritten(batch.texts(), cleaned, passes, separator))
    return Verdict(criteria, {"text": text})


def _lines(texts: Texts) -> Lines:
    """Return the lines of `str.splitlines`."""
    bounds = np.empty(len(texts) + 1, np.int64)
    places = 64 * len(texts)
    while True:
        starts, ends = np.empty(places, np.int64), np.empty(places, np.int64)
        lines = kernel.split_lines(
            texts.buffer, texts.firsts, texts.lasts, characters.flags(), bounds, starts, ends
        )
        if lines <= places:
            return Lines(bounds, starts[:lines], ends[:lines])
        places = lines


def _sentences(batch: Batch) -> Lines:
    """Return the sentences, by the rules of English: other tokenizers keep no places of words."""
    texts, tokens = batch.texts(), batch.tokens(ENGLISH)
    begins, blank = _begins(texts, tokens)
    bounds = np.empty(len(texts) + 1, np.int64)
    most = int(begins.sum()) + len(texts)
    starts, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    kernel.sentence_ranges(
        texts.lasts,
        (tokens.firsts, tokens.lasts, tokens.starts, tokens.ends),
        begins,
        blank,
        bounds,
        starts,
        ends,
    )
    return Lines(bounds, starts[: bounds[-1]], ends[: bounds[-1]])


def _cleaned(texts: Texts, lines: Lines, config: C4QualityConfig) -> Cleaned:
    phrases = [(LOREM_IPSUM, 0)] * config.filter_lorem_ipsum
    phrases += [(JAVASCRIPT, 1)] * config.filter_javascript
    phrases += [(phrase, 2) for phrase in POLICY if config.filter_policy]
    size = int((lines.ends - lines.starts).sum()) + len(lines.starts)
    cleaned = Cleaned(
        np.empty(size, np.uint8),
        np.empty(len(texts) + 1, np.int64),
        np.empty(len(lines.starts) + 1, np.int64),
        np.empty(len(texts), np.uint8),
    )
    kernel.clean_lines(
        texts.buffer,
        (lines.bounds, lines.starts, lines.ends),
        characters.flags(),
        packed(CITATIONS),
        (*packed([phrase for phrase, _ in phrases]), np.array([k for _, k in phrases], np.uint8)),
        (
            config.remove_citations,
            config.filter_no_terminal_punct,
            config.min_words_per_line,
            config.max_word_length,
            config.filter_curly_bracket,
        ),
        cleaned.buffer,
        (cleaned.bounds, cleaned.starts),
        cleaned.reasons,
    )
    return cleaned


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


def _sentence_counts(batch: Batch, cleaned: Cleaned, config: C4QualityConfig) -> Offsets:
    """Return the number of sentences of each document, counted line by line."""
    bounds = cleaned.bounds
    starts = cleaned.starts[: bounds[-1] + 1]
    lines = Texts(cleaned.buffer, starts[:-1], starts[1:] - 1)
    languages = config.language
    if languages is None:
        languages = np.repeat(batch.frame["lang"].to_numpy(), np.diff(bounds)).tolist()
    tokens = tokenised(lines, languages)
    counts = np.empty(len(bounds) - 1, np.int64)
    kernel.count_sentences(bounds, tokens.firsts, tokens.lasts, *_begins(lines, tokens), counts)
    return counts


def _line_counts(batch: Batch, cleaned: Cleaned, config: C4QualityConfig) -> Offsets:
    """Return the number of lines, which are sentences."""
    return np.diff(cleaned.bounds)


def _rewritten(
    texts: Texts, cleaned: Cleaned, passes: np.ndarray, separator: str
) -> tuple[Bytes, Offsets]:
    """Return the kept lines of documents that pass, and the others as they are."""
    originals = int((texts.lasts - texts.firsts)[~passes].sum())
    out = np.empty(originals + len(cleaned.buffer), np.uint8)
    offsets = np.empty(len(texts) + 1, np.int64)
    kernel.rewritten(
        texts.buffer,
        (texts.firsts, texts.lasts),
        cleaned.buffer,
        (cleaned.bounds, cleaned.starts),
        passes,
        ord(separator),
        characters.flags(),
        out,
        offsets,
    )
    return out[: offsets[-1]], offsets
