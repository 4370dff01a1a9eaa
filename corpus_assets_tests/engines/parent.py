"""A parent that is killed while its workers work: `python -m … FOLDER`."""

import sys
from pathlib import Path

from corpus_assets.engines.local import LocalEngine
from corpus_assets_tests.engines.work import sleep_after

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    list(LocalEngine(2).map_unordered(sleep_after, [(folder, 1), (folder, 2)]))
