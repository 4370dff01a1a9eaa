"""`c4_quality`: keep the lines of a text that are prose, and documents with enough sentences.

Rules of Raffel et al. 2020 (*T5*, arXiv:1910.10683, section 2.2, and the code of its data set) as
datatrove 0.10.1 has them.
"""

from pydantic import Field

from corpus_assets.core.plan import Config
from corpus_assets.filters.rules import Batch, TokenizerLanguage, Verdict


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
    language: TokenizerLanguage | None = None
    """Whose sentences are counted; by default the language of each document."""


def c4_quality(batch: Batch, config: C4QualityConfig) -> Verdict:
    """Rewrite texts to their good lines; drop those with few sentences in them."""
    from corpus_assets.filters.c4_lines import judged  # noqa: PLC0415 - numba

    return judged(batch, config)
