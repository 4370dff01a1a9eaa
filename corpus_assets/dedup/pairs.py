"""Pairs out of merged signature records: equal neighbours, and matches with an index.

Records of an index come before documents with equal minima. By the right rule every document that
agrees with an index record matches it. By datatrove's (0.10.1) only the first does: the others are
compared with the document before them, and, by its default, nothing is written for them.
"""

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from corpus_assets.dedup.merging import Merged

NO_RUN = np.int64(-(2**62))


@dataclass(frozen=True)
class PairRule:
    """Which neighbours make a pair."""

    has_index: bool = False
    among_documents: bool = True
    """Whether two documents that agree make a pair, where no index record agrees."""
    as_datatrove: bool = False


@dataclass
class PairFinder:
    """Finds pairs in merged records that come in stretches."""

    rule: PairRule
    _last: NDArray[np.uint64] | None = None
    _last_run: int = 0
    _group: NDArray[np.int64] = field(default_factory=lambda: np.array([NO_RUN, 0], np.int64))

    def __call__(
        self, merged: Merged
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint64]]:
        """Return what a stretch adds.

        Returns:
            Pairs (rank, index, rank, index), shape (pairs, 4); with all ones for an index record.
            Matches, shape (matches, 4): rank and index of the document, then run and index of the
            index record. Minima that neither index nor an earlier document has, shape
            (new, hashes).
        """
        size = len(merged.keys)
        pairs = np.empty((size, 4), np.uint32)
        matches = np.empty((size, 4), np.int64)
        fresh = np.empty((size, merged.keys.shape[1] - 1), np.uint64)
        last = merged.keys[:1] if self._last is None else self._last
        rule = self.rule
        found, matched, new = _find(
            merged.keys,
            merged.runs,
            last[0],
            self._last_run,
            self._last is not None,
            rule.has_index,
            rule.among_documents,
            rule.as_datatrove,
            self._group,
            pairs,
            matches,
            fresh,
        )
        if size:
            self._last, self._last_run = merged.keys[-1:].copy(), int(merged.runs[-1])
        return pairs[:found], matches[:matched], fresh[:new]


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _find(
    keys,
    runs,
    last,
    last_run,
    has_last,
    has_index,
    among_documents,
    as_datatrove,
    group,
    pairs,
    matches,
    fresh,
):
    """Find pairs; `group` holds run and index of the index record of the current equal minima."""
    width = keys.shape[1] - 1
    found = matched = new = 0
    for i in range(keys.shape[0]):
        equal = has_last if i == 0 else True
        for k in range(width):
            if not equal:
                break
            before = last[k] if i == 0 else keys[i - 1, k]
            equal = keys[i, k] == before
        if not equal:
            group[0] = NO_RUN
        if runs[i] < 0:
            if group[0] == NO_RUN:
                group[0] = runs[i]
                group[1] = keys[i, width]
            continue
        if not equal:
            for k in range(width):
                fresh[new, k] = keys[i, k]
            new += 1
            continue
        previous_run = last_run if i == 0 else runs[i - 1]
        by_index = previous_run < 0 or (group[0] != NO_RUN and not as_datatrove)
        if by_index:
            for q in range(2):
                pairs[found, q] = 0xFFFFFFFF
            matches[matched, 0] = runs[i]
            matches[matched, 1] = keys[i, width]
            matches[matched, 2] = group[0]
            matches[matched, 3] = group[1]
            matched += 1
        elif among_documents or not has_index:
            pairs[found, 0] = previous_run
            pairs[found, 1] = last[width] if i == 0 else keys[i - 1, width]
        else:
            continue
        pairs[found, 2] = runs[i]
        pairs[found, 3] = keys[i, width]
        found += 1
    return found, matched, new
