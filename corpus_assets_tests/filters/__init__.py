"""Tests of `corpus_assets.filters`."""
