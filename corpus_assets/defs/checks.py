"""Asset checks of one corpus: thin wrappers around `corpus_assets.checks`.

What a check read stands in a receipt: a part that has not changed is not read again. The command
`corpus-assets verify` always reads everything.
"""

from pathlib import Path
from typing import Any

import dagster as dg

from corpus_assets.checks import corpus as corpus_checks
from corpus_assets.checks import rescan as rescanning
from corpus_assets.checks.conservation import (
    NAME as COUNTS_ADD_UP,
)
from corpus_assets.checks.conservation import (
    corpus_counts_add_up,
    table_counts_add_up,
)
from corpus_assets.checks.findings import schema_audit, schema_result
from corpus_assets.checks.result import CheckResult
from corpus_assets.core.run import run_plan
from corpus_assets.core.table import Table
from corpus_assets.defs.io_managers import TABLES
from corpus_assets.defs.resources import CorpusStore
from corpus_assets.ledger import known_licences, read_ledger
from corpus_assets.shards.build import Corpus
from corpus_assets.spec import CorpusSpec

CHECKS_FOLDER = "_checks"


def build_checks(spec: CorpusSpec, base: Path) -> list[dg.AssetChecksDefinition]:
    """Return the checks of a corpus: counts at every stage, schema, and the audit of the shards.

    Args:
        spec: The corpus.
        base: Folder at which its relative paths start.
    """
    stages = [
        _counts_check(spec, name, up) for name, up in zip(TABLES, (None, *TABLES), strict=False)
    ]
    if spec.pii.mode != "datatrove":
        stages.append(_rescan_check(spec, base))
    return [*stages, _schema_check(spec), _corpus_checks(spec)]


def _counts_check(spec: CorpusSpec, name: str, upstream: str | None) -> dg.AssetChecksDefinition:
    key = dg.AssetKey([spec.name, name])
    others = {} if upstream is None else {"upstream": dg.AssetIn(key=[spec.name, upstream])}

    def evaluate(table: Table, upstream: Table | None = None) -> dg.AssetCheckResult:
        return as_dagster(key, table_counts_add_up(table, upstream))

    def first(table: Table) -> dg.AssetCheckResult:
        return evaluate(table)

    def later(table: Table, upstream: Table) -> dg.AssetCheckResult:
        return evaluate(table, upstream)

    return dg.asset_check(
        asset=key,
        name=COUNTS_ADD_UP,
        description="Every document that came in was kept or dropped for a named reason.",
        blocking=True,
        additional_ins=others,
    )(later if others else first)


def _schema_check(spec: CorpusSpec) -> dg.AssetChecksDefinition:
    key = dg.AssetKey([spec.name, "scrubbed_docs"])

    @dg.asset_check(
        asset=key,
        name="schema",
        description="Every row fits the pandera model of a scrubbed document.",
        blocking=True,
        required_resource_keys={"corpora"},
    )
    def schema(context: dg.AssetCheckExecutionContext, table: Table) -> dg.AssetCheckResult:
        store: CorpusStore = context.resources.corpora
        folder = store.folder(key).parent / CHECKS_FOLDER / "scrubbed_docs"
        findings = run_plan(schema_audit(table), folder, store.engine)
        return as_dagster(key, schema_result(findings))

    return schema


def _rescan_check(spec: CorpusSpec, base: Path) -> dg.AssetChecksDefinition:
    key = dg.AssetKey([spec.name, "scrubbed_docs"])

    @dg.asset_check(
        asset=key,
        name=rescanning.NAME,
        description="A second look for personal data finds nothing.",
        blocking=True,
        required_resource_keys={"corpora"},
    )
    def no_personal_data(
        context: dg.AssetCheckExecutionContext, table: Table
    ) -> dg.AssetCheckResult:
        store: CorpusStore = context.resources.corpora
        folder = store.folder(key).parent / CHECKS_FOLDER / rescanning.NAME
        plan = rescanning.rescan(table, spec.pii, base)
        return as_dagster(key, rescanning.rescan_result(run_plan(plan, folder, store.engine)))

    return no_personal_data


def _corpus_checks(spec: CorpusSpec) -> dg.AssetChecksDefinition:
    key = dg.AssetKey([spec.name, "corpus"])
    laws = {
        **corpus_checks.CHECKS,
        COUNTS_ADD_UP: "The corpus holds what came in less all that a stage dropped.",
    }
    inputs = {name: dg.AssetIn(key=dg.AssetKey([spec.name, name])) for name in (*TABLES, "ledger")}

    @dg.multi_asset_check(
        name=f"{spec.identifier}__corpus_checks",
        specs=[
            dg.AssetCheckSpec(
                name,
                asset=key,
                description=law,
                blocking=True,
                additional_deps=[[spec.name, other] for other in inputs],
            )
            for name, law in laws.items()
        ],
        ins={"corpus": dg.AssetIn(key=key), **inputs},
        required_resource_keys={"corpora"},
        can_subset=True,
    )
    def audit(
        context: dg.AssetCheckExecutionContext, corpus: Corpus, ledger: str, **tables: Table
    ) -> Any:
        store: CorpusStore = context.resources.corpora
        permille = spec.shards.val_permille
        plan = corpus_checks.corpus_audit(corpus.directory, corpus.manifest, permille)
        found = run_plan(plan, corpus.directory.parent / CHECKS_FOLDER / "corpus", store.engine)
        licences = known_licences(read_ledger(ledger))
        results = corpus_checks.audit_results(found, permille, licences)
        results.append(corpus_counts_add_up(corpus.manifest["n_docs"], tables))
        chosen = {check.name for check in context.selected_asset_check_keys}
        yield from (as_dagster(key, result) for result in results if result.name in chosen)

    return audit


def as_dagster(key: dg.AssetKey, result: CheckResult) -> dg.AssetCheckResult:
    """Return the outcome of a check as Dagster shows it."""
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=result.name,
        passed=result.passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=result.summary,
        metadata=dict(result.facts),
    )
