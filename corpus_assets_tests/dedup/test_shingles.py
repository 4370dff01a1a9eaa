"""The hash kernels equal the standard library's SHA-1 and the formulas of datatrove's minima."""

import hashlib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.dedup.settings import PRIME, MinhashConfig
from corpus_assets.dedup.shingles import sha1_shingles, shingle_count, signature_minima

WORDS = st.lists(st.text("abcé日0", min_size=1, max_size=40), max_size=40)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 6))
def test_shingles_are_the_sha1_of_words_joined_by_spaces(documents, n_grams):
    words = [word.encode() for document in documents for word in document]
    data = b"".join(word + b" " for word in words)
    starts = np.cumsum([0, *(len(word) + 1 for word in words)], dtype=np.int64)
    places = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    bounds = np.empty(len(places), np.int64)
    hashes = np.empty(shingle_count(places, n_grams, bounds), np.uint64)
    buffer = np.frombuffer(data + b"\0\0\0\0", np.uint8)
    sha1_shingles(buffer, starts, places, n_grams, hashes)
    wanted = [
        int.from_bytes(hashlib.sha1(" ".join(d[i : i + n_grams]).encode()).digest()[:8], "little")
        for d in documents
        for i in range(len(d) - n_grams + 1)
    ]
    assert hashes.tolist() == wanted


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.sampled_from([64, 32]))
def test_minima_wrap_at_64_bits_and_are_masked_before_the_minimum(hashes, precision):
    config = MinhashConfig(num_buckets=2, hashes_per_bucket=3, precision=precision)
    a, b = config.permutations()
    out = np.empty((1, config.values), np.uint64)
    bounds = np.array([0, len(hashes)], np.int64)
    mask = np.uint64(config.mask)
    signature_minima(np.array(hashes, np.uint64), bounds, a, b, mask, out)
    wanted = [
        min((x * int(p) + int(q)) % 2**64 % PRIME & config.mask for x in hashes)
        for p, q in zip(a, b, strict=True)
    ]
    assert out[0].tolist() == wanted
