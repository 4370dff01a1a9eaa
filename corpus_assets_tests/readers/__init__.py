"""Tests of `corpus_assets.readers`."""
