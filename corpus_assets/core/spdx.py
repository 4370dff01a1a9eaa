"""SPDX licence expressions: the one spelling of each, and whether a set of licences allows it."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

OWN_LICENCES = ("LicenseRef-", "DocumentRef-")
"""Beginnings of names that SPDX leaves to everyone's own licences."""


@lru_cache(maxsize=1)
def _licensing() -> Any:
    # Imported late: loading its list of licences takes 0.4 s, which only some workers need.
    from license_expression import get_spdx_licensing  # noqa: PLC0415

    return get_spdx_licensing()


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> Any:
    parsed = _licensing().parse(expression)
    if parsed is None:
        message = "it is empty"
        raise ValueError(message)
    unknown = [
        key
        for key in _licensing().unknown_license_keys(parsed)
        if not str(key).startswith(OWN_LICENCES)
    ]
    if unknown:
        message = f"unknown: {', '.join(sorted(map(str, unknown)))}"
        raise ValueError(message)
    return parsed


@lru_cache(maxsize=4096)
def normalised(expression: str) -> str:
    """Return an SPDX expression in its one spelling (`GPL-2.0` becomes `GPL-2.0-only`).

    Raises:
        ValueError: It is not an SPDX expression; the message says what to write instead.
    """
    from license_expression import ExpressionError  # noqa: PLC0415 - see `_licensing`

    try:
        return str(_parsed(expression))
    except (ValueError, ExpressionError) as error:
        message = (
            f"{expression!r} is not an SPDX licence expression ({str(error).splitlines()[0]}); "
            f"take an identifier of https://spdx.org/licenses, or LicenseRef-<name>."
        )
        raise ValueError(message) from None


def is_allowed(expression: str, allowed: Collection[str]) -> bool:
    """Return whether an expression can be met by allowed licences: any of an OR, all of an AND."""
    return expression in allowed or _is_allowed(_parsed(expression), frozenset(allowed))


def _is_allowed(node: Any, allowed: frozenset[str]) -> bool:
    if str(node) in allowed:
        return True
    arguments = getattr(node, "args", ())
    operator = type(node).__name__
    if operator == "OR":
        return any(_is_allowed(part, allowed) for part in arguments)
    return operator == "AND" and all(_is_allowed(part, allowed) for part in arguments)
