"""Make `corpus_assets/pii/tlds.txt` again: `python -m corpus_assets_tests.pii.make_tables`.

The top-level domains are those of the ICANN section of the Public Suffix List, of which tldextract
ships a snapshot; the package itself needs only what is written here.
"""

import re
from importlib import resources
from pathlib import Path

TARGET = Path(__file__).parents[2] / "corpus_assets" / "pii" / "tlds.txt"


def main() -> None:
    """Write the file: the top-level domains in lower case, those of other scripts in both forms."""
    text = (resources.files("tldextract") / ".tld_set_snapshot").read_text(encoding="utf-8")
    version = re.search(r"^// VERSION: (\S+)", text, re.MULTILINE)
    icann = text.partition("===BEGIN ICANN DOMAINS===")[2].partition("===END ICANN DOMAINS===")[0]
    rules = [line.strip() for line in icann.splitlines()]
    names = {rule.rpartition(".")[2] for rule in rules if rule and not rule.startswith("//")}
    coded = {name.encode("idna").decode() for name in names}
    head = (
        "# Top-level domains: the last labels of the ICANN section of the Public Suffix List\n"
        f"# (publicsuffix.org), version {version[1] if version else '?'}, without other fields.\n"
    )
    TARGET.write_text(head + "\n".join(sorted(names | coded)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
