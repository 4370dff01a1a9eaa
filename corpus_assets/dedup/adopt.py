"""Taking over signatures that datatrove wrote, so that our later stages run on its folders.

The other way needs nothing: our files have its names and bytes.
"""

import re
from pathlib import Path

from corpus_assets.core.errors import TableError, TargetError
from corpus_assets.core.files import digest_of_file, link_or_copy
from corpus_assets.core.table import FileRecord, RankRecord, Table
from corpus_assets.dedup.settings import MinhashConfig
from corpus_assets.dedup.signature_files import SUFFIX, check_whole

_NAME = re.compile(r"([0-9]{5,})\.minhash\.sig")


def adopt_signatures(folder: Path, directory: Path, config: MinhashConfig) -> Table:
    """Make a table of the signature files in datatrove's folder; they get a second name, no copy.

    Args:
        folder: What datatrove wrote: `bucket_XXX/RANK.minhash.sig`.
        directory: Folder of the table, new or empty.
        config: The settings it was written with, which its files do not say.

    Raises:
        TableError: A rank is missing in a bucket, a file is foreign, cut, or of other settings.
        TargetError: `directory` is not empty.
    """
    if directory.exists() and any(directory.iterdir()):
        message = f"{directory}: is not empty; choose a new folder for the table."
        raise TargetError(message)
    ranks = [
        RankRecord(number, f"{number:05d}", _linked(folder, directory, number, config), {})
        for number in _ranks(folder, config)
    ]
    table = Table(directory, "minhash_signatures", tuple(ranks), config.facts)
    table.save()
    return table


def _ranks(folder: Path, config: MinhashConfig) -> list[int]:
    """Return the numbers of the ranks, which every bucket must have."""
    found: dict[int, set[int]] = {}
    for k in range(config.num_buckets):
        bucket = folder / f"bucket_{k:03d}"
        found[k] = set()
        for path in sorted(bucket.iterdir()) if bucket.is_dir() else []:
            match = _NAME.fullmatch(path.name)
            if match is None:
                message = f"{path}: is no signature file (RANK{SUFFIX}); move it away."
                raise TableError(message)
            found[k].add(int(match[1]))
    everyone = set().union(*found.values())
    for k, numbers in found.items():
        if everyone - numbers or not everyone:
            missing = sorted(everyone - numbers)
            message = (
                f"{folder}/bucket_{k:03d}: ranks {missing or 'of any number'} are missing; write "
                f"the signatures again."
            )
            raise TableError(message)
    return sorted(everyone)


def _linked(
    folder: Path, directory: Path, number: int, config: MinhashConfig
) -> dict[str, FileRecord]:
    files: dict[str, FileRecord] = {}
    sizes: set[int] = set()
    for k in range(config.num_buckets):
        name = f"bucket_{k:03d}/{number:05d}{SUFFIX}"
        source, target = folder / name, directory / name
        records = check_whole(source, config.record)
        sizes.add(records)
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(source, target)
        files[f"bucket_{k:03d}"] = FileRecord(
            name, source.stat().st_size, digest_of_file(source), records
        )
    if len(sizes) > 1:
        message = (
            f"{folder}: rank {number} has {', '.join(map(str, sorted(sizes)))} records in its "
            f"buckets, which must be equal; write its signatures again."
        )
        raise TableError(message)
    return files
