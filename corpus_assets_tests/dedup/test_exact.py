"""Each text once: the first by (rank, row) stays; ids repeat nowhere."""

from collections.abc import Iterator

import polars as pl
import pytest

from corpus_assets.core.errors import DocumentError, LawError, TableError
from corpus_assets.core.plan import Config, map_ranks
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.core.slices import SLICE, SliceWriter
from corpus_assets.dedup import exact
from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.scenario import document, table_of

VERSION = 1


def source_of(tmp_path, *ranks):
    parts = ([document(name, text) for name, text in rank] for rank in ranks)
    return table_of(tmp_path / "in", *parts, schema=DOCUMENTS)


def run(tmp_path, *ranks, **config):
    source = source_of(tmp_path, *ranks)
    plan = exact.without_exact_duplicates(source, **config)
    return run_plan(plan, tmp_path / "out", LocalEngine(0))


def ids(table):
    return [i for rank in table.ranks for frame in table.frames(rank) for i in frame["id"]]


def duplicates(table):
    return [
        row
        for rank in table.ranks
        for frame in table.frames(rank, "excluded")
        for row in frame.select("id", "duplicate_of", "drop_rule", "drop_reason").rows()
    ]


def test_the_first_by_rank_and_row_stays(tmp_path):
    table = run(
        tmp_path,
        [("z", "x"), ("b", "y"), ("c", "x")],
        [],
        [("a", "x"), ("d", "new"), ("e", "y")],
    )
    assert ids(table) == ["z", "b", "d"]
    assert duplicates(table) == [
        (name, kept, "dedup", "exact_duplicate")
        for name, kept in (("c", "z"), ("a", "z"), ("e", "b"))
    ]


def test_texts_are_equal_only_to_the_byte(tmp_path):
    texts = ["x", "x ", "X", "\u00e9", "e\u0301", "", " "]
    table = run(tmp_path, list(enumerate_names(texts)))
    assert len(ids(table)) == len(texts)
    assert duplicates(table) == []


def enumerate_names(texts):
    for number, text in enumerate(texts):
        yield f"d{number}", text


def test_empty_texts_are_equal_too(tmp_path):
    assert ids(run(tmp_path, [("a", ""), ("b", "")])) == ["a"]


def test_counts_say_what_was_dropped_in_each_rank(tmp_path):
    table = run(tmp_path, [("a", "x"), ("b", "x")], [("c", "x"), ("d", "x")])
    assert [rank.counts["dropped/dedup/exact_duplicate"] for rank in table.ranks] == [1, 2]
    assert (table.counts["in"], table.counts["kept"]) == (4, 1)
    assert [rank.files["kept"].rows for rank in table.ranks] == [1, 0]


def test_switched_off_every_document_stays(tmp_path):
    table = run(tmp_path, [("a", "x"), ("b", "x")], exact=False)
    assert ids(table) == ["a", "b"]
    assert "dropped/dedup/exact_duplicate" not in table.counts


def test_kept_documents_have_no_cluster_yet(tmp_path):
    table = run(tmp_path, [("a", "x")])
    (frame,) = table.frames(table.ranks[0])
    assert frame.columns == [*DOCUMENTS.names, "minhash_cluster"]
    assert frame["minhash_cluster"].to_list() == [None]


@pytest.mark.parametrize("config", [{}, {"exact": False}])
@pytest.mark.parametrize("texts", [("x", "y"), ("x", "x")])
def test_a_repeated_id_is_named_with_both_places_even_when_the_texts_are_equal(
    tmp_path, config, texts
):
    with pytest.raises(DocumentError, match="id 'a' repeats") as error:
        run(tmp_path, [("b", "w"), ("a", texts[0])], [("c", "v")], [("a", texts[1])], **config)
    assert "tales/0 row 1 and tales/2 row 0" in str(error.value)
    assert "`id_key: null`" in str(error.value)


def test_many_slices_find_what_one_slice_finds(tmp_path, monkeypatch):
    ranks = [[(f"{r}-{i}", f"text {(r + i) % 7}") for i in range(9)] for r in range(4)]
    one = run(tmp_path / "one", *ranks)
    monkeypatch.setattr(exact, "ROWS_PER_SLICE", 4)
    many = run(tmp_path / "many", *ranks)
    assert ids(many) == ids(one)
    assert many.digest == one.digest
    assert many.rows == 7


def test_a_repeated_id_is_found_in_any_slice(tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "ROWS_PER_SLICE", 2)
    documents = [(f"d{n}", f"t{n}") for n in range(9)]
    with pytest.raises(DocumentError, match="id 'd8' repeats: tales/0 row 8 and tales/1 row 0"):
        run(tmp_path, documents, [("d8", "other")])


class Listed(Config):
    """A removal that the test makes up."""

    row: int
    id: str


def list_removal(rank, config, counts) -> Iterator[pl.DataFrame]:
    """Yield the removal of the config, in the slice of rank 0."""
    for frame in rank.frames():
        listed = {"rank": 0, "row": config.row, "id": config.id, "duplicate_of": "a", SLICE: 0}
        kinds = {"rank": pl.Int32, "row": pl.Int64, SLICE: pl.Int32}
        yield pl.DataFrame([listed] * min(1, frame.height), schema_overrides=kinds)


def remove(tmp_path, row, name):
    source = source_of(tmp_path, [("a", "x"), ("b", "y")])
    removals = map_ranks(
        source,
        "removals",
        list_removal,
        Listed(row=row, id=name),
        exact.REMOVALS,
        writer=SliceWriter,
        conserves=False,
    )
    plan = map_ranks(source, "out", exact.remove_duplicates, None, exact.DEDUPED, side=removals)
    return run_plan(plan, tmp_path / "out", LocalEngine(0))


def test_a_removal_takes_the_document_at_its_place(tmp_path):
    assert ids(remove(tmp_path, 1, "b")) == ["a"]


def test_a_removal_that_meets_another_id_fails(tmp_path):
    with pytest.raises(TableError, match="tales/0 row 1: 'c' is listed there, but 'b'") as e:
        remove(tmp_path, 1, "c")
    assert "Materialize filtered_docs and all below it again" in str(e.value)


def test_a_removal_that_meets_nothing_fails(tmp_path):
    with pytest.raises(LawError, match="1 documents are listed, 0 were met"):
        remove(tmp_path, 7, "b")
