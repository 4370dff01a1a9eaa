"""Kernels: machine code that was kept is that of the sources as they are now."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import corpus_assets

PACKAGE = Path(corpus_assets.__file__).parent
ASK = "from corpus_assets.pii.folding import fold; print(ascii(fold('1\\u0662 caf\\u00e9')))"
MARKED = "    return min((at << 3) + int64((lower * _FULL) >> uint64(56)), end)"


def answer(folder, **environment):
    """What a process says that finds the package in a folder."""
    environment = os.environ | {"PYTHONPATH": str(folder)} | environment
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def test_a_kernel_is_compiled_again_if_a_file_changed_whose_code_it_inlines(tmp_path):
    copy = tmp_path / "corpus_assets"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    inlined = copy / "pii" / "bytes_kernel.py"
    for environment in ({}, {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}):
        assert answer(tmp_path, **environment) == "'12 caf\\xe9'"
        source = inlined.read_text()
        assert MARKED in source
        inlined.write_text(source.replace(MARKED, "    return end"))
        assert answer(tmp_path, **environment) == "'1\\u0662 caf\\xe9'"
        inlined.write_text(source)
        assert answer(tmp_path, **environment) == "'12 caf\\xe9'"
