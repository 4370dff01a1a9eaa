"""How the records of one source become documents."""

from typing import Literal

from pydantic import field_validator

from corpus_assets.core.plan import Config
from corpus_assets.core.spdx import normalised

FormatName = Literal["auto", "jsonl", "parquet"]


class ReadConfig(Config):
    """The part of a source that decides what its documents are."""

    source_id: str
    license_spdx: str
    """Licence of documents that state none."""
    url: str
    """URL of documents that state none."""
    lang: str = "und"
    """Language of documents that state none."""
    format: FormatName = "auto"
    """Format of the files; `auto` goes by the file name."""
    text_key: str = "text"
    id_key: str | None = "id"
    """Field with the document's own id; None numbers the documents of each file."""
    url_key: str | None = "url"
    license_key: str | None = "license_spdx"
    lang_key: str | None = "lang"

    @field_validator("license_spdx")
    @classmethod
    def _is_spdx(cls, value: str) -> str:
        return normalised(value)

    @field_validator("url", "lang", "text_key")
    @classmethod
    def _is_not_blank(cls, value: str) -> str:
        if not value or value.isspace():
            message = "must not be blank"
            raise ValueError(message)
        return value
