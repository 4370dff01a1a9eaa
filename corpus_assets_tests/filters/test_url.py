"""URLs: verdicts are datatrove's, lists of any size open at once, changed ones are seen."""

import gzip
import io
import json
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from corpus_assets.core.errors import InputError
from corpus_assets.core.run import run_plan
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.engines.local import LocalEngine
from corpus_assets.filters import apply_recipe, filtered_docs, opened, recipe_of
from corpus_assets.filters.url_index import CACHE, Index, build_index, find_lists
from corpus_assets_tests.scenario import document, table_of

GOLDEN = json.loads((Path(__file__).parent / "url_verdicts.json").read_text())
"""What datatrove 0.10.1 says of URLs, with the lists it was given."""

LISTS, VERDICTS = GOLDEN["lists"], GOLDEN["verdicts"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def judged(documents: list[str], base: Path = Path(), **config) -> pl.DataFrame:
    frame = pl.DataFrame([document(str(i), url=url) for i, url in enumerate(documents)])
    return apply_recipe(frame, opened(recipe_of([{"url": config}]), base), Counter())


def write_lists(folder: Path, lists: dict[str, list[str]], ending: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for role, entries in lists.items():
        data = "\n".join(["# a comment", "", *entries]).encode()
        if ending.endswith(".gz"):
            data = gzip.compress(data)
        if ending.endswith(".zst"):
            data = pa.compress(data, "zstd", asbytes=True)
        (folder / f"{role}{ending}").write_bytes(data)
    return folder


def write_tar(path: Path, lists: dict[str, list[str]]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for role, entries in lists.items():
            info = tarfile.TarInfo(f"blacklists/{role}")
            data = "\n".join(entries).encode()
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def differences(frame: pl.DataFrame) -> list[tuple[str, str, str]]:
    rows = zip(VERDICTS.items(), frame["drop_reason"], strict=True)
    return [(url, reason, found) for (url, reason), found in rows if reason != found]


def test_the_verdicts_use_every_reason():
    assert set(VERDICTS.values()) == {None, "domain", "subdomain", "url", "hard_blacklisted",
                                      "soft_blacklisted", "blacklisted_subword"}  # fmt: skip


def test_verdicts_are_datatroves_with_entries_in_the_recipe():
    assert differences(judged(list(VERDICTS), **LISTS)) == []


@pytest.mark.parametrize("ending", ["", ".txt", ".txt.gz", ".zst"])
def test_verdicts_are_datatroves_with_lists_in_files(tmp_path, ending):
    write_lists(tmp_path / "lists", LISTS, ending)
    assert differences(judged(list(VERDICTS), tmp_path, lists=["lists"])) == []


def test_verdicts_are_datatroves_with_lists_in_a_tar_file_and_a_package(tmp_path, monkeypatch):
    write_lists(tmp_path / "someones_lists/data", {"banned_words": LISTS["banned_words"]})
    rest = {role: entries for role, entries in LISTS.items() if role != "banned_words"}
    write_tar(tmp_path / "someones_lists/data/more.tar.gz", rest)
    (tmp_path / "someones_lists/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert differences(judged(list(VERDICTS), lists=["package:someones_lists/data"])) == []


def test_datatroves_names_of_settings_work():
    urls = ["https://a.org", "https://b.org/x"]
    frame = judged(urls, extra_domains=["a.org"], extra_urls=["https://b.org/x"])
    assert frame["drop_reason"].to_list() == ["domain", "url"]


def test_the_soft_words_are_counted_and_compared():
    frame = judged(
        ["https://a.org/win/bet/bet", "https://a.org/win"], soft_banned_words=["win", "bet"]
    )
    assert frame.select("drop_reason", "drop_value", "drop_threshold").rows() == [
        ("soft_blacklisted", 2.0, 2.0),
        (None, None, None),
    ]
    one = judged(["https://a.org/win"], soft_banned_words=["win"], soft_word_threshold=1)
    assert one["drop_reason"][0] == "soft_blacklisted"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://EXAMPLE.org/", "domain"),
        ("https://mixed.org/", "domain"),
        ("https://SUB.example.net", "subdomain"),
        ("https://ok.com/CASINO", "hard_blacklisted"),
        ("https://ok.com/WIN/Bet", "soft_blacklisted"),
        ("HTTPS://OK.com/bad/page.html", None),
    ],
)
def test_case_may_be_folded_for_hosts_and_words(tmp_path, url, reason):
    write_lists(tmp_path, LISTS)
    assert judged([url], **LISTS)["drop_reason"][0] is None
    assert judged([url], fold_case=True, **LISTS)["drop_reason"][0] == reason
    assert judged([url], tmp_path, fold_case=True, lists=["."])["drop_reason"][0] == reason


@pytest.mark.parametrize(("missing", "reason"), [("keep", None), ("drop", "no_url")])
def test_a_document_without_url_passes_or_not_as_the_recipe_says(tmp_path, missing, reason):
    write_lists(tmp_path, {"domains": ["", "a.org"], "urls": ["", "b"]})
    frame = judged(["", "https://ok.com"], tmp_path, lists=["."], missing=missing)
    assert frame["drop_reason"].to_list() == [reason, None]


def test_without_lists_nothing_is_dropped():
    assert judged(list(VERDICTS))["drop_reason"].null_count() == len(VERDICTS)


def test_an_index_holds_the_entries_of_its_role_and_no_others(tmp_path):
    entries = [f"site{i}.org" for i in range(5_000)]
    write_lists(tmp_path, {"domains": entries, "urls": ["https://a.org"]})
    index = Index(build_index(find_lists(tmp_path), fold_case=False))
    assert len(index) == 5_001
    assert index.holds("domains", entries).all()
    assert not index.holds("urls", entries).any()
    assert not index.holds("domains", ["", "https://a.org", "site5000.org", "SITE1.org"]).any()


def test_an_index_is_made_once_and_is_the_same_wherever_the_lists_lie(tmp_path, cache):
    write_lists(tmp_path / "one", LISTS)
    write_lists(tmp_path / "two/deep", LISTS)
    (first,) = {
        build_index(find_lists(tmp_path / name), fold_case=False) for name in ("one", "two")
    }
    before = first.stat()
    build_index(find_lists(tmp_path / "one"), fold_case=False)
    assert first.stat() == before
    assert [path for path in cache.rglob("*") if path.is_file()] == [first]


def test_an_index_is_mapped_not_read(tmp_path):
    write_lists(tmp_path, {"domains": ["a.org"]})
    index = Index(build_index(find_lists(tmp_path), fold_case=False))
    assert isinstance(index._hashes, np.memmap)


def test_changed_lists_make_the_table_again_and_moved_ones_do_not(tmp_path):
    source = table_of(tmp_path / "raw", [document("a", url="https://a.org")], schema=DOCUMENTS)

    def made(folder: str) -> tuple[int, int]:
        seen = []
        plan = filtered_docs(source, recipe_of([{"url": {"lists": [folder]}}]), tmp_path)
        table = run_plan(plan, tmp_path / "out", LocalEngine(0), seen.append)
        return seen[-1].done, table.rows

    write_lists(tmp_path / "one", {"domains": ["b.org"], "banned_words": ["x"]})
    write_lists(tmp_path / "two", {"domains": ["b.org"], "banned_words": ["x"]})
    assert [made("one"), made("two")] == [(1, 1), (0, 1)]
    write_lists(tmp_path / "two", {"domains": ["a.org"]})
    assert made("two") == (1, 0)
    write_lists(tmp_path / "two", {"domains": ["c.org"], "banned_words": ["org"]})
    assert made("two") == (1, 0)
    assert made("one") == (1, 1)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ("absent", r"absent: not found; the recipe names it as 'absent'"),
        ("package:no_such_package/x", "no package 'no_such_package' is installed"),
        ("other", r"other: holds no list; lists are files called domains, urls, banned_words"),
        ("broken.tar.gz", r"broken.tar.gz: cannot be read as a tar file"),
        ("broken", r"domains.gz:.*cannot be read"),
        ("{{ env.NO_SUCH_VARIABLE }}/x", "NO_SUCH_VARIABLE, which is not set"),
    ],
)
def test_lists_that_cannot_be_read_are_named_before_any_work(tmp_path, lists, message):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/expressions").write_text("a")
    (tmp_path / "broken.tar.gz").write_bytes(b"no tar")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/domains.gz").write_bytes(b"no gzip")
    recipe = recipe_of([{"url": {"lists": [lists]}}])
    with pytest.raises(InputError, match=message):
        run_plan(
            filtered_docs(table_of(tmp_path / "raw", [document("a")], schema=DOCUMENTS), recipe,
                          tmp_path),
            tmp_path / "out", LocalEngine(0),
        )  # fmt: skip


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    write_lists(tmp_path / "lists", {"domains": ["a.org"]})
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE, str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot be written.*set CORPUS_ASSETS_CACHE"):
        build_index(find_lists(tmp_path / "lists"), fold_case=False)
