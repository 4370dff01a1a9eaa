"""The schema of documents, column by column: the one place where a column's meaning is written."""

import pyarrow as pa

DOCUMENT_COLUMNS = {
    "id": (pa.large_string(), "Unique id: `<source_id>:<the document's own id, or file/number>`."),
    "text": (pa.large_string(), "The document's text."),
    "source_id": (pa.large_string(), "Source the document comes from; a line of the ledger."),
    "url": (pa.large_string(), "Where the document was published (the source's page by default)."),
    "license_spdx": (pa.large_string(), "Licence as an SPDX expression."),
    "lang": (pa.large_string(), "Language code (BCP 47); `und` when unknown."),
    "metadata": (pa.large_string(), "Every other field of the input, as one JSON object."),
    "rank": (pa.int32(), "Number of the input file the document comes from, from 0."),
    "row": (pa.int64(), "Place among the documents of that file in `raw_docs`, from 0."),
}
"""Columns from `raw_docs` on: name to (Arrow type, meaning)."""

CLUSTER_COLUMNS = {
    "minhash_cluster": (pa.int64(), "Cluster of duplicates it stands for; null when it has none."),
}
"""Added by `deduped_docs`."""

DROP_COLUMNS = {
    "drop_rule": (pa.large_string(), "Rule that dropped the document."),
    "drop_reason": (pa.large_string(), "Reason the rule gave."),
    "drop_value": (pa.float64(), "What was measured, where the rule compares a number."),
    "drop_threshold": (pa.float64(), "What it was compared with."),
    "duplicate_of": (pa.large_string(), "Id of the kept document, for duplicates."),
}
"""Added to dropped documents, which lie under `excluded/`."""

LOW_CARDINALITY = ("source_id", "license_spdx", "lang", "drop_rule", "drop_reason")
"""Columns worth a dictionary; on text one costs 24 % of the writing speed and saves nothing."""

Columns = dict[str, tuple[pa.DataType, str]]


def schema_of(*columns: Columns) -> pa.Schema:
    """Return the Arrow schema of some columns, in order."""
    return pa.schema([(name, kind) for part in columns for name, (kind, _) in part.items()])


DOCUMENTS = schema_of(DOCUMENT_COLUMNS)
"""Schema of `raw_docs` and `filtered_docs`."""

DEDUPED = schema_of(DOCUMENT_COLUMNS, CLUSTER_COLUMNS)
"""Schema of `deduped_docs`."""
