"""Training corpora as Dagster assets: filtered, deduplicated, scrubbed, sharded, verifiable."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Load `CorpusComponent` at first use: workers import this package without Dagster."""
    if name == "CorpusComponent":
        from corpus_assets.defs.component import CorpusComponent  # noqa: PLC0415 - see above

        return CorpusComponent
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """Name what `dg` may list."""
    return ["CorpusComponent"]
