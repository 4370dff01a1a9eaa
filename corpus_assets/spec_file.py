"""Reading a corpus from its YAML file, with errors that name file, line and field."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from corpus_assets.core.errors import InputError
from corpus_assets.spec import CorpusSpec

TYPE = "corpus_assets.CorpusComponent"


def load_spec(path: Path) -> CorpusSpec:
    """Return the corpus that a `defs.yaml` describes.

    Raises:
        InputError: The file cannot be read, is no YAML, or describes no corpus; every fault is
            named with its line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except (OSError, ValueError) as error:
        message = f"{path}: cannot be read ({error})."
        raise InputError(message) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        message = f"{path}:{line}: is not YAML ({error.problem})."
        raise InputError(message) from None
    except yaml.YAMLError as error:
        message = f"{path}: is not YAML ({str(error).splitlines()[0]})."
        raise InputError(message) from None
    _refuse_repeated_keys(path, node)
    if not isinstance(value, dict) or value.get("type") != TYPE or "attributes" not in value:
        message = f"{path}:1: expected `type: {TYPE}` and `attributes:` at the top."
        raise InputError(message)
    try:
        return CorpusSpec.model_validate(value["attributes"])
    except ValidationError as error:
        raise InputError("\n".join(_faults(path, node, error))) from None


def _refuse_repeated_keys(path: Path, node: Any) -> None:
    """Refuse a key that stands twice in one mapping, of which YAML would take the last in silence.

    Raises:
        InputError: Names the line of the second.
    """
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                message = f"{path}:{line}: {key.value} stands twice here; remove one."
                raise InputError(message)
            seen.add(key.value)
            _refuse_repeated_keys(path, value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_repeated_keys(path, value)


def _faults(path: Path, node: Any, error: ValidationError) -> list[str]:
    """Return a line per fault: file, line, field, what is wrong."""
    lines: list[str] = []
    for fault in error.errors(include_input=False, include_url=False):
        line, field = locate(node, ("attributes", *fault["loc"]))
        wrong = fault["msg"].removeprefix("Value error, ").removesuffix(".")
        if fault["type"] == "extra_forbidden":
            wrong = "unknown key; see docs/how-to.md for those that exist"
        lines.append(f"{path}:{line}: {field}: {wrong}.")
    return list(dict.fromkeys(lines))


def locate(node: Any, location: Sequence[int | str]) -> tuple[int, str]:
    """Return the line (from 1) and the dotted name of the innermost part that the YAML has."""
    line, names = node.start_mark.line + 1, []
    for part in location:
        if isinstance(node, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in node.value}
            names.append(str(part))
            if part not in pairs:
                break
            key, node = pairs[part]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            names.append(str(part))
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line, ".".join(name for name in names if name != "attributes")
