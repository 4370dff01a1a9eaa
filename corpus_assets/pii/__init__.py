"""Personal data: found, replaced by placeholders, counted."""

from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.detection import detect, scrub
from corpus_assets.pii.evaluate import evaluate
from corpus_assets.pii.scrubbing import scrubbed_docs
from corpus_assets.pii.spans import Span

__all__ = ["PiiConfig", "Span", "detect", "evaluate", "scrub", "scrubbed_docs"]
