"""Documents, calls and expectations of the shard tests.

The second half is a plain-Python reference of the specification. It shares no code with the
package, and it favours the obvious over the fast.
"""

import contextlib
import ctypes
import hashlib
import json
import operator
import os
import stat
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.shards import Doc, write_shards

MANIFEST = "_MANIFEST.json"
GOOD_META = {"url": "https://example.org/1", "license_spdx": "CC0-1.0"}
DEFAULTS = {"dataset": "tiny", "version": "v1", "shard_rows": 2}

COLUMNS = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("text", pa.string()),
        pa.field("source_id", pa.string()),
        pa.field("url", pa.string()),
        pa.field("license_spdx", pa.string()),
        pa.field("lang", pa.string()),
        pa.field("n_chars", pa.int32()),
        pa.field("sha256", pa.binary(32)),
        pa.field("minhash_cluster", pa.int64()),
        pa.field("pii_redactions", pa.int32()),
        pa.field("split", pa.string()),
    ]
)
DEDUP = {
    "exact_dropped": 0,
    "near_dropped": 0,
    "decontaminated": 0,
    "jaccard_threshold": 0.8,
    "num_perm": 128,
    "bands": 16,
    "ngram": 13,
}
PII_KINDS = {
    "emails": "email",
    "phones": "phone",
    "cards": "card",
    "ips": "ip",
    "keys": "key",
}


class Index:
    """An integer for `operator.index`, and for nothing else."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def doc(id_="d1", text="Mia naps.", source_id="books", **meta):
    """A good document, with more or other `meta`."""
    return Doc(id_, source_id, text, {**GOOD_META, **meta})


def docs_of(*texts):
    """One document a text, in the order of their ids."""
    return [doc(f"d{index:03d}", text) for index, text in enumerate(texts)]


def unusual_docs():
    """A literal corpus in no order, with all that is unusual and allowed."""
    return [
        doc("\U0001f600", "\U0001f600 smiles", lang="und"),
        doc("\ufffd", "\ufeffbyte order mark\r\n", url="\x00", pii_redactions=3, pii={"email": 3}),
        doc(" ", "", source_id="\x00", lang="de-CH-1996"),
        doc("\x00", "nul \x00 inside\n", minhash_cluster="a"),
        doc("a\u0301", "decomposed", minhash_cluster=7),
        doc("\u00e1", "composed", minhash_cluster="7"),
        doc("a", "first of its cluster in no order", minhash_cluster=7, pii={"ip": 2, "key": 1}),
        doc("A", "same text", minhash_cluster=""),
        doc("b", "same text", minhash_cluster="", license_spdx="MIT OR Apache-2.0"),
        doc("7", "own key spells another's", minhash_cluster="a"),
        doc("\U0010ffff", "x" * 300, pii_redactions=2**31 - 1, pii=None, lang=None),
    ]


def write(docs, out, **arguments):
    """`write_shards` with small defaults."""
    return write_shards(docs, out, **{**DEFAULTS, **arguments})


def manifest_of(out):
    return json.loads((Path(out) / MANIFEST).read_bytes())


def write_manifest(out, manifest):
    (Path(out) / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def digest_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def seal(out):
    """Make the manifest's hashes those of the shards that are there now."""
    manifest = manifest_of(out)
    for entry in manifest["shards"]:
        entry["sha256"] = digest_of(Path(out) / entry["name"])
    write_manifest(out, manifest)


def files_of(out):
    """The files of a flat directory, name to bytes."""
    return {path.name: path.read_bytes() for path in Path(out).iterdir()}


def names_in(directory):
    return sorted(path.name for path in Path(directory).iterdir())


def tree(directory):
    """All that is under a directory: kind, mode, time, and bytes or target, by relative path."""
    found = {}
    for path in sorted(Path(directory).rglob("*")):
        status = path.lstat()
        content = None
        if stat.S_ISLNK(status.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        key = str(path.relative_to(directory))
        found[key] = (status.st_mode, status.st_ino, status.st_mtime_ns, content)
    return found


def rows_of(out):
    """The rows on disk in manifest order, read with pyarrow alone."""
    rows = []
    for entry in manifest_of(out)["shards"]:
        with pq.ParquetFile(Path(out) / entry["name"]) as file:
            for group in range(file.num_row_groups):
                rows += file.read_row_group(group).to_pylist()
    return rows


def column(out, name):
    return [row[name] for row in rows_of(out)]


def group_sizes(out):
    """Rows of each row group, a list for each shard."""
    sizes = []
    for entry in manifest_of(out)["shards"]:
        metadata = pq.read_metadata(Path(out) / entry["name"])
        sizes.append([metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)])
    return sizes


