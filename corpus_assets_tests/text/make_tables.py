"""Make the data files of corpus_assets/text again.

`python -m corpus_assets_tests.text.make_tables` needs spaCy and regex; the package itself needs
only what is written here.
"""

import json
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import regex
import spacy
from spacy.lang.char_classes import UNITS
from spacy.symbols import ORTH
from spacy.tokenizer import Tokenizer

HERE = Path(__file__).parents[2] / "corpus_assets" / "text"
ALL_CODE_POINTS = 0x110000


def ranges(code_points: Iterable[int]) -> list[list[int]]:
    """Return sorted inclusive ranges."""
    found: list[list[int]] = []
    for point in sorted(code_points):
        if found and point == found[-1][1] + 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def decimal_digits() -> dict[str, Any]:
    """Return the code points of category Nd as the regex module knows them."""
    digit = regex.compile(r"\p{Nd}")
    points = [p for p in range(ALL_CODE_POINTS) if digit.match(chr(p))]
    return {"source": f"\\p{{Nd}} of regex {regex.__version__}", "ranges": ranges(points)}


def class_of(items: list[tuple[Any, Any]]) -> set[int]:
    """Return the code points of a parsed character class."""
    points: set[int] = set()
    for kind, value in items:
        name = str(kind)
        if name == "LITERAL":
            points.add(value)
        elif name == "RANGE":
            points.update(range(value[0], value[1] + 1))
        else:
            message = f"a class of the rules holds {name}, which this script does not know"
            raise ValueError(message)
    return points


def cost(points: set[int]) -> tuple[int, int]:
    """Order the sets: best are few characters, none of them a letter or digit of ASCII."""
    return sum(chr(p).isalnum() for p in points if p < 128), len(points)


def required(nodes: Iterable[tuple[Any, Any]]) -> set[int] | None:
    """Return a set of which every match, with what it looks at, holds a character; None if none."""
    return min((s for s in needs(nodes) if s is not None), key=cost, default=None)


def needs(nodes: Iterable[tuple[Any, Any]]) -> Iterator[set[int] | None]:
    """Yield, for each node of a sequence, the set that it requires."""
    for kind, value in nodes:
        match str(kind):
            case "LITERAL":
                yield {value}
            case "IN":
                yield class_of(value)
            case "SUBPATTERN":
                yield required(value[3])
            case "ASSERT":
                yield required(value[1])
            case "MAX_REPEAT":
                yield required(value[2]) if value[0] else None
            case "BRANCH":
                sets = [required(branch) for branch in value[1]]
                yield None if None in sets else set().union(*(s for s in sets if s is not None))
            case "ASSERT_NOT" | "AT":
                yield None
            case name:
                message = f"the rules hold {name}, which this script does not know"
                raise ValueError(message)


def breaking(pieces: Iterable[str]) -> set[int]:
    """Return characters of which a chunk must hold one for any affix rule to match in it."""
    found: set[int] = set()
    for piece in pieces:
        points = required(re._parser.parse(piece))  # pyright: ignore[reportAttributeAccessIssue]
        if points is None:
            message = f"the rule {piece[:40]!r} matches without a character of its own"
            raise ValueError(message)
        found |= points
    return found


def english_rules() -> dict[str, Any]:
    """Return what spaCy's blank English tokenizer goes by."""
    nlp = spacy.blank("en")
    tokenizer = nlp.tokenizer
    assert tokenizer.token_match is None
    assert tokenizer.faster_heuristics
    prefixes, suffixes, infixes = (
        [piece for piece in pieces if piece.strip()]
        for pieces in (nlp.Defaults.prefixes, nlp.Defaults.suffixes, nlp.Defaults.infixes)
    )
    assert tokenizer.prefix_search.__self__.pattern == "|".join("^" + p for p in prefixes)
    assert tokenizer.suffix_search.__self__.pattern == "|".join(p + "$" for p in suffixes)
    assert tokenizer.infix_finditer.__self__.pattern == "|".join(infixes)
    exceptions = {text: [token[ORTH] for token in rule] for text, rule in tokenizer.rules.items()}
    without_exceptions = Tokenizer(
        nlp.vocab,
        prefix_search=tokenizer.prefix_search,
        suffix_search=tokenizer.suffix_search,
        infix_finditer=tokenizer.infix_finditer,
        url_match=tokenizer.url_match,
    )
    sequences = {
        text: [token.text for token in without_exceptions(text)]
        for text in exceptions
        if tokenizer.find_prefix(text)
        or tokenizer.find_infix(text)
        or tokenizer.find_suffix(text)
        or " " in text
    }
    return {
        "source": f"spaCy {spacy.__version__}, blank English",
        "license": "MIT, see english_rules.LICENSE",
        "prefixes": prefixes,
        "suffixes": suffixes,
        "infixes": infixes,
        "url": tokenizer.url_match.__self__.pattern,
        "units": sorted({u for u in UNITS.split("|") if u.isascii() and u.isalpha()}),
        "breaking": ranges(breaking([*prefixes, *suffixes, *infixes])),
        "exceptions": dict(sorted(exceptions.items())),
        "sequences": dict(sorted(sequences.items())),
    }


def save(name: str, value: dict[str, Any]) -> None:
    """Write one entry a line, so that a change shows in a diff."""
    lines = []
    for key, entry in value.items():
        if isinstance(entry, dict):
            inner = ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in entry.items())
            lines.append(f"{json.dumps(key)}: {{\n  {inner}\n }}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(entry)}")
    (HERE / name).write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Write the files."""
    save("decimal_digits.json", decimal_digits())
    save("english_rules.json", english_rules())
    licence = next(f for f in distribution("spacy").files or [] if f.name == "LICENSE")
    text = Path(str(licence.locate())).read_text(encoding="utf-8")
    (HERE / "english_rules.LICENSE").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
