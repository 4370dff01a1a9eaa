"""§7: a reader sees the old version or the new one, whatever happens to the writer."""

import errno
import fcntl
import os
import random
import shutil
import threading

import pytest

from corpus_assets.shards import read_shards
from corpus_assets_tests.shards.children import (
    CAN_DENY,
    call,
    converse,
    version_of,
    write_version,
)
from corpus_assets_tests.shards.scenario import MANIFEST, doc, names_in, tree, write

needs_filter = pytest.mark.skipif(not CAN_DENY, reason="needs a system call filter")
# With exchange; a file system without; a kernel without.
SYSTEMS = [
    pytest.param(0, id="exchange"),
    pytest.param(errno.EINVAL, id="two-renames", marks=needs_filter),
]
PARTS = ["all", "no manifest", "no shard", "manifest only", "nothing"]


def versions(tmp_path, **places):
    """Put versions where a crash has left them: `out`, `tmp` or `old` to a number."""
    for place, number in places.items():
        write_version(tmp_path / "made", number)
        (tmp_path / "made").rename(tmp_path / path_of(place))
    return tmp_path / "corpus"


def path_of(place):
    return "corpus" if place == "out" else f"corpus.{place}"


def leave(part, directory):
    """Keep a part of a version, as a half-done deletion or a half-done build does."""
    shards = sorted(directory.glob("shard-*"))
    if part in {"no manifest", "nothing"}:
        (directory / MANIFEST).unlink()
    if part == "no shard":
        shards[0].unlink()
    if part in {"manifest only", "nothing"}:
        for shard in shards:
            shard.unlink()


def assert_reader_sees(number, tmp_path):
    before = tree(tmp_path)
    for out in (tmp_path / "corpus", str(tmp_path / "corpus")):
        assert version_of(out) == number
    assert tree(tmp_path) == before


def assert_next_write_ends_it(tmp_path):
    write_version(tmp_path / "corpus", 7)
    assert version_of(tmp_path / "corpus") == 7
    assert names_in(tmp_path) == ["corpus"]


@pytest.mark.parametrize("part", PARTS)
def test_after_a_crash_while_building_the_old_version_is_read(part, tmp_path):
    versions(tmp_path, out=1, tmp=2)
    leave(part, tmp_path / "corpus.tmp")
    assert_reader_sees(1, tmp_path)
    assert_next_write_ends_it(tmp_path)


@pytest.mark.parametrize("part", PARTS)
def test_after_a_crash_between_the_renames_the_old_version_is_read(part, tmp_path):
    versions(tmp_path, old=1, tmp=2)
    leave(part, tmp_path / "corpus.tmp")
    assert_reader_sees(1, tmp_path)
    assert_next_write_ends_it(tmp_path)


@pytest.mark.parametrize("part", PARTS)
def test_after_a_crash_before_old_is_deleted_the_new_version_is_read(part, tmp_path):
    versions(tmp_path, out=2, old=1)
    leave(part, tmp_path / "corpus.old")
    assert_reader_sees(2, tmp_path)
    assert_next_write_ends_it(tmp_path)


@pytest.mark.parametrize("part", PARTS)
def test_after_a_crash_behind_the_exchange_the_new_version_is_read(part, tmp_path):
    versions(tmp_path, out=2, tmp=1)
    leave(part, tmp_path / "corpus.tmp")
    assert_reader_sees(2, tmp_path)
    assert_next_write_ends_it(tmp_path)


def test_an_old_version_without_a_tmp_is_read_too(tmp_path):
    versions(tmp_path, old=1)
    assert_reader_sees(1, tmp_path)
    assert_next_write_ends_it(tmp_path)


def test_the_next_write_renames_old_back_before_it_builds(tmp_path):
    out = versions(tmp_path, old=1, tmp=2)
    inode = (tmp_path / "corpus.old").stat().st_ino
    outcome = call("write_to_a_full_disk", str(out), 3, 100)
    assert outcome["errno"] == errno.EFBIG
    assert names_in(tmp_path) == ["corpus"]
    assert out.stat().st_ino == inode
    assert version_of(out) == 1


def test_a_failed_write_has_deleted_what_an_older_crash_left_at_old(tmp_path):
    out = versions(tmp_path, out=2, old=1)
    assert call("write_to_a_full_disk", str(out), 3, 100)["errno"] == errno.EFBIG
    assert names_in(tmp_path) == ["corpus"]
    assert version_of(out) == 2


