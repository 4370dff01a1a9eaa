"""The data files beside the modules, and buffers of documents."""

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.core.errors import DocumentError

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]


def read_text(name: str) -> str:
    """Return a data file of this package."""
    return (resources.files("corpus_assets.text") / name).read_text(encoding="utf-8")


def read_json(name: str) -> dict[str, Any]:
    """Return a data file of this package, parsed."""
    return json.loads(read_text(name))


def packed(texts: Sequence[str]) -> tuple[Bytes, Offsets]:
    """Return the UTF-8 of texts one after the other, never empty, and where each begins and ends.

    Shape of the offsets: (texts + 1).
    """
    data = [text.encode() for text in texts]
    buffer = np.frombuffer(b"".join(data) or b" ", np.uint8)
    return buffer, np.cumsum([0, *map(len, data)], dtype=np.int64)


def larger(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with as much room again behind what it holds."""
    return np.concatenate([array, np.empty(len(array), array.dtype)])


def read_only(buffer: Bytes, offsets: Offsets) -> tuple[Bytes, Offsets]:
    """Return views that cannot be written.

    A kernel is compiled once for arrays that can be written and once for those that cannot, as
    Arrow's are; with views of one kind there is one compilation.
    """
    views = buffer.view(), offsets.view()
    for view in views:
        view.flags.writeable = False
    return views


def decoded(buffer: Bytes, offsets: Offsets, document: int) -> str:
    """Return the text of one document.

    Raises:
        DocumentError: It is not UTF-8.
    """
    data = buffer[offsets[document] : offsets[document + 1]].tobytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = (
            f"document {document} of the batch is not valid UTF-8 (byte {error.start} of its "
            f"{len(data)}); convert its file to UTF-8."
        )
    raise DocumentError(message)
