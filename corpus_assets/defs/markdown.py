"""Markdown for the asset catalog: tables, texts of documents that must say nothing, pictures."""

import base64
import io
import re
from collections.abc import Sequence
from typing import Any

from corpus_assets.pii import scrub

PREVIEW_CHARS = 160

MARKUP = re.compile(r"[\\`<|\[\]]")
"""What could make a table's cell, a picture or a link of a document's text."""


def plain(text: str | None) -> str:
    """Return the first characters as one line that says nothing in Markdown.

    Whole words are masked, since half an address is not recognised as one.
    """
    words = (text or "").split(maxsplit=PREVIEW_CHARS)
    line = scrub(" ".join(words[:PREVIEW_CHARS]))[0]
    shown = MARKUP.sub(r"\\\g<0>", line[:PREVIEW_CHARS])
    return shown + ("…" if len(line) > PREVIEW_CHARS or len(words) > PREVIEW_CHARS else "")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def picture(figure: Any, title: str) -> str:
    """Return a matplotlib figure as a Markdown image with the PNG in it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f"![{title}](data:image/png;base64,{data})"
