"""Which personal data is replaced, and by what."""

import os
import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config
from corpus_assets.pii.kinds import DEFAULT_KINDS, KINDS
from corpus_assets.pii.names import DEFAULT_MODEL
from corpus_assets.pii.national_ids import COUNTRIES

DATATROVE_KINDS = ("email", "ip")

SHORTEST_KEY = 16
"""Characters of a key: below that all keys can be tried."""


class PiiConfig(Config):
    """Which kinds are replaced, and by what."""

    kinds: tuple[str, ...] = DEFAULT_KINDS
    countries: tuple[str, ...] | None = None
    """Countries whose numbers the kind `national_id` looks for, as ISO 3166 codes in lower case;
    None is all that are known."""
    name_model: str = Field(default=DEFAULT_MODEL, min_length=1)
    """spaCy pipeline by which the kind `name` finds names: an installed package, or a folder."""
    mode: Literal["tags", "dummy", "hash", "datatrove"] = "tags"
    """`tags` puts the kind's name, `dummy` a value reserved for examples, `hash` the kind's name
    with a keyed digest of the value, `datatrove` what its PIIFormatter puts."""
    tags: dict[str, Annotated[str, Field(min_length=1)]] = {}  # noqa: RUF012 - pydantic copies it
    """Placeholders of kinds, where they shall differ from the usual, such as `<EMAIL>`."""
    hash_key_env: str = "CORPUS_ASSETS_PII_KEY"
    """Environment variable that holds the key of `mode: hash`."""
    only_remove_public_ips: bool = True
    """As in datatrove, and of `mode: datatrove` alone."""
    drop_if_spans_over: int | None = Field(default=None, ge=0)
    """Documents with more pieces of personal data than this are dropped."""

    @field_validator("kinds")
    @classmethod
    def _are_known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _refuse_unknown("kind", value, tuple(KINDS))
        return tuple(name for name in KINDS if name in value)

    @field_validator("countries")
    @classmethod
    def _have_numbers(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        _refuse_unknown("country", value, COUNTRIES)
        return tuple(country for country in COUNTRIES if country in value)

    @field_validator("tags")
    @classmethod
    def _are_safe(cls, value: dict[str, str]) -> dict[str, str]:
        _refuse_unknown("kind", tuple(value), tuple(KINDS))
        wrong = [name for name, tag in value.items() if re.search(r"[\x00-\x1f@]|[0-9]{5}", tag)]
        if wrong:
            names = ", ".join(wrong)
            message = f"the tag of {names} holds a control character, an @ or five digits in a row"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _has_use_for_its_model(self) -> "PiiConfig":
        if self.name_model != DEFAULT_MODEL and "name" not in self.kinds:
            message = "name_model is of the kind name alone; add name to kinds or remove it"
            raise ValueError(message)
        return self

    @model_validator(mode="before")
    @classmethod
    def _datatrove_has_two_kinds(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("mode") == "datatrove" and "kinds" not in value:
            return {**value, "kinds": DATATROVE_KINDS}
        return value

    @model_validator(mode="after")
    def _fits_its_mode(self) -> "PiiConfig":
        if self.mode == "datatrove":
            if set(self.kinds) - set(DATATROVE_KINDS):
                message = "mode datatrove knows the kinds email and ip only; take out the others"
                raise ValueError(message)
            if self.tags or self.drop_if_spans_over is not None:
                message = "mode datatrove has neither tags nor drop_if_spans_over; remove them"
                raise ValueError(message)
        elif not self.only_remove_public_ips:
            message = "only_remove_public_ips is of mode datatrove alone; remove it"
            raise ValueError(message)
        return self

    def tag(self, kind: str) -> str:
        """Return the placeholder of a kind."""
        return self.tags.get(kind, KINDS[kind].placeholder)

    def key(self) -> bytes:
        """Return the key of `mode: hash`.

        Raises:
            InputError: The variable is not set, or holds too short a key.
        """
        key = os.environ.get(self.hash_key_env, "")
        if len(key) < SHORTEST_KEY:
            message = (
                f"pii.mode hash takes its key from the environment variable {self.hash_key_env}: "
                f"expected at least {SHORTEST_KEY} characters, found {len(key)}; set it, or name "
                f"another variable with pii.hash_key_env."
            )
            raise InputError(message)
        return key.encode("utf-8", "surrogateescape")


def _refuse_unknown(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"unknown {what} {', '.join(unknown)}; there are {', '.join(known)}"
        raise ValueError(message)
