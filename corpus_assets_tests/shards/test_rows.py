"""§3: what a row holds."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.shards import SCHEMA, split_of
from corpus_assets_tests.shards.scenario import (
    COLUMNS,
    Index,
    column,
    doc,
    docs_of,
    expected_rows,
    manifest_of,
    rows_of,
    unusual_docs,
    write,
)

# text, first 8 bytes of its SHA-256, remainder modulo 1000
WORKED = [
    ("Mia naps.", "fcd7f3a1b48b4158", 248),
    ("Tom has a red ball.", "ba7f5216fe451c81", 697),
    ("Tom has a red ball!", "39777282a7bff242", 826),
]


def test_the_schema_has_these_columns_nullable_and_without_metadata():
    assert SCHEMA.equals(COLUMNS, check_metadata=True)
    assert SCHEMA.metadata is None
    assert all(field.nullable and field.metadata is None for field in SCHEMA)
    assert SCHEMA.field("sha256").type == pa.binary(32)


@pytest.mark.parametrize("docs", [[], docs_of("one"), unusual_docs()], ids=["none", "one", "many"])
def test_every_shard_has_the_schema(docs, tmp_path):
    write(docs, tmp_path / "corpus")
    for entry in manifest_of(tmp_path / "corpus")["shards"]:
        schema = pq.read_schema(tmp_path / "corpus" / entry["name"])
        assert schema.equals(COLUMNS, check_metadata=True)


def test_rows_are_those_of_the_reference(tmp_path):
    write(unusual_docs(), tmp_path / "corpus", shard_rows=3, val_permille=500)
    assert rows_of(tmp_path / "corpus") == expected_rows(unusual_docs(), 500)


def test_no_value_is_ever_null(tmp_path):
    write([doc("d", "", lang=None, pii=None, pii_redactions=None)], tmp_path / "corpus")
    assert None not in rows_of(tmp_path / "corpus")[0].values()


@pytest.mark.parametrize(
    ("text", "length"), [("", 0), ("abc", 3), ("a\x00", 2), ("\U0001f600\ufffd", 2), ("a\u0301", 2)]
)
def test_n_chars_counts_code_points(text, length, tmp_path):
    write([doc(text=text)], tmp_path / "corpus")
    assert column(tmp_path / "corpus", "n_chars") == [length]


def test_sha256_is_of_the_utf8_bytes_of_the_text(tmp_path):
    write(docs_of("", "\u00e9", "Mia naps."), tmp_path / "corpus")
    digests = [digest.hex() for digest in column(tmp_path / "corpus", "sha256")]
    assert digests[0] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digests[1] == hashlib.sha256(b"\xc3\xa9").hexdigest()
    assert digests[2].startswith("fcd7f3a1b48b4158")


def test_rows_are_ordered_by_code_point_not_by_utf16(tmp_path):
    write([doc("\U0001f600"), doc("\ufffd"), doc("\ud7ff"), doc("z")], tmp_path / "corpus")
    assert column(tmp_path / "corpus", "id") == ["z", "\ud7ff", "\ufffd", "\U0001f600"]


def test_rows_are_ordered_without_locale_case_or_number(tmp_path):
    ids = ["10", "9", "B", "a", "a ", "aa", "b", "\u00c4", "\u00e4"]
    write([doc(id_) for id_ in reversed(ids)], tmp_path / "corpus")
    assert column(tmp_path / "corpus", "id") == ids


def test_a_prefix_comes_first_even_before_nul(tmp_path):
    write([doc("a\x00"), doc("a"), doc("\x00a"), doc("\x00")], tmp_path / "corpus")
    assert column(tmp_path / "corpus", "id") == ["\x00", "\x00a", "a", "a\x00"]


def test_rows_are_ordered_over_the_whole_output(tmp_path):
    write([doc(f"{number:02d}") for number in (7, 3, 9, 1, 5)], tmp_path / "corpus", shard_rows=2)
    assert column(tmp_path / "corpus", "id") == ["01", "03", "05", "07", "09"]


def test_a_row_without_a_key_is_a_cluster_of_its_own(tmp_path):
    docs = [doc("c"), doc("a", minhash_cluster=None), doc("b")]
    write(docs, tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 1, 2]


def test_a_cluster_is_the_smallest_row_index_of_its_key_over_all_shards(tmp_path):
    docs = [
        doc("e", minhash_cluster="k"),
        doc("b", minhash_cluster="k"),
        doc("d", minhash_cluster="other"),
        doc("c", minhash_cluster="k"),
        doc("a"),
    ]
    write(docs, tmp_path / "corpus", shard_rows=1)
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 1, 1, 3, 1]


def test_a_key_that_spells_the_id_of_a_row_without_key_does_not_join_it(tmp_path):
    write([doc("a"), doc("b", minhash_cluster="a"), doc("c", minhash_cluster="a")], tmp_path / "o")
    assert column(tmp_path / "o", "minhash_cluster") == [0, 1, 1]


def test_a_key_that_is_a_row_index_does_not_join_that_row(tmp_path):
    write([doc("a"), doc("b", minhash_cluster=0), doc("c", minhash_cluster=0)], tmp_path / "o")
    assert column(tmp_path / "o", "minhash_cluster") == [0, 1, 1]


def test_the_document_that_a_key_names_need_not_be_present(tmp_path):
    docs = [doc("a", minhash_cluster="gone"), doc("b", minhash_cluster="gone")]
    write(docs, tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 0]


def test_an_integer_key_is_not_the_string_that_spells_it(tmp_path):
    docs = [doc("a", minhash_cluster=7), doc("b", minhash_cluster="7")]
    write([*docs, doc("c", minhash_cluster=7), doc("d", minhash_cluster="7")], tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 1, 0, 1]


def test_the_empty_string_and_zero_are_keys(tmp_path):
    keys = ["", 0, "", 0, None]
    docs = [doc(str(index), minhash_cluster=key) for index, key in enumerate(keys)]
    write(docs, tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 1, 0, 1, 4]


def test_integer_keys_are_equal_by_value_whatever_their_type(tmp_path):
    keys = [7, np.int64(7), np.uint8(7), Index(7)]
    docs = [doc(str(index), minhash_cluster=key) for index, key in enumerate(keys)]
    write(docs, tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 0, 0, 0]


def test_keys_are_compared_exactly_not_as_floats_or_normalised(tmp_path):
    keys = [2**53, 2**53 + 1, "a", "A", " a", "\u00e1", "a\u0301"]
    docs = [doc(str(index), minhash_cluster=key) for index, key in enumerate(keys)]
    write(docs, tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == list(range(7))


@pytest.mark.parametrize(("text", "head", "remainder"), WORKED)
def test_the_worked_splits(text, head, remainder):
    digest = hashlib.sha256(text.encode()).digest()
    assert digest[:8].hex() == head
    assert split_of(digest, remainder) == "train"
    assert split_of(digest, remainder + 1) == "val"


@pytest.mark.parametrize(
    ("first", "remainder"),
    [(0, 0), (5, 5), (999, 999), (1000, 0), (2**63, 808), (2**64 - 1, 615)],
)
def test_the_split_takes_the_first_eight_bytes_big_endian_and_unsigned(first, remainder):
    for rest in (b"\x00" * 24, b"\xff" * 24):
        digest = first.to_bytes(8, "big") + rest
        assert split_of(digest, remainder) == "train"
        assert split_of(digest, remainder + 1) == "val"


@pytest.mark.parametrize(("permille", "split"), [(0, "train"), (1000, "val")])
def test_val_permille_may_take_no_row_or_every_row(permille, split, tmp_path):
    docs = docs_of(*(f"text {number}" for number in range(50)))
    write(docs, tmp_path / "corpus", shard_rows=100, val_permille=permille)
    assert set(column(tmp_path / "corpus", "split")) == {split}


def test_five_in_a_thousand_is_the_default(tmp_path):
    docs = docs_of(*(f"text {number}" for number in range(1000)))
    write(docs, tmp_path / "default", shard_rows=1000)
    write(docs, tmp_path / "five", shard_rows=1000, val_permille=np.int64(5))
    splits = column(tmp_path / "default", "split")
    assert splits == column(tmp_path / "five", "split")
    assert 0 < splits.count("val") < 20


def test_nothing_but_the_text_has_a_part_in_the_split(tmp_path):
    same = [
        doc("a", "Mia naps."),
        doc("b", "Mia naps.", "other", url="u", lang="de", minhash_cluster=1, pii_redactions=9),
        doc("c", "Tom has a red ball."),
        doc("d", "Tom has a red ball.", minhash_cluster=1),
    ]
    for version in ("v1", "v2"):
        write(same, tmp_path / version, version=version, val_permille=249, shard_rows=3)
        assert column(tmp_path / version, "split") == ["val", "val", "train", "train"]
