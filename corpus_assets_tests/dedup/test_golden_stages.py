"""Every stage file equals datatrove's, byte for byte."""

import json

import polars as pl
import pytest

from corpus_assets.core.run import run_plan
from corpus_assets.dedup.buckets import BucketConfig, minhash_buckets
from corpus_assets.dedup.clusters import ClusterConfig, minhash_clusters
from corpus_assets.dedup.index import open_index
from corpus_assets.dedup.settings import MinhashConfig
from corpus_assets.dedup.signatures import SignatureConfig, Signer, minhash_signatures
from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.dedup.golden import (
    contents,
    documents_of,
    folder,
    signatures_of,
    unpack,
)

FINEWEB = MinhashConfig()
OTHER = MinhashConfig(
    hash_fc="xxhash", precision=32, n_grams=3, num_buckets=5, hashes_per_bucket=4, seed=7
)
RUNS = [
    pytest.param("set1", "sha1-64", FINEWEB, id="sha1-64"),
    pytest.param("set1", "sha1-32", MinhashConfig(precision=32), id="sha1-32"),
    pytest.param("set1", "xxhash-64", MinhashConfig(hash_fc="xxhash"), id="xxhash-64"),
    pytest.param(
        "set1", "xxhash-32", MinhashConfig(hash_fc="xxhash", precision=32), id="xxhash-32"
    ),
    pytest.param("set2", "sha1-64", FINEWEB, id="chains"),
    pytest.param("set2", "xxhash-32-3ng-5b-4h-seed7", OTHER, id="other-settings"),
]
RANGES = [
    pytest.param("set1", "28tasks", 2, id="two-workers-a-bucket"),
    pytest.param("set2", "42tasks", 3, id="three-workers-a-bucket"),
]


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("golden"))


@pytest.fixture
def engine():
    with LocalEngine(0) as local:
        yield local


def settings(config, kind, **more):
    return kind(**config.model_dump(), **more)


@pytest.mark.parametrize(("data", "run", "config"), RUNS)
@pytest.mark.parametrize("buffer", [64, 1])
def test_signature_files_are_datatroves(golden, tmp_path, engine, data, run, config, buffer):
    docs = documents_of(tmp_path / "docs", sorted((golden / data / "input").iterdir()))
    signing = settings(config, SignatureConfig, sort_buffer_mb=buffer)
    plan = minhash_signatures(docs, signing, exact_first=False)
    table = run_plan(plan, tmp_path / "signatures", engine)
    wanted = golden / data / run / "signatures"
    for rank in table.ranks:
        for k in range(config.num_buckets):
            path = table.path(rank.files[f"bucket_{k:03d}"])
            assert path.read_bytes() == (wanted / path.parent.name / path.name).read_bytes()


@pytest.mark.parametrize(("data", "run", "config"), RUNS)
def test_pairs_and_clusters_are_datatroves(golden, tmp_path, engine, data, run, config):
    docs = documents_of(tmp_path / "docs", sorted((golden / data / "input").iterdir()))
    signatures = signatures_of(golden / data / run / "signatures", config.num_buckets)
    pairs = run_plan(
        minhash_buckets(signatures, settings(config, BucketConfig)), tmp_path / "b", engine
    )
    assert contents(pairs, ".dups") == folder(golden / data / run / "buckets")
    clusters = run_plan(
        minhash_clusters(pairs, docs, ClusterConfig(minhash=config)), tmp_path / "c", engine
    )
    wanted = folder(golden / data / run / "cluster")
    suffixes = {f".{name.split('.')[1]}" for name in wanted}
    assert contents(clusters, *suffixes) == wanted


@pytest.mark.parametrize(("data", "tasks", "workers"), RANGES)
def test_hash_ranges_are_datatroves(golden, tmp_path, engine, data, tasks, workers):
    run = golden / data / "sha1-64"
    signatures = signatures_of(run / "signatures", FINEWEB.num_buckets)
    config = BucketConfig(workers_per_bucket=workers)
    pairs = run_plan(minhash_buckets(signatures, config), tmp_path / "b", engine)
    assert contents(pairs, ".dups") == folder(run / f"buckets_{tasks}")


