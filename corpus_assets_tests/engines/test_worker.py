"""What a worker sends back, without a process."""

import pickle

from corpus_assets.core.errors import InputError
from corpus_assets.engines.worker import dumps_error, run
from corpus_assets_tests.engines import work


def test_a_result_comes_back():
    assert pickle.loads(run(pickle.dumps((work.square, 3)))) == (True, 9)


def test_an_error_comes_back_with_type_message_and_trace():
    good, error = pickle.loads(run(pickle.dumps((work.square, None))))
    assert not good
    assert isinstance(error, TypeError)
    assert "in square" in error.__notes__[0]


def test_a_task_that_cannot_be_loaded_is_an_error():
    good, error = pickle.loads(run(b"not a pickle"))
    assert (good, type(error)) == (False, pickle.UnpicklingError)


def test_an_error_of_ours_survives_the_way():
    good, error = pickle.loads(dumps_error(InputError("a.jsonl: bad.")))
    assert (good, type(error), str(error)) == (False, InputError, "a.jsonl: bad.")
