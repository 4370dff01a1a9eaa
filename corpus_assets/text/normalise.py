"""Normalisation of text before it is compared, as datatrove 0.10.1 does it."""

import re
import unicodedata
from functools import cache

import numpy as np

from corpus_assets.core.plan import Config
from corpus_assets.text.data import Bytes, Offsets, decoded, read_json, read_only

VERSION = 1

UNICODE_VERSION = unicodedata.unidata_version
"""Of Python's tables, which decide lower case, decomposition and marks: part of fingerprints."""

NUMBER_SEPARATORS = ".,\u060c\u066b\u2396\u2397\u2398"

# fmt: off
_PUNCTUATION_RANGES = (
    (0x00, 0x08), (0x0B, 0x1F), (0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E),
    (0x7F, 0x9F), (0xAB, 0xAB), (0xB4, 0xB4), (0xBB, 0xBB), (0x2013, 0x2014), (0x2019, 0x2019),
    (0x201C, 0x201E), (0x2026, 0x2026), (0x2236, 0x2236), (0x2501, 0x2501), (0x25BA, 0x25BA),
    (0x3001, 0x3002), (0x3008, 0x300D), (0x3010, 0x3011), (0xFF01, 0xFF01), (0xFF05, 0xFF05),
    (0xFF08, 0xFF09), (0xFF0C, 0xFF0C), (0xFF0E, 0xFF0E), (0xFF11, 0xFF11), (0xFF1A, 0xFF1B),
    (0xFF1F, 0xFF1F), (0xFF5E, 0xFF5E),
)
# fmt: on
PUNCTUATION = {
    point: " " for first, last in _PUNCTUATION_RANGES for point in range(first, last + 1)
}
"""The code points that become a space; U+2018, the inverted marks and symbols are not there."""

_WEEKDAYS = re.compile("monday|tuesday|wednesday|thursday|friday|saturday|sunday")
_MONTHS = re.compile(
    "january|february|march|april|may|june|july|august|september|october|november|december"
)
_WHITESPACE = re.compile(r"\s+")


class NormConfig(Config):
    """Steps of the normalisation, in the order in which they happen."""

    lowercase: bool = True
    norm_numbers: bool = True
    """Each number of any script, with at most one decimal part, becomes `0`."""
    norm_weekdays: bool = False
    """English lower-case names, also inside words, become `WEEKDAY`."""
    norm_monthnames: bool = False
    """English lower-case names, also inside words, become `MONTH`."""
    remove_punctuation: bool = True
    norm_whitespace: bool = True
    norm_unicode_diacritics: bool = True
    """Canonical decomposition without nonspacing marks; nothing is composed again."""


@cache
def decimal_digits() -> frozenset[int]:
    """Return the code points that are decimal digits (category Nd).

    Pinned, because datatrove asks the `regex` module, whose Unicode is newer than Python's.
    """
    ranges = read_json("decimal_digits.json")["ranges"]
    return frozenset(point for first, last in ranges for point in range(first, last + 1))


@cache
def _numbers() -> re.Pattern[str]:
    digits = "".join(map(chr, sorted(decimal_digits())))
    return re.compile(f"[{digits}]+(?:[{NUMBER_SEPARATORS}][{digits}]+)?")


def normalise(text: str, config: NormConfig) -> str:
    """Return the text as it is compared: any setting, 100 times slower than the kernel."""
    if config.lowercase:
        text = text.lower()
    if config.norm_numbers:
        text = _numbers().sub("0", text)
    if config.norm_weekdays:
        text = _WEEKDAYS.sub("WEEKDAY", text)
    if config.norm_monthnames:
        text = _MONTHS.sub("MONTH", text)
    if config.remove_punctuation:
        text = text.translate(PUNCTUATION)
    if config.norm_whitespace:
        text = _WHITESPACE.sub(" ", text.strip())
    if config.norm_unicode_diacritics:
        decomposed = unicodedata.normalize("NFD", text)
        text = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    return text.strip()


class Normaliser:
    """Normalises batches of documents; threads may share it."""

    def __init__(self, config: NormConfig) -> None:
        """Take the settings; all but the default ones go the slow way of `normalise`."""
        self._config = config
        self._kernel = None
        if config == NormConfig():
            from corpus_assets.text.normalise_kernel import normalise_documents  # noqa: PLC0415

            self._kernel = normalise_documents

    def __call__(self, buffer: Bytes, offsets: Offsets) -> tuple[Bytes, Offsets]:
        """Return the normalised documents.

        Args:
            buffer: UTF-8 of the documents.
            offsets: Document i is `buffer[offsets[i]:offsets[i + 1]]`; shape (documents + 1).

        Raises:
            DocumentError: A document is not UTF-8.
        """
        buffer, offsets = read_only(buffer, offsets)
        documents = len(offsets) - 1
        if self._kernel is None:
            out, bounds = np.empty(0, np.uint8), np.zeros(documents + 1, np.int64)
            slow = np.arange(documents)
        else:
            out, bounds, slow = self._kernel(buffer, offsets)
        if not len(slow):
            return out, bounds
        pieces, lengths, done = [], np.diff(bounds), 0
        for document in slow.tolist():
            text = normalise(decoded(buffer, offsets, document), self._config)
            data = np.frombuffer(text.encode(), np.uint8)
            pieces += [out[bounds[done] : bounds[document]], data]
            lengths[document] = len(data)
            done = document
        pieces.append(out[bounds[done] :])
        return np.concatenate(pieces), np.concatenate([[0], np.cumsum(lengths)])
