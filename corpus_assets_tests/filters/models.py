"""A writer of tiny fastText models, so that kinds that no package ships can be tested."""

import struct
from pathlib import Path

import numpy as np

HIERARCHICAL, NEGATIVE, SOFTMAX = 1, 2, 3


def write_model(  # noqa: PLR0913 - what models differ in
    path: Path,
    labels: list[str],
    words: list[str],
    *,
    loss: int = SOFTMAX,
    word_grams: int = 1,
    chars: tuple[int, int] = (2, 4),
    buckets: int = 50,
    dim: int = 5,
    supervised: bool = True,
) -> Path:
    """Write a model with random weights that is not quantised, in version 12 of the format."""
    random = np.random.default_rng(1)
    kind = 3 if supervised else 2
    head = struct.pack("<14i", 793712314, 12, dim, 5, 1, 1, 5, word_grams, loss, kind, buckets,
                       *chars, 100)  # fmt: skip
    entries = [(word, 10, 0) for word in words]
    entries += [(f"__label__{label}", 90 - i, 1) for i, label in enumerate(labels)]
    dictionary = struct.pack("<3i2q", len(entries), len(words), len(labels), 1000, -1)
    dictionary += b"".join(
        name.encode() + b"\0" + struct.pack("<qb", count, kind) for name, count, kind in entries
    )
    rows = random.normal(size=(len(words) + buckets, dim)).astype("<f4") * 3
    output = random.normal(size=(len(labels), dim)).astype("<f4") * 3
    matrices = b"".join(
        b"\0" + struct.pack("<qq", *matrix.shape) + matrix.tobytes() for matrix in (rows, output)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + struct.pack("<d", 1e-4) + dictionary + matrices)
    return path
