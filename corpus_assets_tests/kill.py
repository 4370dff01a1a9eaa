"""Builds that are killed, and programs that need a process of their own to be.

`python -m corpus_assets_tests.kill FUNCTION JSON` calls a function with a list of arguments.
"""

import base64
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from corpus_assets import filters, readers
from corpus_assets.core.files import digest_of_file, read_json
from corpus_assets.core.run import run_plan
from corpus_assets.core.table import TABLE_FILE, Table
from corpus_assets.dedup.buckets import minhash_buckets
from corpus_assets.dedup.clusters import minhash_clusters
from corpus_assets.dedup.near import without_duplicates
from corpus_assets.dedup.signatures import minhash_signatures
from corpus_assets.defs.assets import dedup_counts
from corpus_assets.engines.local import LocalEngine
from corpus_assets.pii import scrubbing
from corpus_assets.shards import read_shards
from corpus_assets.shards.build import REMOVED, CorpusPlan, build_corpus_shards
from corpus_assets.shards.layout import MANIFEST_FILE
from corpus_assets.shards.manifest import checked_settings
from corpus_assets.shards.replace import current_version
from corpus_assets.spec_file import load_spec
from corpus_assets_tests.shards.children import in_fork, on_file_event, tell

REPOSITORY = Path(__file__).parents[1]
COMMAND = Path(sys.executable).with_name("corpus-assets")
UNSEEN = ("_receipts", "corpus.work", "_checks")
"""Folders whose bytes are no promise: they hold times, or go when the corpus is in place."""

SPEC = """\
type: corpus_assets.CorpusComponent
attributes:
  name: tales
  version: "{version}"
  max_bad_fraction: 0.5
  sources:
    - id: lines
      license_spdx: CC0-1.0
      url: https://example.org/lines
      inputs: [data/lines, data/more/*.jsonl.gz]
    - id: columns
      license_spdx: CC-BY-4.0
      url: https://example.org/columns
      inputs: data/columns
  recipe:
    - non_empty
    - length: {{min_chars: 3}}
  shards: {{shard_rows: {shard_rows}, val_permille: 100, row_group_bytes: 500000}}
"""

STAGES = (
    "raw_docs/_receipts",
    "filtered_docs/_receipts",
    "minhash_signatures/_stages/removals/_stages/index/_receipts",
    "minhash_signatures/_stages/removals/_receipts",
    "minhash_signatures/_receipts",
    "minhash_buckets/_receipts",
    "minhash_clusters/_receipts",
    "deduped_docs/_receipts",
    "scrubbed_docs/_receipts",
    "corpus.work/scatter/_receipts",
    "corpus.work/order/_receipts",
    "corpus.work/keys/_receipts",
    "corpus.work/clusters/_receipts",
    "corpus.work/places/_receipts",
    "corpus.work/shards/_receipts",
    "corpus.tmp",
    "corpus",
)
"""Folders by whose first file a stage of a build is known to be at work, in order."""

DAGSTER_STAGES = ("ledger", "_checks/scrubbed_docs/_receipts", "_checks/corpus/_receipts")
"""The same of what only a build through Dagster makes."""


# Inputs.


def lines_of(seed, size):
    """About `size` bytes of JSON lines: texts that compress badly, some twice, some bad."""
    chance = random.Random(seed)
    made = 0
    number = 0
    while made < size:
        number += 1
        body = base64.b64encode(chance.randbytes(chance.randint(20, 9_000))).decode()
        kinds = {
            0: "twice",
            1: "",
            2: f"mail a{number}@example.org, host 192.31.196.7, {body}",
            3: f"one of the tales that only differ in a number: {number}",
        }
        record = {"id": f"{seed}-{number}", "text": kinds.get(chance.randint(0, 19), body)}
        line = "no json" if chance.randint(0, 49) == 0 else json.dumps(record)
        made += len(line)
        yield line


