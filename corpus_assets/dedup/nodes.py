"""The documents behind nodes: rank and place in one integer."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corpus_assets.core.table import Table

PLACE = np.uint64(0xFFFFFFFF)
"""The bits of a node that are the document's place in its rank; those above are the rank."""


def rows_of(
    documents: Table, nodes: NDArray[np.uint64], columns: list[str], *, verify: bool = True
) -> Iterator[tuple[NDArray[np.uint64], pl.DataFrame]]:
    """Yield nodes and the rows of their documents, ascending, batch by batch.

    Args:
        documents: All documents.
        nodes: Those wanted, ascending; what is no document of the table is passed over.
        columns: What is read of them.
        verify: As in `Table.frames`.
    """
    ranks = (nodes >> np.uint64(32)).astype(np.int64)
    for entry in documents.ranks:
        wanted = nodes[ranks == entry.number]
        if not len(wanted):
            continue
        places = (wanted & PLACE).astype(np.int64)
        first = 0
        for frame in documents.frames(entry, columns=columns, verify=verify):
            low, high = np.searchsorted(places, (first, first + frame.height))
            if high > low:
                yield wanted[low:high], frame[places[low:high] - first]
            first += frame.height
