"""datatrove's golden stage files, written by datatrove 0.10.1 itself, unpacked for a test."""

import json
import tarfile
from pathlib import Path

from corpus_assets.core.files import digest_of_file
from corpus_assets.core.schema import DOCUMENTS
from corpus_assets.core.table import FileRecord, RankRecord, Table
from corpus_assets_tests.scenario import document, table_of

ARCHIVE = Path(__file__).parents[1] / "golden" / "datatrove-minhash.tar.gz"


def unpack(directory: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(directory, filter="data")
    return directory


def documents_of(directory: Path, inputs: list[Path]) -> Table:
    """The input files as a table, a rank for each; empty texts are dropped, as readers do there."""
    ranks = []
    for number, path in enumerate(inputs):
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        texts = [record["text"] for record in records if record.get("text")]
        ranks.append([document(f"r{number}d{i}", text) for i, text in enumerate(texts)])
    for rank in ranks:
        for entry in rank:
            del entry["minhash_cluster"]
    return table_of(directory, *ranks, schema=DOCUMENTS)


def signatures_of(directory: Path, buckets: int) -> Table:
    """datatrove's signature folder as a table."""
    ranks = []
    for number, first in enumerate(sorted(directory.glob("bucket_000/*.minhash.sig"))):
        files = {}
        for k in range(buckets):
            path = directory / f"bucket_{k:03d}" / first.name
            name = path.relative_to(directory).as_posix()
            files[path.parent.name] = FileRecord(name, path.stat().st_size, digest_of_file(path), 0)
        ranks.append(RankRecord(number, first.name, files, {}))
    table = Table(directory, "minhash_signatures", tuple(ranks))
    table.save()
    return table


def contents(table: Table, *suffixes: str) -> dict[str, bytes]:
    paths = [table.path(record) for record in table.files()]
    return {path.name: path.read_bytes() for path in paths if path.suffix in suffixes}


def folder(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}
