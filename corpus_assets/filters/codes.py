"""Language codes: `en`, `eng`, `eng_Latn` and `en-Latn` are one.

The canonical form is that of BCP 47: the ISO 639-1 code, or the 639-3 code of a language that has
none, and the script where a language is written in several and it is not the usual one (`sr-Latn`).
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

from corpus_assets.text.languages import code_rows

UNKNOWN = "und"

FURTHER = (
    "ast bar bcl bih bpy bxr cbk ceb ckb diq dsb eml frr gom gsw hif hsb ilo jbo krc lez lmo lrc "
    "mai mhr min mrj mul mwl myv mzn nah nap nds new pam pfl pms pnb rue sah scn sco tyv und "
    "vec vep vls war xal xmf zxx"
)
"""ISO 639 codes of models that `languages.tsv` lacks, or takes for another language."""

WIKIPEDIA = {"als": "gsw", "bh": "bih"}
"""Names of Wikipedias, which lid.176 has as labels, that are another or no language in ISO 639."""

CODE = re.compile(r"([A-Za-z]{2,3})(?:[_-]([A-Za-z]{4}))?")


class Language(NamedTuple):
    """A language, and its script where that says more."""

    code: str
    script: str | None

    def meets(self, wanted: "Language") -> bool:
        """Return whether it is the language wanted; a script that is not told may be any."""
        scripts = {self.script, wanted.script}
        return self.code == wanted.code and (None in scripts or len(scripts) == 1)

    def __str__(self) -> str:
        """Return the canonical code."""
        usual = scripts_of().get(self.code, [self.script])[0]
        return self.code if self.script in {None, usual} else f"{self.code}-{self.script}"


@cache
def canonical_codes() -> dict[str, str]:
    """Return the canonical code of every code that is known."""
    codes = {code: code for code in FURTHER.split()}
    for _, language in code_rows():
        for code in language:
            codes.setdefault(code, language[-1])
    return codes


@cache
def scripts_of() -> dict[str, list[str]]:
    """Return the scripts of languages by canonical code, the usual one first."""
    found: dict[str, list[str]] = {}
    for script, language in code_rows():
        scripts = found.setdefault(canonical_codes()[language[0]], [])
        if script not in scripts:
            scripts.append(script)
    return found


def parsed(written: str, also: Iterable[str] = ()) -> Language:
    """Return the language that a code means.

    Args:
        written: ISO 639-1 or 639-3, alone or with a script, with `_` or `-`.
        also: Codes that are known beside those of the tables.

    Raises:
        ValueError: It is unknown; the message names near ones.
    """
    match = CODE.fullmatch(written.strip())
    code, script = (match[1].lower(), match[2]) if match else (written, None)
    known = canonical_codes()
    if code not in known and code not in also:
        near = get_close_matches(written.lower(), known, n=4, cutoff=0.5)
        hint = f" Near ones: {', '.join(near)}." if near else ""
        message = (
            f"unknown language {written!r}.{hint} Give an ISO 639-1 or 639-3 code, alone or with "
            f"a script: en, eng, eng_Latn"
        )
        raise ValueError(message)
    code, script = known.get(code, code), script and script.title()
    return Language(code, None if scripts_of().get(code) == [script] else script)


def of_label(label: str, *, wikipedia: bool) -> Language:
    """Return the language that a model's label means; one of no known form stands for itself.

    Args:
        label: Without `__label__`.
        wikipedia: Whether the model names languages as Wikipedias are called.
    """
    if wikipedia and label in WIKIPEDIA:
        label = WIKIPEDIA[label]
    match = CODE.fullmatch(label)
    return parsed(label, also=[match[1].lower()]) if match else Language(label, None)


def canonical(written: str) -> str:
    """Return the canonical form of a code; `other` for what is none."""
    try:
        return str(parsed(written))
    except ValueError:
        return "other"
