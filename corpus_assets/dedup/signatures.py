"""MinHash stage 1: the signatures of every document, a rank for each input file."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from corpus_assets.core.plan import Counts, Plan, RankInput, map_ranks
from corpus_assets.core.table import Table
from corpus_assets.core.texts import string_buffers
from corpus_assets.dedup.exact import exact_list, removals_plan
from corpus_assets.dedup.settings import COMPILING, MinhashConfig, SignatureConfig
from corpus_assets.dedup.shingles import (
    sha1_shingles,
    shingle_count,
    signature_minima,
    xxhash_shingles,
)
from corpus_assets.dedup.signature_files import SortBuffer, signature_name, sorted_records
from corpus_assets.text.normalise import Normaliser
from corpus_assets.text.words import Words, load_splitter

VERSION = 1

SPARE_BYTES = 4
"""Bytes after the last word that the hash kernels may read."""


def minhash_signatures(
    filtered_docs: Table, config: SignatureConfig, *, exact_first: bool = True
) -> Plan:
    """Return the plan of the signatures of a table, in datatrove's layout.

    Documents keep the numbers of their places in the table. With `exact_first` exact duplicates
    get no signature, and are listed in a file of their own beside datatrove's folders.
    """
    return map_ranks(
        filtered_docs,
        "minhash_signatures",
        sign_rank,
        config,
        pa.schema([]),
        side=removals_plan(filtered_docs, texts=exact_first),
        facts=config.facts_of(filtered_docs.digest),
        prepare=(COMPILING, partial(prepare_signing, config.hash_fc)),
        writer=None,
        conserves=False,
    )


def sign_rank(rank: RankInput, config: SignatureConfig, counts: Counts) -> Iterator[pl.DataFrame]:
    """Write the signature files of one rank; a document is known by its place in the rank."""
    paths = [
        rank.create(f"bucket_{k:03d}", signature_name(k, rank.number))
        for k in range(config.num_buckets)
    ]
    buffer = SortBuffer(paths, config.hashes_per_bucket, config.record, config.sort_buffer_mb << 20)
    signer = Signer(config)
    exact = exact_list(rank)
    first = 0
    for frame in rank.frames(["text", "row"]):
        values, has = signer(frame["text"])
        has &= ~frame["row"].is_in(exact["row"].implode()).to_numpy()
        index = np.flatnonzero(has).astype(np.uint32)
        buffer.add(values[index], index + np.uint32(first))
        first += frame.height
    buffer.close()
    for k in range(config.num_buckets):
        rank.note_rows(f"bucket_{k:03d}", buffer.records)
    exact.write_parquet(rank.create("exact", f"exact/{rank.number:05d}.parquet"))
    rank.note_rows("exact", exact.height)
    counts["kept"] += buffer.records
    counts["exact_duplicates"] += exact.height
    counts["without_shingles"] += first - buffer.records - exact.height
    return iter(())


class Signer:
    """Signatures of batches of texts. Keeps the caches of its tokenizer, never a result."""

    def __init__(self, config: MinhashConfig) -> None:
        """Load normaliser, tokenizer and permutations."""
        self._config = config
        self._normalise = Normaliser(config.norm)
        self._split = load_splitter(config.language, datatrove_codes=config.datatrove_codes)
        self._a, self._b = config.permutations()

    def __call__(self, texts: pl.Series) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return signatures, shape (texts, values), and which texts have one."""
        words = self._split(*self._normalise(*string_buffers(texts)))
        hashes, bounds = self.shingles(words)
        signatures = np.empty((len(texts), self._config.values), np.uint64)
        mask = np.uint64(self._config.mask)
        signature_minima(hashes, bounds, self._a, self._b, mask, signatures)
        return signatures, bounds[1:] > bounds[:-1]

    def shingle_sets(self, texts: pl.Series) -> Iterator[NDArray[np.uint64]]:
        """Yield the distinct shingle hashes of each text, ascending."""
        hashes, bounds = self.shingles(self._split(*self._normalise(*string_buffers(texts))))
        for first, last in pairwise(bounds.tolist()):
            yield np.unique(hashes[first:last])

    def shingles(self, words: Words) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the shingle hashes of all documents, and the first of each document."""
        config = self._config
        buffer = words.buffer
        if buffer.size < words.starts[-1] + SPARE_BYTES:
            buffer = np.concatenate([buffer, np.zeros(SPARE_BYTES, np.uint8)])
        bounds = np.empty(words.documents.size, np.int64)
        total = shingle_count(words.documents, config.n_grams, bounds)
        hashes = np.empty(total, np.uint64)
        if config.hash_fc == "sha1":
            sha1_shingles(buffer, words.starts, words.documents, config.n_grams, hashes)
            hashes &= np.uint64(config.mask)
        else:
            xxhash_shingles(
                buffer, words.starts, words.documents, config.n_grams, config.precision, hashes
            )
        return hashes, bounds


def prepare_signing(hash_fc: Literal["sha1", "xxhash"] = "sha1") -> None:
    """Compile, or load, the kernels of this stage that a hash function takes.

    Before workers start: else each of them would compile the same.
    """
    texts = pl.Series(["one two three four five six seven cannot 3,5km", "", "ein Wort é 日本"])
    config = MinhashConfig(hash_fc=hash_fc)
    values, _ = Signer(config)(texts)
    band = np.ascontiguousarray(values[:, : config.hashes_per_bucket])
    sorted_records(band, np.arange(len(band), dtype=np.uint32), config.record)
