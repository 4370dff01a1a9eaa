"""Deduplication: `deduped_docs` holds each text once."""

from corpus_assets.dedup.exact import DedupConfig, deduped_docs

__all__ = ["DedupConfig", "deduped_docs"]
