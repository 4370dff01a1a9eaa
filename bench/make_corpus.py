"""A corpus to measure with: the sample's paragraphs resampled, offline, the same for a seed.

Document i is a function of (seed, i) alone: 85 % are new, 5 % repeat an earlier text, 10 % are an
earlier text with some words changed. E-mails and IP addresses stand in 3 % of the new ones.

    python -m bench.make_corpus FOLDER --documents 60000
"""

import argparse
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.core.streams import decompressed, lines

SAMPLE = Path(__file__).parents[1] / "examples" / "sample"
FACTS_FILE = "_facts.json"

FILES = 8
GROUP_ROWS = 1_000
CHARS = (500, 5_000)
"""Bounds between which the length of a new document is drawn evenly."""

EXACT, NEAR, PERSONAL = 0.05, 0.10, 0.03
"""Shares of exact duplicates, of near duplicates, and of new documents with personal data."""

EDITS = (0.005, 0.05)
"""Bounds of the share of words that a near duplicate changes."""

SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("id", "text", "url", "lang")] + [("year", pa.int32())]
)


@dataclass(frozen=True)
class Source:
    """The paragraphs of one file of the sample."""

    lang: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """What is known of a corpus, to check with what becomes of it."""

    documents: int
    distinct: int
    """Different texts."""
    text_bytes: int
    sha256: str
    """Over the ids and texts in order, each followed by a line feed."""


def sample_sources(folder: Path = SAMPLE) -> list[Source]:
    """Return the sample's paragraphs, file by file in order of name."""
    sources: list[Source] = []
    for path in sorted(folder.rglob("*.*")):
        documents = list(_documents(path))
        paragraphs = (p.strip() for document in documents for p in document["text"].split("\n\n"))
        kept = tuple(p for p in paragraphs if p and "@" not in p)
        if kept:
            sources.append(Source(documents[0].get("lang", "en"), kept))
    return sources


def _documents(path: Path) -> Iterator[dict[str, str]]:
    if path.suffix == ".parquet":
        yield from pq.read_table(path, columns=["text", "lang"]).to_pylist()
    elif ".jsonl" in path.suffixes:
        with path.open("rb") as stream:
            yield from map(orjson.loads, lines(decompressed(stream, path.name)))


def document(sources: list[Source], seed: int, i: int) -> tuple[Source, str]:
    """Return the source and the text of document `i`."""
    rng = random.Random(f"{seed}/{i}")  # noqa: S311 - it must repeat, not surprise
    draw = rng.random()
    if i and draw < EXACT:
        return document(sources, seed, rng.randrange(i))
    if i and draw < EXACT + NEAR:
        source, text = document(sources, seed, rng.randrange(i))
        return source, _edited(text, source, rng)
    source = rng.choice(sources)
    return source, _new_text(source, rng)


def _new_text(source: Source, rng: random.Random) -> str:
    wanted = rng.randint(*CHARS)
    parts: list[str] = []
    if rng.random() < PERSONAL:
        name, host = rng.randrange(10**6), rng.randrange(1, 255)
        parts.append(f"Write to user{name}@example{host}.org or look at 8.8.{host}.{name % 255}.")
    chars = 0
    while chars < wanted:
        parts.append(rng.choice(source.paragraphs)[: wanted - chars])
        chars += len(parts[-1]) + 2
    return "\n\n".join(parts)


def _edited(text: str, source: Source, rng: random.Random) -> str:
    words = text.split(" ")
    for _ in range(max(1, round(len(words) * rng.uniform(*EDITS)))):
        words[rng.randrange(len(words))] = rng.choice(source.paragraphs).split(None, 1)[0]
    return " ".join(words)


def make_corpus(folder: Path, documents: int, seed: int) -> Facts:
    """Write the documents as Parquet files, with their facts beside; return the facts."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = sample_sources()
    digest, seen, text_bytes = hashlib.sha256(), set[bytes](), 0
    for number in range(FILES):
        first, last = documents * number // FILES, documents * (number + 1) // FILES
        path = folder / f"part-{number:03d}.parquet"
        with pq.ParquetWriter(path, SCHEMA, compression="zstd", compression_level=3) as writer:
            for start in range(first, last, GROUP_ROWS):
                rows = _rows(sources, seed, range(start, min(start + GROUP_ROWS, last)))
                writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
                for row in rows:
                    text = str(row["text"]).encode()
                    digest.update(f"{row['id']}\n".encode() + text + b"\n")
                    seen.add(hashlib.sha256(text).digest())
                    text_bytes += len(text)
    facts = Facts(documents, len(seen), text_bytes, digest.hexdigest())
    (folder / FACTS_FILE).write_text(json.dumps(asdict(facts)) + "\n")
    return facts


def _rows(sources: list[Source], seed: int, numbers: range) -> list[dict[str, str | int]]:
    rows: list[dict[str, str | int]] = []
    for i in numbers:
        source, text = document(sources, seed, i)
        # A digest as id, so that the order of ids is another than that of the files.
        name = hashlib.sha256(f"{seed}/{i}".encode()).hexdigest()[:32]
        url = f"https://example.org/{name[:2]}/{name}"
        year = 2013 + i % 12
        rows.append({"id": name, "text": text, "url": url, "lang": source.lang, "year": year})
    return rows


def main() -> None:
    """Make a corpus and print its facts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    facts = make_corpus(arguments.folder, arguments.documents, arguments.seed)
    print(json.dumps(asdict(facts), indent=1))


if __name__ == "__main__":
    main()
