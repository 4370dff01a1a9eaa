"""What a check found. It never holds a text or a value of a document, only columns and ids."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check."""

    name: str
    passed: bool
    summary: str
    """One sentence for people."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Numbers and ids behind it."""
