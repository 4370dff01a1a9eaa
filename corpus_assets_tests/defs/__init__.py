"""Tests of the Dagster layer."""
