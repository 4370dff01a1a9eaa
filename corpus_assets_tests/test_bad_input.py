"""Bad input: one clear line that names place and remedy, and nothing over the old output."""

import gc
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.core.table import Table
from corpus_assets_tests.scenario import files_below, run_cli, write_documents, write_spec

COMMAND = Path(sys.executable).with_name("corpus-assets")
SECRET = "Zebra-Quartz"


@pytest.fixture(autouse=True)
def no_home(monkeypatch):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


DOCUMENTS = [{"id": f"{n}", "text": f"{SECRET} number {n}."} for n in range(30)]


def describe(folder):
    """Write a spec and its data."""
    write_documents(folder / "data/a.jsonl", *DOCUMENTS[:20])
    write_documents(folder / "data/b.jsonl", *DOCUMENTS[20:])
    return write_spec(folder / "defs.yaml")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A spec with its data, and the corpus built of them; tests take a copy."""
    folder = tmp_path_factory.mktemp("built")
    spec = describe(folder / "spec")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DAGSTER_HOME", raising=False)
        assert run_cli("build", spec, "--root", folder / "root", "--workers", 0) == 0
    return folder


class Place:
    """A folder with the spec, and a root for what is built of it."""

    def __init__(self, folder, root, capsys):
        self.folder, self.root, self.capsys = folder, root, capsys
        self.spec, self.out = folder / "defs.yaml", root / "tiny"

    def build(self):
        code = run_cli("build", self.spec, "--root", self.root, "--workers", 0)
        captured = self.capsys.readouterr()
        return code, captured.out, captured.err

    def source(self, **change):
        """Write the spec again with another source; None removes a key."""
        source = {
            "id": "tales",
            "license_spdx": "CC0-1.0",
            "url": "https://example.org/tales",
            "inputs": "data",
        } | change
        write_spec(self.spec, sources=[{k: v for k, v in source.items() if v is not None}])


def copied(built, folder, root, capsys):
    shutil.copytree(built / "spec", folder)
    shutil.copytree(built / "root", root, dirs_exist_ok=True)
    return Place(folder, root, capsys)


@pytest.fixture
def place(built, tmp_path, capsys):
    return copied(built, tmp_path / "spec", tmp_path / "root", capsys)


def refused(place):
    """Build, which must fail with one line; return it after seeing that the old output stands."""
    corpus = files_below(place.out / "corpus")
    card = files_below(place.out / "datasheet")
    code, out, err = place.build()
    assert (code, out.strip()) == (1, "")
    assert err.startswith("corpus-assets: ")
    assert err.count("\n") == 1, err
    assert SECRET not in err
    assert "Traceback" not in err
    assert files_below(place.out / "corpus") == corpus
    assert files_below(place.out / "datasheet") == card
    assert run_cli("verify", place.out, "--workers", 0) == 0
    place.capsys.readouterr()
    assert not [name for name in files_below(place.root) if name.endswith(".tmp")]
    for name in ("raw_docs", "filtered_docs", "deduped_docs", "scrubbed_docs"):
        Table.open(place.out / name)
    return err


def everything(place):
    return files_below(place.out)


def test_no_input_matched(place):
    before = everything(place)
    place.source(inputs="elsewhere/*.jsonl")
    err = refused(place)
    assert "source tales: input 'elsewhere/*.jsonl' matches no file under" in err
    assert str(place.folder) in err
    assert everything(place) == before


@pytest.mark.timeout(120)
def test_bad_input_is_not_tried_again(place):
    write_spec(place.spec, max_bad_fraction=0.5, retry={"max_retries": 2, "delay_seconds": 3600})
    (place.folder / "data/a.jsonl").unlink()
    (place.folder / "data/b.jsonl").unlink()
    assert "matches no file" in refused(place)


def test_an_unknown_config_key(place):
    before = everything(place)
    place.source(licence="CC0-1.0")
    line = place.spec.read_text().split("\n").index("    licence: CC0-1.0") + 1
    assert f"{place.spec}:{line}: sources.0.licence: unknown key" in refused(place)
    assert everything(place) == before


@pytest.mark.parametrize("key", ["license_spdx", "url"])
def test_a_missing_licence_or_url(place, key):
    before = everything(place)
    place.source(**{key: None})
    assert f"{place.spec}:5: sources.0.{key}: Field required." in refused(place)
    assert everything(place) == before


def test_a_licence_that_is_not_spdx(place):
    place.source(license_spdx="free for all")
    err = refused(place)
    assert f"{place.spec}:6: sources.0.license_spdx: 'free for all' is not an SPDX licence" in err
    assert "https://spdx.org/licenses, or LicenseRef-<name>" in err


def test_a_repeated_id_names_both_documents(place):
    repeated = {"id": "7", "text": f"{SECRET} again."}
    write_documents(place.folder / "data/b.jsonl", *DOCUMENTS[20:], repeated)
    err = refused(place)
    assert "id 'tales:7' repeats: tales/a.jsonl row 7 and tales/b.jsonl row 10." in err
    assert "correct them, or set `id_key: null`" in err


@pytest.mark.parametrize("asset", ["raw_docs", "filtered_docs", "corpus", "ledger", "datasheet"])
def test_a_folder_that_is_not_ours_as_target(place, asset):
    foreign = place.out / asset / "thesis.txt"
    shutil.rmtree(foreign.parent)
    foreign.parent.mkdir(parents=True)
    foreign.write_text("mine")
    code, _, err = place.build()
    assert code == 1
    assert (err.count("\n"), err.startswith("corpus-assets: ")) == (1, True)
    assert str(foreign.parent) in err
    assert "move it away" in err or "move them away" in err
    assert files_below(foreign.parent) == {"thesis.txt": b"mine"}


def test_a_file_as_root(place, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    place.root = tmp_path / "file"
    code, _, err = place.build()
    assert (code, err.count("\n")) == (1, 1)
    assert (tmp_path / "file").read_text() == "mine"


def kept(place, asset):
    table = Table.open(place.out / asset)
    return table.path(table.ranks[0].files["kept"])


@pytest.mark.parametrize("asset", ["raw_docs", "filtered_docs", "scrubbed_docs"])
def test_a_table_cut_by_hand_is_refused_by_its_readers_and_mended_by_a_build(place, asset):
    path = kept(place, asset)
    good = everything(place)
    os.truncate(path, path.stat().st_size - 7)
    for words in (["stats", place.out], ["head", place.out / asset]):
        assert run_cli(*words) == 1
        err = place.capsys.readouterr().err
        assert str(path) in err
        assert f"it was cut or changed. Materialize {asset} again." in err
        assert err.count("\n") == 1
    code, out, _ = place.build()
    assert (code, "made 1 files" in out) == (0, True)
    assert {k: v for k, v in everything(place).items() if "_receipts" not in k} == {
        k: v for k, v in good.items() if "_receipts" not in k
    }


def test_a_table_edited_at_equal_size_is_not_read_as_if_it_were_whole(place):
    path = kept(place, "filtered_docs")
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(data)
    good = files_below(place.out / "corpus")
    assert place.build()[0] == 0
    assert path.read_bytes() != bytes(data)
    assert files_below(place.out / "corpus") == good


def test_a_list_of_a_table_edited_by_hand(place):
    path = place.out / "raw_docs/_TABLE.json"
    path.write_text(path.read_text()[:-20])
    assert run_cli("stats", place.out) == 1
    err = place.capsys.readouterr().err
    assert f"{path}: cannot be read" in err
    assert "materialize raw_docs again" in err
    assert place.build()[0] == 0


def test_a_shard_edited_by_hand_is_named_by_verify_and_mended_by_a_build(place):
    good = files_below(place.out / "corpus")
    shard = next((place.out / "corpus").glob("*.parquet"))
    data = bytearray(shard.read_bytes())
    data[40] ^= 1
    shard.write_bytes(data)
    assert run_cli("verify", place.out, "--workers", 0) == 1
    err = place.capsys.readouterr().err
    assert shard.name in err
    assert SECRET not in err
    assert place.build()[0] == 0
    assert files_below(place.out / "corpus") == good


@pytest.mark.parametrize("line", [b"{ Zebra-Quartz", b'{"text": "caf\xe9"}', b'{"id": "x"}'])
def test_too_many_bad_lines(place, line):
    good = files_below(place.out / "raw_docs")
    write_documents(place.folder / "data/b.jsonl", *DOCUMENTS[20:], line, line)
    err = refused(place)
    assert "source tales: 2 of 32 records are no documents" in err
    assert "more than max_bad_fraction 0.01 allows" in err
    assert "raise max_bad_fraction" in err
    rejected = Path(err.partition("See ")[2].partition(";")[0])
    assert [json.loads(x)["line"] for x in rejected.read_bytes().splitlines()] == [11, 12]
    now = files_below(place.out / "raw_docs")
    assert {name: now.get(name) for name in good if "_receipts" not in name} == {
        name: data for name, data in good.items() if "_receipts" not in name
    }


def test_a_few_bad_lines_are_kept_aside_and_counted(place):
    write_spec(place.spec, max_bad_fraction=0.1)
    write_documents(place.folder / "data/b.jsonl", *DOCUMENTS[20:], b"{", b'"x"')
    code, out, _ = place.build()
    assert code == 0
    assert "raw_docs: not_json" in out
    (path,) = (place.out / "raw_docs/rejected/tales").iterdir()
    assert [json.loads(x) for x in path.read_bytes().splitlines()] == [
        {"file": "tales/b.jsonl", "line": 11, "reason": "not_json", "content": "{"},
        {"file": "tales/b.jsonl", "line": 12, "reason": "not_an_object", "content": '"x"'},
    ]


def test_a_compressed_input_that_is_cut(place):
    (place.folder / "data/c.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xcbH")
    err = refused(place)
    assert "tales/c.jsonl.gz: the compressed data is cut or damaged after line 0" in err
    assert "fetch the file again" in err


def test_a_parquet_input_without_text(place):
    pq.write_table(pa.table({"body": [SECRET]}), place.folder / "data/c.parquet")
    assert "tales/c.parquet: no column 'text'; it has body. Set `text_key`" in refused(place)


def test_a_spec_that_is_no_yaml(place):
    before = everything(place)
    place.spec.write_text("type: [")
    assert f"{place.spec}:1: is not YAML" in refused(place)
    place.spec.unlink()
    assert f"{place.spec}: cannot be read" in refused(place)
    assert everything(place) == before


# Disk full.


def noise(place, name, count=4):
    """Add documents that no compression makes smaller: about 1.5 MB each."""
    texts = [os.urandom(750_000).hex() for _ in range(count)]
    write_documents(
        place.folder / name, *({"id": f"{name}{n}", "text": t} for n, t in enumerate(texts))
    )


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount command")
    if done.returncode:
        pytest.skip("may not mount a file system")
    yield folder
    gc.collect()
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_says_so_and_a_run_after_freeing_some_goes_on(
    built, tmp_path, capsys, small_disk
):
    place = copied(built, tmp_path / "spec", small_disk, capsys)
    noise(place, "data/noise.jsonl")
    err = refused(place)
    assert "no space left on the device while writing rank tales/noise.jsonl" in err
    assert "free some and run again: finished ranks are kept" in err
    more = ["mount", "-o", "remount,size=64m", str(small_disk)]
    subprocess.run(more, check=True)
    code, out, err = place.build()
    assert (code, err) == (0, "")
    assert "documents in 34" in " ".join(out.split())
    assert run_cli("verify", place.out, "--workers", 0) == 0


def test_a_disk_full_of_rejected_lines_says_so_too(built, tmp_path, capsys, small_disk):
    place = copied(built, tmp_path / "spec", small_disk, capsys)
    lines = [os.urandom(100_000).hex().encode() for _ in range(20)]
    write_documents(place.folder / "data/noise.jsonl", *lines)
    assert "no space left on the device while writing rank tales/noise.jsonl" in refused(place)


def test_a_disk_that_is_full_in_the_corpus_step_says_so_too(built, tmp_path, capsys, small_disk):
    place = copied(built, tmp_path / "spec", small_disk, capsys)
    subprocess.run(["mount", "-o", "remount,size=9m", str(small_disk)], check=True)
    noise(place, "data/noise.jsonl", 2)
    err = refused(place)
    assert "no space left on the device" in err


def test_a_file_that_may_not_grow_leaves_nothing_half_written(place):
    noise(place, "data/noise.jsonl", 1)
    good = files_below(place.out / "corpus")
    tables = [n for n in everything(place) if n.endswith("_TABLE.json")]
    done = subprocess.run(
        [COMMAND, "build", place.spec, "--root", place.root, "--workers", "0"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no space left below the limit on a file's size" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    now = everything(place)
    assert not [name for name in now if name.endswith(".tmp") or "noise" in name]
    assert [n for n in now if n.endswith("_TABLE.json")] == tables
    assert files_below(place.out / "corpus") == good
    assert run_cli("verify", place.out, "--workers", 0) == 0
