"""MinHash as assets: built by the command line, shown in the catalog."""

import json

import dagster as dg

from corpus_assets.defs.build import build_here
from corpus_assets.spec import CorpusSpec
from corpus_assets_tests.dedup.test_near import BASE_TEXT, NEAR, OTHER
from corpus_assets_tests.scenario import write_documents


def test_near_duplicates_are_dropped_and_the_catalog_shows_them(tmp_path, monkeypatch):
    texts = (BASE_TEXT, OTHER, NEAR, OTHER)
    records = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    write_documents(tmp_path / "a.jsonl", *records)
    source = {"id": "tales", "license_spdx": "CC0-1.0", "url": "https://example.org", "inputs": "."}
    spec = CorpusSpec.model_validate(
        {"name": "near", "sources": [source], "dedup": {"minhash": {}}}
    )
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    outcome = build_here(spec, tmp_path, tmp_path / "root", 0, None, show=False)
    assert outcome.failures == ()
    manifest = json.loads((tmp_path / "root/near/corpus/_MANIFEST.json").read_text())
    assert manifest["n_docs"] == 2
    assert manifest["dedup"] == {
        "exact_dropped": 1, "near_dropped": 1, "decontaminated": 0, "jaccard_threshold": 0.719,
        "num_perm": 112, "bands": 14, "ngram": 5,
    }  # fmt: skip
    with dg.DagsterInstance.get() as instance:
        shown = {
            name: instance.get_latest_materialization_event(
                dg.AssetKey(["near", f"minhash_{name}"])
            ).asset_materialization.metadata
            for name in ("signatures", "buckets", "clusters")
        }
    assert "chance that a pair is found" in shown["signatures"]["detection"].value
    assert shown["signatures"]["exact duplicates"].value == 1
    assert shown["buckets"]["pairs"].value > 0
    assert shown["clusters"]["near-duplicates to drop"].value == 1
    assert "d0" in shown["clusters"]["largest clusters"].value
