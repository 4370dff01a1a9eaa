"""Tests of `corpus_assets.dedup`."""
