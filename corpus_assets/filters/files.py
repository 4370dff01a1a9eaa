"""Files that a recipe names: found and digested when a plan is made, before any work.

A fingerprint takes the digest of a file and never its place, so moving a list redoes nothing and
changing it redoes `filtered_docs`.
"""

from importlib.util import find_spec
from pathlib import Path

from pydantic import Field

from corpus_assets.core.errors import InputError
from corpus_assets.core.files import digest_of_file, filled
from corpus_assets.core.plan import Config

PACKAGE = "package:"


class OpenedFile(Config):
    """A file as it was when the plan was made."""

    path: Path = Field(exclude=True)
    sha256: str


def located(written: str, base: Path) -> Path:
    """Return the file or folder that a recipe names.

    Args:
        written: A path, relative to `base`, in which `{{ env.NAME }}` stands for an environment
            variable; or `package:NAME/PATH`, inside an installed Python package.
        base: Folder of the corpus's YAML file.

    Raises:
        InputError: There is none.
    """
    if written.startswith(PACKAGE):
        name, _, inner = written.removeprefix(PACKAGE).partition("/")
        spec = find_spec(name) if name.isidentifier() else None
        places = spec.submodule_search_locations if spec else None
        if not places:
            message = f"{written}: no package {name!r} is installed; install it or name a path."
            raise InputError(message)
        path = Path(next(iter(places))) / inner
    else:
        path = base / Path(filled(written)).expanduser()
    if not path.exists():
        message = f"{path}: not found; the recipe names it as {written!r}."
        raise InputError(message)
    return path


def opened(path: Path) -> OpenedFile:
    """Return a file with its digest.

    Raises:
        InputError: It is a folder, or cannot be read.
    """
    try:
        return OpenedFile(path=path, sha256=digest_of_file(path))
    except OSError as error:
        message = f"{path}: cannot be read ({error.strerror}); name a file."
        raise InputError(message) from error
