"""Make the sample input of the example corpus from Debian documentation packages.

The script downloads a fixed list of documentation packages with ``apt-get download``, unpacks them
into a scratch folder, turns guides, manuals, man pages, a lexicon and copyright files into plain
text, and writes them as raw documents: one folder per source, with JSON Lines (plain, gzip and
Zstandard) and Parquet files in it. Next to them it writes ``ATTRIBUTION.md`` and ``LICENSES/``.

Run it on a Debian system that has ``apt-get``, ``dpkg-deb`` and ``man`` (with ``groff``), in an
environment that has ``pyarrow``::

    apt-get update
    python examples/make_sample.py                     # writes examples/sample
    python examples/make_sample.py --packages DIR      # keeps (and reuses) the packages in DIR

The same versions of the packages (and of ``man``, ``groff`` and ``pyarrow``) give the same bytes:
documents are in a fixed order and no file holds a time.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import zlib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Record = dict[str, str]
"""A raw document; every field is a text."""


def words(text: str) -> tuple[str, ...]:
    """Split a list of words."""
    return tuple(text.split())


LONG_PAGE = 8000
"""A page with more characters than this is split at its headings."""

LONGEST_MAN_PAGE = 6000
"""Man pages with more characters than this are left out, to keep the sample small."""


# --------------------------------------------------------------------------------------------------
# Packages


class Packages:
    """Debian binary packages, downloaded and unpacked when first asked for."""

    def __init__(self, downloads: Path, unpacked: Path) -> None:
        """Keep package files in ``downloads`` and their content in ``unpacked``."""
        self._downloads = downloads
        self._unpacked = unpacked
        self._versions: dict[str, str] = {}

    def fetch(self, names: Iterable[str]) -> None:
        """Download the packages that are not there yet."""
        missing = [name for name in sorted(set(names)) if self._file(name) is None]
        if missing:
            command = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *missing]
            subprocess.run(command, cwd=self._downloads, check=True)

    def root(self, name: str) -> Path:
        """Give the folder with the content of a package."""
        folder = self._unpacked / name
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["dpkg-deb", "-x", str(self._found(name)), str(folder)], check=True)
        return folder

    def doc(self, name: str) -> Path:
        """Give the documentation folder of a package."""
        return self.root(name) / "usr/share/doc" / name

    def version(self, name: str) -> str:
        """Give the version of a package."""
        if name not in self._versions:
            command = ["dpkg-deb", "-f", str(self._found(name)), "Version"]
            result = subprocess.run(command, check=True, capture_output=True, text=True)
            self._versions[name] = result.stdout.strip()
        return self._versions[name]

    def _file(self, name: str) -> Path | None:
        return max(self._downloads.glob(f"{name}_*.deb"), default=None)

    def _found(self, name: str) -> Path:
        file = self._file(name)
        if file is None:
            message = f"package {name} was not downloaded"
            raise FileNotFoundError(message)
        return file


# --------------------------------------------------------------------------------------------------
# HTML to text

_VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_BLOCKS = frozenset(
    words("""
        address article aside blockquote body caption dd div dl dt fieldset figure footer form
        h1 h2 h3 h4 h5 h6 header li main nav ol p section table td th tr ul
    """)
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_SKIPPED_TAGS = frozenset({"script", "style", "title", "nav"})
_SKIPPED_CLASSES = frozenset(
    words("""
        navheader navfooter toc list-of-tables list-of-figures docnav indexterm headerlink related
        sphinxsidebar footer
    """)
)
_ASIDE_CLASSES = frozenset(words("author caution important note subtitle tip warning"))
_SKIPPED_IDS = frozenset({"banner", "title"})
_CJK = "\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uffef"
_CJK_LINE_END = re.compile(rf"(?<=[{_CJK}])[ \t]*\n\s*(?=[{_CJK}])")
_SPACE = re.compile(r"[ \t\r\n\f]+")


@dataclass(frozen=True)
class Block:
    """A paragraph, heading, list item, table row or listing of a page."""

    kind: str
    text: str
    level: int = 0
    anchor: str = ""


@dataclass
class _Element:
    """An open HTML element and what it changes for the text in it."""

    tag: str
    skipped: bool
    anchor: str
    aside: bool = False
    layout_table: bool = False
    next_number: int = 0


class _BlockParser(HTMLParser):
    """Collects the blocks of an HTML page, without its navigation."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._open: list[_Element] = []
        self._text: list[str] = []
        self._kind = "p"
        self._prefix = ""
        self._heading_anchor = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        anchor = values.get("id") or (values.get("name", "") if tag == "a" else "")
        if anchor and self._inside(_HEADINGS) and not self._heading_anchor:
            self._heading_anchor = anchor
        if tag in _VOID:
            if tag == "br" and not self._skipping():
                self._text.append("\n" if self._inside({"pre"}) else " ")
            return
        skipped = self._skipping() or _is_skipped(tag, values)
        element = _Element(tag, skipped, anchor)
        element.aside = not _ASIDE_CLASSES.isdisjoint(values.get("class", "").split())
        if tag == "table":
            element.layout_table = values.get("border") == "0"
        if tag == "ol":
            start = values.get("start", "")
            element.next_number = int(start) if start.isdigit() else 1
        if not skipped and (tag in _BLOCKS or tag == "pre"):
            self._start_block(tag)
        self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if not any(element.tag == tag for element in self._open):
            return
        while self._open:
            element = self._open[-1]
            if not element.skipped and (element.tag in _BLOCKS or element.tag == "pre"):
                self._end_block(element.tag)
            self._open.pop()
            if element.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        if not self._skipping():
            self._text.append(data)

    def close(self) -> None:
        super().close()
        self._flush()

    def _skipping(self) -> bool:
        return bool(self._open) and self._open[-1].skipped

    def _inside(self, tags: Iterable[str]) -> bool:
        wanted = set(tags)
        return any(element.tag in wanted for element in self._open)

    def _in_row(self) -> bool:
        """Tell whether the text belongs to a row of a data table."""
        for element in reversed(self._open):
            if element.tag == "table":
                return not element.layout_table
        return False

    def _start_block(self, tag: str) -> None:
        if self._in_row() and tag not in {"tr", "table"}:
            return
        self._flush()
        if tag in {"dt", "dd", "tr"}:
            self._kind = tag
        elif tag == "li":
            self._kind, self._prefix = "li", self._list_marker()
        elif tag in _HEADINGS:
            self._heading_anchor = ""

    def _end_block(self, tag: str) -> None:
        if self._in_row() and tag not in {"tr", "table"}:
            self._text.append(" | " if tag in {"td", "th"} else " ")
        elif tag in _HEADINGS:
            aside = any(element.aside for element in self._open)
            self._flush(level=0 if aside else _HEADINGS[tag])
        elif tag == "pre":
            self._flush(verbatim=True)
        else:
            self._flush()

    def _list_marker(self) -> str:
        for element in reversed(self._open):
            if element.tag == "ol":
                element.next_number += 1
                return f"{element.next_number - 1}. "
            if element.tag == "ul":
                break
        return "- "

    def _section_anchor(self) -> str:
        if self._heading_anchor:
            return self._heading_anchor
        return next((e.anchor for e in reversed(self._open) if e.tag == "section" and e.anchor), "")

    def _flush(self, *, level: int = 0, verbatim: bool = False) -> None:
        """End the current block, if it has any text."""
        text = "".join(self._text).replace("\xa0", " ").replace("\xad", "")
        self._text.clear()
        if verbatim:
            text = "\n".join(line.rstrip() for line in text.strip("\r\n").splitlines())
        else:
            text = _SPACE.sub(" ", _CJK_LINE_END.sub("", text)).strip()
            text = text.rstrip(" |") if self._kind == "tr" else text
        if not text.strip():
            return
        kind = "pre" if verbatim else "heading" if level else self._kind
        anchor = self._section_anchor() if level else ""
        self.blocks.append(Block(kind, self._prefix + text, level, anchor))
        self._kind, self._prefix = "p", ""