def write_spec(folder, version="1", shard_rows=300):
    folder.mkdir(parents=True, exist_ok=True)
    spec = folder / "defs.yaml"
    spec.write_text(SPEC.format(version=version, shard_rows=shard_rows))
    return spec


def write_lines(folder, names, size, salt=""):
    (folder / "data" / "lines").mkdir(parents=True, exist_ok=True)
    for name in names:
        text = "\n".join(lines_of(f"{name}{salt}", size))
        (folder / "data" / "lines" / f"{name}.jsonl").write_text(text)


# Builds.


def command(function, *arguments):
    return [sys.executable, "-m", "corpus_assets_tests.kill", function, json.dumps(arguments)]


def dagster_build(spec, root, workers=2):
    return [COMMAND, "build", spec, "--root", root, "--workers", str(workers), "--progress"]


def start(arguments, log, **environment):
    """Start a build in a session of its own."""
    with Path(log).open("wb") as stream:
        return subprocess.Popen(
            [str(argument) for argument in arguments],
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )


def finish(arguments, log, **environment):
    """Run a build to its end, and give what it said on stderr."""
    process = start(arguments, log, **environment)
    try:
        code = process.wait(240)
    finally:
        process.kill()
    said = Path(log).read_text()
    assert code == 0, said
    return said


def reused(said):
    """Ranks taken over from an earlier run, by table, from the progress lines of a build."""
    found = {}
    for line in said.splitlines():
        words = line.replace("(", " ").split()
        if len(words) > 6 and words[2:4][1:] == ["of"]:
            found[words[1].rstrip(":")] = int(words[6])
    return found


def session_of(leader):
    """Processes of a session that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def wait_until_none_is_left(leader, seconds=5.0):
    """Wait for the end of a session; give the processes that outlive it."""
    end = time.monotonic() + seconds
    while (left := session_of(leader)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def is_at_work(folder, known):
    """Whether a folder has a file that was not there, or is another one, since `known`."""
    return any(identity not in known for identity in identities(folder))


def identities(folder):
    """Name, inode and time of each file under a folder that may change any moment."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118 - polled often
            try:
                status = os.stat(path)  # noqa: PTH116
            except FileNotFoundError:
                continue
            yield path, status.st_ino, status.st_mtime_ns


def stop_in(stage, arguments, folder, log, chance, number=signal.SIGKILL):
    """Start a build and send it a signal soon after a stage began.

    Returns:
        How many processes the build had then (0: it had ended before), and its exit code.
    """
    known = set(identities(folder))
    process = start(arguments, log)
    try:
        while process.poll() is None and not is_at_work(folder / stage, known):
            time.sleep(0.003)
        time.sleep(chance.choice([0, 0.01, 0.05, 0.2]) * chance.random())
        processes = len(session_of(process.pid)) if process.poll() is None else 0
        process.send_signal(number)
        code = process.wait(60)
    finally:
        process.kill()
        process.wait()
    left = wait_until_none_is_left(process.pid)
    assert not left, f"still running after {number!r} in {stage}: {left}"
    return processes if code else 0, code


# What is on disk.


def outputs(folder):
    """SHA-256 of every file that the promise is about, by relative path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not set(UNSEEN) & set(path.relative_to(folder).parts)
    }


def names_under(folder):
    """Every file; a folder that became empty may stay."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def versions(folder):
    """The digest of each table by its path, and of the corpus, after every byte was compared."""
    found = {}
    for path in sorted(folder.rglob(TABLE_FILE)):
        if REMOVED in path.parts:
            continue
        table = Table.open(path.parent)
        for record in table.files():
            assert digest_of_file(table.path(record)) == record.sha256, table.path(record)
        found[path.parent.relative_to(folder).as_posix()] = table.digest
    corpus = current_version(folder / "corpus")
    if (corpus / MANIFEST_FILE).exists():
        assert all(document.id for document in read_shards(folder / "corpus"))
        found["corpus"] = digest_of_file(corpus / MANIFEST_FILE)
    return found


