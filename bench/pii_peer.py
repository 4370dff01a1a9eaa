"""What datatrove's formatter for personal data takes; run by its own Python, see `pii_speed`.

    python bench/pii_peer.py texts.jsonl made.jsonl

Reads a JSON string a line, writes each formatted, prints the CPU seconds of that.
"""

import json
import sys
import time
from pathlib import Path

from datatrove.pipeline.formatters.pii import PIIFormatter

source, target = map(Path, sys.argv[1:])
with source.open(encoding="utf-8") as lines:
    texts = [json.loads(line) for line in lines]
formatter = PIIFormatter()
start = time.process_time()
made = [formatter.format(text) for text in texts]
seconds = time.process_time() - start
with target.open("w", encoding="utf-8") as out:
    out.writelines(json.dumps(text) + "\n" for text in made)
print(json.dumps({"cpu": seconds}))
