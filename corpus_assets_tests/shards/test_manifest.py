"""§5: the manifest, byte for byte."""

import copy
import json
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType

import jsonschema
import numpy as np
import pytest

from corpus_assets.shards import DEDUP_DEFAULTS, write_shards
from corpus_assets_tests.shards.scenario import (
    DEDUP,
    MANIFEST,
    Index,
    digest_of,
    doc,
    docs_of,
    expected_files,
    manifest_of,
    names_in,
    unusual_docs,
    write,
)

GOLDEN = """\
{
  "dataset": "tiny",
  "version": "v1",
  "n_docs": 3,
  "n_shards": 2,
  "shards": [
    {
      "name": "shard-00000-of-00002.parquet",
      "sha256": "<0>",
      "rows": 2
    },
    {
      "name": "shard-00001-of-00002.parquet",
      "sha256": "<1>",
      "rows": 1
    }
  ],
  "filters": {
    "z\u00fc kurz": 2,
    "a": 0
  },
  "dedup": {
    "exact_dropped": 4,
    "near_dropped": 0,
    "decontaminated": 0,
    "jaccard_threshold": 0.8,
    "num_perm": 128,
    "bands": 16,
    "ngram": 5
  },
  "pii": {
    "emails": 3,
    "phones": 0,
    "cards": 0,
    "ips": 1,
    "keys": 0
  },
  "ledger_ref": "corpus/LEDGER.jsonl",
  "config_sha256": "0000000000000000000000000000000000000000000000000000000000000000"
}
"""
BAD_INTEGERS = [True, False, 1.0, "1", None, [1]]


def schema():
    path = Path(__file__).with_name("corpus-manifest.schema.json")
    return json.loads(path.read_text(encoding="utf-8"))


def refused(argument, tmp_path, errors=(ValueError,), **arguments):
    with pytest.raises(errors) as caught:
        write([], tmp_path / "corpus", **arguments)
    assert argument in str(caught.value)
    assert names_in(tmp_path) == []


def test_the_manifest_is_this_text(tmp_path):
    docs = [
        doc("a", pii={"email": 1, "ip": 1}),
        doc("b", pii={"email": 2}),
        doc("c", pii={"ip": 0}),
    ]
    write(
        docs,
        tmp_path / "corpus",
        filters={"z\u00fc kurz": 2, "a": 0},
        dedup={"ngram": 5, "exact_dropped": 4},
    )
    written = (tmp_path / "corpus" / MANIFEST).read_bytes()
    expected = GOLDEN
    for index in range(2):
        shard = tmp_path / "corpus" / f"shard-0000{index}-of-00002.parquet"
        expected = expected.replace(f"<{index}>", digest_of(shard))
    assert written == expected.encode()


def test_the_manifest_is_that_of_the_reference(tmp_path):
    arguments = {
        "dataset": "0.a_b-c",
        "version": "2024-05-06.1",
        "shard_rows": 4,
        "filters": {"\U0001f600": 10**20, '"quoted"\n': 0},
        "dedup": {"jaccard_threshold": 1e-7, "bands": 1},
        "ledger_ref": "s3://bucket/\u00fc ledger",
        "config_sha256": "0123456789abcdef" * 4,
    }
    write_shards(unusual_docs(), tmp_path / "corpus", **arguments)
    expected = expected_files(unusual_docs(), tmp_path, **arguments)[MANIFEST]
    assert (tmp_path / "corpus" / MANIFEST).read_bytes() == expected


@pytest.mark.parametrize("docs", [[], docs_of("a"), unusual_docs()], ids=["none", "one", "many"])
def test_the_manifest_fits_its_json_schema(docs, tmp_path):
    manifest = write(docs, tmp_path / "corpus", filters={"short": 3})
    jsonschema.Draft202012Validator(schema()).validate(manifest)
    jsonschema.Draft202012Validator(schema()).validate(manifest_of(tmp_path / "corpus"))


def test_the_manifest_is_utf8_without_mark_with_one_line_feed_at_its_end(tmp_path):
    write(docs_of("a"), tmp_path / "corpus", filters={"\u00fc": 1})
    written = (tmp_path / "corpus" / MANIFEST).read_bytes()
    assert not written.startswith(b"\xef\xbb\xbf")
    assert b"\r" not in written
    assert "\u00fc".encode() in written
    assert written.endswith(b"}\n")
    again = json.dumps(json.loads(written), indent=2, ensure_ascii=False)
    assert written == again.encode() + b"\n"


def test_hashes_and_counts_are_those_of_the_files(tmp_path):
    manifest = write(docs_of(*"abcde"), tmp_path / "corpus", shard_rows=2)
    assert [entry["rows"] for entry in manifest["shards"]] == [2, 2, 1]
    assert (manifest["n_docs"], manifest["n_shards"]) == (5, 3)
    for entry in manifest["shards"]:
        assert entry["sha256"] == digest_of(tmp_path / "corpus" / entry["name"])


