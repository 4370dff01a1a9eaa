"""Checking candidate pairs by their true similarity, against clusters that grew by chains.

A band can agree by chance, and a chain of neighbours can tie documents that have little in common.
In clusters above a cap each pair has to have a Jaccard similarity of its shingle sets.
"""

import tempfile

import numpy as np
from numba import njit
from numpy.typing import NDArray

from corpus_assets.core.table import Table
from corpus_assets.dedup.nodes import rows_of
from corpus_assets.dedup.settings import MinhashConfig
from corpus_assets.dedup.signatures import Signer


class ShingleSets:
    """Sorted shingle hashes of some documents, in a file that is mapped and has no name."""

    def __init__(self, documents: Table, nodes: NDArray[np.uint64], config: MinhashConfig) -> None:
        """Read the texts of `nodes`, ascending, a batch at a time."""
        self.nodes = nodes
        signer = Signer(config)
        counts: list[int] = []
        with tempfile.TemporaryFile(dir=documents.directory) as spill:
            for _, rows in rows_of(documents, nodes, ["text"]):
                for hashes in signer.shingle_sets(rows["text"]):
                    hashes.tofile(spill)
                    counts.append(len(hashes))
            spill.flush()
            self.bounds = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
            total = int(self.bounds[-1])
            empty = np.empty(0, np.uint64)
            self.hashes = np.memmap(spill, np.uint64, "r", shape=(total,)) if total else empty

    def are_similar(self, pairs: NDArray[np.uint64], min_jaccard: float) -> NDArray[np.bool_]:
        """Return for pairs of nodes, shape (pairs, 2), whether their sets are similar enough."""
        places = np.searchsorted(self.nodes, pairs)
        similar = np.zeros(len(pairs), np.bool_)
        _compare(self.hashes, self.bounds, places, min_jaccard, similar)
        return similar


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _compare(
    hashes: np.ndarray,
    bounds: np.ndarray,
    places: np.ndarray,
    min_jaccard: float,
    similar: np.ndarray,
) -> None:
    for pair in range(places.shape[0]):
        i, i_end = bounds[places[pair, 0]], bounds[places[pair, 0] + 1]
        j, j_end = bounds[places[pair, 1]], bounds[places[pair, 1] + 1]
        total = (i_end - i) + (j_end - j)
        common = 0
        while i < i_end and j < j_end:
            if hashes[i] == hashes[j]:
                common += 1
                i += 1
                j += 1
            elif hashes[i] < hashes[j]:
                i += 1
            else:
                j += 1
        union = total - common
        similar[pair] = union > 0 and common >= min_jaccard * union
