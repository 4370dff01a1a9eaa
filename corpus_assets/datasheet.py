"""The datasheet: a dataset card in Markdown, with the front matter that the HF Hub reads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from corpus_assets.core.table import Table
from corpus_assets.funnel import Funnel

CARD_FILE = "README.md"

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"),
         (10**7, "1M<n<10M"), (10**8, "10M<n<100M"), (10**9, "100M<n<1B"))  # fmt: skip
"""Size classes of the Hub."""


@dataclass(frozen=True)
class DatasheetInput:
    """All that the card is made of."""

    description: str
    manifest: Mapping[str, Any]
    ledger: Sequence[Mapping[str, Any]]
    scrubbed: Table
    funnel: Funnel
    languages: Sequence[str]
    splits: Mapping[str, int]
    parameters: Mapping[str, Any]


def datasheet_text(card: DatasheetInput) -> str:
    """Return the card: front matter, what it is, sources, funnel, splits, PII, how to read."""
    parts = [
        f"---\n{yaml.safe_dump(front_matter(card), sort_keys=False, allow_unicode=True)}---",
        f"# {card.manifest['dataset']} {card.manifest['version']}",
        card.description,
        _contents(card),
        "## Sources and licences",
        _sources(card),
        "## From raw documents to the corpus",
        card.funnel.markdown(),
        "## Personal data replaced",
        _pii(card),
        "## How to read it",
        _reading(card),
        "## Parameters",
        f"```yaml\n{yaml.safe_dump(dict(card.parameters), sort_keys=False, allow_unicode=True)}```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def front_matter(card: DatasheetInput) -> dict[str, Any]:
    """Return the YAML block at the head of the card, in the Hub's terms."""
    n_docs = card.manifest["n_docs"]
    splits = [
        {"name": name, "num_examples": number} for name, number in card.splits.items() if number
    ]
    return {
        "pretty_name": card.manifest["dataset"],
        "language": [lang for lang in card.languages if lang != "und"],
        "license": "other",
        "license_name": "per-document",
        "license_link": "#sources-and-licences",
        "size_categories": [next((name for top, name in SIZES if n_docs < top), "n>1B")],
        "task_categories": ["text-generation"],
        "configs": [{"config_name": "default", "data_files": "shard-*.parquet"}],
        "dataset_info": {"splits": splits},
    }


def _contents(card: DatasheetInput) -> str:
    manifest = card.manifest
    split = ", ".join(f"{number:,} {name}" for name, number in card.splits.items())
    return (
        f"{manifest['n_docs']:,} documents ({split}) in {manifest['n_shards']} shards, sorted by "
        f"`id`, each text once, personal data replaced. The licence of each document is in "
        f"`license_spdx`. Shards and counts: `_MANIFEST.json`, configuration "
        f"`{manifest['config_sha256'][:12]}…`."
    )


def _sources(card: DatasheetInput) -> str:
    kept: Counter[tuple[str, str]] = Counter()
    for name, number in card.scrubbed.counts.items():
        if name.startswith("license/"):
            _, source, licence = name.split("/", 2)
            kept[source, licence] += number
    rows = [
        (f"[{entry['title']}]({entry['url']})", licence, f"{number:,}", f"{kept_here:,}")
        for entry in card.ledger
        for licence, number in entry["licenses"].items()
        for kept_here in [kept[entry["source_id"], licence]]
    ]
    return _table(("source", "licence (SPDX)", "documents read", "in the corpus"), rows)


def _pii(card: DatasheetInput) -> str:
    """Return the replacements of the kinds that were looked for; a zero elsewhere says nothing."""
    kinds = card.parameters["pii"]["kinds"]
    rows = [(kind, f"{card.scrubbed.counts.get(f'pii/{kind}', 0):,}") for kind in kinds]
    return _table(("kind", "replacements"), rows)


def _reading(card: DatasheetInput) -> str:
    return (
        "```python\n"
        "from corpus_assets.shards import read_shards  # verifies every shard\n\n"
        'for doc in read_shards("corpus", split="train"):\n'
        '    print(doc.id, doc.meta["license_spdx"], len(doc.text))\n'
        "```\n\n"
        f"Or with any Parquet reader: the {card.manifest['n_shards']} files that "
        "`_MANIFEST.json` lists have one schema."
    )


def _table(head: Sequence[str], rows: Any) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
