"""Names of people, by Presidio: for those who install it, `pip install 'corpus-assets[ner]'`.

A model's guesses, not a rule: what is found depends on the pipeline of spaCy that a corpus names.
Presidio maps the labels of pipelines to its `PERSON`; its other recognizers are not loaded.
"""

import logging
import os
import re
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from corpus_assets.core.errors import InputError
from corpus_assets.core.files import digest_of_file, digest_of_json, filled
from corpus_assets.pii.spans import Bounds, Finder

DEFAULT_MODEL = "en_core_web_lg"
"""Presidio's default."""

ENTITY = "PERSON"

LANGUAGE = "xx"
"""Presidio's key of the pipeline, which itself knows its language."""

SHORTEST_PIECE, LONGEST_PIECE = 500, 20_000
"""Characters that a model is given at once: many calls take longer than one, and spaCy asks for
some 10 kB of memory a character."""

LETTER = re.compile(r"[^\x00-\x40]")
"""Without one nothing is a name, whatever a model says."""

PIECES_KEPT = 1_024


def names_finder(model: str) -> Finder:
    """Return the search for the names of people that a model finds."""
    return Finder(partial(find_names, model), core=LETTER.pattern, is_local=False)


def find_names(model: str, text: str) -> Iterator[Bounds]:
    """Yield the names of people that a model finds in a text, some paragraphs at a time.

    Raises:
        InputError: Presidio or the model is not installed.
    """
    start = 0
    while start < len(text):
        end = _end_of_piece(text, start)
        for first, last in _names_of(model, text[start:end]):
            yield start + first, start + last
        start = end


def _end_of_piece(text: str, start: int) -> int:
    """Return where a piece ends: after a paragraph, or else a word, or else anywhere."""
    limit = start + LONGEST_PIECE
    paragraph = text.find("\n\n", start + SHORTEST_PIECE, limit)
    if paragraph >= 0:
        return paragraph + len("\n\n")
    if limit >= len(text):
        return len(text)
    space = max(text.rfind(" ", start, limit), text.rfind("\n", start, limit))
    return limit if space < 0 else space + 1


# A text is looked at until nothing more is found. Pieces that did not change are kept, so each look
# costs what changed, however many looks a model's whims make.
@lru_cache(maxsize=PIECES_KEPT)
def _names_of(model: str, piece: str) -> tuple[Bounds, ...]:
    """Return the names in a piece; never several at once, whose sums may be rounded otherwise."""
    analyzer = _analyzer(model)
    # Without the zone spaCy keeps every new word for good.
    with analyzer.nlp_engine.get_nlp(LANGUAGE).memory_zone():
        found = analyzer.analyze(text=piece, language=LANGUAGE, entities=[ENTITY])
        bounds = ((name.start, name.end) for name in found)
        return tuple(name for name in bounds if LETTER.search(piece, *name))


@cache
def _analyzer(model: str) -> Any:
    """Return Presidio's analyser with a model and the one recognizer that reads its names."""
    presidio = _presidio()
    # Before Presidio looks for the model itself: it downloads what it does not find.
    models = [{"lang_code": LANGUAGE, "model_name": located_model(model)}]
    engine = import_module("presidio_analyzer.nlp_engine").SpacyNlpEngine(models)
    try:
        engine.load()
    except Exception as error:  # whatever a pipeline's components raise
        message = (
            f"pii.name_model: spaCy cannot load {model} ({type(error).__name__}: {error}); install "
            f"what it needs, or name another model."
        )
        raise InputError(message) from error
    recognizers = import_module("presidio_analyzer.predefined_recognizers")
    recognizer = recognizers.SpacyRecognizer(LANGUAGE, [ENTITY])
    registry = presidio.RecognizerRegistry([recognizer], supported_languages=[LANGUAGE])
    return presidio.AnalyzerEngine(registry, engine, supported_languages=[LANGUAGE])


def _presidio() -> Any:
    # What is found must not depend on whether the machine has a GPU, unless its user says so.
    os.environ.setdefault("PRESIDIO_DEVICE", "cpu")
    # It warns of every place or date that a pipeline finds beside the names.
    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    try:
        return import_module("presidio_analyzer")
    except ImportError:
        message = (
            "the PII kind name needs Presidio: pip install 'corpus-assets[ner]', or take name out "
            "of pii.kinds."
        )
        raise InputError(message) from None


def located_model(written: str, base: Path = Path()) -> str:
    """Return what spaCy loads: the name of an installed package, or the folder of a pipeline.

    Args:
        written: Either of them; a relative folder starts at `base`, and `{{ env.NAME }}` in it
            stands for an environment variable.
        base: A folder.

    Raises:
        InputError: It is neither.
    """
    if _version(written):
        return written
    folder = (base / Path(filled(written)).expanduser()).absolute()
    if not (folder / "config.cfg").is_file():
        message = (
            f"pii.name_model: {written} is no installed spaCy model, and {folder} no folder of a "
            f"spaCy pipeline, which holds a config.cfg; install one (`python -m spacy download "
            f"{DEFAULT_MODEL}`), or name one that is there."
        )
        raise InputError(message)
    return str(folder)


def opened_model(written: str, base: Path) -> tuple[str, str]:
    """Return what spaCy loads, and what tells it from others, wherever it lies.

    The latter has the versions of what reads it, since another one may find other names.

    Raises:
        InputError: Presidio or the model is not installed.
    """
    _presidio()
    located = located_model(written, base)
    number = _version(located)
    content = f"{located} {number}" if number else f"sha256 {_digest_of_folder(Path(located))}"
    readers = [f"{name} {version(name)}" for name in ("presidio-analyzer", "spacy")]
    return located, ", ".join([content, *readers])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError):
        return None


def _digest_of_folder(folder: Path) -> str:
    files = (path for path in folder.rglob("*") if path.is_file())
    return digest_of_json({str(path.relative_to(folder)): digest_of_file(path) for path in files})
