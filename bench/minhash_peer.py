"""datatrove's MinHash, to compare with: run by the Python of an environment that holds it.

    .venv-datatrove/bin/python bench/minhash_peer.py STAGE DOCUMENTS OUT TASKS SETTINGS

STAGE is `signatures`, `buckets` or `clusters`; each reads what the one before left in OUT. Prints
the CPU seconds of the stage as JSON, start-up and imports left out.
"""

import json
import sys
import time

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.utils.hashing import HashConfig


def main() -> None:
    """Run a stage in this process."""
    stage, documents, out, tasks, settings = sys.argv[1:]
    values = json.loads(settings)
    workers = values.pop("workers_per_bucket", 1)
    config, language = config_of(values)
    if stage == "signatures":
        reader = JsonlReader(documents, add_file_path=False)
        steps = [
            reader,
            MinhashDedupSignature(f"{out}/signatures", config=config, language=language),
        ]
        count = int(tasks)
    elif stage == "buckets":
        steps = [MinhashDedupBuckets(f"{out}/signatures", f"{out}/buckets", config=config)]
        count = config.num_buckets * workers
    else:
        lists = {"save_cluster_id": True, "save_cluster_size": True}
        steps = [MinhashDedupCluster(f"{out}/buckets", f"{out}/clusters", config=config, **lists)]
        count = 1
    executor = LocalPipelineExecutor(
        steps, tasks=count, workers=1, logging_dir=f"{out}/logs/{stage}"
    )
    start = time.process_time()
    executor.run()
    print(json.dumps({"cpu": time.process_time() - start}))


def config_of(settings: dict) -> tuple[MinhashConfig, str]:
    """Return the settings as datatrove takes them, and the language."""
    language = settings.pop("language", "eng_Latn")
    names = ("hash_fc", "precision")
    hashing = HashConfig(**{name: settings.pop(name) for name in names if name in settings})
    return MinhashConfig(hash_config=hashing, **settings), language


if __name__ == "__main__":
    main()
