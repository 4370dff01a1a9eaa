"""Input files and what is read of them."""

import gzip
import json

import pyarrow as pa

from corpus_assets.core.run import run_plan
from corpus_assets.engines.local import LocalEngine
from corpus_assets.readers import RawConfig, raw_docs
from corpus_assets.readers.config import ReadConfig
from corpus_assets.readers.inputs import find_files


def config(**fields):
    return ReadConfig(
        **{
            "source_id": "tales",
            "license_spdx": "CC0-1.0",
            "url": "https://example.org/tales",
            **fields,
        }
    )


def zstd(data):
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as compressed:
        compressed.write(data)
    return stream.getvalue().to_pybytes()


PACKERS = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


def write_jsonl(path, *records):
    """Write records, or raw lines given as bytes, packed by the path's ending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in records]
    data = b"".join(line + b"\n" for line in lines)
    packer = next(
        (p for ending, p in PACKERS.items() if ending and path.name.endswith(ending)), bytes
    )
    path.write_bytes(packer(data))
    return path


def read(folder, *inputs, max_bad_fraction=1.0, **fields):
    """Return the table of the files that the inputs name in a folder."""
    files = find_files(inputs or (".",), folder, config(**fields))
    plan = raw_docs(files, RawConfig(max_bad_fraction=max_bad_fraction))
    return run_plan(plan, folder.parent / f"{folder.name}.out", LocalEngine(0))


def rows(table, role="kept"):
    return [
        row
        for rank in table.ranks
        for frame in table.frames(rank, role)
        for row in frame.iter_rows(named=True)
    ]


def rejected(table):
    return [
        json.loads(line)
        for rank in table.ranks
        if "rejected" in rank.files
        for line in table.path(rank.files["rejected"]).read_bytes().splitlines()
    ]
