"""Documents found by node: rank and place in one integer."""

import numpy as np
import pytest

from corpus_assets.core import parquet
from corpus_assets.dedup.nodes import rows_of
from corpus_assets_tests.dedup.test_near import tables
from corpus_assets_tests.scenario import document


@pytest.mark.parametrize("rows", [1, 2, 99])
def test_documents_are_found_by_rank_and_place_in_batches_of_any_size(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(parquet, "batch_rows", lambda _: rows)
    ranks = [[document(f"r{rank}d{i}") for i in range(5)] for rank in range(3)]
    documents = tables(tmp_path, *ranks)
    assert documents.ranks[0].files["kept"].rows == 5
    wanted = [(0, 0), (0, 3), (0, 4), (2, 1), (2, 2)]
    nodes = np.array([rank << 32 | place for rank, place in wanted], np.uint64)
    found = [
        (int(node), name)
        for some, frame in rows_of(documents, nodes, ["id"])
        for node, name in zip(some, frame["id"], strict=True)
    ]
    assert found == [(rank << 32 | place, f"r{rank}d{place}") for rank, place in wanted]
