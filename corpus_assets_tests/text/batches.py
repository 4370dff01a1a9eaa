"""Documents as buffers and back, and strings that are hard on rules of text."""
# ruff: noqa: E501, RUF001  # ambiguous characters are the subject

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from corpus_assets.text.data import Bytes, Offsets, read_json
from corpus_assets.text.english import rules
from corpus_assets.text.words import Words

REPOSITORY = Path(__file__).parents[2]
SAMPLE = REPOSITORY / "examples/sample"


def golden() -> list[dict[str, Any]]:
    """Return datatrove's results for texts."""
    lines = (REPOSITORY / "corpus_assets_tests/golden/text.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def sample_texts(*names: str) -> list[str]:
    """Return the texts of files of the sample, without the ending of their names."""
    texts = []
    for name in names:
        with gzip.open(SAMPLE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    return texts


def english_handbook() -> list[str]:
    """Return the English texts of the handbook."""
    frame = pl.read_parquet(SAMPLE / "debian-handbook/*.parquet")
    return frame.filter(pl.col("lang").str.starts_with("en"))["text"].to_list()


def batch(texts: list[str]) -> tuple[Bytes, Offsets]:
    """Return texts as one buffer and offsets."""
    data = [text.encode() for text in texts]
    lengths = [0, *map(len, data)]
    return np.frombuffer(b"".join(data), np.uint8), np.cumsum(lengths, dtype=np.int64)


def texts_of(buffer: Bytes, offsets: Offsets) -> list[str]:
    """Return the documents of a buffer as texts."""
    return [buffer[offsets[i] : offsets[i + 1]].tobytes().decode() for i in range(len(offsets) - 1)]


def words_of(words: Words) -> list[list[str]]:
    """Return the words of each document; check what `Words` promises of the bytes between."""
    data, starts = words.buffer.tobytes(), words.starts.tolist()
    assert starts[0] == 0
    assert starts[-1] == len(data)
    assert all(data[end - 1 : end] == b" " for end in starts[1:])
    assert words.documents[-1] == len(starts) - 1
    found = [data[start : end - 1].decode() for start, end in pairwise(starts)]
    bounds = words.documents.tolist()
    return [found[first:last] for first, last in pairwise(bounds)]


def hard_texts() -> st.SearchStrategy[str]:
    """Return texts of characters that the normalisation treats in some way of their own."""
    alphabet = (
        "aZz 0189.,:-'_\t\n\r\x00\x0b\x1c\x1f\x7f\x85\xa0"
        "\xad\xb2\xbd\xab\xb4\xdfÅåŉſǅǰΣσςΐİıẞﬁﬀ½Ⅷ①"
        "\u0300\u0301\u0323\u0345\u0483\u0591\u064b\u093c\u094d\u0e31\u1b44\u302e\u3099\U0001d165"
        "\u060c\u066b\u2396\u2397\u2398٣۴५৬๗１𝟘𝟿🯰𞥐\U00011de5"
        "\u1680\u2002\u2009\u200b\u200d\u2028\u2029\u202f\u205f\u3000\ufeff"
        "가각힣각漢字がのキ、。「」！１％～—–’“”…∶━►‘¿¡§·•°™€£→★😀👨\u200d👩🇫🇷"
        "क़नमस्तेไทยمرحباשָׁ\u037e\u0387\u1fef\u212a\u2126\u212b\u2329\uf900\U0002f800\U0010ffff"
    )
    pieces = st.one_of(
        st.sampled_from(alphabet),
        st.sampled_from(
            ["ΟΔΟΣ", "Σ ", "1,234.56", "1,000,000", "٣٫٤", "\u0301 ", " \u0301", "1 2"]
        ),
        st.builds(lambda c, n: c * n, st.sampled_from(alphabet), st.integers(2, 300)),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    )
    return st.lists(pieces, max_size=12).map("".join)


def english_pieces() -> st.SearchStrategy[str]:
    """Return what English chunks are made of where rules apply, without white space."""
    data = read_json("english_rules.json")
    breaking = [
        chr(p) for first, last in data["breaking"] for p in (first, (first + last) // 2, last)
    ]
    exceptions = [text for text in rules().exceptions if not text.isspace()]
    parts = [
        *data["units"], "км", "°C", "°c.", "m/s", "µg", "m²", "$", "US$", "€", "'s", "’S", "n't", "’",
        "http://", "www.", "example", ".com", ".co.uk", "/a?b=c", "@", "mailto:", "127.0.0.1",
        "8.8.8.8", ":80", "foo-bar", "..", "...", "--", "---", "~", "+", "%", "²", ",", "A.B.", "aB.cD",
    ]  # fmt: skip
    return st.one_of(
        st.sampled_from(exceptions),
        st.sampled_from(parts),
        st.sampled_from(breaking),
        st.builds(lambda c, n: c * n, st.sampled_from([chr(i) for i in range(33, 127)]), st.integers(1, 3)),
        st.integers(0, 1300).map(str),
        st.text(st.sampled_from("abcABC0éЖж漢اಠ.-'\""), min_size=1, max_size=4),
    )  # fmt: skip
