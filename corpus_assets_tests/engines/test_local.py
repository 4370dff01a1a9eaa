"""The local engine: the same results as a loop, and never a worker left behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from corpus_assets.core.errors import InputError, WorkerError
from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.engines import work

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def engine():
    with LocalEngine(2) as engine:
        yield engine


def lives(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def pids(folder):
    return [int(path.stem) for path in folder.glob("*.pid")]


def wait_until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def workers_of(engine):
    return [worker.process.pid for worker in engine._workers]


def test_workers_give_what_this_process_gives(engine):
    expected = sorted(LocalEngine(0).map_unordered(work.square, range(20)))
    assert sorted(engine.map_unordered(work.square, range(20))) == expected
    assert sorted(engine.map_unordered(work.square, range(20), inline=True)) == expected
    assert list(engine.map_unordered(work.square, [])) == []


def test_workers_serve_one_plan_after_another(engine):
    list(engine.map_unordered(work.square, range(4)))
    first = workers_of(engine)
    list(engine.map_unordered(work.square, range(4)))
    assert workers_of(engine) == first
    assert len(first) == 2


def test_items_are_taken_only_as_workers_are_free(engine):
    taken = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    results = engine.map_unordered(work.square, items())
    next(results)
    assert len(taken) < 8
    assert len(list(results)) == 49


def test_functions_run_with_one_thread_of_kernels_in_workers(engine):
    found = list(engine.map_unordered(work.threads, range(4)))
    assert {(polars, arrow) for polars, arrow, _ in found} == {(1, 1)}
    assert os.getpid() not in {pid for *_, pid in found}


def test_inline_work_starts_no_worker():
    engine = LocalEngine(3)
    assert next(engine.map_unordered(work.threads, [0], inline=True))[2] == os.getpid()
    assert workers_of(engine) == []
    assert next(LocalEngine(0).map_unordered(work.threads, [0]))[2] == os.getpid()


def test_no_more_workers_start_than_there_are_items():
    with LocalEngine(5) as engine:
        list(engine.map_unordered(work.square, [1]))
        assert len(workers_of(engine)) == 1


def test_the_first_error_ends_all_workers_and_is_raised_with_its_type(tmp_path):
    with LocalEngine(3) as engine:
        items = [(tmp_path, number) for number in range(3)]
        with pytest.raises(InputError) as error:
            list(engine.map_unordered(work.refuse_once_all_work, items))
        assert str(error.value) == "item 2: refused."
        assert "refuse_once_all_work" in "".join(error.value.__notes__)
        assert workers_of(engine) == []
        assert len(pids(tmp_path)) == 2
        assert not any(lives(pid) for pid in pids(tmp_path))
        assert sorted(engine.map_unordered(work.square, [2])) == [4]


def test_an_error_that_cannot_be_pickled_says_the_same():
    with LocalEngine(1) as engine, pytest.raises(RuntimeError, match="of this function alone"):
        list(engine.map_unordered(work.raise_what_cannot_be_pickled, [1]))


def test_a_result_that_cannot_be_pickled_is_an_error():
    with LocalEngine(1) as engine, pytest.raises(Exception, match="pickle"):
        list(engine.map_unordered(work.return_what_cannot_be_pickled, [1]))


def test_a_killed_worker_is_an_error_that_says_run_again():
    with LocalEngine(1) as engine:
        with pytest.raises(WorkerError, match=r"code -9 .*; run again: finished ranks are kept"):
            list(engine.map_unordered(work.die, [1]))
        assert workers_of(engine) == []
        assert list(engine.map_unordered(work.square, [3])) == [9]


def test_a_worker_killed_while_idle_is_the_same_error():
    with LocalEngine(1) as engine:
        list(engine.map_unordered(work.square, [1]))
        (pid,) = workers_of(engine)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not lives(pid))
        with pytest.raises(WorkerError, match="code -9"):
            list(engine.map_unordered(work.square, [1]))


def test_no_worker_is_left_when_the_results_are_dropped(tmp_path):
    engine = LocalEngine(2)
    results = engine.map_unordered(work.sleep_after, [(tmp_path, 0), (tmp_path, 1), (tmp_path, 2)])
    next(results)
    started = workers_of(engine)
    assert all(lives(pid) for pid in started)
    results.close()
    assert workers_of(engine) == []
    assert not any(lives(pid) for pid in started)


def test_no_worker_is_left_after_close_or_an_error_of_the_caller():
    with suppress(KeyError), LocalEngine(1) as engine:
        for _ in engine.map_unordered(work.square, [1]):
            started = workers_of(engine)
            raise KeyError
    assert len(started) == 1
    assert not any(lives(pid) for pid in started)
    engine.close()


def test_workers_die_when_their_parent_is_killed(tmp_path):
    command = [sys.executable, "-m", "corpus_assets_tests.engines.parent", str(tmp_path)]
    parent = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_until(lambda: len(pids(tmp_path)) == 2)
        assert all(lives(pid) for pid in pids(tmp_path))
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(lives(pid) for pid in pids(tmp_path)))


def test_the_size_is_the_number_of_cores_by_default():
    assert LocalEngine()._size == len(os.sched_getaffinity(0))