def _is_skipped(tag: str, values: dict[str, str]) -> bool:
    """Tell whether an element holds navigation or no text."""
    return (
        tag in _SKIPPED_TAGS
        or values.get("id") in _SKIPPED_IDS
        or values.get("role") == "navigation"
        or not _SKIPPED_CLASSES.isdisjoint(values.get("class", "").split())
    )


def html_blocks(html: str) -> list[Block]:
    """Give the blocks of an HTML page."""
    parser = _BlockParser()
    parser.feed(html)
    parser.close()
    return parser.blocks


def blocks_text(blocks: Sequence[Block]) -> str:
    """Join blocks: with an empty line, but rows, list items and definitions with a line end."""
    parts: list[str] = []
    before = ""
    for block in blocks:
        if parts:
            tight = (before, block.kind) in {("li", "li"), ("tr", "tr"), ("dt", "dd"), ("dt", "dt")}
            parts.append("\n" if tight else "\n\n")
        parts.append(block.text)
        before = block.kind
    return "".join(parts)


@dataclass(frozen=True)
class Section:
    """A page, or a part of one that begins at a heading."""

    anchor: str
    title: str
    text: str


def page_sections(html: str, longest: int = LONG_PAGE) -> list[Section]:
    """Give a page as one section, or split at its headings as far as its length asks for."""
    blocks = html_blocks(html)
    sections = [
        Section(blocks[start].anchor if start else "", blocks[start].text, blocks_text(part))
        for start, part in _split(blocks, 0, 1, longest)
    ]
    return [section for section in sections if section.text]


