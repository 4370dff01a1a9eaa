"""`verify`: a corpus anywhere against its own manifest, everything read, nothing taken on trust."""

import tempfile
from pathlib import Path

from corpus_assets.checks.corpus import corpus_audit, shard_results
from corpus_assets.core.run import Engine, run_plan
from corpus_assets.shards.layout import MANIFEST_FILE
from corpus_assets.shards.manifest import load_manifest
from corpus_assets.shards.replace import current_version


def verify_corpus(out: Path, engine: Engine) -> tuple[dict[str, object], list[str]]:
    """Return the manifest of a corpus, and every way in which the corpus differs from it.

    Raises:
        FileNotFoundError: There is no manifest.
        DocumentError: It is not consistent.
    """
    folder = current_version(out)
    manifest = load_manifest(folder / MANIFEST_FILE)
    names = [shard["name"] for shard in manifest["shards"]]
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        return manifest, [f"{folder / name}: listed but missing" for name in missing]
    with tempfile.TemporaryDirectory() as scratch:
        audit = run_plan(corpus_audit(folder, manifest, None), Path(scratch) / "audit", engine)
        failed = [result for result in shard_results(audit) if not result.passed]
    return manifest, [f"{result.name}: {result.summary}" for result in failed]
