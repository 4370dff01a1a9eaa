"""Stop anywhere, lose nothing: killed builds leave what was whole, and go on where they were.

`CORPUS_ASSETS_KILLS` says how often the random tests kill (3 by default; 25 in the slow form).
"""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.core.run import INLINE_BYTES
from corpus_assets_tests.kill import (
    DAGSTER_STAGES,
    REPOSITORY,
    STAGES,
    command,
    dagster_build,
    finish,
    finished,
    outputs,
    ranks_finished,
    redone,
    reused,
    stop_in,
    versions,
    write_lines,
    write_spec,
)

KILLS = int(os.environ.get("CORPUS_ASSETS_KILLS", "3"))
SLOW_KILLS = int(os.environ.get("CORPUS_ASSETS_KILLS", "25"))
SEED = int(os.environ.get("CORPUS_ASSETS_SEED", "1"))


def small_inputs(folder, salt="", version="1"):
    """A few documents in every format, repeated ones and bad ones among them."""
    write_lines(folder, ["a", "b"], 12_000)
    write_lines(folder, ["c"], 12_000, salt)
    for name in ("more", "columns"):
        (folder / "data" / name).mkdir()
    packed = gzip.compress(b'{"text": "twice"}\n{"text": 7}\n', mtime=0)
    (folder / "data" / "more" / "z.jsonl.gz").write_bytes(packed)
    table = pa.table({"text": ["one two", "twice", None], "n": [1, 2, 3]})
    pq.write_table(table, folder / "data" / "columns" / "t.parquet")
    return write_spec(folder, version, shard_rows=4)


def large_inputs(folder, salt="", version="1"):
    """Enough that every stage but the smallest runs in workers."""
    names = [f"part-{i:02d}" for i in range(12)]
    small_inputs(folder)
    (folder / "data" / "lines" / "c.jsonl").unlink()
    write_lines(folder, names, 1_150_000)
    write_lines(folder, names[5:7], 1_150_000, salt)
    return write_spec(folder, version, shard_rows=300)