def _split(
    blocks: Sequence[Block], offset: int, level: int, longest: int
) -> Iterator[tuple[int, Sequence[Block]]]:
    """Split blocks at the headings of a level, and too long parts at those of the next level."""
    if not blocks:
        return
    if level > max(_HEADINGS.values()) or len(blocks_text(blocks)) <= longest:
        yield offset, blocks
        return
    starts = [0, *(i for i, block in enumerate(blocks) if i and 0 < block.level <= level)]
    for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True):
        yield from _split(blocks[start:end], offset + start, level + 1, longest)


def html_records(
    page: Path, prefix: str, url: str, fields: Record, *, longest: int = LONG_PAGE
) -> Iterator[Record]:
    """Give the raw documents of an HTML page."""
    seen: Counter[str] = Counter()
    sections = page_sections(page.read_text("utf-8"), longest)
    for section in sections:
        name = f"{prefix}/{page.stem}" + (f"#{section.anchor}" if section.anchor else "")
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name}~{seen[name]}"
        link = url + (f"#{section.anchor}" if section.anchor else "")
        yield {"id": name, "text": section.text, "url": link, "title": section.title, **fields}


# --------------------------------------------------------------------------------------------------
# Sources


@dataclass(frozen=True)
class Source:
    """A source of the sample: where it comes from and under which terms."""

    id: str
    title: str
    packages: tuple[str, ...]
    license_spdx: str
    license_note: str
    url: str
    holders: str
    changes: str
    make: Callable[[Packages], dict[str, list[Record]]]
    lang: str = ""
    license_files: tuple[str, ...] = field(default=())


GUIDE_LANGUAGES = {
    "amd64": ("de", "en", "fr", "ja", "ru", "zh_CN"),
    "arm64": ("en",),
}


def installation_guide(packages: Packages) -> dict[str, list[Record]]:
    """Sections of the installation guide, one file per architecture and language."""
    files: dict[str, list[Record]] = {}
    for architecture, languages in GUIDE_LANGUAGES.items():
        package = f"installation-guide-{architecture}"
        site = f"https://www.debian.org/releases/bookworm/{architecture}"
        for language in languages:
            lang = language.replace("_", "-")
            fields = {
                "lang": lang,
                "package": package,
                "version": packages.version(package),
                "architecture": architecture,
            }
            files[f"{architecture}-{lang}.jsonl.gz"] = [
                record
                for page in sorted((packages.doc(package) / language).glob("*.html"))
                for record in html_records(
                    page,
                    f"{architecture}/{lang}",
                    f"{site}/{page.stem}.{lang.lower()}.html",
                    fields,
                )
            ]
    return files


HANDBOOK_LANGUAGES = {
    "part-000.parquet": {"ar-MA": "ar", "en-US": "en", "fa-IR": "fa", "fr-FR": "fr"},
    "part-001.parquet": {"it-IT": "it", "pl-PL": "pl", "pt-BR": "pt-BR", "zh-TW": "zh-TW"},
}


def debian_handbook(packages: Packages) -> dict[str, list[Record]]:
    """Short sections of the Debian Administrator's Handbook in two Parquet files."""
    package = "debian-handbook"
    files: dict[str, list[Record]] = {}
    for name, languages in HANDBOOK_LANGUAGES.items():
        files[name] = []
        for folder, lang in languages.items():
            fields = {"lang": lang, "package": package, "version": packages.version(package)}
            site = "https://debian-handbook.info/browse"
            site += "/stable" if lang == "en" else f"/{folder}/stable"
            for page in sorted((packages.doc(package) / "html" / folder).glob("*.html")):
                records = list(html_records(page, lang, f"{site}/{page.name}", fields))
                if len(records) == 1 and page.stem != "index":
                    files[name] += records
    return files


POLICY_SECTION = 2000
"""A part of the policy manual with more characters than this is split at its headings."""

PRESERVE_NOTICE = "LicenseRef-Debian-preserve-notice"


