"""The what-if report: from counts alone, in the recipe's order."""

from corpus_assets.filters.report import decisions, report_text

COUNTS = {
    "dropped/b/long": 2,
    "stats/a/share/0.3": 4,
    "stats/a/share/at 0.3": 4,
    "stats/a/share/reached": 9,
    "stats/b/long/10": 2,
    "stats/b/long/5": 3,
    "stats/b/long/at 10": 2,
    "stats/b/long/reached": 5,
    "stats/b/none/at 1": 0,
    "stats/b/none/reached": 0,
}


def test_decisions_are_in_the_order_of_the_rules():
    assert [d.rule for d in decisions(COUNTS, ["b", "a"])] == ["b", "a"]
    assert [d.rule for d in decisions(COUNTS)] == ["a", "b"]


def test_tests_of_a_rule_are_in_the_order_in_which_documents_met_them():
    counts = {f"stats/a/{name}/at 1": 0 for name in ("first", "late", "middle")}
    counts |= {
        f"stats/a/{name}/reached": n for name, n in (("first", 9), ("late", 3), ("middle", 5))
    }
    assert [d.reason for d in decisions(counts)] == ["first", "middle", "late"]


def test_a_threshold_at_which_nothing_drops_is_shown_with_zero():
    (_, decision) = decisions(COUNTS)
    assert (decision.threshold, decision.reached, decision.dropped) == (10, 5, 2)
    assert {t: n for t, n in decision.others.items() if n} == {5: 3, 10: 2}
    assert decision.others[20] == 0


def test_tests_that_no_document_reached_are_left_out():
    assert "none" not in report_text(decisions(COUNTS))


def test_the_text_marks_the_threshold_in_force():
    text = report_text(decisions(COUNTS, ["b", "a"]))
    assert "b: long: 2 of 5 (40.0%)\n  threshold 2 5 6 7 8 9 [10] 11" in text
    assert "a: share: 4 of 9 (44.4%)" in text
    assert "[0.3]" in text
