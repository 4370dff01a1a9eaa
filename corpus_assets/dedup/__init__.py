"""Deduplication: `deduped_docs` holds each text once, and of near-duplicates one.

The stages are modules of their own, which import numba (a second): who only states settings need
not wait for it.
"""

from corpus_assets.dedup.config import DedupConfig

__all__ = ["DedupConfig"]
