"""pandera models: each check fails alone, and says column, rows and id, never a value."""

import polars as pl
import pytest

from corpus_assets.checks.findings import describe, schema_audit, schema_result, violations
from corpus_assets.checks.schemas import DOCUMENTS, SHARD
from corpus_assets.core.run import run_plan
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii.scrubbing import PII_COLUMNS, SCRUBBED
from corpus_assets.shards import SCHEMA
from corpus_assets_tests.scenario import document, table_of

SECRET = "Zebra-Quartz"
PII = dict.fromkeys(PII_COLUMNS, 0) | {"pii_redactions": 3, "pii_email": 1, "pii_ip": 2}
KINDS = pl.DataFrame(SCRUBBED.empty_table()).schema
SHARD_KINDS = pl.DataFrame(SCHEMA.empty_table()).schema


def frame(**change):
    """Two documents, the second with the changes."""
    good = document("a") | PII | {"rank": 0, "row": 0}
    bad = document("b", SECRET) | PII | {"rank": 0, "row": 1} | change
    return pl.DataFrame([good, bad], schema=KINDS)


def shard(**change):
    row = {name: value for name, value in document("b", SECRET).items() if name in SHARD_KINDS}
    row |= {"n_chars": 12, "sha256": b"x" * 32, "minhash_cluster": 0, "pii_redactions": 0}
    row |= {"split": "val"}
    return pl.DataFrame([row | {"id": "a"}, row | change], schema=SHARD_KINDS)


def test_good_documents_have_no_violation():
    assert violations(frame(), DOCUMENTS) == []
    assert violations(frame(minhash_cluster=None, text="", lang="und"), DOCUMENTS) == []
    assert violations(shard(), SHARD) == []


@pytest.mark.parametrize(
    ("column", "value", "check"),
    [
        ("id", "", "not_empty"),
        ("id", None, "not_nullable"),
        ("text", None, "not_nullable"),
        *((name, " \u3000", "not_blank") for name in ("source_id", "url", "license_spdx", "lang")),
        *((name, None, "not_nullable") for name in ("source_id", "url", "license_spdx", "lang")),
        ("metadata", "[]", "json_object"),
        ("metadata", "", "json_object"),
        ("metadata", None, "not_nullable"),
        ("rank", -1, "greater_than_or_equal_to(0)"),
        ("row", -1, "greater_than_or_equal_to(0)"),
        ("rank", None, "not_nullable"),
        ("row", None, "not_nullable"),
        ("pii_redactions", None, "not_nullable"),
        ("pii_email", None, "not_nullable"),
        ("pii_ip", None, "not_nullable"),
    ],
)
def test_each_check_of_a_document_finds_its_fault(column, value, check):
    found = violations(frame(**{column: value}), DOCUMENTS)
    assert (check, column, 1) in [row[:3] for row in found]
    assert {row[1] for row in found} <= {column, "scrubbed_docs"}
    assert SECRET not in describe(found)


@pytest.mark.parametrize("counts", [{"pii_email": -1}, {"pii_redactions": 9}, {"pii_ip": 7}])
def test_redactions_are_the_sum_of_the_kinds_and_not_negative(counts):
    checks = [row[0] for row in violations(frame(**counts), DOCUMENTS)]
    assert "pii_redactions_is_the_sum_of_kinds" in checks
    assert ("greater_than_or_equal_to(0)" in checks) == ("pii_email" in counts)


def test_a_missing_an_added_and_another_kind_of_column_are_found():
    lacking = describe(violations(frame().drop("url"), DOCUMENTS))
    assert "column_in_dataframe" in lacking
    more = describe(violations(frame().with_columns(pl.lit(SECRET).alias("x")), DOCUMENTS))
    assert "column_in_schema" in more
    other = violations(frame().with_columns(pl.col("row").cast(pl.Int32)), DOCUMENTS)
    assert [row[1] for row in other] == ["row"]
    assert all(SECRET not in text for text in (lacking, more, describe(other)))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", ""),
        ("id", None),
        ("text", None),
        ("url", ""),
        ("license_spdx", " "),
        ("lang", None),
        ("n_chars", -1),
        ("sha256", None),
        ("minhash_cluster", None),
        ("minhash_cluster", -1),
        ("pii_redactions", -1),
        ("split", "test"),
        ("split", None),
    ],
)
def test_each_check_of_a_shard_finds_its_fault(column, value):
    found = violations(shard(**{column: value}), SHARD)
    assert column in {row[1] for row in found}
    assert SECRET not in describe(found)


def test_the_order_of_a_shards_columns_is_checked():
    assert violations(shard().select(sorted(SHARD_KINDS)), SHARD)


def test_the_example_is_the_id_of_the_first_row_that_fails():
    both = pl.concat([frame(url=""), frame(id="c", url="")])
    assert violations(both, DOCUMENTS) == [("not_blank", "url", 2, "b")]


def audit(tmp_path, *ranks):
    table = table_of(tmp_path / "in", *ranks, schema=SCRUBBED)
    return schema_result(run_plan(schema_audit(table), tmp_path / "out", LocalEngine(0)))


def test_an_audit_reads_every_row_of_every_rank(tmp_path):
    good = [document(str(n)) | PII for n in range(3)]
    result = audit(tmp_path, good, [], good[:1])
    assert (result.passed, result.summary) == (True, "All 4 rows fit.")


def test_an_audit_names_check_column_rows_and_an_id_but_no_value(tmp_path):
    bad = document("bad", SECRET) | PII | {"metadata": SECRET, "url": " "}
    result = audit(tmp_path, [document("a") | PII], [bad, bad | {"id": "worse"}])
    assert not result.passed
    assert "not_blank of url: 2 rows, such as id 'bad'" in result.summary
    assert "json_object of metadata: 2 rows" in result.summary
    assert SECRET not in result.summary + str(result.facts)
    assert result.facts == {"rows_checked": 3, "failures": 4}


def test_many_findings_are_summed_up():
    assert describe([("c", "x", 1, "")] * 7).endswith("; and 2 more")
