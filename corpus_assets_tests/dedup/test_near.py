"""Near-duplicates from documents to documents: survivors, checks, indexes, refusals."""

import random
import resource
import shutil
from dataclasses import replace
from math import sqrt

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from corpus_assets.core import parquet
from corpus_assets.core.errors import InputError, TableError
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.core.table import Table
from corpus_assets.dedup.adopt import adopt_signatures
from corpus_assets.dedup.buckets import minhash_buckets
from corpus_assets.dedup.clusters import minhash_clusters
from corpus_assets.dedup.config import (
    Against,
    DedupConfig,
    open_index_documents,
    open_indexes,
)
from corpus_assets.dedup.near import without_duplicates
from corpus_assets.dedup.settings import BucketConfig, MinhashConfig, SignatureConfig, VerifyConfig
from corpus_assets.dedup.signature_files import sorted_records
from corpus_assets.dedup.signatures import Signer, minhash_signatures
from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.dedup.golden import contents
from corpus_assets_tests.scenario import document, table_of

WORDS = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in ("ln", "rk", "st", "mp")]


def words(seed, count=80):
    return random.Random(seed).choices(WORDS, k=count)


def changed(base, places, seed=0):
    """The words with some replaced by ones that stand nowhere else."""
    return [f"x{seed}y{i}" if i in places else word for i, word in enumerate(base)]


def tables(directory, *ranks):
    documents = [
        [{k: v for k, v in d.items() if k != "minhash_cluster"} for d in rank] for rank in ranks
    ]
    return table_of(directory / "filtered_docs", *documents, schema=DOCUMENTS)


def dedup(directory, documents, config=None, base=None):
    """Run all stages; return signatures, buckets, clusters, documents that stay."""
    config = config or DedupConfig(minhash=SignatureConfig())
    with LocalEngine(0) as engine:
        plan = minhash_signatures(documents, config.signing(), exact_first=config.exact)
        signatures = run_plan(plan, directory / "minhash_signatures", engine)
        indexes = open_indexes(config, base or directory)
        numbers, index_documents = open_index_documents(config, base or directory, indexes)
        plan = minhash_buckets(signatures, config.bucketing(), indexes)
        buckets = run_plan(plan, directory / "minhash_buckets", engine)
        plan = minhash_clusters(
            buckets, documents, config.clustering(numbers), indexes, index_documents
        )
        clusters = run_plan(plan, directory / "minhash_clusters", engine)
        plan = without_duplicates(documents, signatures, clusters)
        return signatures, buckets, clusters, run_plan(plan, directory / "deduped_docs", engine)


def kept(table):
    return table.head(100)["id"].to_list()


def members(clusters):
    return pl.read_parquet(clusters.path(clusters.ranks[0].files["members"]))


BASE = words(1)
NEAR = " ".join(changed(BASE, {5}))
LONGER = " ".join([*BASE, "tail"])
BASE_TEXT, OTHER = " ".join(BASE), " ".join(words(2))


def family(directory):
    first = [
        document("a", BASE_TEXT, metadata='{"score": 1}'),
        document("b", OTHER),
        document("short", "too few words"),
    ]
    second = [
        document("c", NEAR, metadata='{"score": 7}'),
        document("d", OTHER),
        document("e", LONGER, metadata='{"score": 3}'),
    ]
    return tables(directory, first, second)


def test_exact_and_near_duplicates_are_counted_apart(tmp_path):
    *_, clusters, table = dedup(tmp_path, family(tmp_path))
    assert kept(table) == ["a", "b", "short"]
    assert table.counts["dropped/dedup/exact_duplicate"] == 1
    assert table.counts["dropped/dedup/near_duplicate"] == 2
    dropped = table.head(10, "excluded").select("id", "drop_reason", "duplicate_of").rows()
    assert dropped == [
        ("c", "near_duplicate", "a"),
        ("d", "exact_duplicate", "b"),
        ("e", "near_duplicate", "a"),
    ]
    assert members(clusters).select("id", "size", "kept", "representative").rows() == [
        ("a", 3, True, "a"),
        ("c", 3, False, "a"),
        ("e", 3, False, "a"),
    ]


