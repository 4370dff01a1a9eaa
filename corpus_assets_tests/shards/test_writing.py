"""§6: in which order a writer works, what it refuses, and what an error leaves."""

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest

from corpus_assets.shards import read_shards
from corpus_assets_tests.shards.children import CAN_DENY, call, version_of, write_version
from corpus_assets_tests.shards.scenario import (
    MANIFEST,
    doc,
    docs_of,
    files_of,
    names_in,
    tree,
    write,
)

REFUSED = (FileExistsError, ValueError)
BAD_ARGUMENTS = {
    "dataset": "A",
    "version": "",
    "shard_rows": 0,
    "val_permille": 1001,
    "row_group_bytes": 0,
    "filters": {"": 1},
    "dedup": {"unknown": 1},
    "ledger_ref": " ",
    "config_sha256": "0",
}


class Unread:
    """Documents that must not be asked for."""

    def __iter__(self):
        return self

    def __next__(self):
        pytest.fail("a document was read")


def assert_target_refused(out, tmp_path, errors=REFUSED):
    before = tree(tmp_path)
    with pytest.raises(errors):
        write(Unread(), out)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("argument", BAD_ARGUMENTS)
def test_arguments_are_checked_before_a_document_is_read(argument, tmp_path):
    before = tree(tmp_path)
    with pytest.raises(ValueError, match=argument):
        write(Unread(), tmp_path / "a" / "corpus", **{argument: BAD_ARGUMENTS[argument]})
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["x.tmp", "x.old", ".tmp", ".old", "x.old.tmp", "..", "a/..", ".", ""]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_a_reserved_name_is_a_value_error(kind, name, tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert_target_refused(kind(name), tmp_path, ValueError)


@pytest.mark.parametrize("name", ["x.tmp", "x.old"])
def test_a_reserved_name_is_refused_where_there_is_a_corpus_too(name, tmp_path):
    write(docs_of("a"), tmp_path / "x")
    (tmp_path / "x").rename(tmp_path / name)
    assert_target_refused(tmp_path / name, tmp_path, ValueError)


def test_the_root_has_no_name_so_it_is_refused():
    with pytest.raises(ValueError):  # noqa: PT011
        write(Unread(), "/")


@pytest.mark.parametrize("name", ["x.tmp.a", "tmp", "old", "x.tmpl", "...", "\u00fc \U0001f600"])
def test_other_names_are_not_reserved(name, tmp_path):
    write(docs_of("a"), tmp_path / name)
    assert names_in(tmp_path) == [name]
    assert [document.text for document in read_shards(tmp_path / name)] == ["a"]


@pytest.mark.parametrize("value", [None, 7, ["x"]])
def test_a_target_that_is_no_path_is_an_error(value):
    with pytest.raises((ValueError, TypeError)):
        write(Unread(), value)


def test_a_target_may_be_a_string_a_path_or_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(docs_of("a"), str(tmp_path / "string"))
    write(docs_of("a"), tmp_path / "path")
    write(docs_of("a"), "relative")
    write(docs_of("a"), Path("deep/relative"))
    assert (
        files_of("string") == files_of("path") == files_of("relative") == files_of("deep/relative")
    )
    assert names_in(tmp_path) == ["deep", "path", "relative", "string"]


def test_a_symbolic_link_is_refused_even_to_a_corpus(tmp_path):
    write(docs_of("a"), tmp_path / "real")
    (tmp_path / "corpus").symlink_to("real")
    assert_target_refused(tmp_path / "corpus", tmp_path)


def test_a_symbolic_link_to_nothing_is_refused(tmp_path):
    (tmp_path / "corpus").symlink_to("nothing")
    assert_target_refused(tmp_path / "corpus", tmp_path)


def test_a_symbolic_link_to_an_empty_directory_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "corpus").symlink_to("real")
    assert_target_refused(tmp_path / "corpus", tmp_path)


def test_a_link_above_the_target_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write(docs_of("a"), tmp_path / "link" / "corpus")
    write(docs_of("b"), tmp_path / "link" / "corpus")
    assert names_in(tmp_path / "real") == ["corpus"]
    assert (tmp_path / "link").is_symlink()


def test_a_file_is_refused(tmp_path):
    (tmp_path / "corpus").write_bytes(b"precious")
    assert_target_refused(tmp_path / "corpus", tmp_path)


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "corpus")
    assert_target_refused(tmp_path / "corpus", tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "thesis.docx",
        ".hidden",
        "_SUCCESS",
        "shard-0-of-1.parquet",
        "shard-00000-of-00001.parquet.bak",
        "x-shard-00000-of-00001.parquet",
        "shard-00000-of-00001.parquet\n",
        "manifest.json",
    ],
)
def test_a_directory_with_foreign_files_and_no_manifest_is_refused(name, tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "shard-00000-of-00001.parquet").write_bytes(b"")
    (tmp_path / "corpus" / name).write_bytes(b"precious")
    assert_target_refused(tmp_path / "corpus", tmp_path)