def failures_of(old, new, then, folder, moments):
    """Kill builds at file operations; give how many were killed and what was wrong after which."""
    folder.mkdir()
    given = [spec and str(spec) for spec in (old, new, then)]
    done = subprocess.run(
        command("kill_at_events", *given, str(folder), moments),
        cwd=REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [entry["event"] for entry in told if entry["failed"]]
    assert not failed, f"after a kill at file operations {failed}:\n{done.stderr}"
    return sum(entry["killed"] for entry in told)


CASES = {
    "an empty folder": 2,
    "an old build, changed input": 3,
    "an old build, input changed and changed back": 2,
    "an old build, another version": 5,
}
"""What was there before a build is killed, and what comes next; how often the short form kills."""


def builds_of(case, tmp_path):
    """Old, killed and next build of a case."""
    old = small_inputs(tmp_path / "a")
    if case == "an old build, another version":
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        new = write_spec(tmp_path / "b", "2", shard_rows=4)
    else:
        new = small_inputs(tmp_path / "b", salt="changed", version="2")
    if case == "an empty folder":
        return None, new, new
    return old, new, old if case.endswith("back") else new


@pytest.mark.parametrize("case", CASES)
def test_a_build_killed_at_a_file_operation_goes_on(case, tmp_path):
    moments = max(CASES[case] * KILLS // 3, 1)
    assert failures_of(*builds_of(case, tmp_path), tmp_path / "roots", moments) == moments


@pytest.mark.slow
@pytest.mark.timeout(4000)
@pytest.mark.parametrize("case", CASES)
def test_a_build_killed_at_any_file_operation_at_all_goes_on(case, tmp_path):
    assert failures_of(*builds_of(case, tmp_path), tmp_path / "roots", 0) > 20


def plain_build(spec, root, workers=2):
    return command("build", str(spec), str(root), workers)


def chosen_stages(stages, number, chance):
    """So many stages in order, each as often as the next."""
    order = list(stages) * (number // len(stages))
    order += chance.sample(list(stages), number % len(stages))
    return sorted(order, key=stages.index)


def in_place(folder, *whole):
    """Assert that each table and the corpus is there, and is of one of some complete builds."""
    found = versions(folder)
    for name in whole[0]:
        assert name in found, f"{name} is gone"
        assert found[name] in {digests.get(name) for digests in whole}, f"{name} is of no build"


def test_a_build_with_workers_killed_again_and_again_goes_on_to_the_same_bytes(tmp_path):
    spec, chance = large_inputs(tmp_path / "in"), random.Random(SEED)
    assert sum(path.stat().st_size for path in (tmp_path / "in").rglob("*")) > INLINE_BYTES
    finish(plain_build(spec, tmp_path / "whole", 0), tmp_path / "log")
    folder, most = tmp_path / "root" / "tales", 0
    for stage in chosen_stages(STAGES, KILLS, chance):
        before = finished(folder)
        processes, _ = stop_in(
            stage, plain_build(spec, tmp_path / "root"), folder, tmp_path / "log", chance
        )
        most = max(most, processes)
        versions(folder)
        assert not redone(before, folder), stage
    before = finished(folder)
    finish(plain_build(spec, tmp_path / "root"), tmp_path / "log")
    assert most == 3, "no kill met a build at work with its workers"
    assert not redone(before, folder)
    assert outputs(folder) == outputs(tmp_path / "whole" / "tales")


@pytest.mark.parametrize(
    "signals",
    [
        (signal.SIGKILL, signal.SIGTERM),
        pytest.param((signal.SIGINT, signal.SIGTERM, signal.SIGINT), marks=pytest.mark.slow),
    ],
)
def test_a_stopped_rebuild_leaves_the_old_tables_and_corpus_and_goes_on(signals, tmp_path):
    old = large_inputs(tmp_path / "a")
    new = large_inputs(tmp_path / "b", salt="changed", version="2")
    chance, root, folder = random.Random(SEED), tmp_path / "root", tmp_path / "root" / "tales"
    finish(plain_build(new, tmp_path / "whole"), tmp_path / "log")
    finish(plain_build(old, root), tmp_path / "log")
    # What a writer killed between its temporary file and the name leaves.
    (folder / "ledger").mkdir()
    (folder / "ledger" / ".LEDGER.jsonl.12345.tmp").write_text("{")
    whole = versions(folder), versions(tmp_path / "whole" / "tales")
    stages = chosen_stages((*STAGES[:2], STAGES[4], *STAGES[7:-2]), len(signals), chance)
    for stage, number in zip(stages, signals, strict=True):
        build = dagster_build(new, root)
        processes, code = stop_in(stage, build, folder, tmp_path / "log", chance, number)
        said = (tmp_path / "log").read_text()
        assert processes > 1, f"{stage}: {said}"
        assert code in ({-9} if number == signal.SIGKILL else {130}), said
        in_place(folder, *whole)
    before = finished(folder)
    said = reused(finish(dagster_build(new, root), tmp_path / "log"))
    assert not redone(before, folder)
    assert {name: n for name, n in said.items() if n > ranks_finished(before)[name]} == {}
    made = outputs(folder)
    assert sorted(path for path in made if path.startswith(("ledger", "datasheet"))) == [
        "datasheet/README.md",
        "ledger/LEDGER.jsonl",
    ]
    del made["datasheet/README.md"], made["ledger/LEDGER.jsonl"]
    assert made == outputs(tmp_path / "whole" / "tales")


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("old", [False, True], ids=["empty", "old build in place"])
def test_a_build_killed_at_a_random_moment_goes_on_to_the_same_bytes(old, tmp_path):
    spec = large_inputs(tmp_path / "in")
    changed = large_inputs(tmp_path / "new", salt="changed", version="2") if old else spec
    chance, log = random.Random(SEED), tmp_path / "log"
    finish(dagster_build(changed, tmp_path / "whole"), log)
    whole = [versions(tmp_path / "whole" / "tales")]
    if old:
        finish(dagster_build(spec, tmp_path / "old"), log)
        whole.insert(0, versions(tmp_path / "old" / "tales"))
    missed = []
    for stage in chosen_stages((*STAGES, *DAGSTER_STAGES), SLOW_KILLS, chance):
        root, folder = tmp_path / "root", tmp_path / "root" / "tales"
        if old:
            shutil.copytree(tmp_path / "old", root)
        processes, _ = stop_in(stage, dagster_build(changed, root), folder, log, chance)
        missed += [stage] * (processes == 0)
        if old:
            in_place(folder, *whole)
        before = finished(folder)
        said = reused(finish(dagster_build(changed, root), log))
        assert not redone(before, folder), stage
        if not old:
            finished_before = ranks_finished(before)
            assert said == {name: finished_before[name] for name in said}, stage
        assert outputs(folder) == outputs(tmp_path / "whole" / "tales"), stage
        shutil.rmtree(root)
    # The last stages may be over before they are seen.
    assert len(missed) <= SLOW_KILLS // 5, missed


@pytest.mark.parametrize("name", [".README.md.1.tmp", ".README.md.4194304.tmp"])
def test_a_text_file_that_was_being_written_is_no_foreign_file(name, tmp_path):
    import dagster as dg

    from corpus_assets.defs.io_managers import FILE, text_io
    from corpus_assets.defs.resources import CorpusStore

    @dg.asset(io_manager_key="text_io", metadata={FILE: "README.md"})
    def card():
        return "whole"

    (tmp_path / "card").mkdir()
    (tmp_path / "card" / name).write_text("half")
    resources = {"corpora": CorpusStore(root=str(tmp_path), workers=0), "text_io": text_io}
    assert dg.materialize([card], resources=resources).success
    assert {p.name: p.read_text() for p in Path(tmp_path / "card").iterdir()} == {
        "README.md": "whole"
    }
