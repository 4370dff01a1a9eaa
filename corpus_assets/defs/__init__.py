"""The Dagster layer: assets, IO managers, checks, schedules and sensors of a corpus."""
