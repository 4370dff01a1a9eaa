"""Union-find over pairs in the order they come: which document of a cluster stays depends on it.

The rule is datatrove's: union by size, a tie keeps the root of the pair's first document, and the
index (a sentinel node) always stays a root. Nodes are kept in a hash table that grows: 24 bytes a
document that has a duplicate, at most half full.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import int64, njit, uint64
from numpy.typing import NDArray

PAIRS_AT_ONCE = 1 << 20

SENTINEL = np.uint64(0xFFFFFFFFFFFFFFFF)
"""The node of all index records: rank and index of all ones."""


def node(rank: NDArray[np.uint32], index: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return the key of documents: rank and index in one integer, ordered as the pair is."""
    return (rank.astype(np.uint64) << np.uint64(32)) | index.astype(np.uint64)


@njit(inline="always")
def _slot(keys, used, key):
    mask = keys.size - 1
    h = key * uint64(0x9E3779B97F4A7C15)
    p = int64((h ^ (h >> uint64(32))) & uint64(mask))
    while used[p] and keys[p] != key:
        p = (p + 1) & mask
    return p


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _place(keys, used, places, parents, sizes, nodes, count, key):
    """Return the number of a node, which is new if it was not known, and the count of nodes."""
    p = _slot(keys, used, key)
    if not used[p]:
        used[p] = True
        keys[p] = key
        places[p] = count
        nodes[count] = key
        parents[count] = count
        sizes[count] = 1
        count += 1
    return places[p], count


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _root(parents, i):
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _unite(pairs, ignore_index, keys, used, places, parents, sizes, nodes, count):
    """Take pairs in order; return how many nodes there are then."""
    sentinel = uint64(0xFFFFFFFFFFFFFFFF)
    for i in range(pairs.shape[0]):
        u = (uint64(pairs[i, 0]) << uint64(32)) | uint64(pairs[i, 1])
        v = (uint64(pairs[i, 2]) << uint64(32)) | uint64(pairs[i, 3])
        if ignore_index and u == sentinel:
            continue
        a, count = _place(keys, used, places, parents, sizes, nodes, count, u)
        b, count = _place(keys, used, places, parents, sizes, nodes, count, v)
        a, b = _root(parents, a), _root(parents, b)
        if a == b:
            continue
        if nodes[b] == sentinel or (nodes[a] != sentinel and sizes[a] < sizes[b]):
            a, b = b, a
        parents[b] = a
        sizes[a] += sizes[b]
    return count


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _rehash(keys, used, places, nodes, count):
    for i in range(count):
        p = _slot(keys, used, nodes[i])
        used[p] = True
        keys[p] = nodes[i]
        places[p] = i


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _roots(parents, count, out):
    for i in range(count):
        out[i] = _root(parents, i)


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _number(roots, order, numbers):
    """Number clusters from 0 in the order in which their nodes come; return how many there are."""
    of_root = np.full(roots.size, -1, np.int64)
    count = 0
    for i in range(order.size):
        root = roots[order[i]]
        if of_root[root] < 0:
            of_root[root] = count
            count += 1
        numbers[i] = of_root[root]
    return count


@dataclass(frozen=True)
class Members:
    """All documents that have a duplicate, in ascending order, and the sentinel if it has one."""

    nodes: NDArray[np.uint64]
    roots: NDArray[np.uint64]
    """The document of its cluster that datatrove keeps."""
    sizes: NDArray[np.int64]
    """Documents of its cluster; the sentinel counts as one."""
    numbers: NDArray[np.int64]
    """Number of its cluster, counted in order of first appearance."""
    clusters: int


class Clusters:
    """Clusters of documents, from pairs in the order of the `.dups` files."""

    def __init__(self) -> None:
        """Start without nodes."""
        self.count = 0
        self._nodes: NDArray[np.uint64] = np.zeros(1, np.uint64)
        self._parents: NDArray[np.int64] = np.zeros(1, np.int64)
        self._sizes: NDArray[np.int64] = np.zeros(1, np.int64)
        self._allocate(1 << 12)

    def _allocate(self, slots: int) -> None:
        self._keys = np.zeros(slots, np.uint64)
        self._used = np.zeros(slots, np.bool_)
        self._places = np.zeros(slots, np.int64)
        half = slots // 2
        self._nodes = np.resize(self._nodes, half)
        self._parents = np.resize(self._parents, half)
        self._sizes = np.resize(self._sizes, half)
        _rehash(self._keys, self._used, self._places, self._nodes, self.count)

    def add(self, pairs: NDArray[np.uint32], *, ignore_index: bool = False) -> None:
        """Take pairs, shape (pairs, 4), in order; pairs with the index may be passed over."""
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            part = pairs[start : start + PAIRS_AT_ONCE]
            while self.count + 2 * len(part) > len(self._nodes):
                self._allocate(2 * len(self._keys))
            self.count = _unite(
                part,
                ignore_index,
                self._keys,
                self._used,
                self._places,
                self._parents,
                self._sizes,
                self._nodes,
                self.count,
            )

    def members(self) -> Members:
        """Return what the pairs so far have made."""
        roots = np.empty(self.count, np.int64)
        _roots(self._parents, self.count, roots)
        nodes, numbers = self._nodes[: self.count], np.empty(self.count, np.int64)
        order = np.argsort(nodes, kind="stable")
        clusters = int(_number(roots, order, numbers))
        sizes = self._sizes[roots][order]
        return Members(nodes[order], nodes[roots][order], sizes, numbers, clusters)


def read_pairs(path: Path) -> Iterator[NDArray[np.uint32]]:
    """Yield the pairs of a `.dups` file in blocks, shape (pairs, 4)."""
    with path.open("rb") as stream:
        while True:
            block = np.fromfile(stream, "<u4", 4 * PAIRS_AT_ONCE)
            if not len(block):
                return
            yield block.reshape(-1, 4)