def debian_policy(packages: Packages) -> dict[str, list[Record]]:
    """Sections of the Debian Policy Manual and of the smaller manuals shipped with it."""
    package = "debian-policy"
    fields = {"lang": "en", "package": package, "version": packages.version(package)}
    doc = packages.doc(package)
    site = "https://www.debian.org/doc"
    manuals_site = f"{site}/packaging-manuals"
    gpl = {"license_spdx": "GPL-2.0-or-later", **fields}
    policy: list[Record] = []
    for page in sorted((doc / "policy.html").glob("*.html")):
        if page.stem not in {"genindex", "search", "index"}:
            url = f"{site}/debian-policy/{page.name}"
            policy += html_records(page, "policy", url, gpl, longest=POLICY_SECTION)
    manuals: list[Record] = []
    for manual in ("menu-policy", "perl-policy"):
        for page in sorted((doc / f"{manual}.html").glob("*.html")):
            manuals += html_records(page, manual, f"{manuals_site}/{manual}/{page.name}", gpl)
    for stem, path, license_spdx in (
        ("copyright-format-1.0", "copyright-format/1.0/", PRESERVE_NOTICE),
        ("debconf_specification", "debconf_specification.html", "BSD-3-Clause"),
    ):
        terms = {"license_spdx": license_spdx, **fields}
        manuals += html_records(doc / f"{stem}.html", "manuals", f"{manuals_site}/{path}", terms)
    return {"policy.jsonl.gz": policy, "manuals.jsonl": manuals}


MAN_PACKAGES = {
    "de": ("manpages-de",),
    "en": ("manpages", "manpages-dev"),
    "es": ("manpages-es",),
    "fr": ("manpages-fr",),
    "pl": ("manpages-pl",),
}
MAN_SECTIONS = {"manpages-dev": ("2",)}
_SPDX_COMMENT = re.compile(r'^[.\'/ ][\\/*"]* *SPDX-License-Identifier: *(\S+)', re.MULTILINE)
_COPYRIGHT_COMMENT = re.compile(r'^\.\\" *(.*\bCopyright\b.*|and .*\d{4}.*)', re.MULTILINE)
TRANSLATION_LICENSE = "GPL-3.0-or-later"


def man_pages(packages: Packages) -> dict[str, list[Record]]:
    """Man pages of the Linux man-pages project and their translations, one file per language."""
    folders = [packages.root(name) / "usr/share/man" for name in MAN_PACKAGES["en"]]
    originals = {page.name for folder in folders for page in folder.glob("man*/*.gz")}
    return {
        f"{lang}.jsonl.gz": [
            record
            for package in names
            for record in _package_man_pages(packages, package, lang, originals)
        ]
        for lang, names in MAN_PACKAGES.items()
    }


def _package_man_pages(
    packages: Packages, package: str, lang: str, originals: set[str]
) -> list[Record]:
    """Render those man pages of a package that the project has and that name their licence."""
    folder = packages.root(package) / "usr/share/man" / ("" if lang == "en" else lang)
    numbers = MAN_SECTIONS.get(package, ("1", "4", "5", "7", "8"))
    pages: dict[Path, str] = {}
    for page in (page for n in numbers for page in sorted((folder / f"man{n}").glob("*.gz"))):
        source = gzip.decompress(page.read_bytes()).decode("utf-8")
        if page.name in originals and not page.is_symlink() and _man_license(source, lang):
            pages[page] = source
    with ThreadPoolExecutor() as pool:
        texts = list(pool.map(_render_man_page, pages))
    records = []
    for (page, source), text in zip(pages.items(), texts, strict=True):
        if len(text) > LONGEST_MAN_PAGE:
            continue
        name = page.name.removesuffix(".gz")
        holders = [" ".join(line.split()) for line in _COPYRIGHT_COMMENT.findall(source)]
        records.append(
            {
                "id": f"{lang}/{name}",
                "text": text,
                "url": f"https://manpages.debian.org/bookworm/{package}/{name}.{lang}.html",
                "title": name,
                "lang": lang,
                "license_spdx": _man_license(source, lang),
                "copyright": "; ".join(holders),
                "section": name.rpartition(".")[2],
                "package": package,
                "version": packages.version(package),
            }
        )
    return records


def _man_license(source: str, lang: str) -> str:
    """Give the licence of a man page, or nothing when it names none or its parts do not fit."""
    found = _SPDX_COMMENT.search(source)
    license_spdx = found.group(1) if found else ""
    if lang == "en" or license_spdx in {"", TRANSLATION_LICENSE}:
        return license_spdx
    if license_spdx == "GPL-2.0-only":
        return ""
    return f"{license_spdx} AND {TRANSLATION_LICENSE}"