@pytest.mark.parametrize(
    "places",
    [{"old": 1, "tmp": 2}, {"out": 2, "old": 1}, {"out": 2, "tmp": 1}, {"old": 1}],
    ids=str,
)
def test_a_rejected_run_leaves_the_state_after_a_crash_alone(places, tmp_path):
    out = versions(tmp_path, **places)
    before = tree(tmp_path)
    with pytest.raises(ValueError, match="bad-doc"):
        write([doc("a"), doc("bad-doc", lang="")], out)
    with pytest.raises(ValueError, match="shard_rows"):
        write([doc("a")], out, shard_rows=0)
    assert tree(tmp_path) == before


def test_a_reader_takes_old_when_out_has_no_manifest(tmp_path):
    out = versions(tmp_path, old=1)
    out.mkdir()
    assert_reader_sees(1, tmp_path)
    (out / "shard-00000-of-00001.parquet").write_bytes(b"half")
    assert_reader_sees(1, tmp_path)


def test_the_input_may_be_the_output_that_a_crash_left_at_old(tmp_path):
    out = versions(tmp_path, old=1, tmp=2)
    write(read_shards(out), out, shard_rows=3)
    assert_reader_sees(1, tmp_path)
    assert names_in(tmp_path) == ["corpus"]


def test_a_reader_does_not_take_old_when_out_has_a_broken_manifest(tmp_path):
    out = versions(tmp_path, out=2, old=1)
    (out / MANIFEST).write_bytes(b"{")
    with pytest.raises(ValueError):  # noqa: PT011
        read_shards(out)


def test_a_reader_does_not_take_old_when_a_shard_of_out_is_missing(tmp_path):
    out = versions(tmp_path, out=2, old=1)
    next(out.glob("shard-00001-*")).unlink()
    with pytest.raises((FileNotFoundError, ValueError)):
        read_shards(out)


@pytest.mark.parametrize("place", ["tmp", "old without manifest", "nothing"])
def test_a_reader_takes_nothing_else(place, tmp_path):
    out = versions(tmp_path, tmp=1)
    if place == "old without manifest":
        (tmp_path / "corpus.tmp").rename(tmp_path / "corpus.old")
        (tmp_path / "corpus.old" / MANIFEST).unlink()
    elif place == "nothing":
        shutil.rmtree(tmp_path / "corpus.tmp")
    with pytest.raises(FileNotFoundError):
        read_shards(out)