def test_without_exact_first_all_duplicates_are_left_to_minhash(tmp_path):
    config = DedupConfig(exact=False, minhash=SignatureConfig())
    *_, table = dedup(tmp_path, family(tmp_path), config)
    assert kept(table) == ["a", "b", "short"]
    assert table.counts["dropped/dedup/near_duplicate"] == 3
    assert "dropped/dedup/exact_duplicate" not in table.counts


@pytest.mark.parametrize(
    ("keep", "stays"), [("first", "a"), ("longest", "e"), ("metadata:score", "c")]
)
def test_the_document_that_stays_can_be_chosen(tmp_path, keep, stays):
    config = DedupConfig(minhash=SignatureConfig(), keep=keep)
    *_, clusters, table = dedup(tmp_path, family(tmp_path), config)
    assert stays in kept(table)
    assert len(kept(table)) == 3
    assert set(members(clusters)["representative"]) == {stays}


def chain(directory, links=7):
    """Documents of which only neighbours are alike."""
    texts, places = [], set()
    for link in range(links):
        texts.append(" ".join(changed(BASE, places, seed=1)))
        places |= {link * 11, link * 11 + 1}
    return tables(directory, [document(f"c{i}", text) for i, text in enumerate(texts)])


def test_a_chain_is_taken_apart_where_its_pairs_are_not_alike(tmp_path):
    documents = chain(tmp_path)
    *_, trusting, _ = dedup(tmp_path / "trusting", documents)
    config = DedupConfig(
        minhash=SignatureConfig(), verify=VerifyConfig(above_size=2, min_jaccard=0.95)
    )
    *_, checking, table = dedup(tmp_path / "checking", documents, config)
    assert trusting.counts["removed"] > 2
    assert checking.counts.get("removed", 0) == 0
    assert len(kept(table)) == 7


def test_documents_of_another_corpus_are_dropped_with_the_id_of_the_match(tmp_path):
    other = tables(tmp_path / "other", [document("old", OTHER), document("older", BASE_TEXT)])
    dedup(tmp_path / "other", other)
    new = tables(tmp_path / "new", [document("x", NEAR), document("y", BASE_TEXT + " z")],
                 [document("z", " ".join(words(9)))])  # fmt: skip
    config = DedupConfig(
        minhash=SignatureConfig(), against=(Against(name="last year", path="../other"),)
    )
    *_, clusters, table = dedup(tmp_path / "new", new, config)
    assert kept(table) == ["z"]
    found = members(clusters).select("id", "representative", "matched_index").rows()
    assert found == [("x", "older", "last year"), ("y", "older", "last year")]


def test_a_stage_refuses_signatures_of_other_settings_and_names_them(tmp_path):
    documents = family(tmp_path)
    with LocalEngine(0) as engine:
        plan = minhash_signatures(documents, SignatureConfig())
        signatures = run_plan(plan, tmp_path / "s", engine)
        plan = minhash_buckets(signatures, BucketConfig(seed=2))
        with pytest.raises(TableError, match="seed 1, not 2"):
            run_plan(plan, tmp_path / "b", engine)


def test_stages_of_other_documents_are_refused(tmp_path):
    signatures, buckets, clusters, _ = dedup(tmp_path, family(tmp_path))
    moved = tables(tmp_path / "moved", [document("new", "Other words."), document("a", NEAR)])
    config = DedupConfig().clustering()
    with pytest.raises(TableError, match="was made of documents with digest"):
        minhash_clusters(buckets, moved, config)
    with pytest.raises(TableError, match="was made of documents with digest"):
        without_duplicates(moved, signatures, clusters)


def test_another_corpus_whose_documents_changed_after_their_signatures_is_refused(tmp_path):
    other = tables(tmp_path / "other", [document("old", OTHER)])
    dedup(tmp_path / "other", other)
    shutil.rmtree(tmp_path / "other" / "filtered_docs")
    tables(tmp_path / "other", [document("new", BASE_TEXT)])
    config = DedupConfig(against=(Against(name="o", path="other"),))
    with pytest.raises(TableError, match="was made of documents with digest"):
        open_index_documents(config, tmp_path, open_indexes(config, tmp_path))


