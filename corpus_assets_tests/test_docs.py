"""The documentation is true: its commands run, its tables are the code's, its links lead somewhere.

Every fenced block of `sh`, `bash`, `python` or `yaml` runs, page by page and in order, in a copy of
the project in which the sample corpus is built. A comment on the line above a block, which no
reader sees, changes that:

    <!-- test: skip, WHY -->           is not run
    <!-- test: output -->              shows what is printed, by the block before it if that ran
    <!-- test: file PATH -->           is a file that the reader writes; later blocks find it there
    <!-- test: after PATH: LINE -->    are lines that the reader adds to PATH, below LINE
    <!-- test: before PATH: LINE -->   the same, above it
    <!-- test: in PATH -->             is quoted from the file PATH of this repository

In `sh`, `make` only checks that the target exists, and `git clone` stands for the copy.
"""

import ast
import dataclasses
import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import polars as pl
import pyarrow as pa
import pytest
import yaml
from pydantic import BaseModel

from corpus_assets.checks.corpus import CHECKS
from corpus_assets.core import schema
from corpus_assets.core.files import read_json
from corpus_assets.core.receipt import Receipt, Stamp
from corpus_assets.core.table import FileRecord, RankRecord
from corpus_assets.filters import RULES, opened, recipe_of
from corpus_assets.filters.presets import PRESETS
from corpus_assets.filters.rules import Batch
from corpus_assets.pii.kinds import KINDS
from corpus_assets.pii.scrubbing import PII_COLUMNS
from corpus_assets.readers.inputs import ENDINGS
from corpus_assets.shards.layout import SHARD_COLUMNS
from corpus_assets.shards.manifest import DEDUP_DEFAULTS, load_manifest
from corpus_assets.spec import CorpusSpec
from corpus_assets.spec_file import TYPE, load_spec
from corpus_assets_tests.dagster_dev import REPOSITORY, copy_project, environment
from corpus_assets_tests.scenario import document

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", REPOSITORY / "examples/README.md", *sorted(DOCS.rglob("*.md"))]
LINKED = [*PAGES, REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "CHANGELOG.md"]
RUN = {"sh", "bash", "python", "yaml"}

FENCE = re.compile(
    r"(?:^ *<!-- test: (?P<mark>[^\n]*?) -->\n\n?)?"
    r"^(?P<indent> *)```(?P<language>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")

PRELUDE = """
git() { [ "$1" = clone ] && cd ..; }
make() { command make --dry-run "$@" > /dev/null; }
"""
BUILD = "corpus-assets build corpus_assets/defs/sample/defs.yaml --root corpora --workers 0"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    place: str
    line: int
    language: str
    mark: str
    text: str

    @property
    def runs(self) -> bool:
        return self.language in RUN and not self.mark.startswith(("skip, ", "output", "in "))


