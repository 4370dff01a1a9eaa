"""Tests of `corpus_assets.checks`."""
