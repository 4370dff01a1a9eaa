"""Signature files in datatrove's layout: sorted records of one band's minima and a document index.

Little endian, no header, ascending by all minima and then the index, as unsigned integers.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from corpus_assets.core.errors import TableError
from corpus_assets.dedup.merging import RunReader, merge_runs

SUFFIX = ".minhash.sig"


def signature_name(bucket: int, rank: int) -> str:
    """Return datatrove's name of a rank's signature file."""
    return f"bucket_{bucket:03d}/{rank:05d}{SUFFIX}"


MOST_MOVES = 32
"""Moves for each record after which ordering ties by insertion gives up."""


@njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
def _order_ties(values: np.ndarray, index: np.ndarray, order: np.ndarray) -> bool:
    """Order rows that agree in the first minimum, which `order` sorts by already.

    Insertion: most runs of equal first minima are sets of duplicates in this band, and short.
    Return whether it came to its end: where one shingle has the least hash of very many documents,
    such as one of a page's footer, the moves would grow with the square of their number.
    """
    moves = MOST_MOVES * order.size
    start = 0
    while start < order.size:
        stop = start + 1
        while stop < order.size and values[order[stop], 0] == values[order[start], 0]:
            stop += 1
        for p in range(start + 1, stop):
            row = order[p]
            q = p - 1
            while q >= start:
                other = order[q]
                less = False
                same = True
                for k in range(1, values.shape[1]):
                    if values[row, k] != values[other, k]:
                        less = values[row, k] < values[other, k]
                        same = False
                        break
                if same:
                    less = index[row] < index[other]
                if not less:
                    break
                order[q + 1] = other
                q -= 1
                moves -= 1
            order[q + 1] = row
            if moves < 0:
                return False
        start = stop
    return True


def sorted_records(
    values: NDArray[np.uint64], index: NDArray[np.uint32], record: np.dtype
) -> NDArray[np.void]:
    """Return the records of one band in the order of the file.

    Args:
        values: Minima, shape (documents, hashes_per_bucket).
        index: Document index of each row.
        record: `MinhashConfig.record`.
    """
    order = np.argsort(values[:, 0], kind="stable")
    if not _order_ties(values, index, order):
        order = np.lexsort((index, *values.T[::-1]))
    records = np.empty(len(order), record)
    records["values"] = values[order]
    records["index"] = index[order]
    return records


class SortBuffer:
    """Signatures of one rank: sorted runs spill to disk when the buffer is full, and are merged."""

    def __init__(
        self, paths: Sequence[Path], hashes: int, record: np.dtype, buffer_bytes: int
    ) -> None:
        """Write the file of band k to `paths[k]`; hold at most about `buffer_bytes`."""
        self._paths, self._hashes, self._record = paths, hashes, record
        # A signature is held as 64-bit values, and sorted records are made of one band at a time.
        self._limit = max(1, buffer_bytes // (8 * hashes * len(paths) + 4))
        self._values: list[NDArray[np.uint64]] = []
        self._index: list[NDArray[np.uint32]] = []
        self._rows = self._runs = self.records = 0

    def add(self, values: NDArray[np.uint64], index: NDArray[np.uint32]) -> None:
        """Add signatures, shape (documents, bands * hashes), with their document indices."""
        self._values.append(values)
        self._index.append(index)
        self._rows += len(index)
        self.records += len(index)
        if self._rows >= self._limit:
            self._spill()

    def _spill(self) -> None:
        for path, records in zip(self._paths, self._sorted(), strict=True):
            records.tofile(_run_path(path, self._runs))
        self._runs += 1
        self._values, self._index, self._rows = [], [], 0

    def _sorted(self) -> Iterator[NDArray[np.void]]:
        values = np.concatenate(self._values) if self._values else np.empty((0, 0), np.uint64)
        index = np.concatenate(self._index) if self._index else np.empty(0, np.uint32)
        for k in range(len(self._paths)):
            if not len(index):
                yield np.empty(0, self._record)
                continue
            band = np.ascontiguousarray(values[:, k * self._hashes : (k + 1) * self._hashes])
            yield sorted_records(band, index, self._record)

    def close(self) -> None:
        """Write the files, merging the runs if there are any."""
        if not self._runs:
            for path, records in zip(self._paths, self._sorted(), strict=True):
                records.tofile(path)
            return
        if self._rows:
            self._spill()
        for path in self._paths:
            runs = [_run_path(path, run) for run in range(self._runs)]
            readers = [RunReader(run, self._record, number) for number, run in enumerate(runs)]
            with path.open("wb") as stream:
                for merged in merge_runs(readers, self._record):
                    merged.records.tofile(stream)
            for run in runs:
                run.unlink()


def _run_path(path: Path, run: int) -> Path:
    return path.with_name(f"{path.name}.run{run}")


def check_whole(path: Path, record: np.dtype) -> int:
    """Return the number of records in a file.

    Raises:
        TableError: It ends inside a record.
    """
    size = path.stat().st_size
    if size % record.itemsize:
        message = (
            f"{path}: {size} bytes are no multiple of the {record.itemsize} bytes of a record; it "
            f"was cut or made with other settings. Materialize minhash_signatures again."
        )
        raise TableError(message)
    return size // record.itemsize
