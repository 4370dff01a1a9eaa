"""What datatrove says of languages and URLs. Runs in an environment that has it.

`python filters_lang_url_peer.py QUESTIONS`: a JSON object with the path of a fastText `model`,
`texts`, settings of LanguageFilter as `languages`, and `urls`. The answers go to stdout: for each
settings and text whether it stays, label, score and further scores; for each URL its reason by
datatrove's own lists. Nothing is downloaded.
"""

import json
import sys
from pathlib import Path
from typing import Any

import tldextract
from datatrove.data import Document
from datatrove.utils import lid

EXTRACTOR = tldextract.TLDExtract


def languages(settings: dict[str, Any], texts: list[str]) -> list[Any]:
    """Return what LanguageFilter makes of texts."""
    from datatrove.pipeline.filters import (  # noqa: PLC0415
        LanguageFilter,
    )

    rule = LanguageFilter(**settings)
    answers: list[Any] = []
    for text in texts:
        document = Document(text=text, id="0")
        stays = bool(rule.filter(document))
        facts = document.metadata
        top = {name: score for name, score in facts.items() if name.startswith("top_")}
        answers.append([stays, facts["language"], facts["language_score"], top])
    return answers


def urls(found: list[str]) -> list[str | None]:
    """Return what URLFilter makes of URLs."""
    tldextract.TLDExtract = lambda: EXTRACTOR(suffix_list_urls=(), cache_dir=None)
    from datatrove.pipeline.filters import (  # noqa: PLC0415
        URLFilter,
    )

    rule = URLFilter()
    verdicts = [rule.filter(Document(text="", id="0", metadata={"url": url})) for url in found]
    return [None if verdict is True else verdict[1] for verdict in verdicts]


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lid.cached_asset_path_or_download = lambda *_, **__: asked["model"]
    said = {
        "languages": [languages(settings, asked["texts"]) for settings in asked["languages"]],
        "urls": urls(asked["urls"]),
    }
    print(json.dumps(said))
