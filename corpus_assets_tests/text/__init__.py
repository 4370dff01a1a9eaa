"""Tests of corpus_assets.text."""
