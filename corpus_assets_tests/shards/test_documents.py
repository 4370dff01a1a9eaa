"""§2: which documents are accepted, and what an error says."""

import copy
import dataclasses
import enum
import types
from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Mapping

import numpy as np
import pytest

from corpus_assets.shards import Doc
from corpus_assets_tests.shards.scenario import (
    GOOD_META,
    Index,
    column,
    doc,
    manifest_of,
    names_in,
    rows_of,
    write,
)

BLANK = ["", " ", "\t\n", "\u00a0\u2003"]
NOT_STRINGS = [7, b"bytes", ["x"], True, 1.5]
NOT_INTEGERS = ["1", 1.0, True, False, [], b"1"]
SURROGATE = "lone \ud800 surrogate"


def assert_refused(document, field, tmp_path, errors=(ValueError,)):
    with pytest.raises(errors) as caught:
        write([doc("a"), document, doc("z")], tmp_path / "corpus")
    assert field in str(caught.value)
    if document.id == "bad-doc":
        assert "bad-doc" in str(caught.value)
    assert names_in(tmp_path) == []


def one_row(document, tmp_path):
    write([document], tmp_path / "corpus")
    (row,) = rows_of(tmp_path / "corpus")
    return row


def test_a_document_is_a_frozen_dataclass_of_four_fields():
    document = Doc("i", "s", "t", {})
    assert [field.name for field in dataclasses.fields(Doc)] == ["id", "source_id", "text", "meta"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        document.text = "other"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("key", ["url", "license_spdx"])
def test_a_needed_key_that_is_absent_is_an_error(key, tmp_path):
    meta = {name: value for name, value in GOOD_META.items() if name != key}
    assert_refused(Doc("bad-doc", "books", "text", meta), key, tmp_path)


@pytest.mark.parametrize("key", ["url", "license_spdx"])
def test_a_needed_key_that_is_none_is_an_error(key, tmp_path):
    document = Doc("bad-doc", "books", "text", {**GOOD_META, key: None})
    assert_refused(document, key, tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("value", BLANK)
@pytest.mark.parametrize("key", ["url", "license_spdx", "lang"])
def test_a_blank_meta_string_is_an_error(key, value, tmp_path):
    assert_refused(doc("bad-doc", **{key: value}), key, tmp_path)


@pytest.mark.parametrize("value", NOT_STRINGS)
@pytest.mark.parametrize("key", ["url", "license_spdx", "lang"])
def test_a_meta_string_of_another_type_is_an_error(key, value, tmp_path):
    assert_refused(doc("bad-doc", **{key: value}), key, tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("meta", [{}, {"lang": None}])
def test_an_absent_language_is_und(meta, tmp_path):
    assert one_row(doc(**meta), tmp_path)["lang"] == "und"


def test_strings_are_not_trimmed_folded_or_normalised(tmp_path):
    document = doc(
        " A\u0301 ", " Text\r\n", " Books ", url=" http://E.org ", license_spdx=" mit ", lang=" DE "
    )
    row = one_row(document, tmp_path)
    assert row["id"] == " A\u0301 "
    assert row["text"] == " Text\r\n"
    assert row["source_id"] == " Books "
    assert (row["url"], row["license_spdx"], row["lang"]) == (" http://E.org ", " mit ", " DE ")


@pytest.mark.parametrize("id_", [" ", "\n", "\x00", "\u00a0", "\U0010ffff", "shard-00000", "../x"])
def test_an_id_may_be_any_code_points_but_none(id_, tmp_path):
    assert one_row(doc(id_), tmp_path)["id"] == id_


def test_an_empty_id_is_an_error(tmp_path):
    assert_refused(doc(""), "id", tmp_path)


@pytest.mark.parametrize("id_", [7, None, b"bad-doc"])
def test_an_id_that_is_no_string_is_an_error(id_, tmp_path):
    assert_refused(doc(id_), "id", tmp_path, (ValueError, TypeError))


def test_ids_are_the_same_only_when_their_code_points_are(tmp_path):
    ids = ["A", "a", " a", "a ", "a\x00", "a\u0301", "\u00e1", "\uff41", "\u2126", "\u03a9"]
    write([doc(id_) for id_ in ids], tmp_path / "corpus")
    assert sorted(column(tmp_path / "corpus", "id")) == sorted(ids)


def test_an_id_need_not_begin_with_its_source(tmp_path):
    assert one_row(doc("elsewhere:1", source_id="books"), tmp_path)["id"] == "elsewhere:1"


@pytest.mark.parametrize("value", BLANK)
def test_a_blank_source_is_an_error(value, tmp_path):
    assert_refused(doc("bad-doc", source_id=value), "source_id", tmp_path)


@pytest.mark.parametrize("value", [None, 7, b"books"])
def test_a_source_that_is_no_string_is_an_error(value, tmp_path):
    document = doc("bad-doc", source_id=value)
    assert_refused(document, "source_id", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("value", [None, 7, b"text"])
def test_a_text_that_is_no_string_is_an_error(value, tmp_path):
    assert_refused(doc("bad-doc", value), "text", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("text", ["", " ", "\x00", "a\x00b", "\ufeffa", "\U0001f600", "\r\n\u2028"])
def test_a_text_is_stored_as_it_is(text, tmp_path):
    assert one_row(doc(text=text), tmp_path)["text"] == text


def test_a_lone_surrogate_in_the_id_is_an_error(tmp_path):
    assert_refused(doc(SURROGATE), "id", tmp_path)


def test_a_lone_surrogate_in_the_source_is_an_error(tmp_path):
    assert_refused(doc("bad-doc", source_id=SURROGATE), "source_id", tmp_path)


@pytest.mark.parametrize("text", [SURROGATE, chr(0xDFFF), "\ude00\ud83d"])
def test_a_lone_surrogate_in_the_text_is_an_error(text, tmp_path):
    assert_refused(doc("bad-doc", text), "text", tmp_path)


@pytest.mark.parametrize("key", ["url", "license_spdx", "lang"])
def test_a_lone_surrogate_in_a_meta_string_is_an_error(key, tmp_path):
    assert_refused(doc("bad-doc", **{key: SURROGATE}), key, tmp_path)


def test_a_nul_is_allowed_in_every_string(tmp_path):
    nul = "\x00"
    document = doc(nul, nul, nul, url=nul, license_spdx=nul, lang=nul, minhash_cluster=nul)
    row = one_row(document, tmp_path)
    assert {row[name] for name in ("id", "text", "source_id", "url", "license_spdx", "lang")} == {
        nul
    }


@pytest.mark.parametrize("key", ["", " ", "7", 7, 0, -5, 2**100, np.int64(7), Index(7), None])
def test_a_cluster_key_may_be_any_string_or_integer(key, tmp_path):
    assert one_row(doc(minhash_cluster=key), tmp_path)["minhash_cluster"] == 0


def test_a_cluster_key_is_not_stored_so_a_lone_surrogate_in_it_is_a_key(tmp_path):
    docs = [doc(id_, minhash_cluster=SURROGATE) for id_ in "ab"]
    write(docs, tmp_path / "corpus")
    assert column(tmp_path / "corpus", "minhash_cluster") == [0, 0]


@pytest.mark.parametrize("key", [True, False, 7.0, b"7", [7], {}, (7,)])
def test_a_cluster_key_of_another_type_is_an_error(key, tmp_path):
    document = doc("bad-doc", minhash_cluster=key)
    assert_refused(document, "minhash_cluster", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize(
    ("value", "stored"),
    [(0, 0), (3, 3), (2**31 - 1, 2**31 - 1), (None, 0), (np.int64(3), 3), (Index(3), 3)],
)
def test_redactions_are_an_int32_from_zero(value, stored, tmp_path):
    assert one_row(doc(pii_redactions=value), tmp_path)["pii_redactions"] == stored


@pytest.mark.parametrize("value", [-1, 2**31, 2**64, np.int64(-1), Index(2**31)])
def test_redactions_out_of_range_are_an_error(value, tmp_path):
    assert_refused(doc("bad-doc", pii_redactions=value), "pii_redactions", tmp_path)


@pytest.mark.parametrize("value", [*NOT_INTEGERS, np.float64(1), np.bool_(True)])
def test_redactions_that_are_no_integer_are_an_error(value, tmp_path):
    document = doc("bad-doc", pii_redactions=value)
    assert_refused(document, "pii_redactions", tmp_path, (ValueError, TypeError))


def test_an_integer_enum_is_an_integer(tmp_path):
    three = enum.IntEnum("Count", {"THREE": 3}).THREE
    assert one_row(doc(pii_redactions=three, pii={"ip": three}), tmp_path)["pii_redactions"] == 3
    assert manifest_of(tmp_path / "corpus")["pii"]["ips"] == 3


def test_redactions_are_not_compared_with_the_sum_of_pii(tmp_path):
    row = one_row(doc(pii_redactions=1, pii={"email": 50, "ip": 2}), tmp_path)
    assert row["pii_redactions"] == 1


@pytest.mark.parametrize("value", [-1, np.int64(-1)])
@pytest.mark.parametrize("kind", ["email", "phone", "card", "ip", "key"])
def test_a_negative_pii_count_is_an_error(kind, value, tmp_path):
    assert_refused(doc("bad-doc", pii={kind: value}), "pii", tmp_path)


@pytest.mark.parametrize("value", [*NOT_INTEGERS, None])
def test_a_pii_count_that_is_no_integer_is_an_error(value, tmp_path):
    assert_refused(doc("bad-doc", pii={"card": value}), "pii", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("kind", ["emails", "Email", "iban", "", 1, None])
def test_an_unknown_pii_key_is_an_error(kind, tmp_path):
    assert_refused(doc("bad-doc", pii={"ip": 1, kind: 0}), "pii", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("value", [[("ip", 1)], "ip", 1, ["ip"]])
def test_pii_that_is_no_mapping_is_an_error(value, tmp_path):
    assert_refused(doc("bad-doc", pii=value), "pii", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("value", [None, [], "meta", 7])
def test_meta_that_is_no_mapping_is_an_error(value, tmp_path):
    document = Doc("bad-doc", "books", "text", value)
    assert_refused(document, "meta", tmp_path, (ValueError, TypeError))


@pytest.mark.parametrize("kind", [OrderedDict, UserDict, types.MappingProxyType])
def test_any_mapping_is_accepted(kind, tmp_path):
    meta = kind({**GOOD_META, "pii": kind({"phone": 4}), "lang": "fr"})
    assert one_row(Doc("d", "books", "text", meta), tmp_path)["lang"] == "fr"
    assert manifest_of(tmp_path / "corpus")["pii"]["phones"] == 4


def test_a_default_of_a_dict_subclass_is_not_a_value_and_is_not_inserted(tmp_path):
    meta = defaultdict(lambda: "made up", GOOD_META)
    assert one_row(Doc("d", "books", "text", meta), tmp_path)["lang"] == "und"
    assert meta == GOOD_META


def test_other_meta_is_ignored(tmp_path):
    other = {"sha256": "wrong", "n_chars": -1, "split": 7, "row": object(), "x": SURROGATE, 7: {}}
    document = Doc("d", "books", "text", {**GOOD_META, **other})
    row = one_row(document, tmp_path)
    assert (row["n_chars"], row["split"]) == (4, "train")


def test_other_meta_is_not_even_read(tmp_path):
    class Spy(Mapping):
        def __init__(self, values):
            self.values_ = values
            self.read = set()

        def __getitem__(self, key):
            self.read.add(key)
            return self.values_[key]

        def __iter__(self):
            return iter(self.values_)

        def __len__(self):
            return len(self.values_)

    meta = Spy({**GOOD_META, "quality": 0.5, "split": "val"})
    one_row(Doc("d", "books", "text", meta), tmp_path)
    known = {"url", "license_spdx", "lang", "minhash_cluster", "pii_redactions", "pii"}
    assert meta.read <= known


def test_documents_and_their_mappings_are_not_changed(tmp_path):
    docs = [
        doc("b", lang=None, minhash_cluster=7, pii_redactions=np.int64(1), pii={"email": 1}),
        doc("a", minhash_cluster="7", pii=None, more=[1, {"deep": 2}]),
    ]
    before = copy.deepcopy(docs)
    write(docs, tmp_path / "corpus")
    assert docs == before
    assert [list(document.meta) for document in docs] == [list(other.meta) for other in before]


@pytest.mark.parametrize("ids", [["same", "x", "same"], ["same", "same"], ["\U0001f600"] * 3])
@pytest.mark.parametrize("shard_rows", [1, 2, 100])
def test_a_repeated_id_is_an_error_in_one_shard_or_in_two(ids, shard_rows, tmp_path):
    docs = [doc(id_, f"text {index}") for index, id_ in enumerate(ids)]
    with pytest.raises(ValueError, match=r"same|\\U0001f600|\U0001f600"):
        write(docs, tmp_path / "corpus", shard_rows=shard_rows)
    assert names_in(tmp_path) == []


def test_a_repeated_document_is_a_repeated_id(tmp_path):
    with pytest.raises(ValueError, match="twice"):
        write([doc("twice"), doc("twice")], tmp_path / "corpus")
