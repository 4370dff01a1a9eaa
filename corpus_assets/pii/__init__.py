"""Personal data: found, replaced by placeholders, counted."""

from corpus_assets.pii.scrubbing import PiiConfig, scrub, scrubbed_docs

__all__ = ["PiiConfig", "scrub", "scrubbed_docs"]
