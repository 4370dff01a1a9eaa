"""Rules that need no words: empty text, length, licence."""

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from corpus_assets.core.plan import Config
from corpus_assets.core.spdx import is_allowed, normalised
from corpus_assets.filters.rules import Batch, Criterion, Verdict


class NonEmptyConfig(Config):
    """`non_empty` has no settings."""


def non_empty(batch: Batch, config: NonEmptyConfig) -> Verdict:
    """Drop documents whose text is empty or only white space."""
    empty = batch.evaluate(pl.col("text").str.strip_chars() == "")
    return Verdict([Criterion("empty_text", empty)])


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


def length(batch: Batch, config: LengthConfig) -> Verdict:
    """Drop documents with fewer than `min_chars` or more than `max_chars` characters."""
    chars = batch.evaluate(pl.col("text").str.len_chars())
    bounds = [
        ("too_short", np.less, config.min_chars),
        ("too_long", np.greater, config.max_chars),
    ]
    return Verdict(
        [
            Criterion.measured(reason, chars, compare, bound)
            for reason, compare, bound in bounds
            if bound is not None
        ]
    )


class LicenseConfig(Config):
    """Licences that `license` lets pass."""

    allow: tuple[str, ...]
    """SPDX identifiers or expressions."""

    @field_validator("allow")
    @classmethod
    def _are_spdx(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(normalised(expression) for expression in value)


def license_allowed(batch: Batch, config: LicenseConfig) -> Verdict:
    """Drop documents whose licence expression the allowed licences do not meet."""
    allowed = frozenset(config.allow)
    meets = pl.col("license_spdx").map_elements(
        lambda expression: is_allowed(expression, allowed), return_dtype=pl.Boolean
    )
    return Verdict([Criterion("license_not_allowed", ~batch.evaluate(meets))])
