"""A corpus as its YAML describes it: sources, recipe, dedup, PII, shards, schedule."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import Field, field_validator, model_validator

from corpus_assets.core.files import digest_of_json
from corpus_assets.core.plan import Config, RawFile
from corpus_assets.dedup import DedupConfig
from corpus_assets.filters import recipe_of
from corpus_assets.filters.presets import PRESETS
from corpus_assets.filters.rules import RecipeConfig
from corpus_assets.pii import PiiConfig
from corpus_assets.readers.config import ReadConfig
from corpus_assets.readers.inputs import find_files
from corpus_assets.shards.build import ShardConfig

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
RESERVED_SOURCES = {"excluded", "rejected"}


class SourceSpec(ReadConfig):
    """One source: where documents come from, under which licence, and how to read them."""

    source_id: Slug = Field(alias="id")
    title: str = ""
    """For people; the id by default."""
    inputs: tuple[str, ...]
    """Files, folders or globs; relative ones start at the folder of the YAML file, and
    `{{ env.NAME }}` stands for an environment variable."""

    @field_validator("inputs", mode="before", json_schema_input_type=str | tuple[str, ...])
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("source_id")
    @classmethod
    def _is_not_reserved(cls, value: str) -> str:
        if value in RESERVED_SOURCES:
            message = f"{value} is the name of a folder in every table; choose another id"
            raise ValueError(message)
        return value

    def reading(self) -> ReadConfig:
        """Return the part that decides what the documents are."""
        return ReadConfig(**{name: getattr(self, name) for name in ReadConfig.model_fields})

    def files(self, base: Path) -> tuple[RawFile, ...]:
        """Return the input files, in order.

        Raises:
            InputError: An input matches nothing or cannot be told.
        """
        return find_files(self.inputs, base, self.reading())


class ScheduleSpec(Config):
    """When the corpus is rebuilt by the clock."""

    cron: str = Field(pattern=r"^(@(hourly|daily|weekly|monthly|yearly)|(\S+\s+){4}\S+)$")
    timezone: str = "UTC"
    running: bool = False
    """Whether it runs from the start; otherwise it is switched on in the UI."""

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value not in available_timezones():
            message = f"unknown time zone {value!r}; take one like Europe/Berlin"
            raise ValueError(message)
        return value


class WatchSpec(Config):
    """A sensor that rebuilds the corpus when its inputs changed and have settled."""

    every_seconds: int = Field(default=60, ge=5)
    """A rebuild starts when two looks in a row see the same changed files."""
    running: bool = False


class RetrySpec(Config):
    """How often a failed step is tried again; finished ranks are kept. Bad input is not retried."""

    max_retries: int = Field(default=2, ge=0)
    delay_seconds: float = Field(default=10, ge=0)


class CorpusSpec(Config):
    """A corpus."""

    name: Slug
    """Name of the data set, and first part of its asset keys."""
    version: Slug = "1"
    description: str = ""
    sources: tuple[SourceSpec, ...]
    max_bad_fraction: float = Field(default=0.01, ge=0, le=1)
    """Share of a source's records that may be no documents; more is an error."""
    recipe: Literal["none", "fineweb"] | list[str | dict[str, Any]] = "none"
    """Quality rules: a preset, or rules and presets in order, each a name or a name with its
    settings."""
    dedup: DedupConfig = DedupConfig()
    pii: PiiConfig = PiiConfig()
    shards: ShardConfig = ShardConfig()
    schedule: ScheduleSpec | None = None
    watch: WatchSpec = WatchSpec()
    fresh_within_hours: float | None = Field(default=None, gt=0)
    """The corpus is marked stale in the UI when its last build is older."""
    retry: RetrySpec = RetrySpec()

    @field_validator("sources")
    @classmethod
    def _is_not_empty(cls, value: tuple[SourceSpec, ...]) -> tuple[SourceSpec, ...]:
        # Not by Field(min_length=1): beside a fault in the only source that would be named too.
        if not value:
            message = "name at least one source"
            raise ValueError(message)
        return value

    @field_validator("recipe", mode="before")
    @classmethod
    def _is_a_preset_or_a_list(cls, value: Any) -> Any:
        entries = [] if isinstance(value, str) and value in PRESETS else value
        if not isinstance(entries, list) or not all(isinstance(e, str | dict) for e in entries):
            presets = ", ".join(f"`{name}`" for name in PRESETS)
            message = (
                f"must be {presets} or a list of rules, each a name or a name with its thresholds"
            )
            raise ValueError(message)
        return value

    @field_validator("recipe")
    @classmethod
    def _is_a_recipe(cls, value: Any) -> Any:
        recipe_of(value)
        return value

    @model_validator(mode="after")
    def _has_distinct_sources(self) -> "CorpusSpec":
        ids = [source.source_id for source in self.sources]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            message = f"source ids must be unique; repeated: {', '.join(twice)}"
            raise ValueError(message)
        return self

    @property
    def rules(self) -> RecipeConfig:
        """The recipe with every rule's config."""
        return recipe_of(self.recipe)

    @property
    def identifier(self) -> str:
        """The name as Dagster's names of jobs, groups and sensors allow it."""
        return re.sub(r"\W", "_", self.name)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole spec in canonical JSON, paths as written."""
        return digest_of_json(self.model_dump(mode="json", by_alias=True))

    def files(self, base: Path) -> tuple[RawFile, ...]:
        """Return the input files of all sources, in order: file i becomes rank i.

        Raises:
            InputError: An input matches nothing or cannot be told.
        """
        return tuple(file for source in self.sources for file in source.files(base))
