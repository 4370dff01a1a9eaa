"""Counts add up, against each other, the files and the table before."""

from dataclasses import replace

import pytest

from corpus_assets.checks.conservation import corpus_counts_add_up, table_counts_add_up
from corpus_assets.core.run import run_plan
from corpus_assets.engines.local import LocalEngine
from corpus_assets.filters import filtered_docs, recipe_of
from corpus_assets_tests.readers.scenario import read, write_jsonl


@pytest.fixture
def tables(tmp_path):
    write_jsonl(tmp_path / "in/a.jsonl", {"text": "a"}, {"text": ""}, b"{", {"text": "b"})
    raw = read(tmp_path / "in")
    filtered = run_plan(
        filtered_docs(raw, recipe_of(["non_empty"])), tmp_path / "f", LocalEngine(0)
    )
    return raw, filtered


def changed(table, **counts):
    """The table with other counts in its first rank."""
    first = table.ranks[0]
    other = replace(first, counts=first.counts | counts)
    return replace(table, ranks=(other, *table.ranks[1:]))


def test_real_tables_pass(tables):
    raw, filtered = tables
    for result in (table_counts_add_up(raw, None), table_counts_add_up(filtered, raw)):
        assert (result.passed, result.summary) == (True, "Every document is accounted for.")
    assert result.facts["came in = kept by raw_docs"] == 3


@pytest.mark.parametrize(
    ("counts", "law"),
    [
        ({"in": 4}, "came in = kept + dropped + rejected: 4 is not 3"),
        ({"in": 4, "dropped/x/y": 1}, "dropped = rows under excluded/: 2 is not 1"),
        ({"in": 4, "rejected/x": 1}, "rejected = lines under rejected/: 1 is not 0"),
        ({"in": 4, "kept": 3}, "kept = rows in the files: 3 is not 2"),
        ({"in": 2, "kept": 1}, "came in = kept by raw_docs: 2 is not 3"),
    ],
)
def test_each_law_is_named_when_it_is_broken(tables, counts, law):
    raw, filtered = tables
    result = table_counts_add_up(changed(filtered, **counts), raw)
    assert not result.passed
    assert law in result.summary


def test_a_corpus_holds_what_came_in_less_all_drops(tables):
    raw, filtered = tables
    by_name = {"raw_docs": raw, "filtered_docs": filtered, "scrubbed_docs": filtered}
    named = {"raw_docs": raw, "scrubbed_docs": filtered}
    assert corpus_counts_add_up(2, named).passed
    wrong = corpus_counts_add_up(3, named)
    assert not wrong.passed
    assert "kept by scrubbed_docs: 3 is not 2" in wrong.summary
    assert "records read - all drops: 3 is not 2" in wrong.summary
    # A drop that no stage made, here counted twice.
    assert not corpus_counts_add_up(2, by_name).passed
