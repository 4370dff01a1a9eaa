"""The command line: the same assets as in the Dagster UI, for scripts, benches and notebooks.

Dagster is imported when a corpus is built, not before: `stats`, `verify` and `head` start fast.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from corpus_assets.core.errors import CorpusError, WorkerError
from corpus_assets.core.table import TABLE_FILE, Table, first_rows
from corpus_assets.filters.report import decisions, report_text
from corpus_assets.funnel import drops_of
from corpus_assets.shards.layout import MANIFEST_FILE
from corpus_assets.shards.manifest import load_manifest
from corpus_assets.spec_file import load_spec

ASSETS = (
    "raw_docs",
    "ledger",
    "filtered_docs",
    "minhash_signatures",
    "minhash_buckets",
    "minhash_clusters",
    "deduped_docs",
    "scrubbed_docs",
    "corpus",
    "datasheet",
)

Folder = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="corpus-assets")
def cli() -> None:
    """Make training corpora for language models, and look at them."""


@cli.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--root", type=click.Path(path_type=Path), required=True, help="Where corpora lie.")
@click.option(
    "--workers", type=click.IntRange(0), help="Processes; 0: in this one. Default: cores."
)
@click.option("--select", type=click.Choice(ASSETS), help="Build this and all it is made of.")
@click.option("--progress", is_flag=True, help="Show progress even where there is no terminal.")
def build(
    spec: Path, root: Path, workers: int | None, select: str | None, *, progress: bool
) -> None:
    """Build, or bring up to date, the corpus that SPEC (a defs.yaml) describes."""
    from corpus_assets.defs.build import build_here  # noqa: PLC0415 - loads Dagster

    described = load_spec(spec)
    show = progress or sys.stderr.isatty()
    outcome = build_here(described, spec.absolute().parent, root, workers, select, show=show)
    click.echo(outcome.summary)
    if outcome.failures:
        raise CorpusError("\n".join(outcome.failures))


@cli.command()
@click.argument("folder", type=Folder)
def stats(folder: Path) -> None:
    """Print the counts of every stage of the corpus in FOLDER (ROOT/<corpus>) as JSON."""
    stages: dict[str, Any] = {}
    for name in ASSETS:
        if (folder / name / TABLE_FILE).is_file():
            stages[name] = table_stats(Table.open(folder / name))
    if (folder / "corpus" / MANIFEST_FILE).is_file():
        manifest = load_manifest(folder / "corpus" / MANIFEST_FILE)
        stages["corpus"] = {key: value for key, value in manifest.items() if key != "shards"}
    if not stages:
        message = f"{folder}: no table and no corpus here; give ROOT/<corpus>."
        raise CorpusError(message)
    click.echo(json.dumps(stages, indent=2, ensure_ascii=False))


def table_stats(table: Table) -> dict[str, Any]:
    """Return the counts of one table, drops by reason."""
    counts = table.counts
    drops = {drop.reason: drop.documents for drop in drops_of(table.name, counts)}
    pii = {name[4:]: n for name, n in counts.items() if name.startswith("pii/")}
    return {
        "in": counts.get("in", 0),
        "kept": table.rows,
        "dropped": drops,
        **({"pii": pii} if pii else {}),
        "files": len(table.ranks),
        "bytes": table.bytes,
        "digest": table.digest,
    }


@cli.command()
@click.argument("folder", type=Folder)
@click.option(
    "--workers", type=click.IntRange(0), help="Processes; 0: in this one. Default: cores."
)
def verify(folder: Path, workers: int | None) -> None:
    """Read the whole corpus in FOLDER and compare it with its manifest."""
    from corpus_assets.checks.verify import verify_corpus  # noqa: PLC0415 - loads pandera
    from corpus_assets.engines.local import LocalEngine  # noqa: PLC0415

    inner = folder / "corpus"
    with LocalEngine(workers) as engine:
        manifest, differences = verify_corpus(inner if inner.is_dir() else folder, engine)
    if differences:
        raise CorpusError("\n".join(differences))
    click.echo(
        f"{manifest['dataset']} {manifest['version']}: {manifest['n_docs']} documents in "
        f"{manifest['n_shards']} shards, all as the manifest says."
    )


@cli.command("filter-report")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--root", type=click.Path(path_type=Path), help="Where corpora lie, for a defs.yaml.")
def filter_report(corpus: Path, root: Path | None) -> None:
    """Print how many documents each threshold of the recipe decides, and what others would.

    CORPUS is a folder (ROOT/<corpus>), or a defs.yaml with --root. Nothing is read but the counts
    of `filtered_docs`.
    """
    if corpus.is_dir():
        folder = corpus
    elif root is None:
        message = f"{corpus}: give --root ROOT with a defs.yaml, or the folder ROOT/<corpus>."
        raise CorpusError(message)
    else:
        folder = root / load_spec(corpus).name
    table = Table.open(folder / "filtered_docs")
    found = decisions(table.counts, table.facts.get("rules", ()))
    for note in table.facts.get("notes", ()):
        click.echo(f"note: {note}")
    click.echo(report_text(found) if found else "no rule of the recipe compares a number.")


@cli.command()
@click.argument("folder", type=Folder)
@click.option("-n", "--rows", type=click.IntRange(1), default=5, show_default=True)
@click.option("--excluded", is_flag=True, help="Dropped documents instead of kept ones.")
def head(folder: Path, rows: int, *, excluded: bool) -> None:
    """Print the first documents of the table or corpus in FOLDER, one JSON object a line."""
    if (folder / MANIFEST_FILE).is_file():
        shard = load_manifest(folder / MANIFEST_FILE)["shards"][0]
        frame = first_rows(folder / shard["name"], rows)
    else:
        frame = Table.open(folder).head(rows, "excluded" if excluded else "kept")
    for row in frame.head(rows).iter_rows(named=True):
        click.echo(json.dumps(row, ensure_ascii=False, default=bytes.hex))


def guarded(run: Callable[[], Any]) -> int:
    """Run a command; return the exit code, after one clear line on stderr for what went wrong."""
    try:
        run()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (CorpusError, WorkerError, OSError, ValueError) as error:
        click.echo(f"corpus-assets: {error}", err=True)
        return 1
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "corpus-assets: interrupted; run again to go on: finished ranks are kept.", err=True
        )
        return 130
    return 0


def main() -> None:
    """Run the command line."""
    sys.exit(guarded(lambda: cli(standalone_mode=False)))
