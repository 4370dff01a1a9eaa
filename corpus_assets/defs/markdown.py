"""Markdown for the asset catalog: tables, texts of documents that must say nothing, pictures."""

import base64
import io
import re
from collections.abc import Sequence
from typing import Any

from corpus_assets.funnel import Funnel
from corpus_assets.pii import scrub

PREVIEW_CHARS = 160

MARKUP = re.compile(r"[\\`<|\[\]]")
"""What could make a table's cell, a picture or a link of a document's text."""


def plain(text: str | None, chars: int = PREVIEW_CHARS) -> str:
    """Return the first characters as one line that says nothing in Markdown.

    Whole words are masked, since half an address is not recognised as one.
    """
    words = (text or "").split(maxsplit=chars)
    line = scrub(" ".join(words[:chars]))[0]
    shown = MARKUP.sub(r"\\\g<0>", line[:chars])
    return shown + ("…" if len(line) > chars or len(words) > chars else "")


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


def funnel_plot(funnel: Funnel) -> str:
    """Return the funnel as a bar chart, a Markdown image with the PNG in it."""
    # matplotlib takes 0.4 s to import, and the code location needs it only here.
    from matplotlib.figure import Figure  # noqa: PLC0415

    left, bars = funnel.came_in, [("came in", funnel.came_in, 0)]
    for drop in funnel.drops:
        left -= drop.documents
        bars.append((f"{drop.stage}: {drop.reason}", left, drop.documents))
    bars.append(("kept", funnel.kept, 0))
    figure = Figure(figsize=(8, 1 + 0.32 * len(bars)), layout="constrained")
    axes = figure.add_subplot()
    names = [name for name, _, _ in bars]
    axes.barh(names, [kept for _, kept, _ in bars], color="#3b6fb6", label="left")
    lefts = [kept for _, kept, _ in bars]
    axes.barh(names, [n for _, _, n in bars], left=lefts, color="#d9803b", label="dropped here")
    axes.invert_yaxis()
    axes.set_xlabel("documents")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper right", ncols=2, fontsize="small", frameon=False)
    return picture(figure, "funnel")
