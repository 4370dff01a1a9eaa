"""Kernels are compiled once, before workers start."""

import subprocess
import sys

SCRIPT = """
import sys
from collections import Counter
import polars as pl
from corpus_assets.filters import apply_recipe, prepare, recipe_of

def compiled():
    return {
        f"{name}.{key}": len(kernel.signatures)
        for name, module in list(sys.modules.items())
        if name.startswith("corpus_assets.") and name.endswith(("kernel", "kernels"))
        for key, kernel in vars(module).items()
        if hasattr(kernel, "signatures")
    }

recipe = recipe_of(["non_empty", *%r])
assert "numba" not in sys.modules, "stating a recipe takes the time of importing numba"
prepare(recipe)
before = compiled()
assert before
line = "It was said that the lamps of the harbour have to be lit with care."
hard = "cannot (x:)z foo(): ( :) \u2028 ★★ " * 9
texts = [line, "", f"{line}\\n" * 9, hard, "日本語。" * 99, "a\\n" * 99]
for langs in (["en"] * 6, ["en", "de", "en", "fr", "en", "de"]):
    apply_recipe(pl.DataFrame({"text": texts, "lang": langs}), recipe, Counter())
after = compiled()
assert after == before, {k: (n, before.get(k)) for k, n in after.items() if n != before.get(k)}
"""


def test_after_preparing_a_recipe_nothing_is_compiled():
    rules = ["gopher_repetition", "gopher_quality", "c4_quality", "fineweb_quality"]
    for chain in (rules, [{"c4_quality": {"split_paragraph": False}}]):
        subprocess.run([sys.executable, "-c", SCRIPT % chain], check=True)