def test_the_returned_manifest_equals_the_file(tmp_path):
    manifest = write(
        unusual_docs(),
        tmp_path / "corpus",
        filters={"short": np.int64(3), "long": Index(4)},
        dedup={"bands": np.int64(8), "near_dropped": Index(2)},
    )
    assert type(manifest) is dict
    assert manifest == manifest_of(tmp_path / "corpus")
    text = json.dumps(manifest, sort_keys=True)
    assert text == json.dumps(manifest_of(tmp_path / "corpus"), sort_keys=True)


def test_the_returned_manifest_shares_nothing_with_the_caller_or_the_defaults(tmp_path):
    filters, dedup = {"short": 1}, {"bands": 2}
    defaults = copy.deepcopy(dict(DEDUP_DEFAULTS))
    manifest = write([], tmp_path / "a", filters=filters, dedup=dedup)
    bare = write([], tmp_path / "b")
    for returned in (manifest, bare):
        for key in ("filters", "dedup", "pii"):
            returned[key].clear()
        returned["shards"].clear()
    assert (filters, dedup, dict(DEDUP_DEFAULTS)) == ({"short": 1}, {"bands": 2}, defaults)
    third = write([], tmp_path / "c")
    assert (third["filters"], third["dedup"]) == ({}, DEDUP)
    assert third["pii"] == dict.fromkeys(["emails", "phones", "cards", "ips", "keys"], 0)


def test_the_callers_mappings_are_not_changed(tmp_path):
    filters, dedup = {"b": 1, "a": 2}, {"ngram": 3, "bands": 4}
    write([], tmp_path / "corpus", filters=filters, dedup=dedup)
    assert list(filters.items()) == [("b", 1), ("a", 2)]
    assert list(dedup.items()) == [("ngram", 3), ("bands", 4)]


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType])
def test_filters_and_dedup_may_be_any_mapping(kind, tmp_path):
    manifest = write(
        [], tmp_path / "corpus", filters=kind({"z": 1, "a": 2}), dedup=kind({"bands": 4})
    )
    assert list(manifest["filters"].items()) == [("z", 1), ("a", 2)]
    assert manifest["dedup"] == {**DEDUP, "bands": 4}


def test_no_filters_and_no_dedup_are_the_defaults(tmp_path):
    write([], tmp_path / "a")
    write([], tmp_path / "b", filters=None, dedup=None)
    write([], tmp_path / "c", filters={}, dedup={})
    bytes_ = {(tmp_path / name / MANIFEST).read_bytes() for name in "abc"}
    assert len(bytes_) == 1
    assert manifest_of(tmp_path / "a")["filters"] == {}


def test_the_defaults_of_dedup_are_these_in_this_order():
    assert list(DEDUP_DEFAULTS.items()) == list(DEDUP.items())
    assert isinstance(DEDUP_DEFAULTS["jaccard_threshold"], float)


def test_keys_of_dedup_keep_their_order_whatever_the_callers(tmp_path):
    write([], tmp_path / "corpus", dedup=dict(reversed(DEDUP.items())))
    assert list(manifest_of(tmp_path / "corpus")["dedup"].items()) == list(DEDUP.items())


def test_filters_keep_the_callers_order(tmp_path):
    names = ["z", "a", "\u00fc", "m", "B"]
    write([], tmp_path / "corpus", filters={name: index for index, name in enumerate(names)})
    assert list(manifest_of(tmp_path / "corpus")["filters"]) == names


def test_pii_is_summed_exactly_over_all_documents(tmp_path):
    docs = [
        doc("a", pii={"email": 2**62, "phone": 1, "card": np.int64(2)}),
        doc("b", pii={"email": 2**62, "ip": 4, "key": Index(5)}),
        doc("c", pii={}),
        doc("d", pii=None, pii_redactions=9),
    ]
    manifest = write(docs, tmp_path / "corpus")
    expected = {"emails": 2**63, "phones": 1, "cards": 2, "ips": 4, "keys": 5}
    assert list(manifest_of(tmp_path / "corpus")["pii"].items()) == list(expected.items())
    assert manifest["pii"] == expected


@pytest.mark.parametrize("value", ["a", "0", "a.b_c-d", "v1.0", "9--", "a" * 300])
@pytest.mark.parametrize("argument", ["dataset", "version"])
def test_dataset_and_version_are_slugs(argument, value, tmp_path):
    assert write([], tmp_path / "corpus", **{argument: value})[argument] == value


@pytest.mark.parametrize(
    "value",
    [
        "",
        "A",
        "aB",
        "-a",
        ".a",
        "_a",
        "a b",
        "a/b",
        "a\n",
        "\na",
        "\u00e9",
        "a\x00",
        "\u0661",
        "\ud800",
    ],
)
@pytest.mark.parametrize("argument", ["dataset", "version"])
def test_what_is_no_slug_from_end_to_end_is_an_error(argument, value, tmp_path):
    refused(argument, tmp_path, **{argument: value})


