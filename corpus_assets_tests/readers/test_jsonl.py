"""JSON lines: every line is a document or is kept with the reason why it is none."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.core.errors import InputError
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.readers import documents
from corpus_assets_tests.readers.scenario import PACKERS, read, rejected, rows, write_jsonl

GOOD = {"id": "1", "text": "Mia naps."}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "in"


def texts(table):
    return [row["text"] for row in rows(table)]


@pytest.mark.parametrize("compression", PACKERS)
@pytest.mark.parametrize("ending", [".jsonl", ".ndjson", ".json"])
def test_every_ending_and_compression_reads_alike(folder, ending, compression):
    write_jsonl(folder / f"a{ending}{compression}", GOOD)
    (row,) = rows(read(folder))
    assert row == {
        "id": "tales:1",
        "text": "Mia naps.",
        "source_id": "tales",
        "url": "https://example.org/tales",
        "license_spdx": "CC0-1.0",
        "lang": "und",
        "metadata": "{}",
        "rank": 0,
        "row": 0,
    }
    assert list(row) == DOCUMENTS.names


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "not_json"),
        (b"nothing", "not_json"),
        (b'{"text": NaN}', "not_json"),
        (b'{"text": "a", "x": Infinity}', "not_json"),
        (b'{"text": "a"} {"text": "b"}', "not_json"),
        (b"[" * 5000, "not_json"),
        (b'["a"]', "not_an_object"),
        (b'"a"', "not_an_object"),
        (b"null", "not_an_object"),
        (b'{"text": "\\ud800"}', "lone_surrogate"),
        (b"{}", "missing_text"),
        (b'{"text": null}', "missing_text"),
        (b'{"Text": "a"}', "missing_text"),
        (b'{"text": 1}', "text_is_not_a_string"),
        (b'{"text": ["a"]}', "text_is_not_a_string"),
        (b'{"text": "a", "id": 1.5}', "id_is_not_a_string_or_integer"),
        (b'{"text": "a", "id": true}', "id_is_not_a_string_or_integer"),
        (b'{"text": "a", "id": ["x"]}', "id_is_not_a_string_or_integer"),
        (b'{"text": "a", "license_spdx": "Whatever"}', "license_is_not_spdx"),
    ],
)
def test_a_line_that_is_no_document_is_kept_with_file_line_and_reason(folder, line, reason):
    write_jsonl(folder / "deep/a.jsonl", GOOD, line, GOOD | {"id": "2"})
    table = read(folder)
    assert [row["id"] for row in rows(table)] == ["tales:1", "tales:2"]
    assert rejected(table) == [
        {"file": "tales/deep/a.jsonl", "line": 2, "reason": reason, "content": line.decode()}
    ]
    counts = table.counts
    assert (counts["in"], counts["kept"], counts[f"rejected/{reason}"]) == (3, 2, 1)


def test_bytes_that_are_no_utf8_are_kept_as_base64(folder):
    line = b'{"text": "caf\xe9"}'
    write_jsonl(folder / "a.jsonl", line)
    (record,) = rejected(read(folder))
    assert record["reason"] == "not_utf8"
    assert base64.b64decode(record["content_base64"]) == line


def test_blank_lines_are_no_records_and_still_count_as_lines(folder):
    write_jsonl(folder / "a.jsonl", b"", {"text": "a"}, b"  \t", b"\r", {"text": "b"}, b"{")
    table = read(folder)
    assert [row["id"] for row in rows(table)] == ["tales:a.jsonl/1", "tales:a.jsonl/4"]
    assert table.counts["in"] == 3
    assert rejected(table)[0]["line"] == 6


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_text(folder):
    folder.mkdir()
    data = b'\xef\xbb\xbf{"text": "a"}\r\n{"text": "b"}\r\n'
    (folder / "a.jsonl").write_bytes(data)
    assert texts(read(folder)) == ["a", "b"]


def test_the_last_line_needs_no_line_feed(folder):
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b'{"text": "a"}\n{"text": "b"}')
    assert texts(read(folder)) == ["a", "b"]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_a_rank_without_documents(folder, data):
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(data)
    table = read(folder)
    assert [(rank.name, rank.counts["in"]) for rank in table.ranks] == [("tales/a.jsonl", 0)]
    assert rows(table) == []


def test_a_text_is_kept_as_it_is(folder):
    text = " \u0000 e\u0301 \U0001f600 \u2028\r\n\t "
    write_jsonl(folder / "a.jsonl", {"text": text}, {"text": ""})
    assert texts(read(folder)) == [text, ""]


@pytest.mark.parametrize(
    ("own", "id_"),
    [
        ({"id": "x/y z"}, "tales:x/y z"),
        ({"id": 7}, "tales:7"),
        ({"id": -(2**63)}, f"tales:{-(2**63)}"),
        ({"id": 2**64 - 1}, f"tales:{2**64 - 1}"),
        ({"id": 0}, "tales:0"),
        ({"id": None}, "tales:a.jsonl/1"),
        ({"id": ""}, "tales:a.jsonl/1"),
        ({}, "tales:a.jsonl/1"),
    ],
)
def test_an_id_is_the_documents_own_or_its_line(folder, own, id_):
    write_jsonl(folder / "a.jsonl", b"", {"text": "a"} | own)
    (row,) = rows(read(folder))
    assert row["id"] == id_


def test_numbered_documents_keep_their_own_id_in_the_metadata(folder):
    write_jsonl(folder / "deep/a.jsonl.gz", GOOD)
    (row,) = rows(read(folder, id_key=None))
    assert row["id"] == "tales:deep/a.jsonl.gz/0"
    assert json.loads(row["metadata"]) == {"id": "1"}


def test_mending_a_bad_line_renames_no_other_document(folder):
    write_jsonl(folder / "a.jsonl", b"{", {"text": "b"})
    (bad,) = rows(read(folder))
    write_jsonl(folder / "a.jsonl", {"text": "a"}, {"text": "b"})
    assert rows(read(folder))[1]["id"] == bad["id"] == "tales:a.jsonl/1"


def test_the_keys_can_be_chosen(folder):
    record = {"body": "a", "key": 3, "page": "https://x", "rights": "mit", "language": "de"}
    write_jsonl(folder / "a.jsonl", record)
    keys = {
        "text_key": "body",
        "id_key": "key",
        "url_key": "page",
        "license_key": "rights",
        "lang_key": "language",
    }
    (row,) = rows(read(folder, **keys))
    values = [row[name] for name in ("text", "id", "url", "license_spdx", "lang", "metadata")]
    assert values == ["a", "tales:3", "https://x", "MIT", "de", "{}"]


def test_a_document_has_its_own_url_licence_and_language_or_the_sources(folder):
    own = {"url": "https://x", "license_spdx": "GPL-2.0", "lang": "fr"}
    write_jsonl(folder / "a.jsonl", GOOD | own, {"text": "b", "url": " ", "license_spdx": ""})
    first, second = rows(read(folder, lang="en"))
    assert [first[name] for name in own] == ["https://x", "GPL-2.0-only", "fr"]
    assert [second[name] for name in own] == ["https://example.org/tales", "CC0-1.0", "en"]
    assert json.loads(second["metadata"]) == {"url": " ", "license_spdx": ""}


def test_a_field_of_another_kind_stays_in_the_metadata(folder):
    odd = {"url": 7, "license_spdx": ["MIT"], "lang": None}
    write_jsonl(folder / "a.jsonl", GOOD | odd)
    (row,) = rows(read(folder))
    assert row["url"] == "https://example.org/tales"
    assert json.loads(row["metadata"]) == odd


def test_no_other_field_is_lost(folder):
    rest = {
        "score": 0.25,
        "n": 2**63,
        "tags": ["a", {"b": [None, True]}],
        "nested": {"é": {"x": "\u0000"}},
        "empty": {},
        "minhash_cluster": 5,
        "rank": 9,
    }
    write_jsonl(folder / "a.jsonl", GOOD | rest)
    (row,) = rows(read(folder))
    assert json.loads(row["metadata"]) == rest
    assert (row["rank"], row["row"]) == (0, 0)


def test_a_metadata_object_is_merged_and_the_outer_fields_win(folder):
    record = {
        "text": "a",
        "id": "1",
        "score": 2,
        "metadata": {"url": "https://x", "lang": "de", "score": 1, "date": "2020", "metadata": {}},
    }
    write_jsonl(folder / "a.jsonl", record)
    (row,) = rows(read(folder))
    assert (row["url"], row["lang"]) == ("https://x", "de")
    assert json.loads(row["metadata"]) == {"score": 2, "date": "2020", "metadata": {}}


@pytest.mark.parametrize("value", ["a string", 5, ["x"], None])
def test_metadata_that_is_no_object_is_a_field_like_others(folder, value):
    write_jsonl(folder / "a.jsonl", GOOD | {"metadata": value})
    (row,) = rows(read(folder))
    assert json.loads(row["metadata"]) == {"metadata": value}


@pytest.mark.parametrize("compression", [".gz", ".zst"])
def test_compressed_data_that_is_cut_names_file_and_line(folder, compression):
    path = write_jsonl(
        folder / f"a.jsonl{compression}", *({"text": "Zebra", "id": n} for n in range(9000))
    )
    path.write_bytes(path.read_bytes()[:-40])
    message = r"tales/a\.jsonl\S* the compressed data is cut or damaged after line \d+ .*fetch"
    with pytest.raises(InputError, match=message) as error:
        read(folder)
    assert "Zebra" not in str(error.value)


@settings(max_examples=25, deadline=None)
@given(
    lines=st.lists(st.sampled_from([b'{"text": "a"}', b'{"text": "bcd"}', b"{", b""]), max_size=12),
    size=st.integers(1, 5),
)
def test_batches_of_any_size_give_equal_tables(tmp_path_factory, lines, size):
    folder = tmp_path_factory.mktemp("in")
    write_jsonl(folder / "a.jsonl", *lines)
    whole = read(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "BATCH_DOCUMENTS", size)
        write_jsonl(folder / "a.jsonl", *lines)
        parts = tmp_path_factory.mktemp("again")
        write_jsonl(parts / "a.jsonl", *lines)
        again = read(parts)
    assert again.digest == whole.digest
    assert again.counts == whole.counts


def test_a_batch_is_full_by_characters_too(folder, monkeypatch):
    monkeypatch.setattr(documents, "BATCH_TEXT_CHARS", 3)
    write_jsonl(folder / "a.jsonl", *({"text": "ab"} for _ in range(5)))
    assert [row["row"] for row in rows(read(folder))] == [0, 1, 2, 3, 4]


def test_ranks_are_numbered_by_file(folder):
    write_jsonl(folder / "a.jsonl", {"text": "a"})
    write_jsonl(folder / "b.jsonl", {"text": "b"}, {"text": "c"})
    assert [(row["rank"], row["row"]) for row in rows(read(folder))] == [(0, 0), (1, 0), (1, 1)]


def test_licences_are_counted_by_source(folder):
    write_jsonl(folder / "a.jsonl", GOOD, {"text": "b", "license_spdx": "mit"})
    counts = read(folder).counts
    assert counts["license/tales/CC0-1.0"] == 1
    assert counts["license/tales/MIT"] == 1


@pytest.mark.parametrize(("bad", "passes"), [(1, True), (2, False)])
def test_more_bad_lines_than_the_fraction_allows_is_an_error(folder, bad, passes):
    good = [{"text": f"Zebra {n}"} for n in range(10 - bad)]
    write_jsonl(folder / "a.jsonl", *good, *[b"{ Zebra"] * bad)
    if passes:
        assert read(folder, max_bad_fraction=0.1).counts["rejected/not_json"] == 1
        return
    message = r"source tales: 2 of 10 records are no documents \(not_json 2\), more than"
    with pytest.raises(InputError, match=message) as error:
        read(folder, max_bad_fraction=0.1)
    assert "raise max_bad_fraction" in str(error.value)
    assert "Zebra" not in str(error.value)
    path = next((folder.parent / "in.out/rejected/tales").iterdir())
    assert str(path) in str(error.value)
    assert json.loads(path.read_text().splitlines()[0])["line"] == 9


def test_integers_of_any_size_keep_their_digits(folder):
    line = b'{"id": 123456789012345678901234567890, "text": "a", "n": 98765432109876543210987}'
    write_jsonl(folder / "a.jsonl", line)
    (row,) = rows(read(folder))
    assert row["id"] == "tales:123456789012345678901234567890"
    assert row["metadata"] == '{"n":98765432109876543210987}'
