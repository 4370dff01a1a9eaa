"""Names of people, by Presidio: for those who install it, `pip install 'corpus-assets[ner]'`.

A model's guesses, not a rule: what is found depends on the model's version, not on this package.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from corpus_assets.core.errors import InputError
from corpus_assets.pii.spans import Bounds, Finder

ENTITY = "PERSON"


@cache
def _analyzer() -> Any:
    try:
        engine = import_module("presidio_analyzer").AnalyzerEngine
    except ImportError:
        message = (
            "the PII kind name needs Presidio and a spaCy model: "
            "pip install 'corpus-assets[ner]' and python -m spacy download en_core_web_lg, "
            "or take name out of pii.kinds."
        )
        raise InputError(message) from None
    return engine()


def find_names(text: str) -> Iterator[Bounds]:
    """Yield the names of people that Presidio's analyser for English finds.

    Raises:
        InputError: Presidio is not installed.
    """
    for result in _analyzer().analyze(text=text, language="en", entities=[ENTITY]):
        yield result.start, result.end


FINDERS = (Finder(find_names, core="[^\x00-\x40]"),)