@pytest.mark.parametrize("value", [None, 7, b"a", ["a"]])
@pytest.mark.parametrize("argument", ["dataset", "version", "ledger_ref", "config_sha256"])
def test_a_string_argument_of_another_type_is_an_error(argument, value, tmp_path):
    refused(argument, tmp_path, (ValueError, TypeError), **{argument: value})


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u00a0", "\ud800"])
def test_a_filter_name_that_is_blank_or_has_no_utf8_is_an_error(name, tmp_path):
    refused("filters", tmp_path, filters={"good": 1, name: 1})


@pytest.mark.parametrize("name", [None, 7, b"short", ("a",)])
def test_a_filter_name_that_is_no_string_is_an_error(name, tmp_path):
    refused("filters", tmp_path, (ValueError, TypeError), filters={name: 1})


@pytest.mark.parametrize("count", [-1, np.int64(-1)])
def test_a_negative_filter_count_is_an_error(count, tmp_path):
    refused("filters", tmp_path, filters={"short": count})


@pytest.mark.parametrize("count", BAD_INTEGERS)
def test_a_filter_count_that_is_no_integer_is_an_error(count, tmp_path):
    refused("filters", tmp_path, (ValueError, TypeError), filters={"short": count})


@pytest.mark.parametrize("argument", ["filters", "dedup"])
@pytest.mark.parametrize("value", [[("short", 1)], "short", 7, {"short"}])
def test_filters_and_dedup_that_are_no_mapping_are_an_error(argument, value, tmp_path):
    refused(argument, tmp_path, (ValueError, TypeError), **{argument: value})


@pytest.mark.parametrize("key", ["dropped", "Bands", "", 7])
def test_another_key_of_dedup_is_an_error(key, tmp_path):
    refused("dedup", tmp_path, (ValueError, TypeError), dedup={key: 1})


@pytest.mark.parametrize(
    "given",
    [
        {"exact_dropped": -1},
        {"near_dropped": -1},
        {"decontaminated": -1},
        {"num_perm": 0},
        {"bands": 0},
        {"ngram": 0},
        {"ngram": -13},
        {"jaccard_threshold": 0.0},
        {"jaccard_threshold": -0.5},
        {"jaccard_threshold": 1.0000001},
        {"jaccard_threshold": float("nan")},
        {"jaccard_threshold": float("inf")},
    ],
)
def test_a_dedup_value_out_of_range_is_an_error(given, tmp_path):
    refused("dedup", tmp_path, dedup=given)


@pytest.mark.parametrize("value", BAD_INTEGERS)
@pytest.mark.parametrize(
    "key", ["exact_dropped", "near_dropped", "decontaminated", "num_perm", "bands", "ngram"]
)
def test_a_dedup_count_that_is_no_integer_is_an_error(key, value, tmp_path):
    refused("dedup", tmp_path, (ValueError, TypeError), dedup={key: value})


@pytest.mark.parametrize("value", ["0.8", True, None, [0.8]])
def test_a_threshold_that_is_no_float_is_an_error(value, tmp_path):
    refused("dedup", tmp_path, (ValueError, TypeError), dedup={"jaccard_threshold": value})


@pytest.mark.parametrize(
    "given",
    [
        {"exact_dropped": 0, "near_dropped": 2**70, "decontaminated": 1},
        {"num_perm": 1, "bands": 1, "ngram": 1},
        {"jaccard_threshold": 1.0},
        {"jaccard_threshold": 5e-324},
    ],
)
def test_a_dedup_value_at_the_edge_is_accepted(given, tmp_path):
    assert write([], tmp_path / "corpus", dedup=given)["dedup"] == {**DEDUP, **given}


@pytest.mark.parametrize("value", ["", " ", "\n", "\ud800"])
def test_a_ledger_ref_that_is_blank_or_has_no_utf8_is_an_error(value, tmp_path):
    refused("ledger_ref", tmp_path, ledger_ref=value)


def test_a_ledger_ref_is_not_resolved(tmp_path):
    for index, value in enumerate(
        ["../nowhere/", "https://example.invalid/x", "a/./b", " padded "]
    ):
        assert write([], tmp_path / str(index), ledger_ref=value)["ledger_ref"] == value


@pytest.mark.parametrize(
    "value", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n", "\u0660" * 64, " " * 64]
)
def test_a_config_hash_is_64_lower_case_hex_digits(value, tmp_path):
    refused("config_sha256", tmp_path, config_sha256=value)


def test_nothing_of_the_call_but_its_arguments_is_in_the_manifest(tmp_path):
    write(docs_of("a"), tmp_path / "here" / "corpus", shard_rows=5, val_permille=9)
    write(
        docs_of("a"), tmp_path / "there" / "other", shard_rows=7, row_group_bytes=10, val_permille=9
    )
    first = (tmp_path / "here" / "corpus" / MANIFEST).read_bytes()
    assert first == (tmp_path / "there" / "other" / MANIFEST).read_bytes()
    assert list(json.loads(first)) == schema()["required"]
