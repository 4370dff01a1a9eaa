"""Which tokenizer splits a language, and the tokenizers that are other packages.

They are imported when a language needs them. `languages.tsv` is the right table;
`languages_datatrove.tsv` lists where datatrove 0.10.1 ends up with another one.
"""

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from corpus_assets.core.errors import InputError
from corpus_assets.text.data import read_text

WordFunction = Callable[[str], list[str]]

JAPANESE_PIECE = 40_000
"""Bytes of text that SudachiPy is given at most."""

_LONG_NUMBER = re.compile("[0-9,]{20,}")
_WHITESPACE = re.compile(r"\s+")


def _rows(name: str) -> Iterator[list[str]]:
    for line in read_text(name).splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


@cache
def tokenizers(*, datatrove_codes: bool) -> dict[str, str]:
    """Return the tokenizer of every key: code with script, or bare code."""
    table: dict[str, str] = {}
    for tokenizer, script, languages in _rows("languages.tsv"):
        for language in languages.split():
            for code in language.split("/"):
                table.setdefault(f"{code}_{script}", tokenizer)
                table.setdefault(code, tokenizer)
    if datatrove_codes:
        for tokenizer, keys in _rows("languages_datatrove.tsv"):
            table.update(dict.fromkeys(keys.split(), tokenizer))
    return table


def code_rows() -> Iterator[tuple[str, list[str]]]:
    """Yield script and codes of every language of the table, the shortest code last."""
    for _, script, languages in _rows("languages.tsv"):
        for language in languages.split():
            yield script, language.split("/")


def tokenizer_of(language: str, *, datatrove_codes: bool) -> str:
    """Return the name of the tokenizer of a language; its own name stands for itself.

    Raises:
        InputError: There is none; names near ones.
    """
    table = tokenizers(datatrove_codes=datatrove_codes)
    if language in table:
        return table[language]
    kind, _, argument = language.partition(":")
    if kind in _KINDS and bool(argument) == (kind in _WITH_ARGUMENT):
        return language
    near = get_close_matches(language, table, n=5, cutoff=0.5)
    hint = f" Near ones: {', '.join(near)}." if near else ""
    message = (
        f"language {language!r} has no tokenizer.{hint} Give an ISO 639-3 or 639-1 code, alone "
        f"or with a script (`hin_Deva`), or a tokenizer by name (`spacy:xx` for any script with "
        f"spaces)."
    )
    raise InputError(message)


def word_function(tokenizer: str) -> tuple[WordFunction, str]:
    """Return the function of a tokenizer that is another package, and its name with versions.

    Raises:
        InputError: A package is not installed.
    """
    kind, _, argument = tokenizer.partition(":")
    make, packages = _KINDS[kind]
    packages = packages + _SPACY_PACKAGES.get(argument, ()) * (kind == "spacy")
    try:
        split = make(argument)
    except ImportError as error:
        how = (
            "`pip install stanza` (it downloads a model at first use)"
            if kind == "stanza"
            else "`pip install 'corpus-assets[languages]'`"
        )
        message = f"tokenizer {tokenizer} needs {' and '.join(packages)}; install it with {how}."
        raise InputError(message) from error
    versions = ", ".join(f"{package} {version(package)}" for package in packages)

    def words(text: str) -> list[str]:
        stripped = (token.strip() for token in split(text))
        return [token for token in stripped if token]

    return words, f"{tokenizer} ({versions})"


def _english(argument: str) -> WordFunction:
    return import_module("corpus_assets.text.english").split_text


def _spacy(language: str) -> WordFunction:
    if language == "ja":
        return _japanese()
    spacy = import_module("spacy")
    config: dict[str, Any] = {}
    if language == "zh":
        # spaCy asks for jieba only when the first text comes.
        import_module("jieba")
        config = {"nlp": {"tokenizer": {"segmenter": "jieba"}}}
    try:
        nlp = spacy.blank(language, config=config)
    except ImportError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            message = f"spaCy knows no language {language!r}; see spacy.io/usage/models."
            raise InputError(message) from error
        raise

    def split(text: str) -> list[str]:
        # Without the zone spaCy keeps every new word for good.
        with nlp.memory_zone():
            return [token.text for token in nlp.tokenizer(text)]

    return split


