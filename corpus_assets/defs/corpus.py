"""`build_corpus`: from a spec to Dagster definitions, without YAML or components."""

from pathlib import Path

import dagster as dg

from corpus_assets.defs.assets import build_assets
from corpus_assets.defs.automation import build_job, build_schedules, build_sensor
from corpus_assets.defs.checks import build_checks
from corpus_assets.defs.io_managers import corpus_io, table_io, text_io
from corpus_assets.defs.resources import CorpusStore
from corpus_assets.spec import CorpusSpec

RESOURCES = {
    "corpora": CorpusStore(),
    "table_io": table_io,
    "corpus_io": corpus_io,
    "text_io": text_io,
}
"""Shared by all corpora of a code location: Dagster merges equal objects, and refuses others."""

EXECUTOR = dg.in_process_executor
"""A step holds its own workers; a process for each step would cost 2 s more apiece."""


def build_corpus(spec: CorpusSpec, base: Path) -> dg.Definitions:
    """Return assets, checks, job, schedule and sensor of a corpus.

    Args:
        spec: The corpus.
        base: Folder at which its relative inputs start.
    """
    job = build_job(spec)
    return dg.Definitions(
        assets=build_assets(spec, base),
        asset_checks=build_checks(spec, base),
        jobs=[job],
        schedules=build_schedules(spec, job),
        sensors=[build_sensor(spec, base, job)],
        resources=RESOURCES,
        executor=EXECUTOR,
    )
