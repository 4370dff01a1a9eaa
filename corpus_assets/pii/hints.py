"""Which texts can hold which kind: the words that the pass of `hints_kernel` knows, as arrays."""

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from corpus_assets.core.texts import string_buffers
from corpus_assets.pii import addresses, emails, folding, iban, phones, secrets, us_ssn
from corpus_assets.pii.bytes_kernel import Words, reversed_hash
from corpus_assets.pii.hints_kernel import hints_of

AT_ONCE = 1_000
"""Texts that are copied at a time: their memory is used again, where a batch's is new."""


def hints(texts: pl.Series) -> NDArray[np.uint32]:
    """Return the bits of each text; a finder whose bit is not set finds nothing there."""
    out = np.zeros(len(texts), np.uint32)
    for start in range(0, len(texts), AT_ONCE):
        buffer, offsets = string_buffers(texts.slice(start, AT_ONCE))
        hints_of(buffer, offsets, words(), out[start : start + AT_ONCE])
    return out


def prepare_hints() -> None:
    """Compile the kernels of this step, or load them, before workers would all compile the same."""
    hints(pl.Series(["a"]))
    folding.fold("é")


@cache
def words() -> Words:
    """Return what the pass knows."""
    folded, pages = folding.tables()
    ibans = np.zeros(26 * 26, np.uint8)
    for country, length in iban.LENGTHS.items():
        ibans[(ord(country[0]) - 65) * 26 + ord(country[1]) - 65] = length
    prefixes, first_prefix = _prefixes(secrets.PREFIXES)
    hosts, first_host = _prefixes(dict.fromkeys(_stems(addresses.ADDRESS_WORDS), 0))
    return Words(
        folded=folded,
        pages=pages,
        ibans=ibans,
        labels=_hashes(phones.last_words()),
        connectors=_hashes(phones.joining_words()),
        prepositions=_hashes(phones.PREPOSITIONS),
        nouns=_hashes(phones.NOUNS_AFTER),
        ssn=_hashes(us_ssn.LAST_WORDS),
        ats=_hashes(emails.AT_WORDS),
        ats_by_start=_starts(emails.AT_WORDS),
        dots=_hashes(emails.DOT_WORDS),
        prefixes=prefixes,
        first_prefix=first_prefix,
        hosts=hosts,
        first_host=first_host,
    )


def _hashes(found: Iterable[str]) -> NDArray[np.uint64]:
    hashes = {int(reversed_hash(np.frombuffer(word.encode(), np.uint8))) for word in found if word}
    return np.array(sorted(hashes), np.uint64)


def _starts(found: Iterable[str]) -> NDArray[np.uint8]:
    """Return which two bytes start a word; after a word of one byte any may stand."""
    table = np.zeros((256, 256), np.uint8)
    for word in found:
        first, *rest = word.encode()
        table[first, rest[0] if rest else slice(None)] = 1
    return table.reshape(-1)


def _stems(found: Iterable[str]) -> Iterator[str]:
    """Yield ASCII words, and of others the first two characters in either case."""
    for word in found:
        if word.isascii():
            yield word
        else:
            first, second = word[:2]
            yield from (a + b for a in (first, first.upper()) for b in (second, second.upper()))


def _prefixes(lengths: dict[str, int]) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    rows = np.zeros((len(lengths), 20), np.uint8)
    first = np.full(1 << 16, -1, np.int16)
    entries = sorted((word.encode(), rest) for word, rest in lengths.items())
    for number, (word, rest) in enumerate(entries):
        rows[number, 0], rows[number, 19] = len(word), rest
        rows[number, 1 : 1 + len(word)] = list(word)
        pair = int(rows[number, 1]) << 8 | int(rows[number, 2])
        first[pair] = number if first[pair] < 0 else first[pair]
    return rows, first
