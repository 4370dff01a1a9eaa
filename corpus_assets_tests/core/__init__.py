"""Tests of `corpus_assets.core`."""
