"""The whole way, as a person goes it: a running `dagster dev`, GraphQL, pages in Chromium."""

import gzip
import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect, sync_playwright

from corpus_assets.core.table import Table
from corpus_assets.shards.build import Corpus
from corpus_assets_tests.dagster_dev import (
    REPOSITORY,
    DagsterDev,
    copy_project,
    dagster_dev,
    wait_for,
)
from corpus_assets_tests.defs.scenario import SOURCE, TALES, write_lines

pytestmark = [pytest.mark.ui, pytest.mark.timeout(900)]

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000
"""Milliseconds that a page may take on a loaded machine; a quiet one takes 5,000."""

EACH_MINUTE = {"schedule": {"cron": "* * * * *"}, "watch": {"every_seconds": 5}}
HEAVY_FILES = 40
HEAVY_MEMBERS = 20


def describe(project: Path, name: str, inputs: str, **attributes: object) -> None:
    """Add a corpus to a copy of the project, as a user does."""
    source = SOURCE | {"inputs": inputs, "id_key": None}
    text = {
        "type": "corpus_assets.CorpusComponent",
        "attributes": {"name": name, "sources": [source], **attributes},
        "requirements": {"env": ["TALES_FOLDER"]},
    }
    path = project / f"corpus_assets/defs/{name}/defs.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump(text))


GUIDE = str(REPOSITORY / "examples/sample/installation-guide/amd64-en.jsonl.gz")


def write_heavy(folder: Path) -> None:
    """Write input that keeps two workers busy for longer than the test needs."""
    words = random.Random(1)
    lines = (f'{{"text": "{words.randbytes(1_000).hex()}"}}\n' for _ in range(1_000))
    member = gzip.compress("".join(lines).encode(), 1)
    folder.mkdir()
    first = folder / "00.jsonl.gz"
    first.write_bytes(member * HEAVY_MEMBERS)
    for number in range(1, HEAVY_FILES):
        os.link(first, folder / f"{number:02}.jsonl.gz")


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[DagsterDev]:
    """A copy of the project with two more corpora, served; schedule and sensor are switched on."""
    folder = tmp_path_factory.mktemp("ui")
    project = copy_project(folder / "project")
    describe(project, "tales", "{{ env.TALES_FOLDER }}/*.jsonl", **EACH_MINUTE)
    describe(project, "heavy", str(folder / "heavy"))
    describe(project, "quality", GUIDE, recipe="fineweb")
    write_lines(folder / "tales/one.jsonl", TALES)
    write_heavy(folder / "heavy")
    variables = {
        "CORPUS_ASSETS_ROOT": str(folder / "corpora"),
        "CORPUS_ASSETS_WORKERS": "2",
        "TALES_FOLDER": str(folder / "tales"),
    }
    with dagster_dev(project, **variables) as running:
        running.start_schedule("tales_schedule")
        running.start_sensor("tales_inputs")
        yield running
    shutil.rmtree(folder / "corpora/heavy", ignore_errors=True)


@pytest.fixture(scope="module")
def corpora(server) -> Path:
    return server.project.parent / "corpora"


@pytest.fixture(scope="module")
def built(server, corpora) -> Corpus:
    """The sample, materialized through GraphQL."""
    assert server.wait_for_end(server.launch("sample_rebuild")) == "SUCCESS"
    return Corpus.open(corpora / "sample/corpus")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    assert found, "no Chromium found; install it (Debian: apt-get install chromium)"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=CHROMIUM_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def page(server, browser) -> Iterator[Page]:
    """A page, which may ask for nothing but what `dagster dev` serves."""
    asked: list[str] = []
    opened = browser.new_page(viewport={"width": 1400, "height": 1600})
    opened.set_default_timeout(PATIENCE)
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    opened.close()
    outside = [url for url in asked if not url.startswith((server.url, "data:", "blob:"))]
    assert [url for url in outside if not url.startswith(server.url.replace("http", "ws"))] == []


def test_materialized_assets_are_fresh_and_their_checks_hold(server, built):
    nodes = server.query(
        "query($g:AssetGroupSelector!){assetNodes(group:$g){assetKey{path} staleStatus"
        " assetChecksOrError{... on AssetChecks{checks{name"
        " executionForLatestMaterialization{status}}}}}}",
        g=server.group("sample"),
    )["assetNodes"]
    assert len(nodes) == 10
    assert {node["staleStatus"] for node in nodes} == {"FRESH"}
    checks = [check for node in nodes for check in node["assetChecksOrError"]["checks"]]
    assert len(checks) == 13
    states = {check["executionForLatestMaterialization"]["status"] for check in checks}
    assert states == {"SUCCEEDED"}


