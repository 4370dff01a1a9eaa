"""The datasheet: the Hub reads its front matter, and its numbers are the manifest's."""

import json
import re

import polars as pl
import pytest
import yaml
from huggingface_hub import DatasetCard

from corpus_assets.datasheet import SIZES, DatasheetInput, datasheet_text, front_matter
from corpus_assets.funnel import Drop, Funnel
from corpus_assets.pii.kinds import DEFAULT_KINDS
from corpus_assets_tests.scenario import run_cli, table_of, write_documents, write_spec


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheet")
    tales = [
        {"id": f"{n}", "text": f"Tale {n}.", "lang": "en" if n % 2 else "de"} for n in range(40)
    ]
    write_documents(folder / "tales/a.jsonl", *tales, {"id": "x", "text": "Tale 1."})
    poems = [
        {"text": f"Poem {n}: a{n}@example.org, 192.31.196.{n}", "license_spdx": "MIT"}
        for n in (1, 2)
    ]
    write_documents(folder / "poems/a.jsonl", *poems, {"text": ""})
    sources = [
        {"id": "tales", "license_spdx": "CC0-1.0", "url": "https://example.org/t",
         "title": "Tales, old", "inputs": "tales"},
        {"id": "poems", "license_spdx": "ISC", "url": "https://example.org/p", "inputs": "poems"},
    ]  # fmt: skip
    write_spec(
        folder / "defs.yaml",
        sources=sources,
        description="Tales & poems: «short» ones.",
        recipe=["non_empty"],
        shards={"shard_rows": 20, "val_permille": 300},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DAGSTER_HOME", raising=False)
        assert run_cli("build", folder / "defs.yaml", "--root", folder / "out", "--workers", 0) == 0
    return folder / "out/tiny"


@pytest.fixture
def card(place):
    return DatasetCard((place / "datasheet/README.md").read_text(encoding="utf-8"))


@pytest.fixture
def manifest(place):
    return json.loads((place / "corpus/_MANIFEST.json").read_text())


def rows_below(text, heading):
    """Return the cells of the table below a heading."""
    part = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_hub_reads_the_front_matter(card):
    data = card.data.to_dict()
    assert data["pretty_name"] == "tiny"
    assert data["license"] == "other"
    assert data["language"] == ["de", "en"]
    assert data["size_categories"] == ["n<1K"]
    assert data["configs"] == [{"config_name": "default", "data_files": "shard-*.parquet"}]


def test_the_splits_are_those_of_the_corpus(card, manifest, place):
    splits = pl.concat(pl.read_parquet(place / "corpus" / s["name"]) for s in manifest["shards"])
    expected = {name: splits.filter(pl.col("split") == name).height for name in ("train", "val")}
    found = {s["name"]: s["num_examples"] for s in card.data.dataset_info["splits"]}
    assert found == expected
    assert sum(found.values()) == manifest["n_docs"] == 42
    assert f"{expected['train']} train, {expected['val']} val" in card.text


def test_the_numbers_are_the_manifests(card, manifest):
    text = card.text
    assert f"{manifest['n_docs']} documents" in text
    assert f"in {manifest['n_shards']} shards" in text
    assert manifest["config_sha256"][:12] in text
    pii = {kind: int(number) for kind, number in rows_below(text, "Personal data replaced")}
    assert pii == dict.fromkeys(DEFAULT_KINDS, 0) | {"email": 2, "ip": 2}
    assert (manifest["pii"]["emails"], manifest["pii"]["ips"]) == (2, 2)


def test_the_funnel_goes_from_what_came_in_to_what_is_left(card, manifest):
    rows = rows_below(card.text, "From raw documents to the corpus")
    numbers = [(what, reason, int(number)) for what, reason, number, _ in rows]
    assert numbers == [
        ("came in", "", 44),
        ("dropped by filtered_docs", "`non_empty/empty_text`", 1),
        ("dropped by deduped_docs", "`dedup/exact_duplicate`", 1),
        ("kept", "", 42),
    ]
    assert manifest["filters"] == {"non_empty": 1}
    assert manifest["dedup"]["exact_dropped"] == 1


def test_every_source_and_licence_has_a_line_with_its_counts(card, place):
    assert rows_below(card.text, "Sources and licences") == [
        ["[Tales, old](https://example.org/t)", "CC0-1.0", "41", "40"],
        ["[poems](https://example.org/p)", "ISC", "1", "0"],
        ["[poems](https://example.org/p)", "MIT", "2", "2"],
    ]
    ledger = [json.loads(x) for x in (place / "ledger/LEDGER.jsonl").read_text().splitlines()]
    assert [entry["licenses"] for entry in ledger] == [{"CC0-1.0": 41}, {"ISC": 1, "MIT": 2}]


def test_the_parameters_are_those_of_the_spec(card):
    block = re.search(r"## Parameters\n\n```yaml\n(.*?)```", card.text, re.DOTALL)[1]
    parameters = yaml.safe_load(block)
    assert parameters["recipe"] == ["non_empty"]
    assert parameters["shards"]["shard_rows"] == 20
    assert parameters["pii"]["kinds"] == list(DEFAULT_KINDS)
    assert parameters["pii"]["mode"] == "tags"


def test_it_holds_the_description_and_no_text_and_no_path(card, place):
    assert "Tales & poems: «short» ones." in card.text
    assert "Tale 1" not in card.text
    assert str(place.parent) not in card.content


def card_of(tmp_path, **change):
    manifest = {"dataset": "tiny", "version": "1", "n_docs": 0, "n_shards": 1}
    manifest |= {"config_sha256": "0" * 64, "pii": {"emails": 0}}
    values = {
        "description": "",
        "manifest": manifest | change.pop("manifest", {}),
        "ledger": [],
        "scrubbed": table_of(tmp_path, []),
        "funnel": Funnel(0, (), 0),
        "languages": [],
        "splits": {},
        "parameters": {"pii": {"kinds": ["email"]}},
    }
    return DatasheetInput(**values | change)


@pytest.mark.parametrize(
    ("n_docs", "size"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**9 - 1, "100M<n<1B"), (10**9, "n>1B")],
)
def test_the_size_class_is_the_hubs(tmp_path, n_docs, size):
    card = card_of(tmp_path, manifest={"n_docs": n_docs})
    assert front_matter(card)["size_categories"] == [size]
    assert len(SIZES) == 7


