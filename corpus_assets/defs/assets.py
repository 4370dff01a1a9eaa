"""The assets of one corpus: each says in one line what it is made of; the IO managers make it."""

import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from corpus_assets import filters, readers
from corpus_assets.core.table import Table
from corpus_assets.datasheet import CARD_FILE, DatasheetInput, datasheet_text
from corpus_assets.dedup import exact, near
from corpus_assets.dedup.config import open_index_documents, open_indexes
from corpus_assets.defs.io_managers import FILE, failing_clearly
from corpus_assets.funnel import funnel_of
from corpus_assets.ledger import LEDGER_FILE, ledger_text, read_ledger
from corpus_assets.pii import scrubbing
from corpus_assets.readers import RawConfig
from corpus_assets.shards import build
from corpus_assets.shards.build import Corpus, CorpusPlan
from corpus_assets.shards.manifest import checked_settings
from corpus_assets.shards.read import column_counts
from corpus_assets.spec import CorpusSpec

CODE_VERSIONS = {
    "raw_docs": readers.VERSION,
    "filtered_docs": filters.VERSION,
    "deduped_docs": near.VERSION,
    "scrubbed_docs": scrubbing.VERSION,
    "corpus": build.VERSION,
}
"""Version of each asset's code, by which the UI marks what an upgrade made stale."""


def build_assets(spec: CorpusSpec, base: Path) -> Sequence[Any]:
    """Return the assets of a corpus whose relative inputs start at `base`."""
    common = _common(spec)

    @dg.asset(**common("raw_docs", "table_io", "parquet"))
    def raw_docs() -> Any:
        """Every input document, in one schema.

        As it was read; one file here for each input file. Lines and rows that are no documents lie
        under `rejected/`, with file, line and reason.
        """
        with failing_clearly():
            files = spec.files(base)
        return readers.raw_docs(files, RawConfig(max_bad_fraction=spec.max_bad_fraction))

    @dg.asset(**common("ledger", "text_io", "json", "raw_docs", file=LEDGER_FILE))
    def ledger(raw_docs: Table) -> Any:
        """The sources and their licences.

        A line per source: title, SPDX licences with the number of documents under each, URL, files,
        bytes, digest.
        """
        named = [(s.title or s.source_id, s.reading()) for s in spec.sources]
        return ledger_text(raw_docs, named)

    @dg.asset(**common("filtered_docs", "table_io", "polars", "raw_docs"))
    def filtered_docs(raw_docs: Table) -> Any:
        """Documents that pass the recipe's rules.

        What a rule drops lies under `excluded/`, with rule, reason, value and threshold.
        """
        with failing_clearly():
            return filters.filtered_docs(raw_docs, spec.rules, base)

    deduplication = (
        _minhash_assets(spec, base, common) if spec.dedup.minhash else [_exact_asset(spec, common)]
    )

    @dg.asset(**common("scrubbed_docs", "table_io", "polars", "deduped_docs"))
    def scrubbed_docs(deduped_docs: Table) -> Any:
        """Personal data replaced by placeholders.

        Deduplicated documents; columns count what was replaced in each, by kind.
        """
        with failing_clearly():
            return scrubbing.scrubbed_docs(deduped_docs, spec.pii, base)

    @dg.asset(
        **common(
            "corpus", "corpus_io", "parquet", "filtered_docs", "deduped_docs", "scrubbed_docs"
        ),
        freshness_policy=_freshness(spec),
    )
    def corpus(filtered_docs: Table, deduped_docs: Table, scrubbed_docs: Table) -> Any:
        """The training corpus, in verifiable shards.

        Parquet files of documents sorted by id; the column `split` says train or val.
        `_MANIFEST.json` names every shard with its SHA-256 and says what was dropped on the way.
        `corpus-assets verify` checks a copy of it anywhere.
        """
        settings = checked_settings(
            dataset=spec.name,
            version=spec.version,
            shard_rows=spec.shards.shard_rows,
            val_permille=spec.shards.val_permille,
            row_group_bytes=spec.shards.row_group_bytes,
            filters=filter_counts(spec, filtered_docs.counts),
            dedup=dedup_counts(spec, deduped_docs.counts),
            ledger_ref=f"ledger/{LEDGER_FILE}",
            config_sha256=spec.digest,
        )
        return CorpusPlan(scrubbed_docs, settings, scrubbing.MANIFEST_COLUMNS)

    upstream = ("corpus", "ledger", "raw_docs", "filtered_docs", "deduped_docs", "scrubbed_docs")

    @dg.asset(**common("datasheet", "text_io", "markdown", *upstream, file=CARD_FILE))
    def datasheet(
        corpus: Corpus,
        ledger: str,
        raw_docs: Table,
        filtered_docs: Table,
        deduped_docs: Table,
        scrubbed_docs: Table,
    ) -> Any:
        """The dataset card, for those who use it.

        Sources, licences, funnel, splits, personal data, parameters, how to read the corpus.
        """
        return datasheet_text(
            DatasheetInput(
                description=spec.description,
                manifest=corpus.manifest,
                ledger=read_ledger(ledger),
                scrubbed=scrubbed_docs,
                funnel=funnel_of([raw_docs, filtered_docs, deduped_docs, scrubbed_docs]),
                languages=sorted(column_counts(corpus.directory, corpus.manifest, "lang")),
                splits=column_counts(corpus.directory, corpus.manifest, "split"),
                parameters=spec.model_dump(mode="json", by_alias=True, include=PARAMETERS),
            )
        )

    return [raw_docs, ledger, filtered_docs, *deduplication, scrubbed_docs, corpus, datasheet]