def test_a_corpus_is_not_deduplicated_against_itself(tmp_path):
    documents = family(tmp_path)
    signatures, *_ = dedup(tmp_path, documents)
    with pytest.raises(InputError, match="against itself"):
        minhash_buckets(signatures, BucketConfig(), (signatures,))


@pytest.mark.parametrize("score", ['"nan"', '"inf"', '"-inf"', '"much"', "null"])
def test_a_score_that_is_no_number_chooses_no_document(tmp_path, score):
    documents = tables(
        tmp_path,
        [document("a", BASE_TEXT, metadata=f'{{"a b.c":{score}}}'),
         document("b", NEAR, metadata='{"a b.c":-3}')],
    )  # fmt: skip
    *_, table = dedup(tmp_path, documents, DedupConfig(keep="metadata:a b.c"))
    assert kept(table) == ["b"]


@pytest.mark.parametrize(
    "wrong",
    [{"keep": "best"}, {"keep": "metadata:"}, {"keep": "metadata:a["},
     {"minhash": None, "verify": {}, "create_index": "x"}],
)  # fmt: skip
def test_what_cannot_work_is_refused_before_any_work(wrong):
    with pytest.raises(ValidationError):
        DedupConfig.model_validate(wrong)


def test_documents_that_are_not_where_they_were_listed_are_not_dropped_by_place(tmp_path):
    documents = family(tmp_path)
    # As datatrove's, which do not say of which documents they were made.
    signatures, _, clusters, _ = (replace(t, facts={}) for t in dedup(tmp_path, documents))
    second = [document("q", NEAR), document("d", OTHER), document("e", LONGER)]
    moved = tables(tmp_path / "moved", [document("a", BASE_TEXT), document("b", OTHER)], second)
    plan = without_duplicates(moved, signatures, clusters)
    with (
        LocalEngine(0) as engine,
        pytest.raises(TableError, match="'c' is listed there, but 'q' stands there"),
    ):
        run_plan(plan, tmp_path / "again", engine)


def test_workers_batches_and_spilled_runs_change_no_byte(tmp_path, monkeypatch):
    texts = [" ".join(changed(words(i % 40, 12), {i % 7}, seed=i)) for i in range(3_000)]
    documents = tables(
        tmp_path,
        [document(f"a{i}", text) for i, text in enumerate(texts[:2_500])],
        [document(f"b{i}", text) for i, text in enumerate(texts[2_500:])],
    )
    plain = SignatureConfig()
    spilling = SignatureConfig(sort_buffer_mb=1)
    found = []
    for case, (config, workers, rows) in enumerate(
        [
            (plain, 0, 9_999),
            (plain, 0, 7),
            (spilling, 0, 9_999),
            (plain, 1, 9_999),
            (spilling, 2, 9),
        ]
    ):
        monkeypatch.setattr(parquet, "batch_rows", lambda _, rows=rows: rows)
        with LocalEngine(workers) as engine:
            plan = minhash_signatures(documents, config)
            table = run_plan(plan, tmp_path / f"case{case}", engine)
        found.append(
            {
                path.relative_to(path.parents[1]): path.read_bytes()
                for path in map(table.path, table.files())
            }
        )
    assert len(found[0]) == 2 * (plain.num_buckets + 1)
    assert found[1:] == found[:1] * 4


@pytest.mark.parametrize("bits", [64, 32])
def test_records_ascend_whatever_number_of_them_agree_in_their_first_minimum(bits):
    config = MinhashConfig(precision=bits)
    chance = np.random.default_rng(1)
    values = chance.integers(0, 3, (5_000, 8), np.uint64)
    values[:4_000, 0] = 7
    index = chance.permutation(5_000).astype(np.uint32)
    records = sorted_records(values, index, config.record)
    rows = [(*map(int, values), int(index)) for values, index in records.tolist()]
    given = zip(values.tolist(), index.tolist(), strict=True)
    assert rows == sorted((*minima, number) for minima, number in given)


