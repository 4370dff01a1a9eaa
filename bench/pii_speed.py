"""Scrubbing beside datatrove's PIIFormatter: same texts, CPU seconds of one thread each.

`python -m bench.pii_speed` makes 20,000 documents of the sample's, 3 % of them with personal data.
The Python of datatrove's environment is `$PEER/bin/python`, by default `.venv-datatrove`'s. Outputs
of `mode: datatrove` must be datatrove's, text by text, before its figure counts.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import orjson

from bench.make_corpus import make_corpus
from bench.measure import BenchError

DOCUMENTS = 20_000
PEER = """
import json, sys, time
from datatrove.data import Document
from datatrove.pipeline.formatters.pii import PIIFormatter
texts = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
formatter = PIIFormatter()
start = time.process_time()
made = [formatter.format(text) for text in texts]
seconds = time.process_time() - start
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.writelines(json.dumps(text) + "\\n" for text in made)
print(json.dumps({"cpu": seconds}))
"""


def main() -> None:
    """Measure, compare, print the figures as JSON."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars as pl  # noqa: PLC0415 - after the number of its threads is set

    from corpus_assets.pii import PiiConfig  # noqa: PLC0415
    from corpus_assets.pii.datatrove import Rotation, rotate  # noqa: PLC0415
    from corpus_assets.pii.scrubbing import scrub_texts  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        facts = make_corpus(folder / "corpus", DOCUMENTS, 0)
        texts = pl.read_parquet(folder / "corpus" / "*.parquet")["text"].rechunk()
        with (folder / "texts.jsonl").open("wb") as out:
            out.writelines(orjson.dumps(text) + b"\n" for text in texts)
        theirs = peer_seconds(folder)
        scrub_texts(texts.head(100), PiiConfig())
        start = time.process_time()
        _, found = scrub_texts(texts, PiiConfig())
        ours = time.process_time() - start
        start = time.process_time()
        same_mode, _ = rotate(texts, Rotation(PiiConfig(mode="datatrove")))
        parity = time.process_time() - start
        made = [json.loads(line) for line in (folder / "made.jsonl").open(encoding="utf-8")]
        if made != same_mode.to_list():
            message = "mode datatrove differs from datatrove."
            raise BenchError(message)
    figures = {
        "megabytes": facts.text_bytes / 1e6,
        "found": dict(sum(found.values(), Counter[str]())),
        "datatrove_cpu": theirs,
        "all_kinds_cpu": ours,
        "all_kinds_times": theirs / ours,
        "datatrove_mode_cpu": parity,
        "datatrove_mode_times": theirs / parity,
    }
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


def peer_seconds(folder: Path) -> float:
    """Return the CPU seconds of datatrove's formatter; its output lies in `made.jsonl`.

    Raises:
        BenchError: datatrove's environment is not there, or fails.
    """
    python = Path(os.environ.get("PEER", ".venv-datatrove")) / "bin" / "python"
    if not python.exists():
        message = f"{python}: not there; name datatrove's environment with PEER."
        raise BenchError(message)
    command = [str(python), "-c", PEER, str(folder / "texts.jsonl"), str(folder / "made.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"datatrove's formatter failed: {done.stderr[-500:]}"
        raise BenchError(message)
    return json.loads(done.stdout)["cpu"]


if __name__ == "__main__":
    main()
