"""Rules that need no words: empty text, length, licence."""

import polars as pl
from pydantic import Field, field_validator, model_validator

from corpus_assets.core.plan import Config
from corpus_assets.core.spdx import is_allowed, normalised
from corpus_assets.filters.rules import Reason


class NonEmptyConfig(Config):
    """`non_empty` has no settings."""


def non_empty(config: NonEmptyConfig) -> list[Reason]:
    """Drop documents whose text is empty or only white space."""
    return [Reason("empty_text", pl.col("text").str.strip_chars() == "")]


class LengthConfig(Config):
    """Bounds of `length`, in characters (code points); None is no bound."""

    min_chars: int | None = Field(default=None, ge=0)
    max_chars: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _is_a_range(self) -> "LengthConfig":
        if self.min_chars is None and self.max_chars is None:
            message = "give min_chars, max_chars or both"
            raise ValueError(message)
        if None not in {self.min_chars, self.max_chars} and self.min_chars > self.max_chars:  # pyright: ignore[reportOperatorIssue]
            message = f"min_chars {self.min_chars} is above max_chars {self.max_chars}"
            raise ValueError(message)
        return self


def length(config: LengthConfig) -> list[Reason]:
    """Drop documents with fewer than `min_chars` or more than `max_chars` characters."""
    chars = pl.col("text").str.len_chars()
    reasons: list[Reason] = []
    if config.min_chars is not None:
        reasons.append(Reason("too_short", chars < config.min_chars, chars, config.min_chars))
    if config.max_chars is not None:
        reasons.append(Reason("too_long", chars > config.max_chars, chars, config.max_chars))
    return reasons


class LicenseConfig(Config):
    """Licences that `license` lets pass."""

    allow: tuple[str, ...]
    """SPDX identifiers or expressions."""

    @field_validator("allow")
    @classmethod
    def _are_spdx(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(normalised(expression) for expression in value)


def license_allowed(config: LicenseConfig) -> list[Reason]:
    """Drop documents whose licence expression the allowed licences do not meet."""
    allowed = frozenset(config.allow)
    verdict = pl.col("license_spdx").map_elements(
        lambda expression: not is_allowed(expression, allowed), return_dtype=pl.Boolean
    )
    return [Reason("license_not_allowed", verdict)]
