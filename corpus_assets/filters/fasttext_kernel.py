"""fastText's prediction over Arrow buffers: words, their n-grams, mean of the rows, output layer.

The same floating-point operations in the same order as fastText 0.9.2, so that labels and scores
are its own. Where its time goes is memory allocation and reading a quantised matrix row by row;
without both, lid.176.ftz identifies four times as many documents a second.

Source of the method: Joulin, Grave, Bojanowski, Mikolov, *Bag of Tricks for Efficient Text
Classification* (2016); of the file format and the hash functions: fastText 0.9.2.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.text.data import Bytes, Offsets
from corpus_assets.text.kernels import inline, kernel

HIERARCHICAL, NEGATIVE, SOFTMAX, ONE_VS_ALL = 1, 2, 3, 4
"""fastText's numbers of its losses."""

FNV_BASIS, FNV_PRIME = 2166136261, 16777619
SPACES = np.zeros(256, np.bool_)
SPACES[[0x20, 0x0A, 0x0D, 0x09, 0x0B, 0x0C, 0x00]] = True


class Network(NamedTuple):
    """A trained model as arrays."""

    slots: NDArray[np.int32]
    """Hash table of words by FNV-1a with linear probing: word or -1; a power of two long."""
    spellings: Bytes
    starts: Offsets
    """Word i is `spellings[starts[i] : starts[i + 1]]`; shape (words + 1)."""
    buckets: int
    min_chars: int
    max_chars: int
    word_grams: int
    pruned: NDArray[np.int32]
    """Row of each bucket behind the words, or -1; empty where none was pruned."""
    rows: NDArray[np.float32]
    """Vectors of words, then of buckets; shape (words + buckets, dimensions)."""
    output: NDArray[np.float32]
    """Vectors of labels, or of inner nodes of the tree; shape (labels, dimensions)."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    """Children of each node of the Huffman tree, -1 for leaves; leaves come first."""
    loss: int


@inline
def _fnv(h, byte):
    # fastText takes bytes as signed numbers.
    signed = np.uint32(byte) if byte < 0x80 else np.uint32(byte) | np.uint32(0xFFFFFF00)
    return np.uint32((h ^ signed) * np.uint32(FNV_PRIME))


@kernel
def word_hash(data, start, end):
    """Return fastText's FNV-1a of some bytes."""
    h = np.uint32(FNV_BASIS)
    for i in range(start, end):
        h = _fnv(h, data[i])
    return h


