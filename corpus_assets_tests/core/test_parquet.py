"""Row groups depend on the rows alone."""

import hashlib
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.parquet import GroupedWriter, read_batches, take_rows, to_frame, to_table
from corpus_assets.core.schema import schema_of

SCHEMA = schema_of({"text": (pa.large_string(), ""), "row": (pa.int64(), "")})
TEXTS = st.lists(st.text("aé", max_size=12), max_size=30)


def write(texts, cuts, path, group_bytes=16, group_rows=5):
    """Write texts in batches cut at the places given; return the file's bytes."""
    writer = GroupedWriter(path, SCHEMA, group_bytes=group_bytes, group_rows=group_rows)
    bounds = [0, *sorted(cut % (len(texts) + 1) for cut in cuts), len(texts)]
    for start, stop in pairwise(bounds):
        rows = {"text": texts[start:stop], "row": range(start, stop)}
        writer.write(pa.table(rows, schema=SCHEMA))
    writer.close()
    return path.read_bytes()


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, cuts=st.lists(st.integers(0, 40), max_size=5), size=st.sampled_from([16, 99]))
def test_a_file_does_not_depend_on_how_its_rows_arrived(tmp_path_factory, texts, cuts, size):
    path = tmp_path_factory.mktemp("groups") / "a.parquet"
    assert write(texts, cuts, path, size) == write(texts, [], path, size)


def test_a_group_is_full_by_rows_over_batches_too(tmp_path):
    write(["a"] * 11, [3, 4, 10], tmp_path / "a.parquet", group_bytes=99)
    metadata = pq.read_metadata(tmp_path / "a.parquet")
    assert [metadata.row_group(i).num_rows for i in range(3)] == [5, 5, 1]


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS)
def test_a_group_is_full_by_bytes_or_rows_and_none_is_empty(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("groups") / "a.parquet"
    write(texts, [], path)
    with pq.ParquetFile(path) as file:
        groups = [
            [len(text.encode()) for text in file.read_row_group(i)["text"].to_pylist()]
            for i in range(file.num_row_groups)
        ]
        assert [n for group in groups for n in group] == [len(t.encode()) for t in texts]
    for group, following in pairwise(groups):
        assert len(group) == 5 or sum(group) + following[0] > 16
    for group in groups:
        assert 1 <= len(group) <= 5
        assert sum(group) <= 16 or len(group) == 1


def test_rows_are_taken_while_they_fit_and_a_long_one_goes_alone():
    lengths = np.array([3, 3, 3])
    assert take_rows(lengths, 6, empty=False) == 2
    assert take_rows(lengths, 2, empty=False) == 0
    assert take_rows(lengths, 2, empty=True) == 1
    assert take_rows(np.array([0, 0]), 0, empty=False) == 2


def test_a_schema_without_text_is_cut_by_rows(tmp_path):
    schema = schema_of({"row": (pa.int64(), "")})
    writer = GroupedWriter(tmp_path / "a", schema, group_rows=2)
    writer.write(pa.table({"row": [1, 2, 3]}, schema=schema))
    writer.close()
    assert pq.read_metadata(tmp_path / "a").num_row_groups == 2


def test_a_file_is_read_in_bounded_batches_and_an_empty_one_in_none(tmp_path):
    write(["a"] * 7, [], tmp_path / "a")
    assert sum(batch.num_rows for batch in read_batches(tmp_path / "a")) == 7
    write([], [], tmp_path / "b")
    assert list(read_batches(tmp_path / "b")) == []


def test_a_frame_goes_to_arrow_and_back(tmp_path):
    frame = pl.DataFrame({"text": ["é", None, ""], "row": [1, 2, 3]})
    assert to_frame(to_table(frame)).equals(frame)
    digest = hashlib.sha256(write(["a", "b"], [1], tmp_path / "a")).hexdigest()
    assert digest == hashlib.sha256(write(["a", "b"], [], tmp_path / "a")).hexdigest()