@pytest.mark.parametrize("name", ["photos", "shard-00000-of-00001.parquet"])
def test_a_directory_with_a_directory_and_no_manifest_is_refused(name, tmp_path):
    (tmp_path / "corpus" / name).mkdir(parents=True)
    assert_target_refused(tmp_path / "corpus", tmp_path)


def test_an_empty_directory_is_replaced(tmp_path):
    (tmp_path / "corpus").mkdir()
    write(docs_of("a"), tmp_path / "corpus")
    assert names_in(tmp_path) == ["corpus"]
    assert len(list(read_shards(tmp_path / "corpus"))) == 1


def test_a_directory_with_only_shards_is_replaced(tmp_path):
    (tmp_path / "corpus").mkdir()
    for index in range(3):
        (tmp_path / "corpus" / f"shard-0000{index}-of-00003.parquet").write_bytes(b"half")
    write(docs_of("a"), tmp_path / "corpus")
    assert names_in(tmp_path / "corpus") == [MANIFEST, "shard-00000-of-00001.parquet"]
    assert names_in(tmp_path) == ["corpus"]


@pytest.mark.parametrize("manifest", [b"", b"{", b"\xff", b"[]", b'{"format": 2}'])
def test_a_directory_with_a_manifest_is_replaced_even_a_broken_one(manifest, tmp_path):
    (tmp_path / "corpus" / "notes").mkdir(parents=True)
    (tmp_path / "corpus" / "notes" / "mine.txt").write_bytes(b"goes")
    (tmp_path / "corpus" / "link").symlink_to(tmp_path)
    (tmp_path / "corpus" / MANIFEST).write_bytes(manifest)
    write(docs_of("a"), tmp_path / "corpus")
    assert names_in(tmp_path / "corpus") == [MANIFEST, "shard-00000-of-00001.parquet"]
    assert names_in(tmp_path) == ["corpus"]


def test_a_smaller_corpus_leaves_no_shard_of_a_larger_one(tmp_path):
    write(docs_of(*"abcdef"), tmp_path / "corpus", shard_rows=1)
    write(docs_of(*"ab"), tmp_path / "fresh", shard_rows=1)
    write(docs_of(*"ab"), tmp_path / "corpus", shard_rows=1)
    assert files_of(tmp_path / "corpus") == files_of(tmp_path / "fresh")


def test_a_directory_above_that_is_a_file_is_the_file_systems_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    before = tree(tmp_path)
    with pytest.raises((OSError, ValueError)):
        write(docs_of("a"), tmp_path / "file" / "corpus")
    assert tree(tmp_path) == before


def test_missing_parents_are_made_only_after_the_last_document(tmp_path):
    out = tmp_path / "a" / "b" / "corpus"

    def watching():
        for document in docs_of(*"abcdefgh"):
            assert names_in(tmp_path) == []
            yield document
        assert names_in(tmp_path) == []

    write(watching(), out, shard_rows=1)
    assert names_in(out.parent) == ["corpus"]
    assert len(list(read_shards(out))) == 8


def test_an_old_version_stands_untouched_while_documents_are_read(tmp_path):
    out = tmp_path / "corpus"
    write(docs_of("old"), out)
    (tmp_path / "corpus.tmp").mkdir()
    before = tree(tmp_path)

    def watching():
        for document in docs_of("new", "newer"):
            assert tree(tmp_path) == before
            yield document
        assert tree(tmp_path) == before

    write(watching(), out)
    assert [document.text for document in read_shards(out)] == ["new", "newer"]


@pytest.mark.parametrize("state", ["nothing", "old version", "interrupted", "leftovers"])
@pytest.mark.parametrize(
    "bad",
    [
        [doc("a"), doc("b", url="")],
        [doc("a"), doc("b"), doc("a")],
        [doc("a", pii={"iban": 1})],
        [doc("\ud800")],
    ],
    ids=["meta", "repeated", "pii", "surrogate"],
)
def test_a_run_with_a_bad_document_changes_nothing(bad, state, tmp_path):
    out = tmp_path / "corpus"
    if state != "nothing":
        write(docs_of("old"), out)
    if state == "interrupted":
        out.rename(tmp_path / "corpus.old")
    if state not in {"nothing", "old version"}:
        (tmp_path / "corpus.tmp").mkdir()
        (tmp_path / "corpus.tmp" / "part").write_bytes(b"half")
    if state == "leftovers":
        (tmp_path / "corpus.old").mkdir()
    before = tree(tmp_path)
    with pytest.raises(ValueError):  # noqa: PT011
        write(bad, out)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "error", [RuntimeError("mine"), OSError(errno.EIO, "mine"), KeyboardInterrupt()]
)
def test_what_the_input_raises_passes_through_and_changes_nothing(error, tmp_path):
    out = tmp_path / "corpus"
    write(docs_of("old"), out)
    before = tree(tmp_path)

    def failing():
        yield doc("a")
        raise error

    with pytest.raises(type(error)) as caught:
        write(failing(), out)
    assert caught.value is error
    assert tree(tmp_path) == before