def blocks_of(text: str, name: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        line = text[: found.start("text")].count("\n") + 1
        indent = len(found["indent"])
        lines = [row[indent:] for row in found["text"].splitlines(keepends=True)]
        place = f"{name}:{line}"
        yield Block(place, line, found["language"], found["mark"] or "", "".join(lines))


def page_blocks(page: Path) -> list[Block]:
    return list(blocks_of(page.read_text(), name_of(page)))


def name_of(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


def shell(command: str, project: Path) -> subprocess.CompletedProcess[str]:
    variables = environment(project, CORPUS_ASSETS_WORKERS="0")
    return subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", PRELUDE + command],
        cwd=project, env=variables, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def succeed(command: str, project: Path, place: str) -> str:
    done = shell(command, project)
    assert done.returncode == 0, f"{place}: code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A copy of the project with the sample corpus built, and what the build said."""
    project = copy_project(tmp_path_factory.mktemp("built") / "corpus_assets")
    for name in ("Makefile", "constraints.txt"):
        shutil.copy2(REPOSITORY / name, project / name)
    return project, succeed(BUILD, project, "the sample corpus")


@pytest.fixture
def project(built: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that copy, which a page may change."""
    folder = tmp_path / "corpus_assets"
    shutil.copytree(built[0], folder)
    (folder / ".venv").symlink_to(sys.prefix)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return folder


def run_block(block: Block, project: Path, names: dict[str, Any]) -> str:
    """Do with a block what its language and mark say; return what a command printed."""
    kind, _, rest = block.mark.partition(" ")
    if kind == "file":
        (project / rest).parent.mkdir(parents=True, exist_ok=True)
        (project / rest).write_text(block.text)
    elif kind in {"after", "before"}:
        add_lines(project, rest, block, above=kind == "before")
    if block.language == "yaml":
        check_yaml(block, project)
    elif kind == "" and block.language == "python":
        exec(compile("\n" * (block.line - 1) + block.text, block.place, "exec"), names)
    elif kind == "":
        return succeed(block.text, project, block.place)
    return ""


def add_lines(project: Path, where: str, block: Block, *, above: bool) -> None:
    name, _, line = where.partition(": ")
    path = project / name
    before = path.read_text()
    assert before.count(line + "\n") == 1, f"{block.place}: {name} has not one line {line!r}"
    added = block.text + line + "\n" if above else line + "\n" + block.text
    path.write_text(before.replace(line + "\n", added))


def check_yaml(block: Block, project: Path) -> None:
    """Load a corpus, or some keys of one."""
    value = yaml.safe_load(block.text)
    if "type" not in value:
        source = {"id": "a", "license_spdx": "CC0-1.0", "url": "https://a.org", "inputs": "a"}
        value = {"type": TYPE, "attributes": {"name": "a", "sources": [source]} | value}
    path = project / "documented.yaml"
    path.write_text(yaml.safe_dump(value))
    load_spec(path)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(b.runs for b in page_blocks(p))], ids=name_of
)
def test_every_block_of_a_page_runs(page: Path, project: Path) -> None:
    names: dict[str, Any] = {"__name__": "documentation"}
    printed = ""
    for block in page_blocks(page):
        if block.runs:
            printed = run_block(block, project, names)
        elif block.mark == "output" and printed:
            said = printed.splitlines()
            assert [line for line in block.text.splitlines() if line not in said] == [], block.place


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_mark_of_a_block_is_known_and_every_quotation_is_true(page: Path) -> None:
    for block in page_blocks(page):
        kind, _, rest = block.mark.partition(" ")
        assert kind in {"", "skip,", "output", "file", "after", "before", "in"}, block.place
        assert kind != "skip," or rest, f"{block.place}: say why"
        if kind == "in":
            assert block.text in (REPOSITORY / rest).read_text(), block.place
        if block.language == "json":
            json.loads(block.text)


@pytest.mark.parametrize(
    "text",
    ["```python\n1 / 0\n```", "```sh\nfalse\n```", "```sh\nmake nothing-like-it\n```",
     "```yaml\nrecipe: [no_such_rule]\n```", "<!-- test: after README.md: none -->\n```sh\n:\n```"],
    ids=["python", "sh", "make", "yaml", "after"],
)  # fmt: skip
def test_a_wrong_block_is_noticed(text: str, project: Path) -> None:
    (block,) = blocks_of(text, "page")
    with pytest.raises(Exception, match=r"page|zero|no_such_rule"):
        run_block(block, project, {})


# Links


def anchors_of(text: str) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    seen: dict[str, int] = {}
    anchors: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        anchors.add(f"{slug}-{number}" if number else slug)
    return anchors


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_relative_link_and_anchor_leads_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))
    lost = []
    for link in LINK.findall(text):
        name, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / name).resolve() if name else page
        inside = target.is_relative_to(REPOSITORY) and target.exists()
        if not inside or (anchor and anchor not in anchors_of(target.read_text())):
            lost.append(link)
    assert not lost


def test_every_page_is_linked_from_another() -> None:
    links = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in LINKED
        for link in LINK.findall(page.read_text())
        if not re.match(r"[a-z]+:", link)
    }
    assert [name_of(page) for page in PAGES[2:] if page not in links] == []


# Tables that say what the code says


def table_below(page: str, heading: str) -> dict[str, list[str]]:
    """Return the first table below a heading: other cells of a row by each code of its first."""
    section = (DOCS / page).read_text().split(f"# {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table, heading
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table[0].splitlines()[2:]]
    cells = [[cell.strip().replace("\\|", "|") for cell in row] for row in rows]
    return {code: row[1:] for row in cells for code in re.findall(r"`([^`]+)`", row[0])}


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key of a spec with its default as the page writes it."""
    for name, field in model.model_fields.items():
        key = prefix + (field.alias or name)
        kinds = [field.annotation, *get_args(field.annotation)]
        inner = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)]
        if inner:
            is_list = get_origin(field.annotation) not in {None, UnionType}
            yield from keys_of(inner[0], f"{key}[]." if is_list else f"{key}.")
        elif field.is_required():
            yield key, "required"
        else:
            yield key, f"`{json.dumps(field.default)}`"


def test_the_page_explains_every_key_of_a_corpus_with_its_default() -> None:
    written = {key: cells[0] for key, cells in table_below("how-to.md", "Every key").items()}
    assert written == dict(keys_of(CorpusSpec))


def test_the_page_explains_every_setting_of_every_rule_with_its_default() -> None:
    for name, rule in RULES.items():
        if rule.config.model_fields:
            table = table_below("how-to/filter.md", f"`{name}`")
            written = {setting: cells[0] for setting, cells in table.items()}
            assert written == dict(keys_of(rule.config)), name


def test_the_page_names_every_preset_with_its_rules() -> None:
    written = table_below("how-to/filter.md", "Presets")
    assert list(written) == list(PRESETS)
    for name, rules in PRESETS.items():
        assert [c for c in re.findall(r"`(\w+)`", written[name][0]) if c in RULES] == list(rules)


EVERYTHING: dict[str, dict[str, Any]] = {
    "length": {"min_chars": 1, "max_chars": 2},
    "license": {"allow": ["MIT"]},
    "url": {"domains": ["a.org"], "banned_words": ["a"], "soft_banned_words": ["a"],
            "banned_subwords": ["a"], "missing": "drop"},
    "language": {"languages": ["en"]},
    "bad_words": {"lists": {"en": "words"}},
}  # fmt: skip
"""Settings by which a rule has all the reasons it may have."""


def test_the_page_names_every_rule_with_its_reasons(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("word")
    batch = Batch(pl.DataFrame([document("a")]))
    found: dict[str, list[str]] = {}
    for name in RULES:
        (rule,) = opened(recipe_of([{name: EVERYTHING.get(name, {})}]), tmp_path).rules
        verdict = RULES[name].judge(batch, rule.config)
        found[name] = [criterion.reason for criterion in verdict.criteria]
    rows = table_below("how-to.md", "Rules")
    assert {n: re.findall(r"`([^`]+)`", cells[1]) for n, cells in rows.items()} == found
    page = (DOCS / "how-to/filter.md").read_text()
    for name, reasons in found.items():
        section = page.split(f"### `{name}`\n", 1)[1].split("\n### ", 1)[0]
        assert [reason for reason in reasons if f"`{reason}`" not in section] == [], name


def test_the_page_names_every_kind_of_personal_data_with_its_placeholder() -> None:
    written = {kind: cells[0] for kind, cells in table_below("how-to.md", "PII kinds").items()}
    assert written == {name: f"`{kind.placeholder}`" for name, kind in KINDS.items()}


def test_the_page_names_every_ending_that_is_read() -> None:
    text = (DOCS / "how-to.md").read_text()
    missing = [e for endings in ENDINGS.values() for e in endings if f"`{e}`" not in text]
    assert not missing


@pytest.mark.parametrize(
    ("heading", "columns"),
    [
        ("Columns of documents", schema.DOCUMENT_COLUMNS | schema.CLUSTER_COLUMNS | PII_COLUMNS),
        ("`excluded/`", schema.DROP_COLUMNS),
        ("3. Rows", SHARD_COLUMNS),
    ],
)
def test_the_page_lists_every_column_with_its_type(heading: str, columns: schema.Columns) -> None:
    written = {name: cells[0] for name, cells in table_below("formats.md", heading).items()}
    assert written == {name: f"`{arrow_name(kind)}`" for name, (kind, _) in columns.items()}


def arrow_name(kind: pa.DataType) -> str:
    return str(kind)


def test_the_page_lists_every_field_on_disk(built: tuple[Path, str]) -> None:
    folder = built[0] / "corpora/sample"
    table = read_json(folder / "filtered_docs/_TABLE.json")
    ledger = json.loads((folder / "ledger/LEDGER.jsonl").read_text().splitlines()[0])
    manifest = load_manifest(folder / "corpus/_MANIFEST.json")
    work = read_json(folder / "corpus.work/receipt.json")
    names = {kind: [f.name for f in dataclasses.fields(kind)]
             for kind in (RankRecord, FileRecord, Receipt, Stamp)}  # fmt: skip
    ranks = [f"ranks[].{name}" for name in names[RankRecord]]
    files = [f"ranks[].files.ROLE.{name}" for name in names[FileRecord]]
    raw = read_json(folder / "raw_docs/_TABLE.json")["ranks"][0]["source"]
    sources = [f"ranks[].source.{name}" for name in raw]
    expected = {
        "`_TABLE.json`": [*table, *ranks, *files, *sources],
        "Receipts": [*names[Receipt], *(f"stamps.ROLE.{name}" for name in names[Stamp])],
        "`LEDGER.jsonl`": list(ledger),
        "5. The manifest": [*manifest, *(f"shards[].{name}" for name in manifest["shards"][0])],
        "`corpus.work`": list(work),
    }
    written = {heading: sorted(table_below("formats.md", heading)) for heading in expected}
    assert written == {heading: sorted(fields) for heading, fields in expected.items()}


def test_the_page_lists_what_a_manifest_says_of_deduplication() -> None:
    section = (DOCS / "formats.md").read_text().split("# 5. The manifest", 1)[1]
    for name, value in DEDUP_DEFAULTS.items():
        assert f"`{name}` {value}" in section


def test_the_page_lists_every_check_of_a_corpus() -> None:
    written = table_below("architecture.md", "Checks")
    assert {name for name, cells in written.items() if "`corpus`" in cells[0]} == {
        *CHECKS,
        "counts_add_up",
    }


def test_every_message_that_the_page_explains_is_one_of_ours() -> None:
    trees = (ast.parse(path.read_text()) for path in (REPOSITORY / "corpus_assets").rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    said = [node.value for node in nodes if isinstance(node.value, str)]
    written = set(table_below("how-to/errors.md", "Errors")) - {"Field required"}  # pydantic's
    assert [words for words in written if not any(words in text for text in said)] == []


def test_what_the_readme_shows_is_what_a_build_says(built: tuple[Path, str]) -> None:
    said = built[1].splitlines()
    shown = [block.text for block in page_blocks(REPOSITORY / "README.md")
             if block.mark == "output" and block.text.startswith("documents in")]  # fmt: skip
    assert shown
    assert [line for text in shown for line in text.splitlines() if line not in said] == []


def test_the_example_makes_the_corpus_that_it_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runpy.run_path(str(REPOSITORY / "examples/tiny_corpus.py"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "made again: 0 of 1 files"
    assert "tales:4 train Write to <EMAIL> or ask <IP>." in lines