def finished(folder):
    """What each receipt says was made: fingerprint, and inode and time of the files."""
    found = {}
    for path in sorted(folder.rglob("_receipts/**/*.json")):
        receipt = read_json(path)
        directory = Path(str(path).partition("/_receipts/")[0])
        stamps = {}
        for record in receipt["files"].values():
            file = directory / record["path"]
            if file.exists():
                stamps[record["path"]] = (file.stat().st_ino, file.stat().st_mtime_ns)
        complete = len(stamps) == len(receipt["files"])
        found[path.relative_to(folder).as_posix()] = receipt["fingerprint"], complete and stamps
    return found


def redone(before, folder, *, other_input=False):
    """Receipts of finished ranks whose files are no longer those that were there.

    The passes of the corpus are gone when it is there, but a shard in it is a second name of the
    file that was made, unless the last build had `other_input`.
    """
    after = finished(folder)
    shards = {path.name: path.stat().st_ino for path in (folder / "corpus").glob("shard-*")}
    wrong = []
    for name, (fingerprint, stamps) in before.items():
        if name in after and after[name][0] == fingerprint and stamps != after[name][1]:
            wrong.append(name)
        if name.startswith("corpus.work/shards/") and name not in after and not other_input:
            shard = Path(name).name.removesuffix(".json")
            if stamps and shards.get(shard) not in {inode for inode, _ in stamps.values()}:
                wrong.append(name)
    return wrong


def ranks_finished(before):
    """Number of receipts by name of the table; those of checks have no table."""
    folders = [name.partition("/_receipts/")[0].split("/") for name in before]
    return Counter(folder[-1] for folder in folders if folder[0] != "_checks")


# Run in a child.


def deduplicated(documents, settings, folder, engine):
    """Run the stages of MinHash, and drop what they find."""
    plan = minhash_signatures(documents, settings.signing(), exact_first=settings.exact)
    signatures = run_plan(plan, folder / "minhash_signatures", engine)
    plan = minhash_buckets(signatures, settings.bucketing())
    buckets = run_plan(plan, folder / "minhash_buckets", engine)
    plan = minhash_clusters(buckets, documents, settings.clustering())
    clusters = run_plan(plan, folder / "minhash_clusters", engine)
    plan = without_duplicates(documents, signatures, clusters)
    return run_plan(plan, folder / "deduped_docs", engine)


def build(spec, root, workers, range_bytes=1 << 20):
    """Build all tables and the corpus of a spec, as the assets do, without Dagster."""
    described, base, folder = load_spec(Path(spec)), Path(spec).parent, Path(root) / "tales"
    with LocalEngine(workers) as engine:
        limit = readers.RawConfig(max_bad_fraction=described.max_bad_fraction)
        raw = run_plan(readers.raw_docs(described.files(base), limit), folder / "raw_docs", engine)
        plan = filters.filtered_docs(raw, described.rules)
        filtered = run_plan(plan, folder / "filtered_docs", engine)
        deduped = deduplicated(filtered, described.dedup, folder, engine)
        plan = scrubbing.scrubbed_docs(deduped, described.pii)
        scrubbed = run_plan(plan, folder / "scrubbed_docs", engine)
        dropped = Counter()
        for name, number in filtered.counts.items():
            if name.startswith("dropped/"):
                dropped[name.split("/")[1]] += number
        settings = checked_settings(
            dataset=described.name,
            version=described.version,
            **described.shards.model_dump(),
            filters={rule.name: dropped[rule.name] for rule in described.rules.rules},
            dedup=dedup_counts(described, deduped.counts),
            ledger_ref="ledger/LEDGER.jsonl",
            config_sha256=described.digest,
        )
        plan = CorpusPlan(scrubbed, settings, scrubbing.MANIFEST_COLUMNS)
        build_corpus_shards(plan, folder / "corpus", engine, range_bytes=range_bytes)


