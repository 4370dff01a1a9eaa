"""Compare the rules `language` and `url` with datatrove 0.10.1, document by document.

    python -m bench.filters_lang_url_parity [--documents N]

datatrove's environment is that of `bench.filters_parity`; its own lists of URLs are read there.
Ends with code 1 if any verdict, label or score differs.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.hard_texts import HARD
from bench.measure import cost_of, peer
from bench.real_texts import real_texts
from corpus_assets.filters import apply_recipe, opened, recipe_of
from corpus_assets.filters.codes import UNKNOWN, of_label
from corpus_assets.filters.files import located
from corpus_assets.filters.language import BUNDLED_PATH, SCORE
from corpus_assets.filters.url_index import INDEXED, entries, find_lists

PEER = Path(__file__).with_name("filters_lang_url_peer.py")

SETTINGS: list[dict[str, Any]] = [
    {},
    {"languages": ["en", "de"]},
    {"languages": ["fr"], "language_threshold": 0.1},
    {"label_only": True, "keep_top_pairs_threshold": 0.05},
]

PLAIN = ("news", "home", "index", "a", "2024", "shop", "blog", "item", "page", "x1")
ENDINGS = (".com", ".co.uk", ".de", ".org.au", ".blogspot.com", ".kawasaki.jp", "")


def main() -> int:
    """Compare, print a line for each; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    arguments = parser.parse_args()
    python = peer()
    texts = [*real_texts(arguments.documents), *HARD]
    lists = next(Path(python).parents[1].glob("lib/python3*/site-packages/datatrove/assets"))
    urls = some_urls(lists, arguments.documents)
    model = str(located(BUNDLED_PATH, Path()))
    said = asked(python, {"model": model, "texts": texts, "languages": SETTINGS, "urls": urls})
    differ = 0
    for settings, expected in zip(SETTINGS, said["languages"], strict=True):
        wrong = wrong_languages(texts, settings, expected)
        print(f"language {settings}: {len(texts):,} texts, {wrong} differ")
        differ += wrong
    found = judged({"url": urls}, [{"url": {"lists": [str(lists)]}}])["drop_reason"].to_list()
    wrong = sum(a != b for a, b in zip(found, said["urls"], strict=True))
    print(f"url: {len(urls):,} URLs, {wrong} differ; {dict(Counter(said['urls']))}")
    return int(differ + wrong > 0)


def asked(python: str, questions: dict[str, Any]) -> dict[str, Any]:
    """Return datatrove's answers.

    Raises:
        BenchError: It failed.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as stream:
        json.dump(questions, stream)
        stream.flush()
        return cost_of(("-W", "ignore", str(PEER), stream.name), python).said


def judged(columns: dict[str, list[str]], recipe: list[Any]) -> pl.DataFrame:
    """Return documents with these columns as a recipe judges them."""
    blank = {"text": "", "url": "", "lang": UNKNOWN, "metadata": "{}"}
    missing = [pl.lit(value).alias(name) for name, value in blank.items() if name not in columns]
    frame = pl.DataFrame(columns).with_columns(missing)
    return apply_recipe(frame, opened(recipe_of(recipe), Path()), Counter())


def wrong_languages(texts: list[str], settings: dict[str, Any], expected: list[Any]) -> int:
    """Return the number of texts of which something differs.

    A language is `und` here below the threshold, and for texts without a letter.
    """
    frame = judged({"text": texts}, [{"language": settings}])
    threshold = settings.get("language_threshold", 0.65)
    wrong = 0
    rows = frame.select("lang", "metadata", "drop_reason").iter_rows()
    for text, (lang, metadata, reason), (stays, label, score, top) in zip(
        texts, rows, expected, strict=True
    ):
        facts = json.loads(metadata)
        sure = score > threshold and any(character.isalpha() for character in text)
        same = (
            (reason is None) == stays
            and lang == (str(of_label(label, wikipedia=True)) if sure else UNKNOWN)
            and np.float32(facts.pop(SCORE)) == np.float32(score)
            and {k: np.float32(v) for k, v in facts.items()}
            == {k: np.float32(v) for k, v in top.items()}
        )
        wrong += not same
    return wrong


def some_urls(lists: Path, count: int) -> list[str]:
    """Return URLs with hosts, words and whole URLs of lists, and with others."""
    choose = random.Random(7)  # noqa: S311 - the same URLs every time
    files = find_lists(lists)
    listed = {
        role: [entry for file in files if file.role == role for entry in entries(file)]
        for role in INDEXED
    }
    words = [entry for file in files if file.role not in INDEXED for entry in entries(file)]
    made: list[str] = []
    for number in range(count):
        kind = choose.random()
        if kind < 0.05:  # noqa: PLR2004
            prefix = choose.choice(["http://", ""])
            made.append(prefix + choose.choice(listed["urls"]))
            continue
        host = choose.choice(PLAIN) + str(number % 999) + choose.choice(ENDINGS)
        if kind < 0.4:  # noqa: PLR2004
            host = choose.choice(["", "www."]) + choose.choice(listed["domains"])
        host = host.upper() if choose.random() < 0.1 else host  # noqa: PLR2004
        url = choose.choice(["https://", "http://", "", "//", "https://u:p@"]) + host
        for _ in range(choose.randint(0, 4)):
            piece = choose.choice(words if choose.random() < 0.2 else PLAIN)  # noqa: PLR2004
            piece = choose.choice([piece, piece.title(), piece.upper()])
            url += choose.choice(["/", "-", "_", "?q=", "", "."]) + piece
        made.append(url)
    return made


if __name__ == "__main__":
    sys.exit(main())
