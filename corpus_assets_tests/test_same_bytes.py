"""Same input, same bytes: what `corpus-assets build` makes depends on the documents alone."""

import os
import random
import shutil
from pathlib import Path

import pytest

from corpus_assets.core.run import INLINE_BYTES
from corpus_assets.core.table import Table
from corpus_assets_tests.kill import (
    command,
    dagster_build,
    finish,
    finished,
    outputs,
    redone,
    reused,
    write_lines,
    write_spec,
)
from corpus_assets_tests.test_resume import small_inputs

LINES = [f"part-{i:02d}" for i in range(8)]


def inputs(folder):
    """Documents in three formats, some twice, some bad, more than one process would take alone."""
    small_inputs(folder)
    write_lines(folder, LINES, 1_200_000)
    assert sum(path.stat().st_size for path in folder.rglob("*")) > INLINE_BYTES
    return write_spec(folder)


def made(spec, root, workers, **environment):
    """Build, and give the digest of every file that the promise is about."""
    log = Path(f"{root}.log")
    finish(dagster_build(spec, root, workers), log, **environment)
    return outputs(root / "tales")


def moved(folder, target):
    """The same inputs elsewhere, created in another order and at another time."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    random.Random(1).shuffle(files)
    for path in files:
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        os.utime(copy, ns=(1_000_000_007, 1_000_000_007 * len(copy.name)))
    return target / "defs.yaml"


KINDS = (
    "raw_docs/rejected/",
    "raw_docs/columns/",
    "filtered_docs/excluded/",
    "deduped_docs/excluded/",
    "minhash_signatures/",
    "minhash_buckets/",
    "minhash_clusters/",
    "scrubbed_docs/lines/",
    "scrubbed_docs/_TABLE.json",
    "corpus/shard-",
    "corpus/_MANIFEST.json",
    "ledger/LEDGER.jsonl",
    "datasheet/README.md",
)


def check_covers(folder):
    """Assert that the compared files are of every kind, so that equality says something."""
    names = outputs(folder)
    assert [kind for kind in KINDS if not any(name.startswith(kind) for name in names)] == []
    assert Table.open(folder / "scrubbed_docs").counts["pii/email"] > 0


def test_workers_place_times_hash_seed_and_order_of_creation_change_no_byte(tmp_path):
    spec = inputs(tmp_path / "here")
    first = made(spec, tmp_path / "a", 0, PYTHONHASHSEED="1")
    check_covers(tmp_path / "a" / "tales")
    other = moved(tmp_path / "here", tmp_path / "else" / "where")
    environment = {
        "PYTHONHASHSEED": "77",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
        "POLARS_MAX_THREADS": "3",
    }
    assert made(other, tmp_path / "b", 3, **environment) == first


def test_inputs_that_were_copied_elsewhere_take_over_what_was_made(tmp_path):
    spec, log = small_inputs(tmp_path / "here"), tmp_path / "log"
    finish(command("build", str(spec), str(tmp_path / "root"), 0), log)
    first = outputs(tmp_path / "root" / "tales")
    before = finished(tmp_path / "root" / "tales")
    other = moved(tmp_path / "here", tmp_path / "else" / "where")
    ranks = reused(finish(dagster_build(other, tmp_path / "root", 0), log))
    by_file = ("raw_docs", "filtered_docs", "index", "minhash_signatures", "deduped_docs")
    others = {"scrubbed_docs": 5, "removals": 1, "minhash_buckets": 14, "minhash_clusters": 1}
    assert ranks == dict.fromkeys(by_file, 5) | others
    # The command makes the bytes of the plain functions, and two text files beside them.
    assert first.items() < outputs(tmp_path / "root" / "tales").items()
    assert not redone(before, tmp_path / "root" / "tales")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_number_of_workers_changes_a_byte(tmp_path):
    spec = inputs(tmp_path / "in")
    roots = {workers: made(spec, tmp_path / str(workers), workers) for workers in (0, 1, 2, 3)}
    assert [workers for workers in roots if roots[workers] != roots[0]] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_hash_seed_changes_a_byte(tmp_path):
    spec = inputs(tmp_path / "in")
    seeds = {seed: made(spec, tmp_path / seed, 2, PYTHONHASHSEED=seed) for seed in "0123"}
    assert [seed for seed in seeds if seeds[seed] != seeds["0"]] == []
