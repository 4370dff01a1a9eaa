"""Samples for reviewers: what stands around a replaced value, never the value."""

import re
from collections.abc import Iterator

import polars as pl

from corpus_assets.pii.kinds import KINDS

AROUND = 60
"""Characters shown on each side."""


def samples(scrubbed: pl.DataFrame, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield kind, id and context of up to `most` replacements of each kind.

    The context is of the scrubbed text, so all that was found around is masked in it too. Where a
    corpus has tags of its own, or dummies, the place is not told: there the document begins.

    Args:
        scrubbed: Documents with the columns of `scrubbed_docs`.
        most: Samples of each kind.
    """
    for name, kind in KINDS.items():
        marks = [kind.placeholder[:-1], *kind.dummies]
        mark = re.compile("|".join(map(re.escape, marks)))
        for row in scrubbed.filter(pl.col(f"pii_{name}") > 0).head(most).iter_rows(named=True):
            text = row["text"]
            match = mark.search(text)
            start = max(0, match.start() - AROUND) if match else 0
            yield name, row["id"], text[start : start + 2 * AROUND]
