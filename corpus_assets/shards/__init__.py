"""Shards of the final corpus: the public API of format 1 (`docs/formats.md`)."""

from corpus_assets.shards.document import Doc
from corpus_assets.shards.layout import DEFAULT_ROW_GROUP_BYTES, SCHEMA, shard_name, split_of
from corpus_assets.shards.manifest import DEDUP_DEFAULTS
from corpus_assets.shards.read import read_shards
from corpus_assets.shards.write import write_shards

__all__ = [
    "DEDUP_DEFAULTS",
    "DEFAULT_ROW_GROUP_BYTES",
    "SCHEMA",
    "Doc",
    "read_shards",
    "shard_name",
    "split_of",
    "write_shards",
]