def _render_man_page(page: Path) -> str:
    """Give a man page as plain text of 78 columns, not hyphenated and not justified."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "78", "MANPAGER": "cat"}
    environment.pop("MAN_KEEP_FORMATTING", None)
    options = ["--encoding=UTF-8", "--no-hyphenation", "--no-justification"]
    command = ["man", *options, "--local-file", str(page)]
    result = subprocess.run(command, check=True, capture_output=True, env=environment)
    text = result.stdout.decode("utf-8").replace("\xa0", " ")
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


PUBLIC_DOMAIN = "LicenseRef-Public-Domain"
_ENTRY = re.compile(r"^   :(.+?):(?: |$)")
_LETTER = re.compile(r"^  \S$")
_CHAPTER = re.compile(r"^(?:Chapter \d+|Appendix [A-Z])\. ")


def jargon_file(packages: Packages) -> dict[str, list[Record]]:
    """Chapters and the entries A to F of the Jargon File; its documents have no identifier."""
    package = "jargon-text"
    text = gzip.decompress((packages.doc(package) / "jargon.txt.gz").read_bytes()).decode("utf-8")
    documents: list[tuple[str, str, list[str]]] = []
    current: list[str] | None = None
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        if entry or _CHAPTER.match(line):
            title = entry.group(1) if entry else line.strip()
            current = []
            documents.append(("entry" if entry else "chapter", title, current))
        elif _LETTER.match(line) or line.strip() in {"Glossary", "Bibliography"}:
            current = None
        if current is not None:
            current.append(line.removeprefix("   ").rstrip())
    fields = {"package": package, "version": packages.version(package)}
    records: list[Record] = [
        {"text": "\n".join(lines).strip(), "title": title, "kind": kind, **fields}
        for kind, title, lines in documents
        if kind == "chapter" or title[:1].upper() in "ABCDEF"
    ]
    return {"jargon.jsonl.zst": records}


COPYRIGHT_PACKAGES = words("""
    bsdextrautils bsdutils dconf-gsettings-backend dconf-service dmsetup e2fsprogs libargon2-1
    libasound2-data libassuan0 libatinject-jsr330-api-java libatk-bridge2.0-0 libatk-wrapper-java
    libatk-wrapper-java-jni libatk1.0-0 libatspi2.0-0 libaudit-common libaudit1 libavif15
    libbz2-1.0 libcap-ng0 libcap2 libcap2-bin libcbor0.8 libcdi-api-java libcom-err2
    libcommons-cli-java libcommons-parent-java libdatrie1 libdconf1 libdeflate0 libexpat1
    libfido2-1 libfribidi0 libgdbm-compat4 libgdbm6 libgeronimo-annotation-1.3-spec-java libgif7
    libgpm2 libgraphite2-3 libipt2 libjansi-java libjansson4 libjson-c5 libjsoncpp25 libkeyutils1
    liblz4-1 libmaven-parent-java libmnl0 libnpth0 libnsl-dev libnsl2 libnss-systemd
    libpackagekit-glib2-18 libpam-cap libpcsclite1 libpkgconf3 libplexus-cipher-java
    libplexus-classworlds-java libplexus-component-annotations-java libplexus-sec-dispatcher-java
    libproc2-0 libpsl5 libseccomp2 libsmartcols1 libss2 libthai0 libtirpc-common libtirpc3
    libuchardet0 libudev1 libunwind8 libutempter0 libuuid1 libwagon-file-java
    libwagon-provider-api-java libxcb-image0 libxcb-render-util0 libxcb-util1 libxxhash0 libz3-dev
    logsave lz4 packagekit-tools pinentry-curses pkg-config pkgconf pkgconf-bin
    python3-argcomplete python3-blinker python3-cffi-backend python3-crcmod python3-distro
    python3-httplib2 python3-jwt python3-oauthlib python3-openssl python3-six python3-toml
    python3-wheel python3-xmltodict readline-common rpcsvc-proto systemd-sysv systemd-timesyncd
    sysvinit-utils util-linux-extra uuid-dev yq zlib1g
