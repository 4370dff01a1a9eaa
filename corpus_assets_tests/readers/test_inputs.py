"""Which files an input names, in which order, and under which names."""

import pytest

from corpus_assets.core.errors import InputError
from corpus_assets.readers.inputs import find_files, format_of
from corpus_assets_tests.readers.scenario import config


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.jsonl",
        "a.jsonl.gz",
        "deep/c.parquet",
        "deep/a.ndjson.zst",
        "deep/er/x.json",
        ".hidden.jsonl",
        "_SUCCESS.jsonl",
        ".git/a.jsonl",
        "_tmp/a.jsonl",
        "deep/_part/a.jsonl",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def names(folder, *inputs, **fields):
    return [f.name.removeprefix("tales/") for f in find_files(inputs, folder, config(**fields))]


ALL = ["a.jsonl.gz", "b.jsonl", "deep/a.ndjson.zst", "deep/c.parquet", "deep/er/x.json"]


@pytest.mark.parametrize(
    ("name", "format_name"),
    [(f"a{e}{c}", "jsonl") for e in (".jsonl", ".ndjson", ".json") for c in ("", ".gz", ".zst")]
    + [("a.parquet", "parquet"), ("a.txt", None), ("a.jsonl.bz2", None), ("a", None)],
)
def test_the_format_goes_by_the_ending(name, format_name):
    assert format_of(name) == format_name
    assert format_of(name, "parquet") == "parquet"


def test_a_folder_is_read_with_all_below_sorted_without_hidden_names(folder):
    assert names(folder, ".") == ALL
    assert names(folder, str(folder)) == ALL


def test_a_file_is_named_by_itself(folder):
    assert names(folder, "deep/er/x.json") == ["x.json"]


def test_a_name_is_relative_to_the_folder_or_the_fixed_part_of_the_glob(folder):
    assert names(folder, "deep") == ["a.ndjson.zst", "c.parquet", "er/x.json"]
    assert names(folder, "deep/*") == ["a.ndjson.zst", "c.parquet"]
    assert names(folder, "deep/**/*.json") == ["er/x.json"]
    assert names(folder, "d*/*.parquet") == ["deep/c.parquet"]
    assert names(folder, "**/[ab].*") == ["a.jsonl.gz", "b.jsonl", "deep/a.ndjson.zst"]


def test_a_glob_skips_hidden_and_unknown_names(folder):
    assert names(folder, "*") == ["a.jsonl.gz", "b.jsonl"]


def test_a_chosen_format_takes_every_name(folder):
    assert "notes.txt" in names(folder, "*", format="jsonl")
    assert names(folder, "notes.txt", format="jsonl") == ["notes.txt"]


def test_inputs_are_read_in_their_order_and_a_file_named_twice_once(folder):
    assert names(folder, "deep/*", "b.jsonl") == ["a.ndjson.zst", "c.parquet", "b.jsonl"]
    assert names(folder, "b.jsonl", "*.jsonl") == ["b.jsonl"]


def test_a_file_knows_its_source_and_its_place(folder):
    (file,) = find_files(["b.jsonl"], folder, config())
    assert (file.name, file.path) == ("tales/b.jsonl", folder / "b.jsonl")
    assert file.config == config()


@pytest.mark.parametrize("given", ["nothing/*.jsonl", "absent.jsonl", "absent", "_tmp/_*", "*.txt"])
def test_an_input_that_matches_nothing_is_named_with_what_is_read(folder, given):
    with pytest.raises(InputError, match=r"source tales: input .* matches no file under") as error:
        names(folder, "b.jsonl", given)
    assert repr(given) in str(error.value)
    assert str(folder) in str(error.value)
    assert ".jsonl.gz" in str(error.value)
    assert "names starting with . or _ are skipped" in str(error.value)


def test_a_file_of_unknown_format_is_named_with_the_known_ones(folder):
    with pytest.raises(InputError, match=r"notes.txt: unknown format; known are .*set `format`"):
        names(folder, "notes.txt")


def test_two_files_with_one_name_are_both_named(folder):
    (folder / "other").mkdir()
    (folder / "other" / "b.jsonl").touch()
    with pytest.raises(InputError, match="make them two sources") as error:
        names(folder, "b.jsonl", "other")
    assert str(folder / "b.jsonl") in str(error.value)
    assert str(folder / "other/b.jsonl") in str(error.value)
