"""IO managers: an asset returns what should be made, they make it; inputs are only opened."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg

from corpus_assets.core.errors import CorpusError, LockedError, TargetError, WorkerError
from corpus_assets.core.files import remove_temporaries, write_text
from corpus_assets.core.plan import Plan
from corpus_assets.core.run import Progress, run_plan
from corpus_assets.core.table import Table, first_rows
from corpus_assets.defs.metadata import corpus_metadata, table_metadata, text_metadata
from corpus_assets.defs.resources import CorpusStore
from corpus_assets.funnel import funnel_of
from corpus_assets.shards.build import Corpus, CorpusPlan, build_corpus_shards

FILE = "corpus_assets/file"
"""Definition metadata of an asset that is one text file: its name."""

PROGRESS_LOG = logging.getLogger("corpus_assets.progress")
"""Progress for programs that run assets themselves; nothing shows it unless they listen."""


def final(error: Exception) -> dg.Failure:
    """Return what Dagster shows for an error of ours: its message, and no retry in vain."""
    return dg.Failure(str(error), allow_retries=isinstance(error, LockedError))


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Turn errors of ours into clear failures; only what may pass by itself is tried again.

    Raises:
        dg.Failure: A `CorpusError`, or a fault of the program, which no retry cures.
    """
    try:
        yield
    except CorpusError as error:
        raise final(error) from error
    except (OSError, WorkerError):
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise dg.Failure(message, allow_retries=False) from error


class Reporter:
    """Logs the progress of plans and keeps the last word of each."""

    def __init__(self, log: dg.DagsterLogManager) -> None:
        """Log to a step's log."""
        self._log = log
        self.last: dict[str, Progress] = {}

    def __call__(self, progress: Progress) -> None:
        """Log one line."""
        self.last[progress.table] = progress
        finished = progress.done + progress.reused
        line = progress.note and f"{progress.table}: {progress.note}"
        line = line or (
            f"{progress.table}: {finished} of {progress.total} done "
            f"({progress.reused} unchanged), {progress.rows:,} rows"
        )
        self._log.info(line)
        PROGRESS_LOG.info(line)


class TableIOManager(dg.IOManager):
    """Runs the plan of a table; opens tables."""

    def __init__(self, store: CorpusStore) -> None:
        """Keep tables in a store."""
        self._store = store

    def handle_output(self, context: dg.OutputContext, obj: Plan) -> None:
        """Make the table and tell the catalog about it."""
        reporter = Reporter(context.log)
        with failing_clearly():
            folder = self._store.folder(context.asset_key)
            table = run_plan(obj, folder, self._store.engine, reporter)
        context.add_output_metadata(table_metadata(table, reporter.last.get(table.name)))
        publish_version(context, table.digest)

    def load_input(self, context: dg.InputContext) -> Table:
        """Open the table."""
        return opened(Table, self._store.folder(context.asset_key))


class CorpusIOManager(dg.IOManager):
    """Makes shards and manifest; opens corpora."""

    def __init__(self, store: CorpusStore) -> None:
        """Keep corpora in a store."""
        self._store = store

    def handle_output(self, context: dg.OutputContext, obj: CorpusPlan) -> None:
        """Make the corpus and tell the catalog about it."""
        reporter = Reporter(context.log)
        folder = self._store.folder(context.asset_key)
        with failing_clearly():
            corpus = build_corpus_shards(obj, folder, self._store.engine, report=reporter)
        tables = [Table.open(folder.parent / name) for name in TABLES]
        first = first_rows(folder / corpus.manifest["shards"][0]["name"], 5)
        progress = reporter.last.get("shards")
        metadata = corpus_metadata(corpus, first, funnel_of(tables), progress)
        context.add_output_metadata(metadata)
        publish_version(context, corpus.digest)

    def load_input(self, context: dg.InputContext) -> Corpus:
        """Open the corpus."""
        return opened(Corpus, self._store.folder(context.asset_key))


TABLES = ("raw_docs", "filtered_docs", "deduped_docs", "scrubbed_docs")
"""Tables from the raw documents to the corpus, in order."""


class TextIOManager(dg.IOManager):
    """Writes an asset that is one text file; reads it back."""

    def __init__(self, store: CorpusStore) -> None:
        """Keep files in a store."""
        self._store = store

    def handle_output(self, context: dg.OutputContext, obj: str) -> None:
        """Write the file whole, unless it already says just that."""
        path = self._path(context.asset_key, context.definition_metadata)
        remove_temporaries(path)
        refuse_foreign_file(path)
        write_text(path, obj)
        context.add_output_metadata(text_metadata(path, obj))

    def load_input(self, context: dg.InputContext) -> str:
        """Return the text."""
        output = context.upstream_output
        metadata = {} if output is None else output.definition_metadata
        return self._path(context.asset_key, metadata).read_text(encoding="utf-8")

    def _path(self, key: dg.AssetKey, metadata: Any) -> Path:
        return self._store.folder(key) / metadata[FILE]


def refuse_foreign_file(path: Path) -> None:
    """Refuse a folder that holds anything but the one file that is ours.

    Raises:
        dg.Failure: As said.
    """
    others = {p.name for p in path.parent.iterdir()} if path.parent.is_dir() else set()
    if others and path.name not in others:
        message = f"{path.parent}: holds other files than {path.name}; move them away."
        raise final(TargetError(message))


def opened(kind: Any, folder: Path) -> Any:
    """Open a table or a corpus.

    Raises:
        dg.Failure: It is not there, or not as it was made.
    """
    try:
        return kind.open(folder)
    except (CorpusError, FileNotFoundError) as error:
        raise final(error) from error


def publish_version(context: dg.OutputContext, digest: str) -> None:
    """Make the digest of the output its data version, so the UI knows what is out of date."""
    context.step_context.set_data_version(context.asset_key, dg.DataVersion(digest))


@dg.io_manager(required_resource_keys={"corpora"}, description="Tables of documents.")
def table_io(context: dg.InitResourceContext) -> TableIOManager:
    """Return the IO manager of tables."""
    return TableIOManager(context.resources.corpora)


@dg.io_manager(required_resource_keys={"corpora"}, description="Shards and manifest.")
def corpus_io(context: dg.InitResourceContext) -> CorpusIOManager:
    """Return the IO manager of corpora."""
    return CorpusIOManager(context.resources.corpora)


@dg.io_manager(required_resource_keys={"corpora"}, description="Ledger and datasheet.")
def text_io(context: dg.InitResourceContext) -> TextIOManager:
    """Return the IO manager of text files."""
    return TextIOManager(context.resources.corpora)
