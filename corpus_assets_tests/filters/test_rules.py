"""Rules: the first that fails is the reason; what is dropped is kept with it."""

import pydantic
import pytest

from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.engines.local import LocalEngine
from corpus_assets.filters import filtered_docs, recipe_of
from corpus_assets_tests.scenario import document, table_of


def run(tmp_path, recipe, *ranks):
    source = table_of(tmp_path / "raw", *ranks, schema=DOCUMENTS)
    return run_plan(filtered_docs(source, recipe_of(recipe)), tmp_path / "out", LocalEngine(0))


def ids(table, role="kept"):
    return [i for rank in table.ranks for frame in table.frames(rank, role) for i in frame["id"]]


def dropped(table):
    columns = ["id", "drop_rule", "drop_reason", "drop_value", "drop_threshold", "duplicate_of"]
    return [
        row
        for rank in table.ranks
        for frame in table.frames(rank, "excluded")
        for row in frame.select(columns).rows()
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000\u2003", "\u00a0"])
def test_a_text_without_a_visible_character_is_empty(tmp_path, text):
    table = run(tmp_path, ["non_empty"], [document("a", text), document("b", f"{text}x{text}")])
    assert ids(table) == ["b"]
    assert dropped(table) == [("a", "non_empty", "empty_text", None, None, None)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ab", "too_short"),
        ("abc", None),
        ("abcde", None),
        ("abcdef", "too_long"),
        ("é\U0001f600x", None),
    ],
)
def test_length_counts_code_points_and_its_bounds_pass(tmp_path, text, reason):
    recipe = [{"length": {"min_chars": 3, "max_chars": 5}}]
    table = run(tmp_path, recipe, [document("a", text)])
    bound = {"too_short": 3.0, "too_long": 5.0}.get(reason)
    expected = [("a", "length", reason, float(len(text)), bound, None)] if reason else []
    assert dropped(table) == expected
    assert ids(table) == ([] if reason else ["a"])


@pytest.mark.parametrize("bound", [{"min_chars": 4}, {"max_chars": 4}])
def test_length_may_have_one_bound(tmp_path, bound):
    table = run(tmp_path, [{"length": bound}], [document(t, t) for t in ("abc", "abcd", "abcde")])
    assert ids(table) == (["abcd", "abcde"] if "min_chars" in bound else ["abc", "abcd"])


@pytest.mark.parametrize(
    ("licence", "kept"),
    [
        ("MIT", True),
        ("GPL-2.0-only", True),
        ("ISC", False),
        ("ISC OR MIT", True),
        ("ISC AND MIT", False),
        ("GPL-2.0-only AND MIT", True),
    ],
)
def test_a_licence_passes_when_the_allowed_ones_meet_it(tmp_path, licence, kept):
    recipe = [{"license": {"allow": ["mit", "GPL-2.0"]}}]
    table = run(tmp_path, recipe, [document("a", license_spdx=licence)])
    reason = [("a", "license", "license_not_allowed", None, None, None)]
    assert dropped(table) == ([] if kept else reason)


def test_the_first_failing_rule_is_the_reason(tmp_path):
    documents = [document("a", "", license_spdx="ISC")]
    rules = ["non_empty", {"length": {"min_chars": 1}}, {"license": {"allow": ["MIT"]}}]
    reasons = []
    for turn in range(3):
        recipe = rules[turn:] + rules[:turn]
        reasons.append(dropped(run(tmp_path / str(turn), recipe, documents))[0][1])
    assert reasons == ["non_empty", "length", "license"]


def test_a_dropped_document_keeps_all_its_columns(tmp_path):
    source = document("a", " ", metadata='{"n":1}')
    table = run(tmp_path, ["non_empty"], [document("b"), source])
    (frame,) = table.frames(table.ranks[0], "excluded")
    (row,) = frame.iter_rows(named=True)
    assert {name: row[name] for name in source if name in row} == {
        k: v for k, v in source.items() if k != "minhash_cluster"
    }
    assert (row["rank"], row["row"]) == (0, 1)


def test_counts_name_every_rule_and_every_reason(tmp_path):
    recipe = ["non_empty", {"length": {"min_chars": 3}}, {"license": {"allow": ["CC0-1.0"]}}]
    table = run(tmp_path, recipe, [document("a"), document("b", "x")], [document("c")])
    counts = {k: n for k, n in table.counts.items() if not k.startswith("stats/")}
    assert counts == {
        "dropped/length/too_short": 1,
        "in": 3,
        "kept": 2,
        "language/en/dropped": 1,
        "language/en/kept": 2,
        "license/tales/CC0-1.0": 2,
        "rules/length": 0,
        "rules/license": 0,
        "rules/non_empty": 0,
        "source/tales/dropped": 1,
        "source/tales/kept": 2,
    }


def test_a_rank_that_loses_all_or_has_none_is_empty(tmp_path):
    table = run(tmp_path, ["non_empty"], [document("a", "")], [])
    assert [rank.files["kept"].rows for rank in table.ranks] == [0, 0]
    assert ids(table, "excluded") == ["a"]


@pytest.mark.parametrize("recipe", ["none", []])
def test_no_recipe_keeps_everything(tmp_path, recipe):
    table = run(tmp_path, recipe, [document("a", ""), document("b")])
    assert ids(table) == ["a", "b"]
    assert table.counts["kept"] == 2


def test_kept_documents_pass_unchanged(tmp_path):
    documents = [document("a", " Ä \u0000"), document("b")]
    table = run(tmp_path, ["non_empty"], documents)
    (frame,) = table.frames(table.ranks[0])
    assert frame.columns == DOCUMENTS.names
    assert frame["text"].to_list() == [" Ä \u0000", "Mia naps."]


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (["gopher"], "unknown rule 'gopher'; there are non_empty, length, license"),
        ([{"length": {"min": 3}}], "rule length: unknown setting min; it has min_chars, max_chars"),
        ([{"non_empty": {"x": 1}}], "rule non_empty: unknown setting x; it has no settings"),
        ([{"length": {}, "license": {}}], "each rule is one name with its thresholds"),
        (["length"], "give min_chars, max_chars or both"),
        ([{"length": {"min_chars": 5, "max_chars": 4}}], "min_chars 5 is above max_chars 4"),
        ([{"length": {"min_chars": -1}}], "greater than or equal to 0"),
        ([{"length": {"min_chars": "many"}}], "valid integer"),
        ([{"license": {"allow": ["Nope"]}}], "'Nope' is not an SPDX licence expression"),
        (["license"], "Field required"),
    ],
)
def test_a_wrong_recipe_says_what_exists(recipe, message):
    with pytest.raises(ValueError, match=message):
        recipe_of(recipe)


def test_a_recipe_is_checked_and_frozen():
    recipe = recipe_of(["non_empty", {"length": {"max_chars": 9}}])
    assert [rule.name for rule in recipe.rules] == ["non_empty", "length"]
    assert recipe.model_dump()["rules"][1]["config"] == {"min_chars": None, "max_chars": 9}
    with pytest.raises(pydantic.ValidationError):
        recipe.rules = ()
