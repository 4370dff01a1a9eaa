"""Files are whole or absent; one writer a folder."""

import hashlib
import os
import threading
from contextlib import suppress

import pytest

from corpus_assets.core.errors import LockedError
from corpus_assets.core.files import (
    atomic_path,
    canonical_json,
    digest_of_file,
    digest_of_json,
    link_or_copy,
    locked,
    read_json,
    remove_tree,
    temporary_path,
    write_json,
    write_text,
)


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def test_a_file_appears_whole_under_its_name(tmp_path):
    path = tmp_path / "deep" / "file"
    with atomic_path(path) as temporary:
        temporary.write_bytes(b"half")
        assert not path.exists()
    assert path.read_bytes() == b"half"
    assert names_in(path.parent) == ["file"]


def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with suppress(KeyError), atomic_path(path) as temporary:
        temporary.write_bytes(b"new")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


def test_a_temporary_name_is_hidden_and_names_its_process(tmp_path):
    assert temporary_path(tmp_path / "a").name == f".a.{os.getpid()}.tmp"


def test_a_text_that_is_there_already_is_not_written_again(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "é\n")
    os.utime(path, (1, 1))
    write_text(path, "é\n")
    assert path.stat().st_mtime == 1
    write_text(path, "e\n")
    assert path.read_bytes() == b"e\n"
    assert path.stat().st_mtime > 1


def test_json_is_read_as_it_was_written(tmp_path):
    value = {"b": [1, None, "é"], "a": {}}
    write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == value
    (tmp_path / "a.json").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="utf-8"):
        read_json(tmp_path / "a.json")


def test_equal_values_have_one_json_text_and_one_digest():
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'
    assert digest_of_json({"b": 1, "a": 2}) == digest_of_json({"a": 2, "b": 1})
    assert digest_of_json([]) == hashlib.sha256(b"[]").hexdigest()


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path):
    data = bytes(range(256)) * 10_000
    (tmp_path / "a").write_bytes(data)
    assert digest_of_file(tmp_path / "a") == hashlib.sha256(data).hexdigest()


def test_a_link_is_removed_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "absent")
    assert names_in(tmp_path) == ["kept"]
    assert names_in(tmp_path / "kept") == ["file"]
    remove_tree(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_second_name_has_the_same_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"x"


def test_a_second_writer_is_refused_until_the_first_is_done(tmp_path):
    folder = tmp_path / "deep" / "t"
    with locked(folder):
        with pytest.raises(LockedError, match="another run is writing here; wait for it") as error:
            locked(folder).__enter__()
        assert str(folder) in str(error.value)
        assert isinstance(error.value, BlockingIOError)
    with locked(folder):
        pass
    assert names_in(folder) == []


def test_the_lock_holds_against_another_thread_too(tmp_path):
    errors = []

    def enter():
        try:
            locked(tmp_path).__enter__()
        except LockedError as error:
            errors.append(error)

    with locked(tmp_path):
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    assert len(errors) == 1
