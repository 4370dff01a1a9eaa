"""What all corpora of a code location share: the folder they lie in and the engine that works."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from pydantic import Field, PrivateAttr

from corpus_assets.engines.local import LocalEngine

ROOT_VARIABLE = "CORPUS_ASSETS_ROOT"
WORKERS_VARIABLE = "CORPUS_ASSETS_WORKERS"
DEFAULT_ROOT = "corpora"


class CorpusStore(dg.ConfigurableResource):
    """The folder of all corpora, `<root>/<corpus>/<asset>`, and one engine for a whole run."""

    root: str = Field(default="", description=f"Default: ${ROOT_VARIABLE}, or ./{DEFAULT_ROOT}.")
    workers: int | None = Field(
        default=None, description=f"0 works in the run itself; default: ${WORKERS_VARIABLE}, cores."
    )
    _engine: LocalEngine = PrivateAttr()

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["CorpusStore"]:  # noqa: ARG002
        """Hold the engine's workers for the time of a run, and leave none behind."""
        workers = self.workers
        if workers is None and os.environ.get(WORKERS_VARIABLE):
            workers = int(os.environ[WORKERS_VARIABLE])
        with LocalEngine(workers) as engine:
            self._engine = engine
            yield self

    @property
    def engine(self) -> LocalEngine:
        """The engine of this run."""
        return self._engine

    def folder(self, key: dg.AssetKey) -> Path:
        """Return where an asset lies."""
        root = self.root or os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT
        return Path(root).absolute().joinpath(*key.path)