def test_an_empty_corpus_has_a_card_too(tmp_path):
    card = DatasetCard(datasheet_text(card_of(tmp_path)))
    assert card.data.to_dict()["dataset_info"] == {"splits": []}
    assert "| came in |  | 0 | 0.0% |" in card.text


def test_only_the_kinds_that_were_looked_for_are_counted(tmp_path):
    text = datasheet_text(card_of(tmp_path))
    assert rows_below(text, "Personal data replaced") == [["email", "0"]]


def test_an_unknown_language_and_an_empty_split_are_not_listed(tmp_path):
    card = card_of(tmp_path, languages=["de", "und"], splits={"train": 3, "val": 0})
    data = front_matter(card)
    assert data["language"] == ["de"]
    assert data["dataset_info"]["splits"] == [{"name": "train", "num_examples": 3}]


def test_a_funnel_shows_shares_and_json():
    funnel = Funnel(2000, (Drop("filtered_docs", "length/too_short", 500),), 1500)
    assert "| dropped by filtered_docs | `length/too_short` | 500 | 25.0% |" in funnel.markdown()
    assert "| kept |  | 1,500 | 75.0% |" in funnel.markdown()
    assert funnel.to_json() == {
        "in": 2000,
        "dropped": {"filtered_docs/length/too_short": 500},
        "kept": 1500,
    }
