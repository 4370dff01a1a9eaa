"""`run_plan`: what is finished is not made again, what is published is whole, counts add up."""

import json
import os
import shutil

import pyarrow as pa
import pytest

from corpus_assets.core.errors import InputError, LawError, LockedError, TableError, TargetError
from corpus_assets.core.files import locked, read_json
from corpus_assets.core.plan import Plan, RawFile, Step
from corpus_assets.core.receipt import RECEIPTS
from corpus_assets.core.run import STAGES, run_plan
from corpus_assets.core.schema import schema_of
from corpus_assets.core.table import TABLE_FILE, Table
from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.core import steps
from corpus_assets_tests.core.steps import (
    WORDS,
    Noted,
    double,
    drop_word,
    fail_on,
    lose_one,
    mapped,
    ran,
    raw,
    read_and_append,
    refuse_word,
    shout,
    shouted,
    texts,
    tree,
    write_lines,
)

INLINE = LocalEngine(0)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def folder(tmp_path):
    return write_lines(tmp_path / "in", a="one|two", b="three", c="four|five|six")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def read(folder, log, out, **options):
    return run_plan(raw(folder, log, **options), out, INLINE)


def later(path, **change):
    """Give a file another time of change."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))


def test_a_rank_is_a_file_with_its_counts_and_its_source(folder, log, out):
    table = read(folder, log, out)
    assert texts(table) == ["one", "two", "three", "four", "five", "six"]
    assert [rank.name for rank in table.ranks] == ["a.txt", "b.txt", "c.txt"]
    assert [rank.counts["kept"] for rank in table.ranks] == [2, 1, 3]
    assert table.ranks[0].source["name"] == "a.txt"
    assert table.ranks[0].source["bytes"] == 7
    assert Table.open(out) == table


def test_a_second_run_runs_nothing_and_changes_no_file(folder, log, out):
    first = read(folder, log, out)
    before = tree(out)
    assert ran(log) == ["a.txt", "b.txt", "c.txt"]
    assert read(folder, log, out).digest == first.digest
    assert ran(log) == []
    assert tree(out) == before


def test_only_the_missing_ranks_are_made_after_a_stop(folder, log, out):
    source = read(folder, log, out / "raw")
    ran(log)
    table = out / "copied"
    plan = Plan("copied", source, Step(fail_on, Noted(log=log, word="b.txt")), schema=WORDS)
    with pytest.raises(InputError, match="refused"):
        run_plan(plan, table, INLINE)
    assert ran(log) == ["a.txt", "b.txt"]
    with pytest.raises(TableError, match="no table here"):
        Table.open(table)
    assert not list(table.rglob("*.tmp"))
    made = {p: p.stat().st_mtime_ns for p in table.rglob("*.parquet")}
    assert len(made) == 1
    with pytest.raises(InputError):
        run_plan(plan, table, INLINE)
    assert ran(log) == ["b.txt"]
    assert {p: p.stat().st_mtime_ns for p in table.rglob("*.parquet")} == made


def test_a_touched_input_is_digested_again_and_not_made_again(folder, log, out):
    digest = read(folder, log, out).digest
    made = tree(out)
    ran(log)
    later(folder / "b.txt")
    assert read(folder, log, out).digest == digest
    assert ran(log) == []
    changed = {name for name, state in tree(out).items() if state != made[name]}
    assert changed == {f"{RECEIPTS}/b.txt.json"}


def test_an_input_with_other_bytes_of_equal_size_is_made_again_alone(folder, log, out):
    read(folder, log, out)
    ran(log)
    (folder / "b.txt").write_text("THREE")
    later(folder / "b.txt")
    assert texts(read(folder, log, out)) == ["one", "two", "THREE", "four", "five", "six"]
    assert ran(log) == ["b.txt"]


def test_an_output_edited_at_equal_size_is_made_again(folder, log, out):
    table = read(folder, log, out)
    ran(log)
    path = table.path(table.ranks[1].files["kept"])
    good = path.read_bytes()
    path.write_bytes(good[:-9] + bytes([good[-9] ^ 1]) + good[-8:])
    later(path)
    assert read(folder, log, out).digest == table.digest
    assert ran(log) == ["b.txt"]
    assert path.read_bytes() == good


@pytest.mark.parametrize("cut", [True, False])
def test_an_output_that_is_cut_or_gone_is_made_again(folder, log, out, cut):
    table = read(folder, log, out)
    ran(log)
    path = table.path(table.ranks[0].files["kept"])
    good = path.read_bytes()
    if cut:
        os.truncate(path, len(good) - 1)
    else:
        path.unlink()
    read(folder, log, out)
    assert ran(log) == ["a.txt"]
    assert path.read_bytes() == good


def test_a_touched_output_is_kept(folder, log, out):
    table = read(folder, log, out)
    ran(log)
    later(table.path(table.ranks[0].files["kept"]))
    read(folder, log, out)
    assert ran(log) == []


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"files": 3}'])
def test_a_receipt_that_cannot_be_read_is_none(folder, log, out, content):
    read(folder, log, out)
    ran(log)
    (out / RECEIPTS / "c.txt.json").write_bytes(content)
    read(folder, log, out)
    assert ran(log) == ["c.txt"]


def test_a_changed_config_of_one_source_redoes_that_source_alone(folder, log, out):
    read(folder, log, out)
    ran(log)
    table = read(folder, log, out, words={"b.txt": "!"})
    assert ran(log) == ["b.txt"]
    assert texts(table)[2] == "three!"


def test_another_version_config_or_schema_redoes_everything(folder, log, out, monkeypatch):
    source = read(folder, log, out / "raw")
    every = ["a.txt", "b.txt", "c.txt"]
    plan = shouted(source, log)
    ran(log)
    run_plan(plan, out / "t", INLINE)
    assert ran(log) == every
    run_plan(plan, out / "t", INLINE)
    assert ran(log) == []
    monkeypatch.setattr(steps, "VERSION", 2)
    run_plan(plan, out / "t", INLINE)
    assert ran(log) == every
    run_plan(plan.map_batches(drop_word, Noted(log=log, word="TWO")), out / "t", INLINE)
    assert ran(log) == every
    run_plan(plan.map_batches(drop_word, Noted(log=log, word="ONE")), out / "t", INLINE)
    assert ran(log) == every
    only_text = schema_of({"text": (pa.large_string(), "Text.")})
    run_plan(plan.map_batches(shout, None, schema=only_text), out / "t", INLINE)
    assert ran(log) == every


def test_a_stage_that_gives_its_old_bytes_stops_the_cascade(folder, log, out):
    source = read(folder, log, out / "raw")
    run_plan(shouted(source, log), out / "t", INLINE)
    (folder / "a.txt").write_text("one\ntwo\n")
    ran(log)
    again = read(folder, log, out / "raw")
    assert ran(log) == ["a.txt"]
    assert again.digest == source.digest
    run_plan(shouted(again, log), out / "t", INLINE)
    assert ran(log) == []


def test_the_same_data_elsewhere_resumes_the_same_run(folder, log, out, tmp_path):
    source = read(folder, log, out / "raw")
    run_plan(shouted(source, log), out / "t", INLINE)
    ran(log)
    shutil.copytree(out, tmp_path / "moved")
    moved = Table.open(tmp_path / "moved" / "raw")
    assert run_plan(shouted(moved, log), tmp_path / "moved" / "t", INLINE).digest
    assert ran(log) == []


def test_the_old_table_stays_readable_until_the_new_one_is_published(folder, log, out):
    source = read(folder, log, out / "raw")
    old = run_plan(shouted(source, log), out / "t", INLINE)
    write_lines(folder, a="1|2", b="3")
    source = read(folder, log, out / "raw")
    bad = Plan("shouted", source, Step(fail_on, Noted(log=log, word="c.txt")), schema=WORDS)
    with pytest.raises(InputError):
        run_plan(bad, out / "t", INLINE)
    assert Table.open(out / "t").digest == old.digest
    assert texts(Table.open(out / "t")) == ["ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX"]


def test_a_failing_audit_publishes_nothing(folder, log, out):
    old = read(folder, log, out)
    write_lines(folder, a="bad")
    audit = Step(refuse_word, Noted(log=log, word="bad"))
    with pytest.raises(InputError, match=r"a.txt: holds a word"):
        read(folder, log, out, audit=audit)
    assert texts(Table.open(out)) == texts(old)
    assert ran(log) == ["a.txt", "a.txt", "b.txt", "c.txt"]
    with pytest.raises(InputError):
        read(folder, log, out, audit=audit)
    assert ran(log) == []


def test_files_of_former_versions_go_once_the_new_table_is_there(folder, log, out):
    read(folder, log, out)
    (out / ".a.txt.next.parquet.999999.tmp").touch()
    (out / RECEIPTS / "gone.txt.json").touch()
    (out / "mine.txt").write_text("kept")
    (folder / "b.txt").unlink()
    write_lines(folder, a="uno")
    table = read(folder, log, out)
    listed = {record.path for record in table.files()}
    receipts = {f"{RECEIPTS}/{rank.name}.json" for rank in table.ranks}
    assert set(tree(out)) == listed | receipts | {TABLE_FILE, "mine.txt"}
    assert len(table.ranks) == 2


@pytest.mark.parametrize("name", ["notes.txt", "x.00000000.parquet"])
def test_a_folder_that_is_not_ours_is_left_alone(folder, log, out, name):
    out.mkdir()
    (out / name).write_text("mine")
    before = tree(out)
    with pytest.raises(TargetError, match=r"not a table of ours.*choose another root") as error:
        read(folder, log, out)
    assert str(out) in str(error.value)
    assert isinstance(error.value, FileExistsError)
    assert tree(out) == before
    assert ran(log) == []


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_target_that_is_no_folder_is_left_alone(folder, log, out, kind, tmp_path):
    if kind == "file":
        out.write_text("mine")
    else:
        (tmp_path / "elsewhere").mkdir()
        out.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TargetError, match="is not a folder; choose another root"):
        read(folder, log, out)
    assert out.is_symlink() or out.read_text() == "mine"


def test_two_writers_are_refused_by_the_lock(folder, log, out):
    with locked(out), pytest.raises(LockedError, match="another run is writing here"):
        read(folder, log, out)
    assert list(out.iterdir()) == []
    assert read(folder, log, out).rows == 6


@pytest.mark.parametrize("function", [lose_one, double])
def test_a_step_that_loses_or_doubles_a_document_is_refused(folder, log, out, function):
    source = read(folder, log, out / "raw")
    with pytest.raises(LawError, match=r"rank a\.txt: counts do not add up") as error:
        run_plan(mapped(source, function), out / "t", INLINE)
    assert "one" not in str(error.value)
    assert not (out / "t" / TABLE_FILE).exists()
    assert not list((out / "t").rglob("*.parquet"))
    assert not list((out / "t").rglob("*.tmp"))


def test_dropped_rows_lie_beside_the_kept_ones_with_rule_and_reason(folder, log, out):
    source = read(folder, log, out / "raw")
    table = run_plan(mapped(source, drop_word, Noted(log=log, word="two")), out / "t", INLINE)
    assert texts(table) == ["one", "three", "four", "five", "six"]
    rank = table.ranks[0]
    assert rank.files["excluded"].path.startswith("excluded/a.txt.")
    (frame,) = table.frames(rank, "excluded")
    assert frame.select("text", "drop_rule", "drop_reason").rows() == [("two", "words", "banned")]
    assert rank.counts == {"in": 2, "kept": 1, "dropped/words/banned": 1}
    assert "excluded" not in table.ranks[1].files


def test_what_a_step_drops_no_later_step_sees(folder, log, out):
    source = read(folder, log, out / "raw")
    plan = mapped(source, drop_word, Noted(log=log, word="three")).map_batches(shout, None)
    table = run_plan(plan, out / "t", INLINE)
    assert texts(table) == ["ONE", "TWO", "FOUR", "FIVE", "SIX"]
    assert table.counts["shouted"] == 5
    assert table.ranks[1].files["kept"].rows == 0


def test_rejected_records_lie_in_their_own_file(folder, log, out):
    write_lines(folder, b="three||x")
    table = read(folder, log, out)
    record = table.ranks[1].files["rejected"]
    lines = table.path(record).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"file": "b.txt", "line": 2, "reason": "blank"}]
    assert (record.rows, table.ranks[1].counts["rejected/blank"]) == (1, 1)


def test_an_input_that_changes_while_it_is_read_is_refused(tmp_path, log, out):
    folder = write_lines(tmp_path, a="one")
    config = Noted(log=log)
    files = (RawFile(folder / "a.txt", "a.txt", config),)
    plan = Plan("words", files, Step(read_and_append), schema=WORDS)
    with pytest.raises(InputError, match="changed while it was read; run again when it is whole"):
        run_plan(plan, out, INLINE)
    assert not (out / TABLE_FILE).exists()


def test_a_plan_of_a_plan_runs_it_first_and_resumes_alike(folder, log, out):
    plan = shouted(raw(folder, log), log)
    table = run_plan(plan, out, INLINE)
    assert texts(table)[0] == "ONE"
    assert Table.open(out / STAGES / "words").rows == 6
    ran(log)
    assert run_plan(plan, out, INLINE).digest == table.digest
    assert ran(log) == []
    write_lines(folder, c="four")
    assert run_plan(shouted(raw(folder, log), log), out, INLINE).rows == 4
    assert ran(log) == ["c.txt", "c.txt"]


def test_progress_tells_what_was_made_and_what_was_there(folder, log, out):
    told = []
    run_plan(raw(folder, log), out, INLINE, told.append)
    assert (told[-1].total, told[-1].reused, told[-1].done, told[-1].rows) == (3, 0, 3, 6)
    write_lines(folder, a="one")
    run_plan(raw(folder, log), out, INLINE, told.append)
    assert (told[-1].total, told[-1].reused, told[-1].done, told[-1].rows) == (3, 2, 1, 5)


def test_no_path_of_the_machine_and_no_time_stands_in_a_table(folder, out, log, tmp_path):
    read(folder, log, out)
    value = (out / TABLE_FILE).read_text()
    assert str(tmp_path) not in value
    assert "mtime" not in value


def test_a_receipt_names_what_made_the_rank_and_what_came_out(folder, log, out):
    table = read(folder, log, out)
    receipt = read_json(out / RECEIPTS / "a.txt.json")
    assert receipt["counts"] == dict(table.ranks[0].counts)
    assert receipt["files"]["kept"]["sha256"] == table.ranks[0].files["kept"].sha256
    assert receipt["files"]["kept"]["path"] == f"a.txt.{receipt['fingerprint'][:8]}.parquet"
    assert receipt["source"]["sha256"] == table.ranks[0].source["sha256"]


def test_a_source_changed_after_it_was_opened_is_refused(folder, log, out):
    source = read(folder, log, out / "raw")
    path = source.path(source.ranks[0].files["kept"])
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    with pytest.raises(TableError, match=r"changed after it was made. Materialize words again"):
        run_plan(shouted(source, log), out / "t", INLINE)


def test_workers_give_the_same_table_as_this_process(folder, log, out):
    source = read(folder, log, out / "raw")
    inline = run_plan(shouted(source, log), out / "inline", INLINE)
    with LocalEngine(2) as engine:
        every = engine.map_unordered
        engine.map_unordered = lambda function, items, inline=False: every(function, items)
        workers = run_plan(shouted(source, log), out / "workers", engine)
    assert workers.digest == inline.digest
    assert texts(workers) == texts(inline)
    assert [rank.number for rank in workers.ranks] == [0, 1, 2]


def test_a_reader_without_a_table_or_file_is_told_so(folder, log, out):
    plan = raw(folder, log)
    with pytest.raises(Exception, match="has no table to read; use `open` or `table`"):
        run_plan(Plan("t", plan.source, Step(fail_on), schema=WORDS), out, INLINE)
