"""Deduplication as a corpus describes it."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from corpus_assets.core.files import filled
from corpus_assets.core.plan import Config
from corpus_assets.core.table import TABLE_FILE, Table
from corpus_assets.dedup.index import open_index
from corpus_assets.dedup.settings import (
    KEEP,
    BucketConfig,
    ClusterConfig,
    MinhashConfig,
    SignatureConfig,
    VerifyConfig,
    check_documents,
)


class Against(Config):
    """A corpus or index that holds what is to be dropped here."""

    name: str
    """How the index is called where a match is shown."""
    path: str
    """Folder of a corpus of ours (`<root>/<corpus>`), whose matches have an id, or a folder of
    datatrove's index files; a relative one starts at the folder of the YAML file."""


class DedupConfig(Config):
    """What counts as a duplicate, and which of the duplicates stays."""

    exact: bool = True
    """Drop documents with the text of an earlier one, before MinHash; off leaves them to it."""
    minhash: SignatureConfig | None = SignatureConfig()
    """Settings of near-duplicates, FineWeb's by default; None looks for none."""
    workers_per_bucket: int = Field(default=1, ge=1)
    """Hash ranges into which a bucket is cut, for more workers than buckets."""
    keep: str = Field(default="datatrove", pattern=KEEP)
    """Which document of a cluster stays: `datatrove`, `first`, `longest`, `metadata:<field>`."""
    verify: VerifyConfig | None = None
    """Check pairs of large clusters by their true similarity."""
    against: tuple[Against, ...] = ()
    """Corpora and indexes whose documents are dropped here."""
    among_documents: bool = True
    """Beside `against`, deduplicate the documents among themselves."""
    index_as_datatrove: bool = False
    """Match with an index by datatrove's rule, which misses all but the first of equals."""
    ignore_index_matches: bool = False
    """Pass over the matches with an index when clusters are made."""
    create_index: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+$")
    """Name of an index, in datatrove's form, of the signatures that no index had."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        given = [name for name in ("against", "verify", "create_index") if getattr(self, name)]
        if self.minhash is None and given:
            message = f"{', '.join(given)} need `minhash`, which is null"
            raise ValueError(message)
        return self

    def signing(self) -> SignatureConfig:
        """Return the settings of the signature stage."""
        return self.minhash or SignatureConfig()

    def bucketing(self) -> BucketConfig:
        """Return the settings of the bucket stage."""
        return BucketConfig(
            **_settings(self.signing()),
            workers_per_bucket=self.workers_per_bucket,
            among_documents=self.among_documents,
            index_as_datatrove=self.index_as_datatrove,
            create_index=self.create_index,
        )

    def clustering(self, documents: tuple[int, ...] = ()) -> ClusterConfig:
        """Return the settings of the cluster stage, given where each index has its documents."""
        return ClusterConfig(
            keep=self.keep,
            ignore_index_matches=self.ignore_index_matches,
            verify=self.verify,
            minhash=MinhashConfig(**_settings(self.signing())),
            index_names=tuple(index.name for index in self.against),
            index_documents=documents,
        )


def _settings(config: MinhashConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in MinhashConfig.model_fields}


def open_indexes(config: DedupConfig, base: Path) -> tuple[Table, ...]:
    """Return the signatures or index files of all corpora to deduplicate against.

    Raises:
        InputError: A folder is neither.
        TableError: A table is damaged.
    """
    folders = [_folder(index, base) for index in config.against]
    return tuple(
        open_index(folder / "minhash_signatures" if _is_corpus(folder) else folder)
        for folder in folders
    )


def open_index_documents(
    config: DedupConfig, base: Path, indexes: tuple[Table, ...]
) -> tuple[tuple[int, ...], tuple[Table, ...]]:
    """Return for each index the number of the table of its documents, or -1, and the tables.

    Raises:
        TableError: The documents of one are not those that its signatures were made of.
    """
    numbers: list[int] = []
    tables: list[Table] = []
    for index, signatures in zip(config.against, indexes, strict=True):
        folder = _folder(index, base)
        if _is_corpus(folder):
            numbers.append(len(tables))
            tables.append(Table.open(folder / "filtered_docs"))
            check_documents(signatures, tables[-1])
        else:
            numbers.append(-1)
    return tuple(numbers), tuple(tables)


def _folder(index: Against, base: Path) -> Path:
    return base / Path(filled(index.path)).expanduser()


def _is_corpus(folder: Path) -> bool:
    return (folder / "minhash_signatures" / TABLE_FILE).is_file()