def test_the_input_may_be_the_output_of_an_earlier_run(tmp_path):
    out = tmp_path / "corpus"
    write(docs_of(*"abcde"), out, shard_rows=2, val_permille=500)
    write(docs_of(*"abcde"), tmp_path / "expected", shard_rows=3, val_permille=500)
    write(read_shards(out), out, shard_rows=3, val_permille=500)
    assert files_of(out) == files_of(tmp_path / "expected")
    assert names_in(tmp_path) == ["corpus", "expected"]


def test_the_input_may_be_one_split_of_the_output(tmp_path):
    out = tmp_path / "corpus"
    write(docs_of(*"abcdefgh"), out, val_permille=500)
    kept = [document.id for document in read_shards(out, "train")]
    write(read_shards(out, "train"), out, val_permille=500)
    assert [document.id for document in read_shards(out)] == kept
    assert 0 < len(kept) < 8


def test_documents_may_be_any_iterable(tmp_path):
    docs = docs_of(*"cab")
    for name, given in {"list": docs, "tuple": tuple(docs), "iterator": iter(docs)}.items():
        write(given, tmp_path / name)
    assert files_of(tmp_path / "list") == files_of(tmp_path / "tuple")
    assert files_of(tmp_path / "list") == files_of(tmp_path / "iterator")


@pytest.mark.parametrize(
    "kind", ["directory", "file", "link to directory", "link to nothing", "link to file"]
)
def test_whatever_is_at_tmp_is_removed_and_a_link_is_not_followed(kind, tmp_path):
    temporary = tmp_path / "corpus.tmp"
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(b"precious")
    if kind == "directory":
        (temporary / "deep").mkdir(parents=True)
        (temporary / "deep" / "link").symlink_to(precious)
    elif kind == "file":
        temporary.write_bytes(b"junk")
    else:
        target = {"link to directory": precious, "link to file": precious / "file"}
        temporary.symlink_to(target.get(kind, tmp_path / "nothing"))
    before = tree(precious)
    write(docs_of("a"), tmp_path / "corpus")
    assert tree(precious) == before
    assert names_in(tmp_path) == ["corpus", "precious"]
    assert names_in(tmp_path / "corpus") == [MANIFEST, "shard-00000-of-00001.parquet"]
    assert not (tmp_path / "corpus").is_symlink()


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o000])
def test_the_directory_has_the_default_mode(mask, tmp_path):
    before = os.umask(mask)
    try:
        for number in range(2):
            write_version(tmp_path / "corpus", number)
            assert stat.S_IMODE((tmp_path / "corpus").stat().st_mode) == 0o777 & ~mask
    finally:
        os.umask(before)


@pytest.mark.parametrize("max_bytes", [0, 100, 3000])
def test_a_full_disk_is_raised_and_leaves_the_old_version_alone(max_bytes, tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    before = tree(tmp_path)
    outcome = call("write_to_a_full_disk", str(out), 1, max_bytes)
    assert outcome == {"raised": "OSError", "errno": errno.EFBIG, "same": False}
    assert tree(tmp_path) == before


def test_a_full_disk_leaves_no_part_of_a_first_version(tmp_path):
    outcome = call("write_to_a_full_disk", str(tmp_path / "corpus"), 1, 100)
    assert outcome["errno"] == errno.EFBIG
    assert names_in(tmp_path) == []


@pytest.mark.skipif(not CAN_DENY, reason="needs a system call filter")
def test_a_version_that_cannot_be_synced_is_not_committed(tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    before = tree(tmp_path)
    outcome = call("write_without_sync", str(out), 1)
    assert outcome == {"raised": "OSError", "errno": errno.EIO, "same": False}
    assert tree(tmp_path) == before


def test_a_live_writers_tmp_is_not_touched(tmp_path):
    out = tmp_path / "corpus"
    write_version(out, 0)
    (tmp_path / "corpus.tmp").mkdir()
    (tmp_path / "corpus.tmp" / "part").write_bytes(b"half")
    before = tree(tmp_path)
    descriptor = os.open(tmp_path / "corpus.tmp", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            write_version(out, 1)
        assert tree(tmp_path) == before
    finally:
        os.close(descriptor)
    write_version(out, 1)
    assert version_of(out) == 1
    assert names_in(tmp_path) == ["corpus"]


def test_a_writer_that_has_ended_holds_no_lock_and_leaves_no_file(tmp_path):
    out = tmp_path / "corpus"
    for number in range(3):
        write_version(out, number)
        descriptor = os.open(out, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
        assert names_in(tmp_path) == ["corpus"]