def test_two_thousand_ranks_are_merged_with_few_files_open(tmp_path):
    config = BucketConfig(num_buckets=1, hashes_per_bucket=2)
    (tmp_path / "from" / "bucket_000").mkdir(parents=True)
    for rank in range(2_000):
        records = np.zeros(2, config.record)
        records["values"] = [[5, rank % 900], [9, rank]]
        records["index"] = [1, 0]
        records.tofile(tmp_path / "from" / f"bucket_000/{rank:05d}.minhash.sig")
    table = adopt_signatures(tmp_path / "from", tmp_path / "signatures", config)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with LocalEngine(0) as engine:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
        try:
            buckets = run_plan(minhash_buckets(table, config), tmp_path / "buckets", engine)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    pairs = np.frombuffer(contents(buckets, ".dups")["00000_00.dups"], "<u4").reshape(-1, 4)
    expected = sorted((rank % 900, rank, rank + 900) for rank in range(1_100))
    assert pairs.tolist() == [[low, 1, high, 1] for _, low, high in expected]


class TestFolders:
    """datatrove's folders, taken over."""

    @pytest.fixture
    def folder(self, tmp_path):
        with LocalEngine(0) as engine:
            plan = minhash_signatures(family(tmp_path), SignatureConfig(), exact_first=False)
            table = run_plan(plan, tmp_path / "made", engine)
        return table.directory / next(table.files()).path.split("/")[0]

    def test_a_folder_of_signatures_is_taken_over(self, folder, tmp_path):
        table = adopt_signatures(folder, tmp_path / "taken", MinhashConfig())
        assert Table.open(tmp_path / "taken").digest == table.digest
        with LocalEngine(0) as engine:
            run_plan(minhash_buckets(table, BucketConfig()), tmp_path / "b", engine)

    def test_a_foreign_file_is_refused(self, folder, tmp_path):
        (folder / "bucket_003" / "notes.txt").touch()
        with pytest.raises(TableError, match=r"notes\.txt: is no signature file"):
            adopt_signatures(folder, tmp_path / "taken", MinhashConfig())

    def test_a_cut_file_is_refused(self, folder, tmp_path):
        path = folder / "bucket_003" / "00001.minhash.sig"
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(TableError, match="no multiple of the 68 bytes"):
            adopt_signatures(folder, tmp_path / "taken", MinhashConfig())

    def test_a_missing_rank_is_refused(self, folder, tmp_path):
        (folder / "bucket_003" / "00001.minhash.sig").unlink()
        with pytest.raises(TableError, match=r"bucket_003: ranks \[1\] are missing"):
            adopt_signatures(folder, tmp_path / "taken", MinhashConfig())

    def test_unsorted_records_are_refused(self, folder, tmp_path):
        path = folder / "bucket_000" / "00001.minhash.sig"
        records = np.fromfile(path, MinhashConfig().record)
        records[::-1].tofile(path)
        table = adopt_signatures(folder, tmp_path / "taken", MinhashConfig())
        with LocalEngine(0) as engine, pytest.raises(TableError, match="do not ascend"):
            run_plan(minhash_buckets(table, BucketConfig()), tmp_path / "b", engine)


@pytest.mark.parametrize("similarity", [0.5, 0.6, 0.7, 0.8, 0.9])
def test_pairs_are_found_as_often_as_the_curve_says(similarity):
    config = MinhashConfig(n_grams=1)
    pairs = 200
    shared = round(200 * similarity)
    texts = []
    for pair in range(pairs):
        common = [f"p{pair}c{letters(i)}" for i in range(shared)]
        for side in "lr":
            rest = [f"p{pair}{side}{letters(i)}" for i in range((200 - shared) // 2)]
            texts.append(" ".join(letters_only(word) for word in common + rest))
    values, _ = Signer(config)(pl.Series(texts))
    bands = values.reshape(pairs, 2, config.num_buckets, config.hashes_per_bucket)
    found = int((bands[:, 0] == bands[:, 1]).all(axis=2).any(axis=1).sum())
    chance = config.detection(shared / 200)
    assert abs(found - pairs * chance) <= 3 * sqrt(pairs * chance * (1 - chance)) + 1


def letters(number):
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def letters_only(word):
    return "".join("klmnopqrst"[int(c)] if c.isdigit() else c for c in word)