@kernel
def fill_slots(slots, spellings, starts):
    """Put all words into the hash table."""
    mask = len(slots) - 1
    for word in range(len(starts) - 1):
        slot = np.int64(word_hash(spellings, starts[word], starts[word + 1])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@kernel
def _find(net, h, token, start, end):
    """Return the word with this hash and these bytes, or -1."""
    mask = len(net.slots) - 1
    slot = np.int64(h) & mask
    while net.slots[slot] >= 0:
        word = net.slots[slot]
        first = net.starts[word]
        if net.starts[word + 1] - first == end - start:
            same = True
            for i in range(end - start):
                if net.spellings[first + i] != token[start + i]:
                    same = False
                    break
            if same:
                return word
        slot = (slot + 1) & mask
    return -1


@inline
def _add(net, hidden, row):
    for d in range(len(hidden)):
        hidden[d] += net.rows[row, d]


@kernel
def _add_bucket(net, hidden, bucket):
    """Add the vector of a bucket; return 1, or 0 where it was pruned."""
    row = bucket
    if len(net.pruned) > 0:
        row = np.int64(net.pruned[bucket])
        if row < 0:
            return 0
    _add(net, hidden, len(net.starts) - 1 + row)
    return 1


@kernel
def _add_grams(net, hidden, token, length):
    """Add the vectors of a word's character n-grams; return how many there are."""
    count = 0
    for i in range(length):
        if token[i] & 0xC0 == 0x80:
            continue
        h = np.uint32(FNV_BASIS)
        j = i
        for n in range(1, net.max_chars + 1):
            if j >= length:
                break
            h = _fnv(h, token[j])
            j += 1
            while j < length and token[j] & 0xC0 == 0x80:
                h = _fnv(h, token[j])
                j += 1
            if n >= net.min_chars and not (n == 1 and (i == 0 or j == length)):
                count += _add_bucket(net, hidden, np.int64(h) % net.buckets)
    return count


@kernel
def _add_word_grams(net, hidden, hashes, words):
    """Add the vectors of n-grams of words; return how many there are."""
    count = 0
    for i in range(words):
        h = np.uint64(np.int64(hashes[i]))
        for j in range(i + 1, min(words, i + net.word_grams)):
            h = h * np.uint64(116049371) + np.uint64(np.int64(hashes[j]))
            count += _add_bucket(net, hidden, np.int64(h % np.uint64(net.buckets)))
    return count


@kernel
def _hide(net, buffer, start, end, hidden, token, hashes):
    """Compute the mean of the vectors of a text; return how many there are."""
    hidden[:] = 0
    count, words, i = 0, 0, start
    ended = False
    while not ended:
        while i < end and SPACES[buffer[i]]:
            i += 1
        length = 1
        token[0] = 0x3C  # <
        while i < end and not SPACES[buffer[i]]:
            token[length] = buffer[i]
            length += 1
            i += 1
        if length == 1:  # the line's end, which is the word </s>
            token[1], token[2], token[3], token[4] = 0x3C, 0x2F, 0x73, 0x3E
            length = 5
        ended = (
            length == 5
            and token[1] == 0x3C
            and token[2] == 0x2F
            and token[3] == 0x73
            and token[4] == 0x3E
        )
        h = word_hash(token, 1, length)
        word = _find(net, h, token, 1, length)
        if word < 0 and length > 9 and _is_label(token):
            continue
        if word >= 0:
            _add(net, hidden, word)
            count += 1
        if not ended and net.max_chars > 0:
            token[length] = 0x3E  # >
            count += _add_grams(net, hidden, token, length + 1)
        if net.word_grams > 1:
            hashes[words] = np.int32(h)
            words += 1
    if net.word_grams > 1:
        count += _add_word_grams(net, hidden, hashes, words)
    if count:
        scale = np.float32(1.0 / count)
        for d in range(len(hidden)):
            hidden[d] *= scale
    return count


@kernel
def _is_label(token):
    """Return whether the word after the first byte begins with __label__."""
    return (
        token[1] == 0x5F
        and token[2] == 0x5F
        and token[3] == 0x6C
        and token[4] == 0x61
        and token[5] == 0x62
        and token[6] == 0x65
        and token[7] == 0x6C
        and token[8] == 0x5F
        and token[9] == 0x5F
    )


@kernel
def _dot(net, row, hidden):
    total = np.float32(0)
    for d in range(len(hidden)):
        total += net.output[row, d] * hidden[d]
    return total


@inline
def _log(x):
    return np.float32(math.log(np.float64(x) + 1e-5))


@kernel
def _walk_tree(net, hidden, nodes):
    """Compute the probability of every label down the Huffman tree, in nodes[:labels]."""
    labels = len(net.output)
    top = 2 * labels - 2
    nodes[top] = 0
    for node in range(top, labels - 1, -1):
        f = _dot(net, node - labels, hidden)
        f = np.float32(1.0 / np.float64(np.float32(1) + math.exp(-f)))
        nodes[net.left[node]] = nodes[node] + _log(np.float32(1.0 - np.float64(f)))
        nodes[net.right[node]] = nodes[node] + _log(f)
    for label in range(labels):
        nodes[label] = math.exp(nodes[label])


@kernel
def _score(net, hidden, nodes):
    """Compute the probability of every label, in nodes[:labels]."""
    labels = len(net.output)
    if net.loss == HIERARCHICAL:
        _walk_tree(net, hidden, nodes)
        return
    for label in range(labels):
        nodes[label] = _dot(net, label, hidden)
    if net.loss == SOFTMAX:
        highest = nodes[0]
        for label in range(labels):
            highest = max(highest, nodes[label])
        total = np.float32(0)
        for label in range(labels):
            nodes[label] = math.exp(np.float64(nodes[label] - highest))
            total += nodes[label]
        for label in range(labels):
            nodes[label] /= total
    else:
        for label in range(labels):
            nodes[label] = np.float32(1) / (np.float32(1) + math.exp(-nodes[label]))
    for label in range(labels):
        # fastText keeps the logarithm of 1e-5 more; so scores may be above 1.
        nodes[label] = math.exp(_log(nodes[label]))


@kernel
def identify(net, buffer, offsets, scores):
    """Compute the scores of all labels for every text; line feeds count as spaces.

    A text of which the model knows nothing has no score above 0.

    Args:
        net: The model.
        buffer: UTF-8 of the texts.
        offsets: Text i is `buffer[offsets[i] : offsets[i + 1]]`.
        scores: Where to write them; shape (texts, labels).
    """
    labels = len(net.output)
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    token = np.empty(longest + 8, np.uint8)
    hashes = np.empty(longest // 2 + 8 if net.word_grams > 1 else 1, np.int32)
    hidden = np.empty(net.rows.shape[1], np.float32)
    nodes = np.empty(2 * labels, np.float32)
    for text in range(len(offsets) - 1):
        if _hide(net, buffer, offsets[text], offsets[text + 1], hidden, token, hashes):
            _score(net, hidden, nodes)
            scores[text] = nodes[:labels]
        else:
            scores[text] = 0