""")
DEBIAN_LICENSES = {
    "Apache-2.0": "Apache-2.0",
    "BSD-2-clause": "BSD-2-Clause",
    "BSD-3-clause": "BSD-3-Clause",
    "BSD-3-clause or GPL-2+": "BSD-3-Clause OR GPL-2.0-or-later",
    "CC0": "CC0-1.0",
    "CC0-1.0": "CC0-1.0",
    "Expat": "MIT",
    "GPL-2": "GPL-2.0-only",
    "GPL-2+": "GPL-2.0-or-later",
    "GPL-2.0+": "GPL-2.0-or-later",
    "GPL-3": "GPL-3.0-only",
    "GPL-3+": "GPL-3.0-or-later",
    "ISC": "ISC",
    "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only",
    "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3.0": "LGPL-3.0-only",
    "MIT": "MIT",
    "Zlib": "Zlib",
}
"""Licence names of machine-readable copyright files, as SPDX expressions."""


def debian_copyright(packages: Packages) -> dict[str, list[Record]]:
    """Machine-readable copyright files that say under which licence the packaging is."""
    records: list[Record] = []
    for package in COPYRIGHT_PACKAGES:
        file = packages.doc(package) / "copyright"
        if not file.is_file():
            continue
        text = file.read_text("utf-8")
        license_spdx = packaging_license(text)
        if license_spdx is not None:
            records.append(
                {
                    "id": package,
                    "text": text.strip(),
                    "url": f"https://packages.debian.org/bookworm/{package}",
                    "title": f"{package}: copyright",
                    "lang": "en",
                    "license_spdx": license_spdx,
                    "package": package,
                    "version": packages.version(package),
                }
            )
    return {"copyright.jsonl.gz": records}


def packaging_license(text: str) -> str | None:
    """Give the licence of ``debian/*`` in a copyright file, where it is one that we know."""
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE))
        if "debian/*" in fields.get("Files", "").split():
            name = fields.get("License", "").split("\n")[0].strip()
            return DEBIAN_LICENSES.get(name)
    return None


# --------------------------------------------------------------------------------------------------
# The table of sources

_SPLIT = (
    "HTML converted to plain text; navigation and tables of contents left out; pages of more than "
    f"{LONG_PAGE:,} characters split at their headings."
)
SOURCES = (
    Source(
        id="installation-guide",
        title="Debian GNU/Linux Installation Guide (bookworm), amd64 and arm64",
        packages=("installation-guide-amd64", "installation-guide-arm64"),
        license_spdx="GPL-2.0-only",
        license_note=(
            "The package's copyright file says “GNU GPL, version 2”, with no “or later”; the text "
            "of the licence is in LICENSES/GPL-2.txt and is an appendix of the guide itself."
        ),
        url="https://www.debian.org/releases/bookworm/installmanual",
        holders=(
            "1996 Bruce Perens; 1996, 1997 Sven Rudolph; 1998 Igor Grobman, James Treacy; "
            "1998–2002 Adam Di Carlo; 2003 Chris Tillman; 2004–2023 the Debian Installer team, and "
            "other contributors"
        ),
        changes=_SPLIT,
        make=installation_guide,
        license_files=("installation-guide-amd64",),
    ),
    Source(
        id="debian-handbook",
        title="The Debian Administrator's Handbook, Debian Bullseye from Discovery to Mastery",
        packages=("debian-handbook",),
        license_spdx="CC-BY-SA-3.0 OR GPL-2.0-or-later",
        license_note=(
            "“GPL-2.0+ or CC-BY-SA-3.0”: the text of CC-BY-SA-3.0 is in "
            "LICENSES/debian-handbook.copyright.txt, of the GPL in LICENSES/GPL-2.txt."
        ),
        url="https://debian-handbook.info/",
        holders=(
            "2003–2015 Raphaël Hertzog; 2006–2015 Roland Mas; 2013–2015 Freexian SARL; and the "
            "translators"
        ),
        changes=(
            "HTML converted to plain text; navigation, index terms and tables of contents left "
            f"out; only pages of at most {LONG_PAGE:,} characters taken. A section that is not "
            "translated stands there in English under the language of its edition."
        ),
        make=debian_handbook,
        license_files=("debian-handbook",),
    ),
    Source(
        id="debian-policy",
        title="Debian Policy Manual, sub-policies and specifications",
        packages=("debian-policy",),
        license_spdx="GPL-2.0-or-later",
        license_note=(
            "GPL-2.0-or-later for the manual and the sub-policies (text in LICENSES/GPL-2.txt); "
            f"BSD-3-Clause for the debconf specification; {PRESERVE_NOTICE} (copying and "
            "distribution permitted in any medium provided the notice is preserved) for the "
            "copyright format; all in LICENSES/debian-policy.copyright.txt. The licence of each "
            "document is in its `license_spdx`. The reStructuredText and DocBook sources are in "
            "Debian's source package `debian-policy`."
        ),
        url="https://www.debian.org/doc/debian-policy/",
        holders=(
            "1996, 1997, 1998 Ian Jackson and Christian Schwarz; 1999 Chris Waters, Joey Hess and "
            "Joost Witteveen; 1999, 2001 Raphaël Hertzog and Brendan O'Dea; 1998–2000 Wichert "
            "Akkerman and Joey Hess; 1999–2018 many other Debian contributors"
        ),
        changes="HTML converted to plain text; navigation left out; chapters split at headings.",
        make=debian_policy,
        lang="en",
        license_files=("debian-policy",),
    ),
    Source(
        id="man-pages",
        title="Linux man-pages and their translations (manpages-l10n)",
        packages=tuple(name for names in MAN_PACKAGES.values() for name in names),
        license_spdx="Linux-man-pages-copyleft",
        license_note=(
            "The licence of each document is the `SPDX-License-Identifier` in its source; a "
            f"translation also is under the translators' {TRANSLATION_LICENSE} (joined with AND; "
            "translations of GPL-2.0-only pages are left out). The texts of the licences are in "
            "LICENSES/manpages.copyright.txt, LICENSES/GPL-1.txt, LICENSES/GPL-2.txt and "
            "LICENSES/GPL-3.txt. The roff sources are in Debian's source packages `manpages` and "
            "`manpages-l10n`."
        ),
        url="https://www.kernel.org/doc/man-pages/",
        holders=(
            "per page, in the field `copyright` of each document, as its source states it; "
            "translators are named at the end of each translated page"
        ),
        changes=(
            "Rendered to plain text of 78 columns; only pages whose source names an SPDX licence, "
            f"of at most {LONGEST_MAN_PAGE:,} characters, of the sections 1, 4, 5, 7 and 8 (and 2, "
            "from manpages-dev)."
        ),
        make=man_pages,
        license_files=("manpages",),
    ),
    Source(
        id="jargon-file",
        title="The Jargon File, version 4.4.7",
        packages=("jargon-text",),
        license_spdx=PUBLIC_DOMAIN,
        license_note=(
            "“This document (the Jargon File) is in the public domain, to be freely used, shared, "
            "and modified”: LICENSES/jargon-text.copyright.txt."
        ),
        url="http://www.catb.org/~esr/jargon/",
        holders="none (public domain); edited by Eric S. Raymond",
        changes=(
            "Split in chapters and lexicon entries, entries A to F only; the indentation of the "
            "text removed. Cite it as “Jargon File 4.4.7”."
        ),
        make=jargon_file,
        lang="en",
        license_files=("jargon-text",),
    ),
    Source(
        id="debian-copyright",
        title="Copyright files of Debian packages",
        packages=COPYRIGHT_PACKAGES,
        license_spdx="GPL-2.0-or-later",
        license_note=(
            "The licence of each document is the one its own text states for `debian/*`, the "
            "packaging it is a part of; the text itself quotes or names the licences. (Licence "
            "texts quoted in it may be copied, and some of them may not be changed.)"
        ),
        url="https://www.debian.org/distrib/packages",
        holders="the package maintainers, named in each document under `debian/*`",
        changes=(
            "None, but for white space at the beginning and the end; only machine-readable files "
            "with a known licence of `debian/*`."
        ),
        make=debian_copyright,
        lang="en",
    ),
)
COMMON_LICENSES = ("GPL-1", "GPL-2", "GPL-3")


# --------------------------------------------------------------------------------------------------
# Output


def write_records(file: Path, records: Sequence[Record]) -> None:
    """Write raw documents in the format that the name of the file asks for."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".parquet":
        columns = list(dict.fromkeys(key for record in records for key in record))
        schema = pa.schema([(column, pa.string()) for column in columns])
        table = pa.Table.from_pylist(list(records), schema=schema)
        pq.write_table(table, file, compression="zstd", compression_level=19)
        return
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    data = lines.encode("utf-8")
    if file.suffix == ".gz":
        data = gzip.compress(data, compresslevel=9, mtime=0)
    elif file.suffix == ".zst":
        data = pa.Codec("zstd", compression_level=19).compress(data, asbytes=True)
    file.write_bytes(data)


def write_licenses(folder: Path, packages: Packages) -> None:
    """Write the texts of the licences and the statements of the packages about them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in COMMON_LICENSES:
        shutil.copyfile(
            packages.root("base-files") / "usr/share/common-licenses" / name, folder / f"{name}.txt"
        )
    for source in SOURCES:
        for package in source.license_files:
            shutil.copyfile(
                packages.doc(package) / "copyright", folder / f"{package}.copyright.txt"
            )


def attribution(packages: Packages, written: dict[str, list[Record]], duplicates: str) -> str:
    """Give the text of ``ATTRIBUTION.md``."""
    lines = [
        "# Where the sample documents come from",
        "",
        "`examples/make_sample.py` made these files from packages of Debian 12 (bookworm).",
        "The texts are real and stand under the licences named here, not under the licence of this",
        "project.",
        "",
    ]
    for source in SOURCES:
        records = written[source.id]
        licences = Counter(record.get("license_spdx", source.license_spdx) for record in records)
        versions = [f"`{name}` {packages.version(name)}" for name in source.packages]
        if source.id == "debian-copyright":
            used = [record["package"] for record in records]
            versions = [f"`{name}` {packages.version(name)}" for name in used]
        lines += [
            f"## {source.id}",
            "",
            f"- Title: {source.title}",
            f"- Upstream: <{source.url}>",
            f"- Debian packages: {', '.join(versions)}",
            f"- Licence: {', '.join(f'`{name}` ({n})' for name, n in sorted(licences.items()))}",
            f"- Licence text: {source.license_note}",
            f"- Copyright holders: {source.holders}",
            f"- Changes: {source.changes}",
            f"- Documents: {len(records)}",
            "",
        ]
    return "\n".join([*lines, "## Duplicates", "", duplicates, ""])


# --------------------------------------------------------------------------------------------------
# Duplicates

_WORD = re.compile(r"\w+")
SHINGLE_WORDS = 5
NEAR = 0.8


def shingles(text: str) -> frozenset[int]:
    """Give the set of (hashed) runs of five words of a text."""
    words = _WORD.findall(text.lower())
    count = len(words) - SHINGLE_WORDS + 1
    runs = (" ".join(words[i : i + SHINGLE_WORDS]) for i in range(count))
    return frozenset(zlib.crc32(run.encode()) for run in runs)


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Give the pairs of texts that share at least 80 % of their runs of five words.

    Two such sets must share one of the rarest fifth of their members, so that only texts that do
    are compared.
    """
    sets = [shingles(text) for text in texts]
    frequency = Counter(shingle for members in sets for shingle in members)
    holders: dict[int, list[int]] = defaultdict(list)
    pairs = []
    for i, members in enumerate(sets):
        rarest = sorted(members, key=lambda shingle: (frequency[shingle], shingle))
        prefix = rarest[: len(rarest) - int(NEAR * len(rarest)) + 1]
        candidates = {j for shingle in prefix for j in holders[shingle]}
        for j in sorted(candidates):
            shared = len(members & sets[j])
            if shared >= NEAR * (len(members) + len(sets[j]) - shared):
                pairs.append((j, i))
        for shingle in prefix:
            holders[shingle].append(i)
    return pairs


def duplicate_summary(records: Sequence[Record]) -> str:
    """Count exact and near duplicates and say so in a paragraph."""
    groups = Counter(hashlib.sha256(record["text"].encode()).digest() for record in records)
    repeated = [count for count in groups.values() if count > 1]
    texts = list(dict.fromkeys(record["text"] for record in records))
    pairs = near_duplicates(texts)
    near = {index for pair in pairs for index in pair}
    return (
        f"Of {len(records):,} documents, {sum(repeated):,} have a text that another one has too, "
        f"in {len(repeated):,} groups: removing exact duplicates (SHA-256 of the text) removes "
        f"{sum(repeated) - len(repeated):,} and leaves {len(texts):,}. Of these, {len(near):,} "
        f"have a near duplicate (at least {NEAR:.0%} of all runs of {SHINGLE_WORDS} words in "
        f"common), in {len(pairs):,} pairs."
    )


# --------------------------------------------------------------------------------------------------
# Command line


def _print_counts(title: str, counts: Counter[str]) -> None:
    """Print how often there is what, most frequent first."""
    print(f"\n{title}")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"  {count:6,}  {name}")


def _counter(records: Iterable[tuple[Source, Record]], key: str) -> Counter[str]:
    """Count the values of a field, which a source may set for all its documents."""
    return Counter(str(record.get(key) or getattr(source, key)) for source, record in records)


def make_sample(out: Path, packages: Packages) -> None:
    """Write all sources, and print how many documents there are of what."""
    packages.fetch(["base-files", *(name for source in SOURCES for name in source.packages)])
    written: dict[str, list[Record]] = {}
    for source in SOURCES:
        shutil.rmtree(out / source.id, ignore_errors=True)
        written[source.id] = []
        for name, records in source.make(packages).items():
            file = out / source.id / name
            write_records(file, records)
            written[source.id] += records
            print(f"{file.stat().st_size:9,} bytes {len(records):6,} documents  {source.id}/{name}")
    everything = [(source, record) for source in SOURCES for record in written[source.id]]
    duplicates = duplicate_summary([record for _, record in everything])
    shutil.rmtree(out / "LICENSES", ignore_errors=True)
    write_licenses(out / "LICENSES", packages)
    (out / "ATTRIBUTION.md").write_text(attribution(packages, written, duplicates), "utf-8")
    _print_counts("Documents per source", Counter(source.id for source, _ in everything))
    _print_counts("Documents per language", _counter(everything, "lang"))
    _print_counts("Documents per licence", _counter(everything, "license_spdx"))
    print(f"\n{duplicates}")
    size = sum(f.stat().st_size for s in SOURCES for f in (out / s.id).iterdir())
    print(f"\n{len(everything):,} documents in {size:,} bytes")


def main() -> None:
    """Read the command line and make the sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path(__file__).parent / "sample"
    parser.add_argument("--out", type=Path, default=default, help="folder to write to")
    parser.add_argument("--packages", type=Path, help="folder to keep the packages in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        downloads = (arguments.packages or Path(scratch, "packages")).resolve()
        downloads.mkdir(parents=True, exist_ok=True)
        make_sample(arguments.out, Packages(downloads, Path(scratch, "unpacked")))


if __name__ == "__main__":
    main()
