"""What replaces a piece of personal data: a function of its text and the config alone."""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable

from corpus_assets.pii.config import PiiConfig
from corpus_assets.pii.kinds import KINDS
from corpus_assets.pii.spans import Span

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


_CLOSING = re.compile(r"[>\])}|]*\Z")


def _with_digest(tag: str, digest: str) -> str:
    """Return a tag with a digest before what closes it: `<EMAIL_0123456789abcdef>`."""
    place = _CLOSING.search(tag)
    cut = place.start() if place else len(tag)
    return f"{tag[:cut]}_{digest}{tag[cut:]}"


NOTHING = re.compile("(?!)")


def own_replacements(config: PiiConfig) -> re.Pattern[str]:
    """Return what finds the replacements of a config in a text."""
    if config.mode == "dummy":
        values = {value for kind in config.kinds for value in KINDS[kind].dummies}
    else:
        values = {config.tag(kind) for kind in config.kinds}
    if config.mode == "hash":
        marked = (re.escape(_with_digest(tag, "\0")) for tag in values)
        found = [tag.replace("\0", f"[0-9a-f]{{{HASH_DIGITS}}}") for tag in marked]
    else:
        found = [re.escape(value) for value in values]
    longest_first = sorted(found, key=lambda pattern: (-len(pattern), pattern))
    return re.compile("|".join(longest_first)) if found else NOTHING


def replaced(text: str, spans: Iterable[Span], replacer: Replacer) -> str:
    """Return a text with ordered spans replaced, in one pass."""
    parts: list[str] = []
    last = 0
    for kind, start, end in spans:
        parts += [text[last:start], replacer(kind, text[start:end])]
        last = end
    return "".join([*parts, text[last:]])
