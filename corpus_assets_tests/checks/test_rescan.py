"""The rescan finds what scrubbing left, and says it without a value."""

from corpus_assets.checks.rescan import NAME, rescan, rescan_result
from corpus_assets.core.run import run_plan
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii import PiiConfig
from corpus_assets_tests.scenario import document, table_of


def result_of(tmp_path, *texts):
    documents = [document(str(i), text) for i, text in enumerate(texts)]
    source = table_of(tmp_path / "in", documents)
    return rescan_result(run_plan(rescan(source, PiiConfig()), tmp_path / "out", LocalEngine(0)))


def test_placeholders_pass(tmp_path):
    assert result_of(tmp_path, "<EMAIL> and <IP>", "Mia naps.").passed


def test_what_is_left_is_told_by_kind_and_id_and_not_by_value(tmp_path):
    result = result_of(tmp_path, "Mia naps.", "a@b.co c@d.eu", "e@f.eu")
    assert not result.passed
    assert result.summary == f"{NAME} of email: 2 rows, such as id '1'"
    assert result.facts == {"rows_checked": 3, "documents": 2}