PARAMETERS = {"recipe", "dedup", "pii", "shards", "max_bad_fraction"}
"""Parts of a spec that the datasheet shows: what was done, not where and when."""


def _exact_asset(spec: CorpusSpec, common: Any) -> Any:
    """Return `deduped_docs` of a corpus that drops only exact duplicates."""

    @dg.asset(**common("deduped_docs", "table_io", "polars", "filtered_docs"))
    def deduped_docs(filtered_docs: Table) -> Any:
        """Filtered documents, each text once.

        Of documents with the same text the first by (rank, row) stays; the others lie under
        `excluded/`, with the id of the one that stayed.
        """
        return exact.without_exact_duplicates(filtered_docs, exact=spec.dedup.exact)

    return deduped_docs


def _minhash_assets(spec: CorpusSpec, base: Path, common: Any) -> list[Any]:
    """Return the stages of MinHash, and `deduped_docs` of what they find.

    They import their modules themselves: numba takes a second, which loading the code location
    need not wait for.
    """
    settings = spec.dedup

    @dg.asset(**common("minhash_signatures", "table_io", "numba", "filtered_docs"))
    def minhash_signatures(filtered_docs: Table) -> Any:
        """MinHash signatures, a few per document.

        datatrove's `bucket_XXX/RANK.minhash.sig`: sorted minima of one band and the document's
        number in its file. Exact duplicates have none; they are listed beside.
        """
        from corpus_assets.dedup import signatures  # noqa: PLC0415

        return signatures.minhash_signatures(
            filtered_docs, settings.signing(), exact_first=settings.exact
        )

    @dg.asset(**common("minhash_buckets", "table_io", "numba", "minhash_signatures"))
    def minhash_buckets(minhash_signatures: Table) -> Any:
        """Pairs of documents that share a band.

        datatrove's `BUCKET_WORKER.dups`; where the corpus is deduplicated against others, their
        matches too.
        """
        from corpus_assets.dedup import buckets  # noqa: PLC0415

        with failing_clearly():
            indexes = open_indexes(settings, base)
            return buckets.minhash_buckets(minhash_signatures, settings.bucketing(), indexes)

    @dg.asset(**common("minhash_clusters", "table_io", "numba", "minhash_buckets", "filtered_docs"))
    def minhash_clusters(minhash_buckets: Table, filtered_docs: Table) -> Any:
        """Near-duplicates, and which of them stays.

        datatrove's `RANK.remove`, `.clusters` and `.sizes`, and `members.parquet`: every document
        that has a duplicate, with its cluster and the id of the one that stays.
        """
        from corpus_assets.dedup import clusters  # noqa: PLC0415

        with failing_clearly():
            indexes = open_indexes(settings, base)
            numbers, documents = open_index_documents(settings, base, indexes)
            return clusters.minhash_clusters(
                minhash_buckets, filtered_docs, settings.clustering(numbers), indexes, documents
            )

    stages = ("filtered_docs", "minhash_signatures", "minhash_clusters")

    @dg.asset(**common("deduped_docs", "table_io", "polars", *stages))
    def deduped_docs(
        filtered_docs: Table, minhash_signatures: Table, minhash_clusters: Table
    ) -> Any:
        """Filtered documents without duplicates.

        Each text once, and of near-duplicates one. What is dropped lies under `excluded/`, with the
        id of the document that stayed.
        """
        with failing_clearly():
            return near.without_duplicates(filtered_docs, minhash_signatures, minhash_clusters)

    return [minhash_signatures, minhash_buckets, minhash_clusters, deduped_docs]


