"""Ticks of the rebuild schedule and of the sensor that watches the inputs."""

import datetime as dt
import os
from pathlib import Path

import dagster as dg
import pytest

from corpus_assets.defs.corpus import build_corpus
from corpus_assets_tests.defs.scenario import TALES, spec_of, write_lines

LAUNCH, WAIT = "launch", "inputs changed; waiting until they are still"
UNCHANGED = "inputs unchanged"


class Watch:
    """The sensor of a corpus, with its cursor from look to look."""

    def __init__(self, base: Path) -> None:
        self.repository = build_corpus(spec_of(), base).get_repository_def()
        (self.sensor,) = self.repository.sensor_defs
        self.cursor: str | None = None

    def look(self) -> str:
        """Return what one look came to."""
        context = dg.build_sensor_context(cursor=self.cursor, repository_def=self.repository)
        tick = self.sensor.evaluate_tick(context)
        self.cursor = tick.cursor
        if not tick.run_requests:
            return tick.skip_message or ""
        (request,) = tick.run_requests
        assert request.run_key is None
        assert request.tags["corpus_assets/corpus"] == "tales"
        return LAUNCH


@pytest.fixture
def file(tmp_path) -> Path:
    path = write_lines(tmp_path / "tales/one.jsonl", TALES)
    settle(path, 1)
    return path


def settle(path: Path, second: int) -> None:
    """Set the time of a file: two writes can fall into one tick of the clock."""
    os.utime(path, (second, second))


def test_the_first_look_waits_the_second_launches_and_then_nothing_changes(tmp_path, file):
    watch = Watch(tmp_path)
    assert [watch.look() for _ in range(4)] == [WAIT, LAUNCH, UNCHANGED, UNCHANGED]


def test_a_file_that_is_being_copied_waits_until_it_is_whole(tmp_path, file):
    watch = Watch(tmp_path)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]
    copied = tmp_path / "tales/two.jsonl"
    for second, size in ((2, 10), (3, 20), (4, 30)):
        copied.write_text("x" * size)
        settle(copied, second)
        assert watch.look() == WAIT
    assert [watch.look(), watch.look()] == [LAUNCH, UNCHANGED]


def test_a_changed_file_of_the_same_size_is_seen(tmp_path, file):
    watch = Watch(tmp_path)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]
    settle(file, 9)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]


def test_inputs_that_change_back_are_built_again(tmp_path, file):
    watch = Watch(tmp_path)
    before = file.read_text()
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]
    file.write_text(before + before)
    settle(file, 2)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]
    file.write_text(before)
    settle(file, 1)
    assert [watch.look(), watch.look(), watch.look()] == [WAIT, LAUNCH, UNCHANGED]


def test_a_change_that_is_taken_back_before_it_settled_launches_nothing(tmp_path, file):
    watch = Watch(tmp_path)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]
    settle(file, 2)
    assert watch.look() == WAIT
    settle(file, 1)
    assert [watch.look(), watch.look()] == [UNCHANGED, UNCHANGED]


def test_a_missing_input_skips_with_the_reason_and_comes_back_unchanged(tmp_path, file):
    watch = Watch(tmp_path)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]
    away = file.rename(tmp_path / "away")
    assert "matches no file" in watch.look()
    away.rename(file)
    assert watch.look() == UNCHANGED


def test_a_missing_input_from_the_start_waits_twice_once_it_is_there(tmp_path):
    watch = Watch(tmp_path)
    assert "matches no file" in watch.look()
    write_lines(tmp_path / "tales/one.jsonl", TALES)
    assert [watch.look(), watch.look()] == [WAIT, LAUNCH]


def test_a_tick_of_the_schedule_launches_the_rebuild(tmp_path):
    spec = spec_of(schedule={"cron": "0 3 * * *", "timezone": "Europe/Berlin"})
    repository = build_corpus(spec, tmp_path).get_repository_def()
    (schedule,) = repository.schedule_defs
    assert schedule.execution_timezone == "Europe/Berlin"
    context = dg.build_schedule_context(
        scheduled_execution_time=dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC),
        repository_def=repository,
    )
    tick = schedule.evaluate_tick(context)
    assert schedule.job_name == "tales_rebuild"
    assert len(tick.run_requests or []) == 1


def test_a_corpus_without_a_schedule_has_none(tmp_path):
    assert build_corpus(spec_of(), tmp_path).get_repository_def().schedule_defs == []