def test_the_page_of_the_corpus_shows_rows_columns_and_the_manifest(server, built, page):
    page.goto(f"{server.url}/assets/sample/corpus")
    expect(page.get_by_text("Row count")).to_be_visible(timeout=PATIENCE)
    rows = built.manifest["n_docs"]
    expect(page.get_by_text(f"{rows:,}", exact=True).first).to_be_visible(timeout=PATIENCE)
    for text in ("n_chars", "Unique id; rows are in ascending order of it, by code point."):
        expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)
    page.get_by_text("[Show JSON]").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f'"n_docs": {rows}', timeout=PATIENCE)
    expect(dialog).to_contain_text(built.manifest["shards"][-1]["sha256"])


def test_the_page_of_filtered_docs_shows_funnel_samples_groups_and_what_if(server, corpora, page):
    assert server.wait_for_end(server.launch("quality_rebuild")) == "SUCCESS"
    table = Table.open(corpora / "quality/filtered_docs")
    page.goto(f"{server.url}/assets/quality/filtered_docs")
    for text in ("by language", "by source", "rule url has no lists and drops nothing"):
        expect(page.get_by_text(text).first).to_be_visible(timeout=PATIENCE)
    shown = {}
    for link in page.get_by_text("[Show Markdown]").all():
        link.click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible(timeout=PATIENCE)
        title = dialog.inner_text().split("\n", 1)[0]
        shown[title] = (dialog.inner_text(), dialog.locator("img").count())
        dialog.get_by_role("button", name="Close").last.click()
        expect(dialog).to_be_hidden(timeout=PATIENCE)
    dropped = table.counts["dropped/gopher_quality/gopher_short_doc"]
    funnel, pictures = shown["documents in and out"]
    assert pictures == 1
    assert re.search(rf"{dropped:,}\s.*gopher_quality\s+gopher_short_doc", funnel)
    assert "gopher_quality: gopher_short_doc" in shown["dropped documents"][0]
    assert "low_language_score" in shown["what if"][0]


def test_materialize_on_the_page_of_the_corpus_launches_a_run_that_succeeds(server, built, page):
    before = {run["runId"] for run in server.runs()}
    page.goto(f"{server.url}/assets/sample/corpus")
    page.get_by_role("button", name=re.compile("Materialize")).first.click()
    expect(page.get_by_text("Launched run").first).to_be_visible(timeout=PATIENCE)

    def launched() -> list[str]:
        new = [run for run in server.runs() if run["runId"] not in before]
        return [run["runId"] for run in new if run["jobName"] == "__ASSET_JOB"]

    (run,) = wait_for("the run of the button", launched)
    assert server.wait_for_end(run) == "SUCCESS"
    assert Corpus.open(built.directory).manifest == built.manifest


def test_terminate_ends_a_run_at_once_keeps_finished_ranks_and_leaves_no_process(server, corpora):
    receipts = corpora / "heavy/raw_docs/_receipts"
    run = server.launch("heavy_rebuild")
    wait_for("first ranks", lambda: len(list(receipts.rglob("*.json"))) >= 2, 300)
    assert len(processes(server.project, "corpus_assets.engines.worker")) == 2
    assert server.status(run) == "STARTED"
    server.terminate(run)
    assert server.wait_for_end(run) == "CANCELED"
    for name in ("corpus_assets.engines.worker", f"execute_run.*{run}"):
        wait_for(f"end of {name}", lambda name=name: not processes(server.project, name), 30)
    finished = len(list(receipts.rglob("*.json")))
    assert 2 <= finished < HEAVY_FILES
    assert not (corpora / "heavy/raw_docs/_TABLE.json").exists()


def processes(folder: Path, pattern: str) -> list[int]:
    """Return the ids of the processes in a folder whose command line has a pattern."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if (entry / "cwd").samefile(folder) and re.search(pattern, command):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_a_tick_of_the_sensor_waits_and_the_next_builds_the_corpus(server, corpora):
    run = wait_for("a run of the sensor", lambda: server.launched_by("sensor", "tales_inputs"))
    assert server.wait_for_end(run) == "SUCCESS"
    skipped = [t["skipReason"] for t in server.ticks("sensor", "tales_inputs") if t["skipReason"]]
    assert "inputs changed; waiting until they are still" in skipped
    assert Corpus.open(corpora / "tales/corpus").manifest["n_docs"] == 4


def test_a_tick_of_the_schedule_launches_a_run_that_succeeds(server):
    run = wait_for(
        "a run of the schedule", lambda: server.launched_by("schedule", "tales_schedule")
    )
    assert server.wait_for_end(run) == "SUCCESS"
