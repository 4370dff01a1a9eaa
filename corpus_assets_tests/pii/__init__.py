"""Tests of `corpus_assets.pii`."""
