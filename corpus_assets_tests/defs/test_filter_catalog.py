"""What the catalog shows of `filtered_docs`: funnel, samples, groups, what if."""

import re
from collections import Counter
from pathlib import Path

import pytest

from corpus_assets.core.table import Table
from corpus_assets.defs.filter_metadata import SAMPLE_CHARS, _first_dropped
from corpus_assets_tests.defs.scenario import build, key, metadata_of, spec_of, write_lines

LONG = "Die Katze schläft auf dem Sofa, während der Hund im Garten spielt. " * 20

RECORDS = [
    {"id": f"kept-{i}", "text": f"Anna walks to the mill for the {i}th time.", "lang": "en"}
    for i in range(4)
]
RECORDS += [{"id": f"short-{i}", "text": f"No {i}.", "lang": "en"} for i in range(7)]
RECORDS += [{"id": "blank", "text": " ", "lang": "whatever"}]
RECORDS += [{"id": "long", "text": f"<b>|[x](y)| mail mia@example.org {LONG}", "lang": "deu_Latn"}]

RECIPE = ["non_empty", {"length": {"max_chars": 500}}, "url", {"length": {"min_chars": 10}}]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[dict, Table]:
    """The catalog's entry of `filtered_docs`, and the table; its documents lie in two ranks."""
    base = tmp_path_factory.mktemp("made")
    write_lines(base / "tales/one.jsonl", RECORDS[:8])
    write_lines(base / "tales/two.jsonl", RECORDS[8:])
    result = build(spec_of(recipe=RECIPE), base)
    assert result.success
    table = Table.open(base / "corpora/tales/filtered_docs")
    return metadata_of(result, key("filtered_docs")), table


def rows(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_funnel_is_shown_as_plot_and_table_in_the_recipes_order(made):
    shown = made[0]["documents in and out"]
    assert "![funnel](data:image/png;base64," in shown
    assert rows(shown)[2:] == [
        ["13", "", "", "came in"],
        ["1", "7.69%", "non_empty", "`empty_text`"],
        ["7", "53.85%", "length", "`too_short`"],
        ["1", "7.69%", "length", "`too_long`"],
        ["4", "30.77%", "", "kept"],
    ]


def test_five_documents_are_shown_of_each_reason(made):
    shown = made[0]["dropped documents"]
    parts = dict(re.findall(r"\*\*(.*?)\*\*\n\n((?:\|.*\n?)+)", shown))
    assert list(parts) == [
        "non_empty: `empty_text`", "length: `too_short`", "length: `too_long`",
    ]  # fmt: skip
    short = rows(parts["length: `too_short`"])[2:]
    assert short == [[f"tales:short-{i}", "5", "10", f"No {i}."] for i in range(5)]


def test_a_sample_is_cut_masked_and_says_nothing_in_markdown(made):
    shown = made[0]["dropped documents"]
    (row,) = [row for row in rows(shown) if row[0] == "tales:long"]
    assert row[3].startswith(r"\<b>\|\[x\](y)\| mail \<EMAIL> Die Katze")
    assert len(row[3].replace("\\", "")) == SAMPLE_CHARS + len("…")


def test_documents_are_counted_by_language_and_source(made):
    assert rows(made[0]["by language"])[2:] == [
        ["4", "7", "36.4%", "en"],
        ["0", "1", "0.0%", "de"],
        ["0", "1", "0.0%", "other"],
    ]
    assert rows(made[0]["by source"])[2:] == [["4", "9", "30.8%", "tales"]]


def test_what_other_thresholds_would_drop_is_shown(made):
    found = {row[1]: row[2:] for row in rows(made[0]["what if"])[2:]}
    drops, others = found["too_short"]
    assert drops == "7 of 11"
    assert others.startswith("2: 0 · 5: 0 · 6: 7 · ")
    assert " · **10: 7** · " in others


def test_a_rule_that_can_drop_nothing_is_named(made):
    assert "rule url has no lists and drops nothing" in made[0]["notes"]


def test_only_files_with_a_missing_reason_are_read(made, monkeypatch):
    table, read = made[1], []
    path = Table.path
    monkeypatch.setattr(
        Table, "path", lambda self, record: read.append(record.path) or path(self, record)
    )
    wanted = Counter({("length", "too_short"): 0, ("length", "too_long"): 1})
    assert sum(frame.height for frame in _first_dropped(table, wanted)) == 1
    assert [Path(name).name.split(".")[0] for name in read] == ["two"]


def test_no_recipe_shows_no_rule(tmp_path):
    write_lines(tmp_path / "tales/one.jsonl", RECORDS[:2])
    result = build(spec_of(recipe="none"), tmp_path)
    shown = metadata_of(result, key("filtered_docs"))
    assert {"what if", "dropped documents", "notes"} & set(shown) == set()
    assert rows(shown["documents in and out"])[2:] == [
        ["2", "", "", "came in"],
        ["2", "100.00%", "", "kept"],
    ]