def open_files(directory):
    """Files that this process has open under a directory."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:
            continue
        if target.startswith(str(directory)):
            found.append(target)
    return found


@contextlib.contextmanager
def watched(path):
    """Give a function that counts how often a file has been opened (Linux)."""
    accessed, closed, opened = 0x01, 0x10, 0x20
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    # The kernel merges equal events that follow each other; reading and closing keep them apart.
    libc.inotify_add_watch(descriptor, os.fsencode(path), accessed | closed | opened)

    def opens():
        events = os.read(descriptor, 1 << 16)
        masks = [mask for _, mask, _, _ in struct.iter_unpack("iIII", events)]
        return sum(mask & opened != 0 for mask in masks)

    try:
        yield opens
    finally:
        os.close(descriptor)


# The reference.


def expected_rows(docs, val_permille=5):
    ordered = sorted(docs, key=lambda document: document.id.encode())
    first_of_key = {}
    rows = []
    for index, document in enumerate(ordered):
        key = document.meta.get("minhash_cluster")
        if key is None:
            cluster = index
        else:
            known = ("string", key) if isinstance(key, str) else ("integer", operator.index(key))
            cluster = first_of_key.setdefault(known, index)
        data = document.text.encode()
        digest = hashlib.sha256(data).digest()
        remainder = int(digest.hex()[:16], 16) % 1000
        rows.append(
            {
                "id": document.id,
                "text": document.text,
                "source_id": document.source_id,
                "url": document.meta["url"],
                "license_spdx": document.meta["license_spdx"],
                "lang": "und" if document.meta.get("lang") is None else document.meta["lang"],
                "n_chars": len(document.text),
                "sha256": digest,
                "minhash_cluster": cluster,
                "pii_redactions": int(document.meta.get("pii_redactions") or 0),
                "split": "val" if remainder < val_permille else "train",
            }
        )
    return rows


def expected_groups(rows, budget):
    """Rows cut into groups whose texts sum to at most `budget` bytes."""
    groups = []
    used = 0
    for row in rows:
        size = len(row["text"].encode())
        if not groups or used + size > budget:
            groups.append([])
            used = 0
        groups[-1].append(row)
        used += size
    return groups


def expected_cuts(rows, shard_rows):
    return [rows[start : start + shard_rows] for start in range(0, len(rows), shard_rows)] or [[]]


def encode(groups, path):
    """Write row groups as the specification says, with pyarrow's defaults."""
    with pq.ParquetWriter(path, COLUMNS, compression="zstd") as writer:
        for group in groups:
            arrays = [pa.array([row[f.name] for row in group], f.type) for f in COLUMNS]
            table = pa.Table.from_arrays(arrays, schema=COLUMNS)
            writer.write_table(table, row_group_size=len(table))


def expected_files(docs, scratch, *, shard_rows, val_permille=5, row_group_bytes=1 << 26, **given):
    """The whole output, name to bytes."""
    docs = list(docs)
    cuts = expected_cuts(expected_rows(docs, val_permille), shard_rows)
    files = {}
    shards = []
    path = Path(scratch) / "reference.parquet"
    for index, rows in enumerate(cuts):
        encode(expected_groups(rows, row_group_bytes), path)
        name = f"shard-{index:05d}-of-{len(cuts):05d}.parquet"
        files[name] = path.read_bytes()
        shards.append({"name": name, "sha256": digest_of(path), "rows": len(rows)})
        path.unlink()
    pii = {
        name: sum(int((document.meta.get("pii") or {}).get(kind, 0)) for document in docs)
        for name, kind in PII_KINDS.items()
    }
    manifest = {
        "dataset": given["dataset"],
        "version": given["version"],
        "n_docs": len(docs),
        "n_shards": len(cuts),
        "shards": shards,
        "filters": dict(given.get("filters") or {}),
        "dedup": {key: (given.get("dedup") or {}).get(key, DEDUP[key]) for key in DEDUP},
        "pii": pii,
        "ledger_ref": given.get("ledger_ref", "corpus/LEDGER.jsonl"),
        "config_sha256": given.get("config_sha256", "0" * 64),
    }
    files[MANIFEST] = (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
    return files


def content_digest(rows):
    """SHA-256 over the values of the rows, whatever Parquet library wrote them."""
    digest = hashlib.sha256()
    for row in rows:
        values = [row[name] for name in COLUMNS.names]
        values[COLUMNS.names.index("sha256")] = row["sha256"].hex()
        line = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()
