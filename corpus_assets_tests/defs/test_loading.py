"""The commands of Dagster and dg load the project, and say where a `defs.yaml` is wrong."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from corpus_assets_tests.dagster_dev import copy_project, environment
from corpus_assets_tests.defs.scenario import TALES, write_lines

DEFS = "corpus_assets/defs"
LOADING = ("dagster definitions validate", "dagster definitions validate -w workspace.yaml",
           "dg check defs")  # fmt: skip
LISTING = "dg list components --json"
SCAFFOLD = (
    "dg scaffold defs corpus_assets.CorpusComponent my_corpus --inputs '../../../data/*.jsonl' "
    "--source letters --license-spdx MIT --url https://example.org/letters"
    " && dg check defs"
    " && corpus-assets build corpus_assets/defs/my_corpus/defs.yaml --root out --workers 0"
)
BROKEN = ("dg check yaml", "dagster definitions validate --log-level error")
"""Run where one `defs.yaml` has an unknown key."""

COMMANDS = (*LOADING, LISTING, SCAFFOLD, *BROKEN)


@dataclass
class Outcome:
    code: int
    output: str
    project: Path


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, Outcome]:
    """Run all commands at once, each in a copy: every one starts Dagster, which takes 2 s."""
    folder = tmp_path_factory.mktemp("projects")
    projects = {command: copy_project(folder / str(n)) for n, command in enumerate(COMMANDS)}
    write_lines(projects[SCAFFOLD] / "data/one.jsonl", TALES)
    for command in BROKEN:
        break_sample(projects[command])
    running = {
        command: subprocess.Popen(
            ["sh", "-c", command],
            cwd=project,
            env=environment(project, COLUMNS="400"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for command, project in projects.items()
    }
    found = {}
    for command, process in running.items():
        output, _ = process.communicate(timeout=280)
        found[command] = Outcome(process.returncode, output, projects[command])
    return found


def break_sample(project: Path) -> None:
    """Write an unknown key into line 4; of several corpora `dg check yaml` 1.13 reads only one."""
    path = project / DEFS / "sample/defs.yaml"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:3], "  shard_rows: 7\n", *lines[3:]]))


@pytest.mark.parametrize("command", LOADING)
def test_the_code_location_loads(outcomes, command):
    assert outcomes[command].code == 0, outcomes[command].output


def test_dg_lists_the_component_under_its_short_name(outcomes):
    lines = outcomes[LISTING].output.splitlines()
    listed = json.loads(next(line for line in lines if line.startswith("{")))
    assert "corpus_assets.CorpusComponent" in {item["key"] for item in listed["items"]}


def test_a_scaffolded_corpus_loads_and_builds(outcomes):
    outcome = outcomes[SCAFFOLD]
    assert outcome.code == 0, outcome.output
    written = yaml.safe_load((outcome.project / DEFS / "my_corpus/defs.yaml").read_text())
    assert written["type"] == "corpus_assets.CorpusComponent"
    assert written["attributes"]["name"] == "my_corpus"
    assert written["attributes"]["sources"] == [
        {
            "id": "letters",
            "license_spdx": "MIT",
            "url": "https://example.org/letters",
            "inputs": ["../../../data/*.jsonl"],
        }
    ]
    assert (outcome.project / "out/my_corpus/corpus/_MANIFEST.json").is_file()


@pytest.mark.parametrize("command", BROKEN)
def test_an_unknown_key_is_named_with_file_and_line(outcomes, command):
    outcome = outcomes[command]
    path = os.path.realpath(outcome.project / DEFS / "sample/defs.yaml")
    assert outcome.code == 1, outcome.output
    assert f"{path}:4" in outcome.output
    assert "shard_rows" in outcome.output