@pytest.mark.parametrize(("name", "among"), [("only_in_index", False), ("index_and_self", True)])
def test_index_runs_by_datatroves_rule_are_datatroves(golden, tmp_path, engine, name, among):
    run = golden / "set2" / "index-sha1-64"
    signatures = signatures_of(run / "signatures_new", FINEWEB.num_buckets)
    docs = documents_of(tmp_path / "docs", sorted((run / "input_new").iterdir()))
    config = BucketConfig(among_documents=among, index_as_datatrove=True, create_index="new")
    plan = minhash_buckets(signatures, config, (open_index(run / "index"),))
    pairs = run_plan(plan, tmp_path / "b", engine)
    assert contents(pairs, ".dups") == folder(run / f"buckets_{name}")
    for rank in pairs.ranks:
        path = pairs.path(rank.files["index"])
        wanted = run / f"index_{name}" / path.parent.name / path.name
        assert path.read_bytes() == wanted.read_bytes()
    for ignore, suffix in ((False, ""), (True, "_ignore_index")):
        settings_ = ClusterConfig(minhash=FINEWEB, ignore_index_matches=ignore)
        clusters = run_plan(
            minhash_clusters(pairs, docs, settings_), tmp_path / f"c{suffix}", engine
        )
        wanted = run / f"cluster_{name}{suffix}"
        files = folder(wanted) if wanted.exists() else {}
        suffixes = {f".{n.split('.')[1]}" for n in files} or {".remove", ".clusters", ".sizes"}
        assert contents(clusters, *suffixes) == files


def test_by_the_right_rule_every_document_in_the_index_is_removed(golden, tmp_path, engine):
    run = golden / "set2" / "index-sha1-64"
    signatures = signatures_of(run / "signatures_new", FINEWEB.num_buckets)
    docs = documents_of(tmp_path / "docs", sorted((run / "input_new").iterdir()))
    index = open_index(run / "index")
    removed = {}
    for as_datatrove in (True, False):
        config = BucketConfig(among_documents=False, index_as_datatrove=as_datatrove)
        folder_ = tmp_path / str(as_datatrove)
        pairs = run_plan(minhash_buckets(signatures, config, (index,)), folder_ / "b", engine)
        clustering = ClusterConfig(minhash=FINEWEB)
        clusters = run_plan(minhash_clusters(pairs, docs, clustering), folder_ / "c", engine)
        removed[as_datatrove] = clusters.counts["removed"]
    assert removed == {True: 19, False: 24}


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("seed=1,hashes=112", FINEWEB),
        ("seed=7,hashes=20", OTHER),
        ("seed=0,hashes=4", MinhashConfig(seed=0, num_buckets=2, hashes_per_bucket=2)),
    ],
)
def test_permutations_are_datatroves(golden, name, config):
    wanted = json.loads((golden / "vectors" / "minhash.json").read_text())["parameters"][name]
    a, b = config.permutations()
    assert (a.tolist(), b.tolist()) == (wanted["a"], wanted["b"])


def test_shingles_and_signatures_are_datatroves(golden):
    vectors = json.loads((golden / "vectors" / "minhash.json").read_text())["shingles"]
    for entry in vectors:
        name, bits = entry["hash"].split("-")
        signer = Signer(MinhashConfig(hash_fc=name, precision=int(bits)))
        texts = pl.Series([entry["text"]])
        (hashes,) = signer.shingle_sets(texts)
        assert hashes.tolist() == sorted(set(entry["shingles"]))
        values, has = signer(texts)
        assert has[0] == bool(entry["shingles"])
        if has[0]:
            assert values[0].reshape(14, 8).tolist() == entry["signature"]
