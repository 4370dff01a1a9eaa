"""The code location: every corpus described under `corpus_assets/defs/`."""

from pathlib import Path

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    """Load `defs/*/defs.yaml`."""
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
