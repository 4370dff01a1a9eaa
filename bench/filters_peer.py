"""What datatrove says of texts. Runs in an environment that has it, see `filters_parity`.

`python filters_peer.py TEXTS CHAINS RESULTS`: TEXTS has a JSON string a line; for each, a JSON line
goes to RESULTS: per chain of rules, its name, the reason or null and, if it rewrote the text, the
text. The CPU seconds of the rules alone go to stdout.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from datatrove.data import Document
from datatrove.pipeline import filters

FILTERS: dict[str, Callable[..., Any]] = {
    "gopher_repetition": filters.GopherRepetitionFilter,
    "gopher_quality": filters.GopherQualityFilter,
    "c4_quality": filters.C4QualityFilter,
    "fineweb_quality": filters.FineWebQualityFilter,
}


def judged(chain: list[Any], text: str) -> tuple[str | None, str]:
    """Return the reason of the first filter that drops a text, and the text then."""
    document = Document(text=text, id="0")
    for rule in chain:
        try:
            verdict = rule.filter(document)
        except ZeroDivisionError:
            return "ZeroDivisionError", document.text
        if isinstance(verdict, tuple):
            return verdict[1], document.text
    return None, document.text


def fixed(value: Any) -> Any:
    """Return a setting with tuples for lists."""
    return tuple(value) if isinstance(value, list) else value


def main() -> None:
    """Judge every text by every chain of rules."""
    rules = json.loads(sys.argv[2])
    chains = {
        name: [
            FILTERS[kind](**{k: fixed(v) for k, v in settings.items()}) for kind, settings in chain
        ]
        for name, chain in rules.items()
    }
    cpu = 0.0
    with open(sys.argv[1]) as lines, open(sys.argv[3], "w") as results:  # noqa: PTH123
        for line in lines:
            text = json.loads(line)
            start = time.process_time()
            found = {name: judged(chain, text) for name, chain in chains.items()}
            cpu += time.process_time() - start
            rows = [[name, r, None if t == text else t] for name, (r, t) in found.items()]
            results.write(json.dumps(rows) + "\n")
    print(json.dumps({"cpu": cpu}))


if __name__ == "__main__":
    main()
