"""A corpus from a few documents, in plain Python: no Dagster, no YAML, no worker processes.

Run it, or open it as a notebook (VS Code, Jupyter with jupytext): each `# %%` begins a cell. For
your own data change the first two cells. A corpus that you keep belongs into a `defs.yaml`
(docs/how-to/add-a-corpus.md), which adds checks, ledger, datasheet and the UI.
"""

# %% Some documents, as a file of JSON lines
import json
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp(prefix="tiny-corpus-"))
documents = [
    {"id": 1, "text": "Mia naps."},
    {"id": 2, "text": "Tom has a red ball."},
    {"id": 3, "text": "Mia naps."},
    {"id": 4, "text": "Write to mia@example.org or ask 192.31.196.7."},
    {"id": 5, "text": ""},
]
lines = "".join(json.dumps(document) + "\n" for document in documents)
(folder / "tales.jsonl").write_text(lines, encoding="utf-8")

# %% What to make of them: the same keys as in a defs.yaml
from corpus_assets.spec import CorpusSpec  # noqa: E402 - a cell imports what it shows

spec = CorpusSpec.model_validate(
    {
        "name": "tiny",
        "sources": [
            {
                "id": "tales",
                "license_spdx": "CC0-1.0",
                "url": "https://example.org/tales",
                "inputs": "*.jsonl",
            }
        ],
        "recipe": ["non_empty"],
        "shards": {"shard_rows": 2, "val_permille": 300},
    }
)

# %% Each stage is a plan; run_plan makes its table, or what of it is missing
from corpus_assets import filters, readers  # noqa: E402
from corpus_assets.core.plan import Plan  # noqa: E402
from corpus_assets.core.run import Progress, run_plan  # noqa: E402
from corpus_assets.core.table import Table  # noqa: E402
from corpus_assets.dedup.exact import without_exact_duplicates  # noqa: E402
from corpus_assets.engines.local import LocalEngine  # noqa: E402
from corpus_assets.pii import scrubbed_docs  # noqa: E402

engine = LocalEngine(0)  # 0: in this process; 8: eight worker processes
out = folder / "corpora" / spec.name


def make(plan: Plan) -> Table:
    """Make a table in its own folder."""
    return run_plan(plan, out / plan.name, engine)


raw = make(readers.raw_docs(spec.files(folder), readers.RawConfig()))
filtered = make(filters.filtered_docs(raw, spec.rules))
deduped = make(without_exact_duplicates(filtered))
scrubbed = make(scrubbed_docs(deduped, spec.pii))
for table in (raw, filtered, deduped, scrubbed):
    print(table.name, table.rows, table.counts)

# %% What a stage dropped, and why
print(deduped.head(5, "excluded").select("id", "drop_rule", "drop_reason", "duplicate_of"))

# %% The corpus: sorted, split, cut into shards, with a manifest
from corpus_assets.pii.scrubbing import MANIFEST_COLUMNS  # noqa: E402
from corpus_assets.shards import read_shards  # noqa: E402
from corpus_assets.shards.build import CorpusPlan, build_corpus_shards  # noqa: E402
from corpus_assets.shards.manifest import checked_settings  # noqa: E402

settings = checked_settings(
    dataset=spec.name,
    version=spec.version,
    shard_rows=spec.shards.shard_rows,
    val_permille=spec.shards.val_permille,
    filters={"non_empty": raw.rows - filtered.rows},
    dedup={"exact_dropped": filtered.rows - deduped.rows},
    config_sha256=spec.digest,
)
plan = CorpusPlan(scrubbed, settings, MANIFEST_COLUMNS)
corpus = build_corpus_shards(plan, out / "corpus", engine)
print(json.dumps(corpus.manifest, indent=1))
for doc in read_shards(out / "corpus"):
    print(doc.id, doc.meta["split"], doc.text)

# %% Run a stage again: its receipt stands, so nothing is made
said: list[Progress] = []
run_plan(scrubbed_docs(deduped, spec.pii), out / "scrubbed_docs", engine, said.append)
print(f"made again: {said[-1].done} of {said[-1].total} files")
