"""What is tried again and what is not; and what people read when a step fails."""

import os
import signal
import threading
import time
from pathlib import Path

import dagster as dg

from corpus_assets_tests.defs.scenario import TALES, build, key, made, spec_of, write_lines


def retries(result: dg.ExecuteInProcessResult) -> int:
    """Return how often a step was tried again."""
    return sum(event.is_step_up_for_retry for event in result.all_events)


def failure_texts(result: dg.ExecuteInProcessResult) -> list[str]:
    """Return what the UI says of each step that failed."""
    texts = []
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            shown = data.user_failure_data
            texts.append(shown.description if shown else data.error.message)
    return texts


def test_bad_input_is_not_retried_and_the_message_is_what_the_ui_shows(tmp_path):
    write_lines(tmp_path / "tales/one.jsonl", [{"id": "a"}, {"id": "b"}])
    result = build(spec_of(), tmp_path)
    assert not result.success
    assert retries(result) == 0
    (text,) = failure_texts(result)
    assert "source tales: 2 of 2 records are no documents" in text


def test_a_missing_input_is_not_retried_and_named(tmp_path):
    result = build(spec_of(), tmp_path)
    assert retries(result) == 0
    assert "'tales/*.jsonl' matches no file" in failure_texts(result)[0]


def test_an_edited_table_is_not_retried_and_named(tmp_path):
    write_lines(tmp_path / "tales/one.jsonl", TALES)
    assert build(spec_of(), tmp_path).success
    (path,) = (tmp_path / "corpora/tales/filtered_docs/tales").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-1])
    result = build(spec_of(), tmp_path, selection=dg.AssetSelection.assets(key("deduped_docs")))
    assert retries(result) == 0
    assert str(path) in failure_texts(result)[0]
    assert "Materialize filtered_docs again" in failure_texts(result)[0]


def test_an_error_of_the_system_is_retried_as_often_as_the_corpus_says(tmp_path):
    write_lines(tmp_path / "tales/one.jsonl", TALES)
    folder = tmp_path / "corpora/tales/raw_docs"
    folder.mkdir(parents=True)
    (folder / "_receipts").write_text("a file where a folder must be")
    result = build(spec_of(), tmp_path)
    assert not result.success
    assert retries(result) == 2


def test_a_step_whose_worker_was_killed_is_retried_and_then_succeeds(tmp_path):
    texts = (f"Tale {n}: {'the mill turns, ' * 60}" for n in range(10_000))
    write_lines(
        tmp_path / "tales/one.jsonl", ({"id": str(n), "text": t} for n, t in enumerate(texts))
    )
    killed: list[int] = []
    killer = threading.Thread(target=lambda: killed.append(kill_first_worker()))
    killer.start()
    selection = dg.AssetSelection.assets(key("raw_docs"))
    result = build(spec_of(), tmp_path, selection=selection, workers=1)
    killer.join()
    assert killed
    assert result.success
    assert retries(result) == 1
    assert made(result) == {"raw_docs"}


def kill_first_worker() -> int:
    """Wait for a worker of this process and kill it; return its id."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if workers := own_workers():
            os.kill(workers[0], signal.SIGKILL)
            return workers[0]
        time.sleep(0.01)
    message = "no worker was started"
    raise AssertionError(message)


def own_workers() -> list[int]:
    """Return the ids of the worker processes that this process started."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    ids = [int(child) for path in children for child in path.read_text().split()]
    return [i for i in ids if b"corpus_assets.engines.worker" in command_line(i)]


def command_line(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
