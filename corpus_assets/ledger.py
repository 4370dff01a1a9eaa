"""The ledger: a line per source with its licences, where it comes from, and what was read of it."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from corpus_assets.core.files import digest_of_json
from corpus_assets.core.table import Table
from corpus_assets.readers.config import ReadConfig

LEDGER_FILE = "LEDGER.jsonl"


def ledger_text(raw_docs: Table, sources: Iterable[tuple[str, ReadConfig]]) -> str:
    """Return the ledger of the sources, given each with its title, as JSON lines.

    `sha256` is the digest of the names and digests of the source's files, so it moves when any
    byte of the source does. `licenses` counts the documents under each licence.
    """
    return "".join(
        json.dumps(_entry(raw_docs, title, config), ensure_ascii=False) + "\n"
        for title, config in sources
    )


def _entry(raw_docs: Table, title: str, config: ReadConfig) -> dict[str, Any]:
    prefix = config.source_id + "/"
    ranks = [rank for rank in raw_docs.ranks if rank.name.startswith(prefix)]
    counts: Counter[str] = Counter()
    for rank in ranks:
        counts.update(rank.counts)
    start = f"license/{prefix}"
    licences = {k.removeprefix(start): n for k, n in counts.items() if k.startswith(start)}
    files = [(rank.name.removeprefix(prefix), (rank.source or {})["sha256"]) for rank in ranks]
    return {
        "source_id": config.source_id,
        "title": title,
        "license_spdx": config.license_spdx,
        "licenses": dict(sorted(licences.items())),
        "url": config.url,
        "files": len(ranks),
        "bytes": sum((rank.source or {})["bytes"] for rank in ranks),
        "sha256": digest_of_json(files),
        "documents": counts["kept"],
        "rejected": counts["in"] - counts["kept"],
    }


def read_ledger(text: str) -> list[dict[str, Any]]:
    """Return the lines of a ledger."""
    return [json.loads(line) for line in text.splitlines()]


def known_licences(entries: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return every (source, licence) that a ledger names."""
    return {(e["source_id"], licence) for e in entries for licence in e["licenses"]}