RANGE_BYTES = 8_000
"""Makes a few id ranges of the small inputs of these programs."""


def kill_at_events(old, new, then, scratch, moments):
    """Kill builds at file operations spread over the whole, and tell what is wrong afterwards.

    Args:
        old: Spec of the complete build that is in place before; None for an empty root.
        new: Spec of the build that is killed.
        then: Spec of the build that comes next: the new one or the old one.
        scratch: Folder for all roots.
        moments: At how many file operations; 0 is every one.
    """
    folder = Path(scratch)
    # Whoever forks may not have started the threads that reading and writing start.
    before = made_in_fork(old, folder / "old") if old else {}
    after = made_in_fork(new, folder / "new")
    whole = folder / ("new" if then == new else "old")
    total = killed_at(folder / "old", new, folder / "counted", None)
    chosen = range(total) if not moments else sorted(spread(total, moments))
    for event in chosen:
        root = folder / "root"
        killed = killed_at(folder / "old", new, root, event)
        given = root, whole, then, before, after
        work = partial(check_and_go_on, *given, other_input=then != new)
        tell({"event": event, "killed": killed, "failed": in_fork(work) != 0})
        shutil.rmtree(root)


def made_in_fork(spec, root):
    """Build a spec, and give the versions of what was made."""

    def work():
        build(spec, root, 0, RANGE_BYTES)
        Path(f"{root}.json").write_text(json.dumps(versions(root / "tales")))

    assert in_fork(work) == 0
    return json.loads(Path(f"{root}.json").read_text())


def spread(total, moments):
    """So many numbers below `total`, one at random from each of as many equal parts."""
    chance = random.Random(total)
    bounds = [total * i // moments for i in range(moments + 1)]
    return {chance.randrange(low, max(high, low + 1)) for low, high in zip(bounds, bounds[1:])}  # noqa: B905, RUF007


def killed_at(old, new, root, event):
    """Build a spec over a copy of an old build, up to a file operation; all of it for None.

    Returns:
        Whether it was killed; for None, the number of file operations.
    """
    counted = Path(f"{root}.events")
    root.mkdir()
    if old.exists():
        shutil.copytree(old, root, dirs_exist_ok=True)

    def work():
        seen = [0]

        # A kill before a change: what was done until then is there, and nothing of the rest.
        def die(event_name, arguments):
            if not is_change(event_name, arguments):
                return
            if seen[0] == event:
                os.kill(os.getpid(), signal.SIGKILL)
            seen[0] += 1

        active = on_file_event(root, die)
        build(new, root, 0, RANGE_BYTES)
        active[0] = False
        counted.write_text(str(seen[0]))

    status = in_fork(work)
    return int(counted.read_text()) if event is None else os.WIFSIGNALED(status)


def is_change(event, arguments):
    """Whether a file operation changes what is on disk; a kill at any other tells nothing new."""
    if event == "open":
        return bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return event not in {"os.listdir", "os.scandir"}


def check_and_go_on(root, reference, then, before, after, *, other_input):
    """Check what a killed build left, build again, and compare with an undisturbed build."""
    folder, whole = root / "tales", reference / "tales"
    folder.mkdir(parents=True, exist_ok=True)
    found = versions(folder)
    for name, digest in before.items():
        assert name in found or name.startswith("corpus.work"), f"{name} is gone"
        assert found.get(name) in {digest, after.get(name)}, f"{name} is neither old nor new"
    kept = finished(folder)
    build(then, root, 0, RANGE_BYTES)
    assert outputs(folder) == outputs(whole), "other bytes"
    assert names_under(folder) == names_under(whole), set(names_under(folder)) ^ set(
        names_under(whole)
    )
    again = redone(kept, folder, other_input=other_input)
    assert not again, f"redone: {again}"


if __name__ == "__main__":
    globals()[sys.argv[1]](*json.loads(sys.argv[2]))
