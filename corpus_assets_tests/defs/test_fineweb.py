"""`recipe: fineweb` through Dagster: every reason in its place, counts to the end."""

import json
from pathlib import Path

import pytest

from corpus_assets.core.table import Table
from corpus_assets.shards.build import Corpus
from corpus_assets_tests.defs.scenario import build, spec_of, write_lines

GOOD = """\
The lighthouse keeper wrote in her journal every evening, and she kept all of the pages in a box.
Years later a student found the books in a damp cellar and spent a whole summer copying them out.
Bread dough rises because yeast turns sugar into carbon dioxide, which stretches the soft network.
A cold night in the refrigerator gives the baker time to sleep, while warm water wakes the yeast.
Most recipes are therefore a small negotiation with time, and that is what makes them different.[1]
"""

GERMAN = """\
Der Leuchtturmwärter schrieb jeden Abend in sein Tagebuch, bevor er endlich schlafen gehen konnte.
"""

RECORDS = [
    {"id": "kept", "text": GOOD, "lang": "eng_Latn", "url": "https://ok.example.net/a"},
    {"id": "blocked", "text": GOOD, "url": "https://bad.example.com/a"},
    {"id": "numbers", "text": "12345 67890 " * 60},
    {"id": "german", "text": GERMAN * 3, "lang": "de"},
    {"id": "repeated", "text": GOOD * 3},
    {"id": "short", "text": GOOD[:196]},
    {"id": "curly", "text": GOOD.replace("box.", "box { x }.")},
]

EXPECTED = {
    "blocked": ("url", "subdomain"),
    "numbers": ("language", "low_language_score"),
    "german": ("language", "other_language"),
    "repeated": ("gopher_repetition", "dup_line_frac"),
    "short": ("gopher_quality", "gopher_short_doc"),
    "curly": ("c4_quality", "curly_bracket"),
}

RECIPE = [{"fineweb": {"url": {"lists": ["lists"]}, "language": {"languages": ["en"]}}}]


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("fineweb")
    write_lines(base / "tales/one.jsonl", RECORDS[:4])
    write_lines(base / "tales/two.jsonl", RECORDS[4:])
    (base / "lists").mkdir()
    (base / "lists/domains").write_text("bad.example.com\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CORPUS_ASSETS_CACHE", str(base / "cache"))
        assert build(spec_of(recipe=RECIPE), base, workers=2).success
    return base


def test_each_document_is_dropped_by_the_first_rule_it_fails(base):
    table = Table.open(base / "corpora/tales/filtered_docs")
    frames = [f for rank in table.ranks for f in table.frames(rank, "excluded")]
    rows = [row for frame in frames for row in frame.iter_rows(named=True)]
    found = {
        row["id"].removeprefix("tales:"): (row["drop_rule"], row["drop_reason"]) for row in rows
    }
    assert found == EXPECTED
    values = {row["drop_reason"]: (row["drop_value"], row["drop_threshold"]) for row in rows}
    assert values["gopher_short_doc"] == (38, 50)
    assert values["subdomain"] == (None, None)
    assert values["low_language_score"][0] < values["low_language_score"][1] == 0.65
    texts = {row["id"].removeprefix("tales:"): row["text"] for row in rows}
    assert texts == {r["id"]: r["text"] for r in RECORDS if r["id"] in EXPECTED}


def test_the_kept_one_has_its_language_its_score_and_c4s_text(base):
    table = Table.open(base / "corpora/tales/filtered_docs")
    (row,) = [
        row
        for rank in table.ranks
        for frame in table.frames(rank)
        for row in frame.iter_rows(named=True)
    ]
    assert (row["id"], row["lang"]) == ("tales:kept", "en")
    assert row["text"] == GOOD.replace("[1]", "").strip()
    assert 0.65 < json.loads(row["metadata"])["language_score"] <= 1
    assert "declared_lang" not in row["metadata"]


def test_the_manifest_counts_the_rules_in_the_recipes_order(base):
    manifest = Corpus.open(base / "corpora/tales/corpus").manifest
    assert list(manifest["filters"].items()) == [
        ("url", 1), ("language", 2), ("gopher_repetition", 1), ("gopher_quality", 1),
        ("c4_quality", 1), ("fineweb_quality", 0),
    ]  # fmt: skip


def test_a_missing_list_fails_the_asset_by_name_and_makes_nothing(tmp_path):
    write_lines(tmp_path / "tales/one.jsonl", RECORDS[:1])
    result = build(spec_of(recipe=RECIPE), tmp_path)
    (failure,) = [e.step_failure_data for e in result.all_events if e.is_step_failure]
    assert (
        "lists: not found; the recipe names it as 'lists'" in failure.user_failure_data.description
    )
    assert not (tmp_path / "corpora/tales/filtered_docs").exists()
