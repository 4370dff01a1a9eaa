"""What a corpus defines: assets, checks, job, schedule, sensor; and its component."""

from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from corpus_assets import CorpusComponent
from corpus_assets.core.errors import InputError
from corpus_assets.definitions import defs
from corpus_assets.defs.corpus import build_corpus
from corpus_assets.spec import CorpusSpec
from corpus_assets_tests.defs.scenario import SOURCE, key, spec_of

GRAPH = {
    "raw_docs": ((), "parquet"),
    "ledger": (("raw_docs",), "json"),
    "filtered_docs": (("raw_docs",), "polars"),
    "minhash_signatures": (("filtered_docs",), "numba"),
    "minhash_buckets": (("minhash_signatures",), "numba"),
    "minhash_clusters": (("filtered_docs", "minhash_buckets"), "numba"),
    "deduped_docs": (("filtered_docs", "minhash_clusters", "minhash_signatures"), "polars"),
    "scrubbed_docs": (("deduped_docs",), "polars"),
    "corpus": (("deduped_docs", "filtered_docs", "scrubbed_docs"), "parquet"),
    "datasheet": (
        ("corpus", "deduped_docs", "filtered_docs", "ledger", "raw_docs", "scrubbed_docs"),
        "markdown",
    ),
}
CHECKS = {
    "raw_docs": {"counts_add_up"},
    "filtered_docs": {"counts_add_up"},
    "deduped_docs": {"counts_add_up"},
    "scrubbed_docs": {"counts_add_up", "no_personal_data", "schema"},
    "corpus": {
        "counts_add_up",
        "ids_sorted_unique",
        "manifest",
        "schema",
        "sources_in_ledger",
        "split_rule",
        "val_share",
    },
}


@pytest.fixture(scope="module")
def location() -> dg.RepositoryDefinition:
    return defs().get_repository_def()


def test_the_sample_has_these_assets_with_these_upstreams_kinds_and_group(location):
    graph = location.asset_graph
    found = {}
    for node in graph.asset_nodes:
        corpus, name = node.key.path
        assert (corpus, node.group_name) == ("sample", "sample")
        upstream = tuple(sorted(parent.path[-1] for parent in node.parent_keys))
        (kind,) = node.kinds
        found[name] = (upstream, kind)
    assert found == GRAPH


def test_each_asset_says_first_in_a_few_words_what_it_is(location):
    for node in location.asset_graph.asset_nodes:
        first = (node.description or "").splitlines()[0]
        assert 10 < len(first) <= 45, first  # as much as a box of the lineage page shows


def test_each_asset_is_retried_and_has_a_code_version(location):
    for name in GRAPH:
        node = location.asset_graph.get(key(name, "sample"))
        assert node.code_version
        policy = node.assets_def.op.retry_policy
        assert policy is not None
        assert (policy.max_retries, policy.backoff) == (2, dg.Backoff.EXPONENTIAL)


def test_every_check_is_blocking_and_has_a_description(location):
    graph = location.asset_graph
    found: dict[str, set[str]] = {}
    for check in graph.asset_check_keys:
        found.setdefault(check.asset_key.path[-1], set()).add(check.name)
        assert graph.get(check).blocking
        assert graph.get_check_spec(check).description
    assert found == CHECKS


def test_the_sample_has_a_job_with_all_its_assets_and_checks(location):
    job = location.get_job("sample_rebuild")
    assert job.tags["corpus_assets/corpus"] == "sample"
    assert {k.path[-1] for k in job.asset_layer.selected_asset_keys} == set(GRAPH)
    checks = {(k.asset_key.path[-1], k.name) for k in job.asset_layer.asset_graph.asset_check_keys}
    assert checks == {(asset, name) for asset, names in CHECKS.items() for name in names}


def test_schedule_and_sensor_of_the_sample_are_there_and_stopped(location):
    (schedule,) = location.schedule_defs
    assert (schedule.name, schedule.cron_schedule, schedule.execution_timezone) == (
        "sample_schedule",
        "0 3 * * *",
        "UTC",
    )
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    (sensor,) = location.sensor_defs
    assert (sensor.name, sensor.minimum_interval_seconds) == ("sample_inputs", 60)
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    assert schedule.job_name == sensor.job_name == "sample_rebuild"


def test_schedule_and_sensor_run_from_the_start_only_where_the_corpus_says_so(tmp_path):
    spec = spec_of(schedule={"cron": "0 5 * * 1", "running": True}, watch={"running": True})
    definitions = build_corpus(spec, tmp_path).get_repository_def()
    assert definitions.schedule_defs[0].default_status is dg.DefaultScheduleStatus.RUNNING
    assert definitions.sensor_defs[0].default_status is dg.DefaultSensorStatus.RUNNING


def test_only_the_corpus_has_a_freshness_policy_and_only_where_hours_are_given(tmp_path):
    policies = {}
    for hours in (None, 12):
        graph = build_corpus(spec_of(fresh_within_hours=hours), tmp_path).get_repository_def()
        nodes = graph.asset_graph.asset_nodes
        policies[hours] = {n.key.path[-1]: n.freshness_policy for n in nodes if n.freshness_policy}
    window = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=12))
    assert policies == {None: {}, 12: {"corpus": window}}


def test_two_corpora_live_in_one_code_location(tmp_path):
    both = dg.Definitions.merge(
        build_corpus(spec_of("tales"), tmp_path), build_corpus(spec_of("old-tales"), tmp_path)
    )
    dg.Definitions.validate_loadable(both)
    location = both.get_repository_def()
    nodes = location.asset_graph.asset_nodes
    assert {(n.key.path[0], n.group_name) for n in nodes} == {
        ("tales", "tales"),
        ("old-tales", "old_tales"),
    }
    assert {"tales_rebuild", "old_tales_rebuild"} <= {job.name for job in location.get_all_jobs()}


def loaded(attributes: dict, **env: str) -> CorpusSpec:
    """Return the corpus that `attributes` of a `defs.yaml` come to."""
    del env
    context = dg.ComponentTree.for_test().load_context
    model = CorpusComponent.get_model_cls().model_validate(attributes)
    return CorpusComponent.load(model, context).spec


def test_inputs_take_the_environment_and_the_digest_takes_them_as_written(monkeypatch, tmp_path):
    source = SOURCE | {"inputs": ["{{ env.TALES_FOLDER }}/*.jsonl"]}
    spec = loaded({"name": "tales", "sources": [source]})
    digests = set()
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").touch()
        monkeypatch.setenv("TALES_FOLDER", str(tmp_path / folder))
        assert [file.path for file in spec.files(tmp_path)] == [tmp_path / folder / "a.jsonl"]
        digests.add(spec.digest)
    assert len(digests) == 1
    monkeypatch.delenv("TALES_FOLDER")
    with pytest.raises(InputError, match="TALES_FOLDER, which is not set"):
        spec.files(tmp_path)


def test_a_string_without_a_template_stays_a_string():
    assert loaded({"name": "tales", "version": "1", "sources": [SOURCE]}).version == "1"


def test_a_corpus_as_yaml_and_as_component_is_the_same_corpus():
    attributes = {
        "name": "tales",
        "sources": [SOURCE],
        "recipe": ["non_empty", {"length": {"min_chars": 5}}],
        "shards": {"shard_rows": 2},
        "schedule": {"cron": "0 3 * * *"},
    }
    assert loaded(attributes) == CorpusSpec.model_validate(attributes)


def test_definitions_load_where_the_inputs_are_missing(tmp_path: Path):
    dg.Definitions.validate_loadable(build_corpus(spec_of(), tmp_path / "nowhere"))
