"""Settings of MinHash, in datatrove's names, and the permutations that follow from them."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from corpus_assets.core.errors import InputError, TableError
from corpus_assets.core.plan import Config
from corpus_assets.core.table import Table
from corpus_assets.text.languages import tokenizer_of
from corpus_assets.text.normalise import UNICODE_VERSION, NormConfig

PRIME = (1 << 61) - 1


COMPILING = "compiling kernels, once on this machine (some 15 s in all)"
"""numba keeps them beside the source, or in `NUMBA_CACHE_DIR`, and loads them in a second."""


class MinhashConfig(Config):
    """What decides a signature; the defaults are FineWeb's."""

    n_grams: int = Field(default=5, ge=1)
    """Words in a shingle."""
    num_buckets: int = Field(default=14, ge=1)
    """Bands: documents that agree in one are candidates."""
    hashes_per_bucket: int = Field(default=8, ge=1)
    """Minima in a band."""
    seed: int = Field(default=1, ge=0, lt=2**32)
    hash_fc: Literal["sha1", "xxhash"] = "sha1"
    precision: Literal[64, 32] = 64
    """Bits of a shingle hash and of a stored value."""
    norm: NormConfig = NormConfig()
    language: str = "eng_Latn"
    """Language whose words make the shingles."""
    datatrove_codes: bool = False
    """Assign tokenizers to language codes as datatrove 0.10.1 in effect does."""

    @model_validator(mode="after")
    def _has_a_tokenizer(self) -> Self:
        try:
            tokenizer_of(self.language, datatrove_codes=self.datatrove_codes)
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def values(self) -> int:
        """Minima in a signature."""
        return self.num_buckets * self.hashes_per_bucket

    @property
    def record(self) -> np.dtype:
        """Layout of a record of a signature file: the minima of a band, then the document."""
        kind = f"<u{self.precision // 8}"
        return np.dtype([("values", kind, (self.hashes_per_bucket,)), ("index", "<u4")])

    @property
    def mask(self) -> int:
        """Bits of a stored value, all ones."""
        return (1 << self.precision) - 1

    def permutations(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return multipliers and summands, shape (values,), drawn as datatrove draws them.

        All of the first are drawn before the second, by numpy's legacy generator.
        """
        random = np.random.RandomState(self.seed)
        a = random.randint(1, PRIME, dtype=np.uint64, size=self.values)
        b = random.randint(0, PRIME, dtype=np.uint64, size=self.values)
        return a, b

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the signatures, with the version of Unicode's data that was at work."""
        fields = self.model_dump(mode="json", include=set(MinhashConfig.model_fields))
        return {"minhash": fields | {"unicode": UNICODE_VERSION}}

    @property
    def threshold(self) -> float:
        """Similarity at which about half of the pairs are found, (1 / bands)^(1 / rows)."""
        return float((1 / self.num_buckets) ** (1 / self.hashes_per_bucket))

    def check_same(self, table: Table) -> None:
        """Refuse a table that was made with other settings.

        Raises:
            TableError: Names the settings that differ, here and there.
        """
        ours, theirs = self.facts["minhash"], table.facts.get("minhash")
        if theirs is None or ours == theirs:
            return
        differ = sorted(name for name in ours if ours[name] != theirs.get(name))
        listed = ", ".join(f"{name} {theirs.get(name)!r}, not {ours[name]!r}" for name in differ)
        message = (
            f"{table.directory}: was made with other settings ({listed}). Materialize {table.name} "
            f"again, or take its settings."
        )
        raise TableError(message)

    def facts_of(self, documents: str | None) -> dict[str, Any]:
        """Return what a table says of itself: its settings, and of which documents it is made.

        Args:
            documents: Digest of the table of documents; None where it is not known.
        """
        return self.facts | ({"documents": documents} if documents else {})

    def detection(self, similarity: float) -> float:
        """Return the chance that a pair of this Jaccard similarity becomes candidates.

        1 - (1 - s^r)^b (Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, 3.4.2).
        """
        return 1 - (1 - similarity**self.hashes_per_bucket) ** self.num_buckets


def check_documents(table: Table, documents: Table) -> None:
    """Refuse a stage that was made of other documents: places in them would mean other ones.

    Raises:
        TableError: As said; a stage that says nothing of its documents, as datatrove's, passes.
    """
    digest = table.facts.get("documents")
    if digest is not None and digest != documents.digest:
        message = (
            f"{table.directory}: was made of documents with digest {digest[:12]}…, but "
            f"{documents.directory} holds {documents.digest[:12]}…. Materialize "
            f"minhash_signatures, minhash_buckets and minhash_clusters again."
        )
        raise TableError(message)


class SignatureConfig(MinhashConfig):
    """Settings of the signature stage."""

    sort_buffer_mb: int = Field(default=64, ge=1)
    """Signatures held before a sorted run goes to disk."""


class BucketConfig(MinhashConfig):
    """Settings of the bucket stage."""

    workers_per_bucket: int = Field(default=1, ge=1)
    """Hash ranges into which a bucket is cut, for more workers than buckets."""
    among_documents: bool = True
    """Deduplicate the documents among themselves too where there is an index."""
    index_as_datatrove: bool = False
    """Match with an index by datatrove's rule, which misses all but the first of equals."""
    create_index: str | None = None
    """Name of an index file of the signatures that no index had."""


class VerifyConfig(Config):
    """When pairs are checked, and what they must have."""

    above_size: int = Field(default=0, ge=0)
    """Clusters of more documents than this are checked pair by pair."""
    min_jaccard: float = Field(default=0.7, gt=0, le=1)
    """Similarity of the shingle sets below which a pair is taken apart."""


KEEP = r"^(datatrove|first|longest|metadata:[^'\"\[\]\\]+)$"
"""Ways to choose the document that stays."""


class ClusterConfig(Config):
    """Which document of a cluster stays."""

    keep: str = Field(default="datatrove", pattern=KEEP)
    """datatrove's survivor, the `first` by (rank, row), the `longest` text, or `metadata:<field>`
    for the highest number in a field of the metadata."""
    ignore_index_matches: bool = False
    """Pass over pairs with an index, as if it had not been there."""
    verify: VerifyConfig | None = None
    """Check pairs by their true similarity; None trusts the bands, as datatrove does."""
    minhash: MinhashConfig
    """Settings of the signatures, for the shingles of a check."""
    index_names: tuple[str, ...] = ()
    """Names of the indexes, in order."""
    index_documents: tuple[int, ...] = ()
    """For each index, which of the plan's last references holds its documents; -1 for none."""
