"""What replaces a piece of personal data: a function of its text and the config alone."""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.kinds import KINDS
from corpus_assets.pii.spans import Bounds, Span

HASH_DIGITS = 16
"""Hexadecimal digits of a keyed digest: 64 bits, at which a billion values hardly ever meet."""

Replacer = Callable[[str, str], str]
"""Takes a kind and a text; returns what is put there."""


def replacer_of(config: PiiConfig) -> Replacer:
    """Return the function that replaces under a config.

    Raises:
        InputError: `mode: hash` has no key.
    """
    if config.mode == "dummy":
        return _dummy
    if config.mode == "hash":
        key = config.key()
        return lambda kind, text: _with_digest(config.tag(kind), _digest(key, kind, text))
    return lambda kind, _: config.tag(kind)


def _dummy(kind: str, text: str) -> str:
    """Return one of the kind's reserved values, the same for the same text."""
    dummies = KINDS[kind].dummies
    return dummies[hashlib.sha256(text.encode()).digest()[0] % len(dummies)]


def _digest(key: bytes, kind: str, text: str) -> str:
    message = f"{kind}\0{text}".encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:HASH_DIGITS]


_CLOSING = re.compile(r"[>\])}|]*$")


def _with_digest(tag: str, digest: str) -> str:
    """Return a tag with a digest before what closes it: `<EMAIL_0123456789abcdef>`."""
    place = _CLOSING.search(tag)
    cut = place.start() if place else len(tag)
    return f"{tag[:cut]}_{digest}{tag[cut:]}"


@lru_cache(maxsize=64)
def _own(tags: tuple[str, ...], mode: str) -> re.Pattern[str]:
    if mode == "hash":
        marked = [_with_digest(tag, "\0") for tag in tags]
        return re.compile("|".join(re.escape(t).replace("\0", "[0-9a-f]{16}") for t in marked))
    return re.compile("|".join(map(re.escape, sorted(tags, key=len, reverse=True))))


def own_replacements(text: str, config: PiiConfig) -> list[Bounds]:
    """Return where a text holds what this config puts there: no personal data overlaps that."""
    if config.mode == "dummy":
        values = tuple(value for kind in config.kinds for value in KINDS[kind].dummies)
    else:
        values = tuple(config.tag(kind) for kind in config.kinds)
    if not values:
        return []
    return [match.span() for match in _own(values, config.mode).finditer(text)]


def replaced(text: str, spans: Iterable[Span], replacer: Replacer) -> str:
    """Return a text with ordered spans replaced, in one pass."""
    parts: list[str] = []
    last = 0
    for kind, start, end in spans:
        parts += [text[last:start], replacer(kind, text[start:end])]
        last = end
    return "".join([*parts, text[last:]])
