"""pandera models of the documents before the corpus and of a shard's rows.

Give them eager frames: of a LazyFrame pandera validates the schema alone, and bad values pass.
Importing pandera takes 2 s, so who uses these imports them late.
"""

import pandera.polars as pa
import polars as pl

from corpus_assets.pii.scrubbing import PII_COLUMNS
from corpus_assets.shards.scatter import BLANK

NOT_BLANK = pa.Check(
    lambda data: data.lazyframe.select(pl.col(data.key).str.strip_chars(BLANK) != ""),
    name="not_blank",
)
NOT_EMPTY = pa.Check(
    lambda data: data.lazyframe.select(pl.col(data.key).str.len_bytes() > 0), name="not_empty"
)
IS_OBJECT = pa.Check(
    lambda data: data.lazyframe.select(pl.col(data.key).str.contains(r"^\{(?s:.*)\}$")),
    name="json_object",
)
SUM_OF_KINDS = pa.Check(
    lambda data: data.lazyframe.select(
        pl.col("pii_redactions")
        == pl.sum_horizontal([name for name in PII_COLUMNS if name != "pii_redactions"])
    ),
    name="pii_redactions_is_the_sum_of_kinds",
)

NAMES = {
    "source_id": pa.Column(pl.String, NOT_BLANK),
    "url": pa.Column(pl.String, NOT_BLANK),
    "license_spdx": pa.Column(pl.String, NOT_BLANK),
    "lang": pa.Column(pl.String, NOT_BLANK),
}

DOCUMENTS = pa.DataFrameSchema(
    {
        "id": pa.Column(pl.String, NOT_EMPTY),
        "text": pa.Column(pl.String),
        **NAMES,
        "metadata": pa.Column(pl.String, IS_OBJECT),
        "rank": pa.Column(pl.Int32, pa.Check.ge(0)),
        "row": pa.Column(pl.Int64, pa.Check.ge(0)),
        "minhash_cluster": pa.Column(pl.Int64, nullable=True),
        **{name: pa.Column(pl.Int32, pa.Check.ge(0)) for name in PII_COLUMNS},
    },
    checks=SUM_OF_KINDS,
    strict=True,
    name="scrubbed_docs",
)

SHARD = pa.DataFrameSchema(
    {
        "id": pa.Column(pl.String, NOT_EMPTY),
        "text": pa.Column(pl.String),
        **NAMES,
        "n_chars": pa.Column(pl.Int32, pa.Check.ge(0)),
        "sha256": pa.Column(pl.Binary),
        "minhash_cluster": pa.Column(pl.Int64, pa.Check.ge(0)),
        "pii_redactions": pa.Column(pl.Int32, pa.Check.ge(0)),
        "split": pa.Column(pl.String, pa.Check.isin(["train", "val"])),
    },
    strict=True,
    ordered=True,
    name="shard",
)