@pytest.mark.parametrize(
    "code", [0, *(pytest.param(code, marks=needs_filter) for code in (errno.EINVAL, errno.ENOSYS))]
)
def test_a_version_is_replaced_with_exchange_and_without(code, tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    assert call("write_with", str(out), 1, code) == {"raised": None}
    assert version_of(out) == 1
    assert names_in(tmp_path) == ["corpus"]


@needs_filter
@pytest.mark.parametrize("place", ["nothing", "empty directory"])
def test_a_first_version_needs_no_exchange(place, tmp_path):
    if place == "empty directory":
        (tmp_path / "corpus").mkdir()
    assert call("write_with", str(tmp_path / "corpus"), 1, errno.EINVAL) == {"raised": None}
    assert version_of(tmp_path / "corpus") == 1
    assert names_in(tmp_path) == ["corpus"]


@needs_filter
def test_a_failing_second_rename_undoes_the_first(tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    before = tree(tmp_path)
    outcome = call("write_with_failing_second_rename", str(out), 1)
    assert outcome["reached"] == [False], "the old version was to be moved away first, in one try"
    assert outcome["same"], outcome
    after = tree(tmp_path)
    assert after == before


@pytest.mark.parametrize("code", SYSTEMS)
def test_a_failure_to_delete_the_old_version_is_no_error(code, tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    outcome = call("write_where_nothing_can_be_deleted", str(out), 1, code)
    assert outcome["refused"] > 0
    assert outcome["raised"] is None
    assert_reader_sees(1, tmp_path)
    assert names_in(tmp_path) != ["corpus"]
    assert_next_write_ends_it(tmp_path)


@pytest.mark.parametrize("code", SYSTEMS)
def test_a_writer_killed_at_a_random_moment_leaves_one_version(code, tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    moments = random.Random(code)
    delays = [moments.uniform(0.0, 0.09) for _ in range(10)]
    kills = 0
    for was_killed in converse("kill_writers", str(out), delays, code):
        assert was_killed
        kills += 1
        assert_reader_sees(version_of(out), tmp_path)
        assert set(names_in(tmp_path)) <= {"corpus", "corpus.tmp", "corpus.old"}
    assert kills == len(delays)
    assert_next_write_ends_it(tmp_path)


@pytest.mark.parametrize("code", SYSTEMS)
@pytest.mark.parametrize("there", ["nothing", "version"])
def test_a_writer_killed_before_any_file_operation_leaves_one_version(there, code, tmp_path):
    out = tmp_path / "corpus"
    if there == "version":
        write_version(out, 0)
    seen = []
    for how, number in converse("kill_at_each_event", str(out), code):
        if how == "ended":
            assert number == 0
            break
        if there == "version":
            seen.append(version_of(out))
            assert_reader_sees(seen[-1], tmp_path)
            write_version(out, 0)
            assert names_in(tmp_path) == ["corpus"]
        else:
            seen.append(int(out.exists()))
            if out.exists():
                assert_reader_sees(1, tmp_path)
                shutil.rmtree(out)
            shutil.rmtree(tmp_path / "corpus.tmp", ignore_errors=True)
            assert names_in(tmp_path) == []
    assert seen == sorted(seen)
    assert set(seen) <= {0, 1}
    assert 0 in seen
    assert version_of(out) == 1
    assert names_in(tmp_path) == ["corpus"]


@pytest.mark.parametrize("code", SYSTEMS)
@pytest.mark.parametrize("there", ["nothing", "version"])
def test_a_failing_file_operation_is_raised_unchanged_and_leaves_one_version(there, code, tmp_path):
    out = tmp_path / "corpus"
    if there == "version":
        write_version(out, 0)
    allowed = {0, 1} if there == "version" else {None, 1}
    failures, faults = 0, []
    for outcome in converse("fail_at_each_event", str(out), code):
        if not outcome["reached"]:
            (tmp_path / "corpus.stop").touch()
            assert outcome["raised"] is None
            continue
        failures += 1
        beside = set(outcome["beside"])
        if outcome["raised"] is None:
            good = outcome["version"] == 1
        else:
            good = outcome["same"] and outcome["version"] in allowed
            good = good and "corpus.tmp" not in beside
            good = good and (outcome["version"] == 1 or "corpus.old" not in beside)
        if not good:
            faults.append(outcome)
        if there == "version":
            write_version(out, 0)
            assert names_in(tmp_path) == ["corpus"]
        else:
            shutil.rmtree(out, ignore_errors=True)
            shutil.rmtree(tmp_path / "corpus.tmp", ignore_errors=True)
    assert failures > 0
    assert faults == []


@pytest.mark.parametrize("places", [{"out": 1, "tmp": 2}, {"old": 1, "tmp": 2}], ids=str)
def test_a_live_writer_is_not_recovered_from(places, tmp_path):
    out = versions(tmp_path, **places)
    before = tree(tmp_path)
    descriptor = os.open(tmp_path / "corpus.tmp", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            write_version(out, 3)
        assert tree(tmp_path) == before
    finally:
        os.close(descriptor)
    assert_next_write_ends_it(tmp_path)


def test_a_reader_that_a_replacement_overtakes_never_yields_rows_of_both(tmp_path):
    out = tmp_path / "corpus"
    for taken in range(6):
        write_version(out, 1)
        reader = read_shards(out)
        texts = [next(reader).text for _ in range(min(taken, 5))]
        write_version(out, 2)
        try:
            texts += [document.text for document in reader]
        except (OSError, ValueError):
            pass
        else:
            assert len(texts) == 5
        assert {text[0] for text in texts} <= {"1"}


def test_readers_beside_a_busy_writer_see_whole_versions_or_raise(tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    ended = threading.Event()
    failures = []

    def write_on():
        try:
            for number in range(1, 40):
                write_version(out, number)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
        finally:
            ended.set()

    writer = threading.Thread(target=write_on)
    writer.start()
    seen = []
    while not ended.is_set():
        texts = []
        try:
            for document in read_shards(out):
                texts.append(document.text.split()[0])  # noqa: PERF401
        except (OSError, ValueError):
            pass
        else:
            assert len(texts) == 5
        assert len(set(texts)) <= 1, texts
        seen += texts[:1]
    writer.join()
    assert failures == []
    assert seen == sorted(seen, key=int)
    assert version_of(out) == 39
