"""Compare the rules with datatrove 0.10.1, text by text: verdict, reason, rewritten text.

    python -m bench.filters_parity [--documents N]

datatrove lives in an environment of its own, `.venv-datatrove` or the folder that the variable
PEER names. Ends with code 1 if any result differs.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from bench.hard_texts import HARD
from bench.measure import Cost, cost_of, peer
from bench.real_texts import real_texts
from corpus_assets.filters import apply_recipe, recipe_of

Chain = Sequence[tuple[str, Mapping[str, Any]]]

FINEWEB = ("c4_quality", {"filter_no_terminal_punct": False})
CHAINS: dict[str, Chain] = {
    "gopher_repetition": [("gopher_repetition", {})],
    "gopher_quality": [("gopher_quality", {})],
    "c4_quality": [("c4_quality", {})],
    "c4_quality of FineWeb": [FINEWEB],
    "c4_quality of six sentences": [
        ("c4_quality", {"filter_no_terminal_punct": False, "min_num_sentences": 6})
    ],
    "c4_quality of all lines": [
        (
            "c4_quality",
            {"filter_no_terminal_punct": False, "min_num_sentences": -1, "min_words_per_line": -1}
            | {"max_word_length": -1, "remove_citations": False, "filter_curly_bracket": False}
            | {"filter_lorem_ipsum": False, "filter_policy": False, "filter_javascript": False},
        )
    ],
    "c4_quality of all sentences": [
        (
            "c4_quality",
            {"split_paragraph": False, "filter_no_terminal_punct": False, "min_words_per_line": -1},
        )
    ],
    "c4_quality by sentences": [("c4_quality", {"split_paragraph": False})],
    "fineweb_quality": [("fineweb_quality", {})],
    "repetition of n-grams alone": [
        (
            "gopher_repetition",
            {"dup_para_frac": 0, "dup_para_char_frac": 0, "dup_line_frac": 0}
            | {"dup_line_char_frac": 0, "top_n_grams": [], "dup_n_grams": [[5, 0.1], [7, 0.05]]},
        )
    ],
    "gopher_quality of symbols and lines": [
        (
            "gopher_quality",
            {"min_doc_words": 0, "max_avg_word_length": 6, "max_bullet_lines_ratio": 0.1}
            | {"max_symbol_word_ratio": 0.01, "max_ellipsis_lines_ratio": 0.02}
            | {"max_non_alpha_words_ratio": 0.7, "min_stop_words": 5},
        )
    ],
    "fineweb_quality of short and repeated lines": [
        (
            "fineweb_quality",
            {"line_punct_thr": 0.05, "line_punct_exclude_zero": True, "short_line_thr": 0.8}
            | {"stop_chars": [".", ":", "»", "fine."], "new_line_ratio": 0.15},
        )
    ],
    "the whole chain": [
        ("gopher_repetition", {}),
        ("gopher_quality", {}),
        FINEWEB,
        ("fineweb_quality", {}),
    ],
}


def main() -> int:
    """Compare and print a line for each rule; return 1 if a result differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    texts = HARD + real_texts(parser.parse_args().documents)
    differences = 0
    with tempfile.TemporaryDirectory() as scratch:
        theirs, _ = by_peer(texts, Path(scratch))
    for name, chain in CHAINS.items():
        dropped, rewritten, wrong = 0, 0, []
        for i, (mine, peers) in enumerate(zip(by_us(texts, chain), theirs, strict=True)):
            reason, text = peers[name]
            dropped += reason is not None
            rewritten += text != texts[i]
            # datatrove cannot divide by a number of words or lines that is 0, and stops.
            if reason != "ZeroDivisionError" and mine != (reason, text):
                wrong.append((i, mine[0], reason))
        print(
            f"{name}: {len(texts):,} documents, {dropped:,} dropped, {rewritten:,} rewritten, "
            f"{len(wrong):,} differ"
        )
        for i, mine, reason in wrong[:5]:
            print(f"  text {i} of {len(texts[i])} characters: {mine}, datatrove says {reason}")
        differences += len(wrong)
    return int(differences > 0)


def by_us(texts: Sequence[str], chain: Chain) -> list[tuple[str | None, str]]:
    """Return reason and text of every document."""
    recipe = recipe_of([{rule: {**settings, "language": "eng"}} for rule, settings in chain])
    found = apply_recipe(pl.DataFrame({"text": texts}), recipe, Counter())
    return found.select("drop_reason", "text").rows()


def by_peer(
    texts: Sequence[str], scratch: Path, chains: Mapping[str, Chain] = CHAINS
) -> tuple[list[dict[str, tuple[str | None, str]]], Cost]:
    """Return reason and text by datatrove for every document and chain, and what it cost.

    Raises:
        BenchError: There is no datatrove, or it failed.
    """
    path, results = scratch / "texts.jsonl", scratch / "results.jsonl"
    path.write_text("".join(f"{json.dumps(text)}\n" for text in texts))
    script = str(Path(__file__).with_name("filters_peer.py"))
    # numpy warns of a mean of no words, to which datatrove comes when told not to count them.
    command = ["-W", "ignore", script, str(path), json.dumps(chains), str(results)]
    cost = cost_of(command, peer())
    with results.open() as lines:
        return [
            {n: (r, text if t is None else t) for n, r, t in json.loads(line)}
            for text, line in zip(texts, lines, strict=True)
        ], cost


if __name__ == "__main__":
    sys.exit(main())
