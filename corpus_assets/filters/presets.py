"""Recipes that are known by name."""

from collections.abc import Mapping
from typing import Any

FINEWEB: dict[str, dict[str, Any]] = {
    "url": {},
    "language": {},
    "gopher_repetition": {},
    "gopher_quality": {},
    "c4_quality": {"filter_no_terminal_punct": False},
    "fineweb_quality": {},
}
"""The chain of datatrove 0.10.1's `examples/fineweb.py`, by which FineWeb was made: Penedo et al.,
*The FineWeb Datasets: Decanting the Web for the Finest Text Data at Scale* (2024, arXiv
2406.17557). Its lists of URLs are not shipped here; `url` drops nothing until `lists` names some.
FineWeb itself kept English alone (`languages: [en]`)."""

PRESETS: dict[str, Mapping[str, Mapping[str, Any]]] = {"none": {}, "fineweb": FINEWEB}
"""Rules with their settings, in order, by the name of the recipe."""


def expanded(name: str, changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rules of a preset with some settings changed.

    Args:
        name: Of the preset.
        changes: Settings by rule, which are laid over those of the preset; False leaves the rule
            out.

    Raises:
        ValueError: The preset has no such rule.
    """
    rules = PRESETS[name]
    unknown = [rule for rule in changes if rule not in rules]
    if unknown:
        message = f"recipe {name} has no rule {', '.join(unknown)}; it has {', '.join(rules)}"
        raise ValueError(message)
    wrong = [r for r, change in changes.items() if not isinstance(change, Mapping | bool | None)]
    if wrong or True in changes.values():
        message = f"recipe {name}: give each rule its settings, or false to leave it out"
        raise ValueError(message)
    return [
        {rule: {**settings, **(changes.get(rule) or {})}}
        for rule, settings in rules.items()
        if changes.get(rule) is not False
    ]
