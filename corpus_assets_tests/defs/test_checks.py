"""Every blocking check fails by a real cause, and then nothing below it is made."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pyarrow.parquet as pq
import pytest

from corpus_assets.core.files import digest_of_file
from corpus_assets.defs.io_managers import TABLES
from corpus_assets.shards.layout import SCHEMA
from corpus_assets_tests.defs.scenario import build, build_tales, failed_checks, key, made, spec_of

SECRET = "Unrepeatable words"

BELOW = {
    "raw_docs": {"filtered_docs", "ledger", "deduped_docs", "scrubbed_docs", "corpus", "datasheet"},
    "filtered_docs": {"deduped_docs", "scrubbed_docs", "corpus", "datasheet"},
    "deduped_docs": {"scrubbed_docs", "corpus", "datasheet"},
    "scrubbed_docs": {"corpus", "datasheet"},
    "corpus": {"datasheet"},
}


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    """Forty tales and a good corpus of them."""
    folder, words = tmp_path_factory.mktemp("good"), random.Random(7)
    tales = [{"id": f"{n:03}", "text": f"{SECRET} {words.random()}"} for n in range(40)]
    build_tales(folder, tales)
    return folder


@pytest.fixture
def base(good, tmp_path) -> Path:
    """A copy of the good corpus, to be edited."""
    return shutil.copytree(good, tmp_path / "base")


def audit_again(base: Path, asset: str) -> dg.ExecuteInProcessResult:
    """Run the checks of an asset as it lies there, and make what is below it."""
    below = [key(name) for name in BELOW[asset]]
    selection = dg.AssetSelection.checks_for_assets(key(asset)) | dg.AssetSelection.assets(*below)
    return build(spec_of(), base, selection=selection)


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON file in place."""
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize("asset", TABLES)
def test_counts_that_do_not_add_up_block_what_stands_below(base, asset):
    def one_more(table: Any) -> None:
        table["ranks"][0]["counts"]["kept"] += 1

    edit_json(base / f"corpora/tales/{asset}/_TABLE.json", one_more)
    result = audit_again(base, asset)
    assert failed_checks(result) == {"counts_add_up"}
    assert not result.success
    assert made(result) == set()


def test_a_row_that_breaks_the_schema_blocks_the_corpus(base):
    folder = base / "corpora/tales/scrubbed_docs"
    (path,) = folder.glob("tales/*.parquet")
    table = pq.read_table(path)
    frame = pl.DataFrame(table).with_columns(pii_redactions=pl.lit(7, pl.Int32))
    pq.write_table(frame.to_arrow().cast(table.schema), path)

    def relist(listed: Any) -> None:
        file = listed["ranks"][0]["files"]["kept"]
        file |= {"bytes": path.stat().st_size, "sha256": digest_of_file(path)}

    edit_json(folder / "_TABLE.json", relist)
    result = audit_again(base, "scrubbed_docs")
    assert failed_checks(result) == {"schema"}
    assert made(result) == set()


class Shards:
    """The shards of a corpus, to be edited by hand."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "corpora/tales/corpus"
        self.names = sorted(path.name for path in self.folder.glob("*.parquet"))

    def edit(self, change: Callable[[pl.DataFrame], pl.DataFrame], *, shard: int = 0) -> None:
        """Change one shard's rows, and say so in the manifest, so that only the law is broken."""
        name = self.names[shard]
        path = self.folder / name
        frame = change(pl.DataFrame(pq.read_table(path)))
        pq.write_table(frame.to_arrow().cast(SCHEMA), path)

        def relist(manifest: Any) -> None:
            entry = manifest["shards"][shard]
            manifest["n_docs"] += frame.height - entry["rows"]
            entry |= {"sha256": digest_of_file(path), "rows": frame.height}

        edit_json(self.folder / "_MANIFEST.json", relist)


def flip_a_byte(base: Path) -> None:
    shards = Shards(base)
    path = shards.folder / shards.names[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def name_no_language(base: Path) -> None:
    Shards(base).edit(lambda frame: frame.with_columns(lang=pl.lit(" ")))


def turn_the_order(base: Path) -> None:
    Shards(base).edit(lambda frame: frame.reverse())


def swap_the_splits(base: Path) -> None:
    other = pl.when(pl.col("split") == "val").then(pl.lit("train")).otherwise(pl.lit("val"))
    Shards(base).edit(lambda frame: frame.with_columns(split=other))


def put_all_into_val(base: Path) -> None:
    shards = Shards(base)
    for number in range(len(shards.names)):
        shards.edit(lambda frame: frame.with_columns(split=pl.lit("val")), shard=number)


def claim_another_licence(base: Path) -> None:
    Shards(base).edit(lambda frame: frame.with_columns(license_spdx=pl.lit("Zlib")))


def lose_a_document(base: Path) -> None:
    Shards(base).edit(lambda frame: frame.head(1))


FAULTS = {
    "manifest": flip_a_byte,
    "schema": name_no_language,
    "ids_sorted_unique": turn_the_order,
    "split_rule": swap_the_splits,
    "val_share": put_all_into_val,
    "sources_in_ledger": claim_another_licence,
    "counts_add_up": lose_a_document,
}


@pytest.mark.parametrize("check", FAULTS)
def test_a_corpus_that_fails_a_check_gets_no_datasheet(base, check):
    card = base / "corpora/tales/datasheet/README.md"
    card.unlink()
    FAULTS[check](base)
    result = audit_again(base, "corpus")
    assert check in failed_checks(result)
    assert made(result) == set()
    assert not card.exists()
    said = [[e.description, e.metadata] for e in result.get_asset_check_evaluations()]
    assert SECRET not in str(said)


@pytest.mark.parametrize("asset", ["raw_docs", "corpus"])
def test_checks_that_hold_let_pass_what_stands_below(base, asset):
    result = audit_again(base, asset)
    assert result.success
    assert failed_checks(result) == set()
    assert made(result) == BELOW[asset]


def test_one_check_of_a_corpus_can_be_run_alone(base):
    selection = dg.AssetSelection.checks(dg.AssetCheckKey(key("corpus"), "split_rule"))
    result = build(spec_of(), base, selection=selection)
    assert [e.check_name for e in result.get_asset_check_evaluations()] == ["split_rule"]
