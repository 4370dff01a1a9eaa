"""What the catalog shows of every asset, and the data versions by which it knows what is stale."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from corpus_assets.core.table import Table
from corpus_assets.defs.io_managers import TABLES
from corpus_assets.defs.metadata import inline_manifest, preview
from corpus_assets.shards.build import Corpus
from corpus_assets.spec_file import load_spec
from corpus_assets_tests.dagster_dev import REPOSITORY
from corpus_assets_tests.defs.scenario import (
    TALES,
    build,
    failed_checks,
    key,
    made,
    metadata_of,
    spec_of,
    write_lines,
)

SAMPLE = REPOSITORY / "corpus_assets/defs/sample"
MINHASH = ("minhash_signatures", "minhash_buckets", "minhash_clusters")
ASSETS = (*TABLES, *MINHASH, "ledger", "corpus", "datasheet")


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> tuple[dg.ExecuteInProcessResult, Path]:
    """The sample, built once; result and folder."""
    spec, root = load_spec(SAMPLE / "defs.yaml"), tmp_path_factory.mktemp("sample")
    sources = [
        source.model_copy(update={"inputs": tuple(str(SAMPLE / path) for path in source.inputs)})
        for source in spec.sources
    ]
    spec = spec.model_copy(update={"sources": tuple(sources)})
    return build(spec, root), root / "corpora/sample"


@pytest.fixture(scope="module")
def entries(sample) -> dict[str, dict]:
    return {name: metadata_of(sample[0], key(name, "sample")) for name in ASSETS}


def test_all_assets_of_the_sample_are_made_and_all_its_checks_hold(sample):
    result, _ = sample
    assert result.success
    assert made(result) == set(ASSETS)
    evaluations = {
        (e.asset_key.path[-1], e.check_name) for e in result.get_asset_check_evaluations()
    }
    assert len(evaluations) == 13
    assert failed_checks(result) == set()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_shows_rows_size_columns_with_their_meaning_and_its_digest(sample, entries, name):
    table, entry = Table.open(sample[1] / name), entries[name]
    assert entry["dagster/row_count"] == table.rows > 1_000
    assert entry["dagster/size_bytes"] == table.bytes
    assert entry["digest"] == table.digest
    assert entry["folder"] == str(table.directory)
    assert entry["input files"] == entry["files made in this run"] == len(table.ranks)
    assert entry["files taken over unchanged"] == 0
    columns = entry["dagster/column_schema"].columns
    assert [column.name for column in columns] == table.head(1).columns
    assert all(column.description for column in columns)


def test_the_meaning_of_a_column_is_that_of_its_table(entries):
    meanings = {
        name: {c.name: c.description for c in entries[name]["dagster/column_schema"].columns}
        for name in ("raw_docs", "corpus")
    }
    assert "ascending order" in meanings["corpus"]["id"]
    assert "ascending order" not in meanings["raw_docs"]["id"]


def test_a_stage_shows_what_came_in_what_it_dropped_and_why(sample, entries):
    shown = entries["deduped_docs"]["documents in and out"].splitlines()
    counts = Table.open(sample[1] / "deduped_docs").counts
    assert shown[2] == f"| {counts['in']:,} | came in |"
    assert shown[-1] == f"| {counts['kept']:,} | kept |"
    dropped = counts["dropped/dedup/exact_duplicate"]
    assert f"| {dropped:,} | dropped: `dedup/exact_duplicate` |" in shown
    assert entries["deduped_docs"]["dropped: dedup/exact_duplicate"] == dropped


def test_scrubbing_shows_what_it_replaced_by_kind(entries):
    assert entries["scrubbed_docs"]["pii: email"] == entries["corpus"]["pii: emails"] > 0


def test_a_corpus_shows_rows_size_columns_manifest_and_funnel(sample, entries):
    corpus, entry = Corpus.open(sample[1] / "corpus"), entries["corpus"]
    assert entry["dagster/row_count"] == corpus.manifest["n_docs"]
    files = sorted((sample[1] / "corpus").glob("*.parquet"))
    assert entry["dagster/size_bytes"] == sum(path.stat().st_size for path in files)
    assert entry["shards"] == entry["shards made in this run"] == len(files)
    assert entry["manifest"] == corpus.manifest
    assert entry["manifest sha256"] == corpus.digest
    assert entry["funnel"].startswith("![funnel](data:image/png;base64,")
    assert f"| kept |  | {corpus.manifest['n_docs']:,} |" in entry["funnel"]
    columns = {c.name: c for c in entry["dagster/column_schema"].columns}
    assert all(c.description and not c.constraints.nullable for c in columns.values())
    assert columns["id"].constraints.unique
    assert not columns["text"].constraints.unique


def test_ledger_and_datasheet_are_shown_as_people_read_them(sample, entries):
    for name, file in (("ledger", "LEDGER.jsonl"), ("datasheet", "README.md")):
        path = sample[1] / name / file
        assert entries[name]["file"] == str(path)
        assert entries[name]["bytes"] == path.stat().st_size
    assert (
        "[The Jargon File, version 4.4.7](http://www.catb.org/~esr/jargon/)"
        in (entries["ledger"]["content"])
    )
    assert entries["datasheet"]["content"].startswith("# sample 1\n")


def test_no_first_row_of_any_asset_shows_an_address(tmp_path):
    address = "anna@mill.example.org"
    texts = [address, " " * 5_000 + address, "x " * 75 + address, f"{'y' * 155} {address}"]
    records = [{"id": f"{n}/{address}", "text": text} for n, text in enumerate(texts)]
    write_lines(tmp_path / "tales/one.jsonl", records)
    result = build(spec_of(shards={"val_permille": 300}), tmp_path)
    for name in (*TABLES, "corpus"):
        shown = metadata_of(result, key(name))["first rows"]
        assert len(shown.splitlines()) == 2 + len(texts)
        assert "anna" not in shown
        assert "@" not in shown


def test_first_rows_say_nothing_in_markdown():
    text = "![x](https://example.org/x.png) <b>|</b> `code`"
    frame = pl.DataFrame({"id": ["a|b"], "lang": ["en"], "license_spdx": ["MIT"], "text": [text]})
    row = preview(frame).splitlines()[2]
    assert row.startswith(r"| a\|b | en | MIT | 47 | !\[x\](https")
    assert row.endswith(r"\<b>\|\</b> \`code\` |")


def test_a_manifest_in_the_catalog_names_at_most_50_shards():
    shards = [{"name": f"shard-{n}", "sha256": "0" * 64, "rows": 1} for n in range(51)]
    assert inline_manifest({"n_shards": 50, "shards": shards[:50]})["shards"] == shards[:50]
    shown = inline_manifest({"n_shards": 51, "shards": shards})
    assert shown == {"n_shards": 51, "shards": [*shards[:50], "… and 1 more"]}


def versions(instance: dg.DagsterInstance) -> dict[str, str]:
    """Return the data version of each asset."""
    found = {}
    for name in ASSETS:
        event = instance.get_latest_materialization_event(key(name))
        assert event is not None
        materialization = event.asset_materialization
        assert materialization is not None
        found[name] = (materialization.tags or {})["dagster/data_version"]
    return found


def test_a_data_version_is_the_digest_of_the_output_and_an_unchanged_rerun_keeps_it(tmp_path):
    spec = spec_of()
    file = write_lines(tmp_path / "tales/one.jsonl", TALES)
    with dg.DagsterInstance.ephemeral() as instance:
        assert build(spec, tmp_path, instance=instance).success
        first = versions(instance)
        folder = tmp_path / "corpora/tales"
        assert {name: first[name] for name in TABLES} == {
            name: Table.open(folder / name).digest for name in TABLES
        }
        assert first["corpus"] == Corpus.open(folder / "corpus").digest

        again = build(spec, tmp_path, instance=instance)
        assert versions(instance) == first
        assert metadata_of(again, key("raw_docs"))["files made in this run"] == 0
        assert metadata_of(again, key("raw_docs"))["files taken over unchanged"] == 1
        assert metadata_of(again, key("corpus"))["shards made in this run"] == 0

        near = {"text": f"{TALES[0]['text']} Once more, with feeling, to the end."}
        write_lines(file, [*TALES, {"id": "f", **near}, {"id": "g", "text": f"{near['text']} !"}])
        assert build(spec, tmp_path, instance=instance).success
        changed = versions(instance)
        assert [name for name in ASSETS if changed[name] == first[name]] == []
