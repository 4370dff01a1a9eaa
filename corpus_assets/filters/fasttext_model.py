"""Reading fastText's model files, quantised (`.ftz`) or not (`.bin`), without fastText.

A model that is not quantised is mapped, not read, so that workers share its memory.
"""

import mmap
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.core.errors import InputError
from corpus_assets.filters.fasttext_kernel import HIERARCHICAL, Network, fill_slots, identify
from corpus_assets.text.data import Bytes, Offsets, read_only

MAGIC, VERSION = 793712314, 12
SUPERVISED = 3
LABEL = "__label__"
CENTROIDS = 256
"""Centroids of each part of a quantised vector."""


@dataclass
class _Cursor:
    """A place in a mapped file."""

    data: mmap.mmap = field(repr=False)
    at: int = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        """Return the numbers of a struct layout."""
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """Return a view of an array."""
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def name(self) -> bytes:
        """Return a text that ends with a zero byte."""
        end = self.data.find(b"\0", self.at)
        found = self.data[self.at : end]
        self.at = end + 1
        return found


@dataclass(frozen=True)
class Model:
    """A text classifier."""

    labels: tuple[str, ...]
    """Without `__label__`."""
    network: Network = field(repr=False)

    def scores(self, buffer: Bytes, offsets: Offsets) -> NDArray[np.float32]:
        """Return the score of every label for the texts of a buffer; shape (texts, labels)."""
        scores = np.empty((len(offsets) - 1, len(self.labels)), np.float32)
        identify(self.network, *read_only(buffer, offsets), scores)
        return scores


def load_model(path: Path) -> Model:
    """Load a supervised fastText model.

    Raises:
        InputError: The file is none.
    """
    try:
        with path.open("rb") as stream:
            return _parse(_Cursor(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)))
    except (ValueError, struct.error, OSError) as error:
        message = (
            f"{path}: is no fastText model that can be read ({error}); name a .bin or .ftz file of "
            f"a supervised model."
        )
        raise InputError(message) from error


def _parse(file: _Cursor) -> Model:
    magic, version = file.take("ii")
    if magic != MAGIC or version != VERSION:
        message = f"begins with {magic}, version {version}, not {MAGIC}, version {VERSION}"
        raise ValueError(message)
    dim, _, _, _, _, word_grams, loss, kind, buckets, minn, maxn, _, _ = file.take("12id")
    if kind != SUPERVISED:
        message = "it is an unsupervised model"
        raise ValueError(message)
    words, labels, counts, pruned = _dictionary(file, buckets)
    quantised = file.take("?")[0]
    rows = _quantised(file) if quantised else _dense(file)
    quantised_output = file.take("?")[0]
    output = _quantised(file) if quantised and quantised_output else _dense(file)
    if rows.shape[1] != dim or output.shape != (len(labels), dim):
        message = f"matrices of shapes {rows.shape} and {output.shape} for {dim} dimensions"
        raise ValueError(message)
    left, right = huffman(counts) if loss == HIERARCHICAL else (np.empty(0, np.int32),) * 2
    starts = np.cumsum([0, *(len(word) for word in words)])
    spellings = np.frombuffer(b"".join(words) + b"\0", np.uint8)
    slots = np.full(1 << (2 * len(words) + 1).bit_length(), -1, np.int32)
    spellings, starts = read_only(spellings, starts)
    fill_slots(slots, spellings, starts)
    network = Network(slots, spellings, starts, buckets, minn, maxn if buckets else 0,
                      word_grams, pruned, rows, output, left, right, loss)  # fmt: skip
    return Model(labels, network)


def _dictionary(
    file: _Cursor, buckets: int
) -> tuple[list[bytes], tuple[str, ...], list[int], NDArray[np.int32]]:
    """Return words, labels, counts of the labels, and the rows of buckets where some were pruned.

    `pruned` is empty for a model that was not pruned.
    """
    size, _, _, _, pruned_size = file.take("3i2q")
    words: list[bytes] = []
    labels: list[str] = []
    counts: list[int] = []
    for _ in range(size):
        name = file.name()
        count, is_label = file.take("qb")
        if is_label:
            labels.append(name.decode().removeprefix(LABEL))
            counts.append(count)
        else:
            words.append(name)
    if pruned_size < 0:
        return words, tuple(labels), counts, np.empty(0, np.int32)
    pairs = file.array("<i4", 2 * pruned_size).reshape(-1, 2)
    pruned = np.full(max(buckets, 1), -1, np.int32)
    pruned[pairs[:, 0]] = pairs[:, 1]
    return words, tuple(labels), counts, pruned


def _dense(file: _Cursor) -> NDArray[np.float32]:
    rows, columns = file.take("qq")
    return file.array("<f4", rows * columns).reshape(rows, columns)


def _quantised(file: _Cursor) -> NDArray[np.float32]:
    """Return a matrix that was stored by product quantisation, in full."""
    has_norms, rows, columns, size = file.take("?qqi")
    codes = file.array("u1", size)
    parts = _centroids(file)
    codes = codes.reshape(rows, len(parts))
    matrix = np.concatenate([part[codes[:, i]] for i, part in enumerate(parts)], axis=1)
    if has_norms:
        norms = file.array("u1", rows)
        (part,) = _centroids(file)
        matrix = matrix * part[norms, 0][:, None]
    if matrix.shape[1] != columns:
        message = f"a quantised matrix of {matrix.shape[1]} columns, not {columns}"
        raise ValueError(message)
    return np.ascontiguousarray(matrix, np.float32)


def _centroids(file: _Cursor) -> list[NDArray[np.float32]]:
    """Return the centroids of each part of a vector, shape (256, width of the part)."""
    dim, parts, width, last = file.take("4i")
    values = file.array("<f4", dim * CENTROIDS)
    cut = (parts - 1) * CENTROIDS * width
    whole = values[:cut].reshape(parts - 1, CENTROIDS, width)
    return [*whole, values[cut:].reshape(CENTROIDS, last)]


def huffman(counts: list[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the left and right child of every node of fastText's Huffman tree; -1 for leaves.

    Args:
        counts: Of each label, in descending order, as fastText stores them.
    """
    leaves = len(counts)
    weight = [*counts, *[10**15] * (leaves - 1)]
    left, right = np.full((2, 2 * leaves - 1), -1, np.int32)
    leaf, inner = leaves - 1, leaves
    for node in range(leaves, 2 * leaves - 1):
        chosen: list[int] = []
        for _ in range(2):
            if leaf >= 0 and weight[leaf] < weight[inner]:
                chosen.append(leaf)
                leaf -= 1
            else:
                chosen.append(inner)
                inner += 1
        left[node], right[node] = chosen
        weight[node] = weight[chosen[0]] + weight[chosen[1]]
    return left, right
