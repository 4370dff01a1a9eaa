"""Tests of `corpus_assets.engines`."""