def _japanese() -> WordFunction:
    # spaCy's own use of SudachiPy leaks memory; its words are the surfaces in the shortest mode.
    sudachi = import_module("sudachipy")
    tokenizer = sudachi.Dictionary().create(mode=sudachi.SplitMode.A)

    def split(text: str) -> list[str]:
        return [
            morpheme.surface()
            for piece in pieces(text, JAPANESE_PIECE)
            for morpheme in tokenizer.tokenize(piece)
        ]

    return split


def pieces(text: str, limit: int) -> Iterator[str]:
    """Cut a text into pieces of at most `limit` bytes, at the places where datatrove cuts.

    The first guess is the number of characters that fits at their mean width; it is bettered in
    steps of ten, and stays for the next piece.

    Args:
        text: The text.
        limit: Bytes, above 10,000: below that, datatrove takes smaller steps or fails.
    """
    if not text:
        return
    ends = [0, *accumulate(len(character.encode()) for character in text)]
    guess = max(int(limit * (len(text) / ends[-1]) - 10), 1)
    start = 0
    while start < len(text):

        def size(count: int, start: int = start) -> int:
            return ends[min(start + count, len(text))] - ends[start]

        while size(guess) > limit:
            guess = max(guess - 10, 1)
        count = guess
        while size(count) < limit and start + count < len(text):
            count = min(len(text) - start, count + 10)
        if size(count) > limit:
            count -= 10
        yield text[start : start + count]
        start += count


def _indic(language: str) -> WordFunction:
    tokenize = import_module("indicnlp.tokenize.indic_tokenize").trivial_tokenize
    return lambda text: tokenize(text, language)


def _thai(argument: str) -> WordFunction:
    tokenize = import_module("pythainlp.tokenize").word_tokenize
    return lambda text: tokenize(text, keep_whitespace=False, engine="newmm-safe")


def _kiwi(argument: str) -> WordFunction:
    kiwi = import_module("kiwipiepy").Kiwi(model_type="sbg")

    def split(text: str) -> list[str]:
        # As in datatrove, places in the shortened text are looked up in the whole one.
        tokens = kiwi.tokenize(_LONG_NUMBER.sub("", text))
        return [text[token.start : token.end] for token in tokens]

    return split


def _khmer(argument: str) -> WordFunction:
    tokenize = import_module("khmernltk").word_tokenize
    return lambda text: tokenize(text, return_tokens=True)


def _lao(argument: str) -> WordFunction:
    return import_module("laonlp.tokenize").word_tokenize


def _tibetan(argument: str) -> WordFunction:
    tokenizer = import_module("botok").WordTokenizer()

    def split(text: str) -> list[str]:
        try:
            tokens = tokenizer.tokenize(text, split_affixes=False)
        except Exception:  # noqa: BLE001  # botok fails on some spaces with errors of any kind
            tokens = tokenizer.tokenize(_WHITESPACE.sub("", text), split_affixes=False)
        return [token.text for token in tokens]

    return split


def _burmese(argument: str) -> WordFunction:
    tokenize = import_module("pyidaungsu").tokenize
    return lambda text: tokenize(text, form="word")


def _stanza(language: str) -> WordFunction:
    stanza = import_module("stanza")
    method = import_module("stanza.pipeline.core").DownloadMethod.REUSE_RESOURCES
    pipeline = stanza.Pipeline(language, processors="tokenize", download_method=method)

    def split(text: str) -> list[str]:
        sentences = pipeline(text).sentences
        return [token.text for sentence in sentences for token in sentence.tokens]

    return split


_KINDS: dict[str, tuple[Callable[[str], WordFunction], tuple[str, ...]]] = {
    "english": (_english, ()),
    "spacy": (_spacy, ("spacy",)),
    "indic": (_indic, ("indic-nlp-library",)),
    "thai": (_thai, ("pythainlp",)),
    "kiwi": (_kiwi, ("kiwipiepy",)),
    "khmer": (_khmer, ("khmer-nltk",)),
    "lao": (_lao, ("laonlp",)),
    "tibetan": (_tibetan, ("botok",)),
    "burmese": (_burmese, ("pyidaungsu-numpy2",)),
    "stanza": (_stanza, ("stanza",)),
}
"""What makes the function of each kind of tokenizer, and the packages that it needs."""

_WITH_ARGUMENT = {"spacy", "indic", "stanza"}

_SPACY_PACKAGES = {
    "ja": ("SudachiPy", "SudachiDict-core"),
    "vi": ("pyvi",),
    "zh": ("jieba",),
}