def dedup_counts(spec: CorpusSpec, counts: Mapping[str, int]) -> dict[str, Any]:
    """Return `dedup` of the manifest: what was dropped, and the settings it was found with."""
    dropped = {
        f"{kind}_dropped": counts.get(f"dropped/dedup/{kind}_duplicate", 0)
        for kind in ("exact", "near")
    }
    minhash = spec.dedup.minhash
    if minhash is None:
        return dropped
    return dropped | {
        "jaccard_threshold": round(minhash.threshold, 3),
        "num_perm": minhash.values,
        "bands": minhash.num_buckets,
        "ngram": minhash.n_grams,
    }


def filter_counts(spec: CorpusSpec, counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many documents each rule of the recipe dropped, in the recipe's order."""
    return {
        rule.name: sum(n for name, n in counts.items() if name.startswith(f"dropped/{rule.name}/"))
        for rule in spec.rules.rules
    }


def _freshness(spec: CorpusSpec) -> dg.FreshnessPolicy | None:
    if spec.fresh_within_hours is None:
        return None
    return dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=spec.fresh_within_hours))


class RetryUnlessStopped(dg.RetryPolicy):
    """Tries a failed step again, but not one that was terminated: Dagster 1.13 would do both."""

    def calculate_delay(self, attempt_num: int) -> float:
        """Return the seconds to wait; raise what ended the step again if it was a termination."""
        error = sys.exc_info()[1]
        if isinstance(error, KeyboardInterrupt | dg.DagsterExecutionInterruptedError):
            raise error
        return super().calculate_delay(attempt_num)


def _common(spec: CorpusSpec) -> Any:
    """Return a function that gives what all assets of a corpus share."""
    retry = RetryUnlessStopped(
        max_retries=spec.retry.max_retries,
        delay=spec.retry.delay_seconds,
        backoff=dg.Backoff.EXPONENTIAL,
        jitter=dg.Jitter.PLUS_MINUS,
    )

    def common(
        name: str, io_manager: str, kind: str, *upstream: str, file: str | None = None
    ) -> dict[str, Any]:
        return {
            "key": dg.AssetKey([spec.name, name]),
            "ins": {up: dg.AssetIn(key=dg.AssetKey([spec.name, up])) for up in upstream},
            "io_manager_key": io_manager,
            "group_name": spec.identifier,
            "kinds": {kind},
            "metadata": {FILE: file} if file else {},
            "retry_policy": retry,
            "code_version": str(CODE_VERSIONS.get(name, 1)),
        }

    return common
