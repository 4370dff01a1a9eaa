"""Finding the files of a source: files, folders, globs; each file is one rank."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpus_assets.core.errors import InputError
from corpus_assets.core.files import filled
from corpus_assets.core.plan import RawFile
from corpus_assets.readers.config import FormatName, ReadConfig

COMPRESSIONS = ("", ".gz", ".zst")
ENDINGS = {
    "jsonl": tuple(e + c for e in (".jsonl", ".ndjson", ".json") for c in COMPRESSIONS),
    "parquet": (".parquet",),
}
"""Endings of the files that each format reads."""

KNOWN = ", ".join(ending for endings in ENDINGS.values() for ending in endings)


def format_of(name: str, chosen: FormatName = "auto") -> str | None:
    """Return the format of a file by its name, or the one chosen; None if the name tells none."""
    if chosen != "auto":
        return chosen
    return next((f for f, endings in ENDINGS.items() if name.endswith(endings)), None)


def find_files(inputs: Sequence[str], base: Path, config: ReadConfig) -> tuple[RawFile, ...]:
    """Return the files of a source, input by input, sorted by name within each.

    Names that start with `.` or `_` are skipped, folders are read with all below them. A file's
    name is relative to its input: to the folder given, or to the part of a glob before its first
    wildcard.

    Args:
        inputs: Paths of files, folders, or globs; relative ones start at `base`.
        base: Folder of the file that names the inputs.
        config: The source.

    Raises:
        InputError: An input matches nothing, a file's format is unknown, or two files would have
            one name.
    """
    found: dict[str, Path] = {}
    for given in inputs:
        files = list(_matches(given, base, config))
        if not files:
            message = (
                f"source {config.source_id}: input {given!r} matches no file under {base} "
                f"(read are {KNOWN}; names starting with . or _ are skipped)."
            )
            raise InputError(message)
        for name, path in files:
            other = found.setdefault(name, path)
            if other != path:
                message = (
                    f"source {config.source_id}: {other} and {path} are both {name!r} within "
                    f"their inputs; name their common folder, or make them two sources."
                )
                raise InputError(message)
    return tuple(
        RawFile(path, f"{config.source_id}/{name}", config) for name, path in found.items()
    )


def _matches(given: str, base: Path, config: ReadConfig) -> Iterator[tuple[str, Path]]:
    """Yield relative name and path of the files that one input names, sorted by name."""
    path = base / Path(filled(given)).expanduser()
    if path.is_file():
        if format_of(path.name, config.format) is None:
            message = (
                f"source {config.source_id}: {path}: unknown format; known are {KNOWN}, or set "
                f"`format`."
            )
            raise InputError(message)
        yield path.name, path.resolve()
        return
    if path.is_dir():
        root, candidates = path, _walk(path)
    else:
        root = _fixed_part(path)
        candidates = root.glob(path.relative_to(root).as_posix())
    named = {p.relative_to(root).as_posix(): p.resolve() for p in candidates if p.is_file()}
    for name in sorted(named):
        hidden = any(part.startswith((".", "_")) for part in name.split("/"))
        if not hidden and format_of(name, config.format) is not None:
            yield name, named[name]


def _walk(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder, followlinks=True):
        yield from (Path(parent, name) for name in names)


def _fixed_part(pattern: Path) -> Path:
    """Return the folder before the first part with a wildcard."""
    parts = pattern.parts
    wild = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    return Path(*parts[:wild])
