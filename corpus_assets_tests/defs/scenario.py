"""A small corpus, and plain functions that build it through Dagster."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from corpus_assets.defs.build import QUIET
from corpus_assets.defs.corpus import RESOURCES, build_corpus
from corpus_assets.defs.resources import CorpusStore
from corpus_assets.spec import CorpusSpec

TALES = [
    {"id": "a", "text": "Anna walks to the mill.", "license_spdx": "MIT"},
    {"id": "b", "text": "Ben writes to anna@mill.example.org today."},
    {"id": "c", "text": "Anna walks to the mill."},
    {"id": "d", "text": "No."},
    {"id": "e", "text": "Eva reads what Ben wrote.", "lang": "en"},
]
"""One has an address, one repeats the text of another, one is too short."""

KEPT = 3
"""Documents of `TALES` in the corpus."""

SOURCE = {
    "id": "tales",
    "license_spdx": "CC0-1.0",
    "url": "https://example.org/tales",
    "inputs": "tales/*.jsonl",
}


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """Write records as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def spec_of(name: str = "tales", **changes: Any) -> CorpusSpec:
    """Return a corpus of what lies under `tales/`."""
    return CorpusSpec.model_validate(
        {
            "name": name,
            "sources": [SOURCE],
            "recipe": ["non_empty", {"length": {"min_chars": 5}}],
            "shards": {"shard_rows": 2, "val_permille": 300},
            "retry": {"max_retries": 2, "delay_seconds": 0},
            **changes,
        }
    )


def key(name: str, corpus: str = "tales") -> dg.AssetKey:
    """Return the key of an asset."""
    return dg.AssetKey([corpus, name])


def build(
    spec: CorpusSpec,
    base: Path,
    *,
    instance: dg.DagsterInstance | None = None,
    selection: dg.AssetSelection | None = None,
    workers: int = 0,
) -> dg.ExecuteInProcessResult:
    """Materialize a corpus into `base/corpora`, checks included, or what is selected of both."""
    definitions = build_corpus(spec, base)
    store = CorpusStore(root=str(base / "corpora"), workers=workers)
    return dg.materialize(
        [*(definitions.assets or []), *(definitions.asset_checks or [])],  # type: ignore[list-item]
        selection=selection,
        resources=RESOURCES | {"corpora": store},
        instance=instance,
        run_config=QUIET,
        raise_on_error=False,
    )


def build_tales(base: Path, records: Sequence[Mapping[str, Any]] = TALES) -> None:
    """Write the tales and build a good corpus of them."""
    write_lines(base / "tales/one.jsonl", records)
    assert build(spec_of(), base).success


def metadata_of(result: dg.ExecuteInProcessResult, asset: dg.AssetKey) -> dict[str, Any]:
    """Return the metadata values of an asset's materialization, by name."""
    (event,) = result.asset_materializations_for_node(asset.to_python_identifier())
    return {name: value.value for name, value in event.metadata.items()}


def made(result: dg.ExecuteInProcessResult) -> set[str]:
    """Return the names of the assets that were materialized."""
    return {
        event.asset_key.path[-1]
        for event in result.all_events
        if event.is_step_materialization and event.asset_key
    }


def failed_checks(result: dg.ExecuteInProcessResult) -> set[str]:
    """Return the names of the checks that were evaluated and do not hold."""
    evaluations = result.get_asset_check_evaluations()
    return {evaluation.check_name for evaluation in evaluations if not evaluation.passed}
