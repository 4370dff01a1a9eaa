"""A step must be importable by workers and have a version."""

import json
import sys

import pydantic
import pytest

from corpus_assets.core.errors import CorpusError
from corpus_assets.core.plan import Step
from corpus_assets_tests.core import steps
from corpus_assets_tests.core.steps import Noted, shout


def nested():
    def inner(frame, config, counts):
        return frame

    return inner


def f(frame, config, counts):
    return frame


@pytest.mark.parametrize("function", [lambda frame, config, counts: frame, nested()])
def test_what_workers_cannot_import_is_no_step(function):
    with pytest.raises(CorpusError, match="workers cannot import it; move it to the top level"):
        Step(function)


def test_a_function_of_the_main_module_is_no_step(monkeypatch):
    monkeypatch.setattr(f, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "f", f, raising=False)
    with pytest.raises(CorpusError, match=r"__main__.f is not a function of an importable module"):
        Step(f)


def test_a_module_that_states_no_version_makes_no_step():
    with pytest.raises(CorpusError, match="states no VERSION; add `VERSION = 1`"):
        Step(json.dumps)


def test_a_step_is_identified_by_name_version_and_config(monkeypatch, tmp_path):
    step = Step(shout, Noted(log=tmp_path))
    name, version, config = step.identity()
    assert (name, version) == ("corpus_assets_tests.core.steps.shout", 1)
    assert config == {"log": str(tmp_path), "word": ""}
    assert Step(shout).identity() == [name, 1, None]
    monkeypatch.setattr(steps, "VERSION", 2)
    assert step.identity() == [name, 2, config]


def test_a_config_is_frozen_and_takes_no_unknown_key(tmp_path):
    config = Noted(log=tmp_path)
    with pytest.raises(pydantic.ValidationError):
        config.word = "x"
    with pytest.raises(pydantic.ValidationError):
        Noted(log=tmp_path, world="x")
