"""Real texts to compare with and to measure by: those that a Debian system and the sample hold."""

import gzip
import json
from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path

import polars as pl

from bench.make_corpus import SAMPLE

FOLDERS = ("/usr/share/man", "/usr/share/doc", "/usr/share/common-licenses")
PACKAGES = Path(pl.__file__).parents[1]
"""The installed Python packages: their documentation and the prose in their code."""

LONGEST = 40_000
"""Bytes of a file that are read; the rest would be more of the same."""


def real_texts(count: int) -> list[str]:
    """Return so many different texts, if there are, of all origins in turn; the same every time."""
    seen: dict[str, None] = {}
    sources = [_files(Path(folder).rglob("*")) for folder in FOLDERS]
    sources += [_files(PACKAGES.rglob(f"*.{end}")) for end in ("md", "rst", "txt", "py")]
    sources.append(_sample())
    for text in chain.from_iterable(zip_longest(*sources)):
        if text:
            seen[text] = None
        if len(seen) == count:
            break
    return list(seen)


def _files(paths: Iterator[Path]) -> Iterator[str]:
    for path in sorted(paths):
        if path.is_file() and not path.is_symlink():
            try:
                with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
                    yield stream.read(LONGEST).decode(errors="ignore").replace("\0", "")
            except OSError:
                continue


def _sample() -> Iterator[str]:
    for path in sorted(SAMPLE.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]
    for path in sorted(SAMPLE.rglob("*.parquet")):
        yield from pl.read_parquet(path, columns=["text"])["text"]


def prose(count: int) -> list[str]:
    """Return so many texts of English sentences in paragraphs, made of those of the sample."""
    paragraphs = [p for text in _sample() for p in text.split("\n\n") if p.count(". ") > 1]
    step = 7
    return list(islice(("\n".join(paragraphs[i : i + step]) for i in range(count)), count))
