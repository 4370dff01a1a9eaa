"""The command line: build, stats, verify, head and filter-report, and their exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus_assets.cli import ASSETS, guarded
from corpus_assets.core.errors import InputError, WorkerError
from corpus_assets_tests.scenario import files_below, run_cli, write_documents, write_spec

COMMAND = Path(sys.executable).with_name("corpus-assets")


@pytest.fixture(autouse=True)
def no_home(monkeypatch):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a spec, its data, and the corpus built of it."""
    folder = tmp_path_factory.mktemp("place")
    write_documents(
        folder / "data/a.jsonl",
        {"id": "1", "text": "Write to mia@example.org."},
        {"id": "2", "text": "Tom has a red ball."},
        {"id": "3", "text": "Tom has a red ball.", "page": 4},
        {"id": "4", "text": " "},
    )
    write_documents(folder / "data/b.jsonl", {"id": "5", "text": "Ask 192.31.196.7."})
    write_spec(folder / "defs.yaml", recipe=["non_empty"], shards={"shard_rows": 2})
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DAGSTER_HOME", raising=False)
        assert run_cli("build", folder / "defs.yaml", "--root", folder / "out", "--workers", 0) == 0
    return folder


def console(*arguments, cwd=None):
    words = [str(argument) for argument in arguments]
    environment = {k: v for k, v in os.environ.items() if k != "DAGSTER_HOME"}
    return subprocess.run(
        [COMMAND, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_the_console_script_builds_and_says_what_came_of_it(place, tmp_path):
    done = console("build", "defs.yaml", "--root", tmp_path / "new", "--workers", 0, cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[:4] == [
        "documents in 5",
        "filtered_docs: non_empty/empty_text -1",
        "deduped_docs: dedup/exact_duplicate -1",
        "kept 3",
    ]
    assert "corpus tiny 1: 3 documents in 2 shards; replaced: 1 email, 1 ip" in lines
    assert f"manifest: {tmp_path / 'new/tiny/corpus/_MANIFEST.json'}" in lines
    assert files_below(tmp_path / "new/tiny/corpus") == files_below(place / "out/tiny/corpus")


def test_the_console_script_verifies_and_names_what_differs(place, tmp_path):
    good = console("verify", place / "out/tiny")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == "tiny 1: 3 documents in 2 shards, all as the manifest says.\n"
    bad = console("verify", place / "data")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.count("\n") == 1
    assert bad.stderr.startswith("corpus-assets: ")


def test_a_second_build_says_that_nothing_had_to_be_redone(place, capsys):
    before = files_below(place / "out")
    assert run_cli("build", place / "defs.yaml", "--root", place / "out", "--workers", 0) == 0
    assert "nothing had to be redone: all is up to date" in capsys.readouterr().out
    assert files_below(place / "out") == before


def test_every_asset_lies_under_root_and_dataset(place):
    assert {p.name for p in (place / "out/tiny").iterdir()} >= {
        name for name in ASSETS if not name.startswith("minhash")
    }
    names = files_below(place / "out/tiny")
    assert "corpus/_MANIFEST.json" in names
    assert any(n.startswith("filtered_docs/excluded/tales/a.jsonl.") for n in names)


def test_select_builds_an_asset_and_what_it_is_made_of(place, tmp_path, capsys):
    words = ("build", place / "defs.yaml", "--root", tmp_path, "--workers", 0)
    assert run_cli(*words, "--select", "filtered_docs") == 0
    made = {p.name for p in (tmp_path / "tiny").iterdir() if not p.name.startswith("_")}
    assert made == {"raw_docs", "filtered_docs"}
    assert "kept" in capsys.readouterr().out
    assert run_cli(*words, "--select", "nothing") == 2
    assert "'nothing' is not one of" in capsys.readouterr().err


def test_progress_is_shown_when_asked_for(place, tmp_path, capsys):
    words = ("build", place / "defs.yaml", "--root", tmp_path, "--workers", 0)
    assert run_cli(*words, "--progress") == 0
    assert "raw_docs: 2 of 2 done (0 unchanged), 5 rows" in capsys.readouterr().err


def test_stats_counts_every_stage(place, capsys):
    assert run_cli("stats", place / "out/tiny") == 0
    stats = json.loads(capsys.readouterr().out)
    counts = {name: (s["in"], s["kept"]) for name, s in stats.items() if name != "corpus"}
    assert counts == {
        "raw_docs": (5, 5),
        "filtered_docs": (5, 4),
        "deduped_docs": (4, 3),
        "scrubbed_docs": (3, 3),
    }
    assert stats["filtered_docs"]["dropped"] == {"non_empty/empty_text": 1}
    assert stats["deduped_docs"]["dropped"] == {"dedup/exact_duplicate": 1}
    pii = stats["scrubbed_docs"]["pii"]
    assert {kind: n for kind, n in pii.items() if n} == {"email": 1, "ip": 1}
    manifest = json.loads((place / "out/tiny/corpus/_MANIFEST.json").read_text())
    assert stats["corpus"] == {k: v for k, v in manifest.items() if k != "shards"}


@pytest.mark.parametrize(
    ("asset", "options", "ids"),
    [
        ("raw_docs", ["-n", "2"], ["tales:1", "tales:2"]),
        ("raw_docs", [], ["tales:1", "tales:2", "tales:3", "tales:4", "tales:5"]),
        ("filtered_docs", ["--excluded"], ["tales:4"]),
        ("deduped_docs", ["--excluded", "-n", "9"], ["tales:3"]),
        ("scrubbed_docs", ["--excluded"], []),
        ("corpus", ["-n", "1"], ["tales:1"]),
    ],
)
def test_head_prints_documents_as_json_lines(place, capsys, asset, options, ids):
    assert run_cli("head", place / "out/tiny" / asset, *options) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["id"] for row in rows] == ids


def test_head_shows_what_the_corpus_holds(place, capsys):
    run_cli("head", place / "out/tiny/corpus", "-n", "1")
    row = json.loads(capsys.readouterr().out)
    assert row["text"] == "Write to <EMAIL>."
    assert len(row["sha256"]) == 64


@pytest.mark.parametrize("inner", ["out/tiny", "out/tiny/corpus"])
def test_verify_takes_the_corpus_or_the_folder_around_it(place, capsys, inner):
    assert run_cli("verify", place / inner, "--workers", 0) == 0
    assert "all as the manifest says" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["stats", "head", "verify"])
def test_a_folder_without_a_corpus_is_one_clear_line(place, capsys, command):
    assert run_cli(command, place / "data") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert str(place / "data") in captured.err


@pytest.mark.parametrize(
    "words",
    [
        ["stats"],
        ["nothing"],
        ["stats", "/no/such/folder"],
        ["head", ".", "-n", "0"],
        ["build", "x"],
    ],
)
def test_a_wrong_call_is_explained_with_exit_code_2(capsys, words):
    assert run_cli(*words) == 2
    assert "Usage:" in capsys.readouterr().err


def test_help_and_version_exit_with_0(capsys):
    assert run_cli("--help") == 0
    assert run_cli("-h") == 0
    assert run_cli("--version") == 0
    assert "0.1.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), 1),
        (WorkerError("x"), 1),
        (FileNotFoundError("x"), 1),
        (ValueError("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(capsys, error, code):
    def fail():
        raise error

    assert guarded(fail) == code
    assert capsys.readouterr().err.count("\n") == 1


def test_a_fault_of_the_program_keeps_its_trace():
    with pytest.raises(ZeroDivisionError):
        guarded(lambda: 1 / 0)


def test_filter_report_prints_what_thresholds_decide(tmp_path, capsys):
    texts = ["a" * length for length in (4, 8, 9, 10, 11, 30)]
    write_documents(tmp_path / "data/a.jsonl", *({"text": text} for text in texts))
    write_spec(tmp_path / "defs.yaml", recipe=["url", {"length": {"min_chars": 10}}])
    build = ("build", tmp_path / "defs.yaml", "--root", tmp_path / "out", "--workers", 0)
    assert run_cli(*build, "--select", "filtered_docs") == 0
    capsys.readouterr()
    assert run_cli("filter-report", tmp_path / "out/tiny") == 0
    by_folder = capsys.readouterr().out
    assert run_cli("filter-report", tmp_path / "defs.yaml", "--root", tmp_path / "out") == 0
    assert capsys.readouterr().out == by_folder
    note, _, _, *report = by_folder.splitlines()
    assert note == "note: rule url has no lists and drops nothing; name some with `lists`"
    assert report == [
        "length: too_short: 3 of 6 (50.0%)",
        "  threshold 2 5 6 7 8 9 [10] 11 12 13 15 20 40",
        "  drops     0 1 1 1 1 2    3  4  5  5  5  5  6",
    ]


def test_filter_report_needs_a_root_with_a_spec_and_a_table(tmp_path, capsys):
    write_spec(tmp_path / "defs.yaml")
    assert run_cli("filter-report", tmp_path / "defs.yaml") == 1
    assert "give --root ROOT with a defs.yaml" in capsys.readouterr().err
    assert run_cli("filter-report", tmp_path) == 1
    assert "no table here" in capsys.readouterr().err
