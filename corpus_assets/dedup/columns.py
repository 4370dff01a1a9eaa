"""Columns of the tables that deduplication shows to people."""

import pyarrow as pa

from corpus_assets.core.schema import schema_of

MEMBER_COLUMNS = {
    "id": (pa.large_string(), "Id of the document."),
    "rank": (pa.int32(), "Its rank."),
    "place": (pa.int64(), "Its place among the filtered documents of that rank, from 0."),
    "cluster": (pa.int64(), "Cluster; numbered by their first document."),
    "size": (pa.int64(), "Documents in the cluster."),
    "kept": (pa.bool_(), "Whether it is the one that stays."),
    "representative": (pa.large_string(), "Id of the one that stays, or of the match in an index."),
    "matched_index": (pa.large_string(), "Index that has a match; null without one."),
}
MEMBERS = schema_of(MEMBER_COLUMNS)
