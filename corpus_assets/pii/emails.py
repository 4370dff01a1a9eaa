"""E-mail addresses: each sign that stands for @ is a candidate; look left and right of it."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources

from corpus_assets.pii import hint_bits
from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

LOCAL_MOST, DOMAIN_MOST = 64, 255
"""Characters of a local part and of a domain, at most (RFC 5321, 4.5.3.1)."""

_LATIN = "A-Za-z\u00aa\u00ba\u00c0-\u024f\u0300-\u036f\u1e00-\u1eff"
_JOINING = r"0-9._%+'\-&#~"
_BACKWARDS_LATIN = re.compile(rf"[{_LATIN}{_JOINING}]+")
_BACKWARDS_OTHER = re.compile(rf"(?:(?![{_LATIN}])[\w\u0900-\u0dff]|[{_JOINING}])+")
_GLUED = re.compile(r"[._+]\Z")
_QUOTED = re.compile(r'"[^"\\\r\n@]{1,64}"$')

_MARKS = "\u0300-\u036f\u0900-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
"""Of letters; scripts of India and Thai write vowels as such."""
_SEVERAL = re.compile(r"\\?\{(?:\s?[\w.+\-]{2,40}\s?[,;|/]){1,20}\s?[\w.+\-]{2,40}\s?\\?\}\Z")
SEVERAL_MOST = 400
"""Local parts in braces, as papers print those of their authors: `{lee,khan}@example.edu`."""

_LABEL = rf"(?!_)[\w{_MARKS}](?:[\w{_MARKS}\-]{{0,62}}[\w{_MARKS}](?<!_))?"
_DOMAIN = re.compile(rf"{_LABEL}(?:[.\u3002\uff61]{_LABEL}){{1,9}}")
_LITERAL = re.compile(
    r"\[(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|IPv6:[0-9A-Fa-f:.]{2,45})\]", re.IGNORECASE
)
_DOTS = re.compile("[.\u3002\uff61]")
_ASCII_HEAD = re.compile(r"[A-Za-z]+|[^\x00-\x7f]+")
_CAMEL = re.compile(r"([a-z]{2,})(?=[A-Z])")
_VERSION = re.compile(
    r"(?:v[0-9]+|[0-9]|[0-9]+(?:\.[0-9]+)+)(?:\.|\Z)|[0-9]+\.(?:dev|x)\b|[0-9]x\.", re.IGNORECASE
)
"""`163.com` and `51.com` are domains."""
_DENSITY = re.compile(r"[1-9]x\.")
_ESCAPE = re.compile(r"\\[nrt]\Z")

_FILES = frozenset(
    [
        "py",
        "sh",
        "zip",
        "mov",
        "so",
        "ps",
        "java",
        "box",
        "target",
        "map",
        "data",
        "dot",
        "fit",
        "call",
        "read",
        "save",
        "run",
    ]
)
"""Top-level domains that in `name@word.tld` are a file, a unit or an attribute far more often."""

_FORGES = re.compile(
    r"(?:[\w-]+\.)*(?:github|gitlab|bitbucket|codeberg|gitee|gitea|sr|dev\.azure|visualstudio|"
    r"gitcode|launchpad|savannah|kernel|archlinux)\.\w+(?:\.\w+)?\Z",
    re.IGNORECASE,
)
_TRANSPORT_USERS = frozenset({"git", "hg", "svn", "cvs", "aur", "gitea", "gerrit"})
_SHELL = re.compile(
    r"(?:^|[\s$#`|;&(])(?:ssh|scp|sftp|rsync|mosh|ssh-copy-id|autossh|sshfs)\s[^\n]{0,80}\Z"
)
_SHELL_NAMES = ("ssh", "scp", "sftp", "rsync", "mosh")
"""What `_SHELL` holds, for a look that takes less."""
_PATH_AFTER = re.compile(r":(?:[~/]|[\w.\-]+/|[\w.\-]+\.git\b)")
_USERINFO = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^\s/?#@]*\Z")
_CALL_AFTER = re.compile(r"\((?:\)|[A-Za-z0-9_.]+[,)=(])|\[")
_NEVER_CALLED = frozenset(["com", "net", "org", "edu", "gov"])
_CODE_WORDS = frozenset(["this", "super", "self", "cls", "it", "return", "case"])
_CLASS_NAMES = re.compile(r"[A-Z]\w*(?:\.[A-Z]\w*)*\Z")


@cache
def top_level_domains() -> frozenset[str]:
    """Return the top-level domains in lower case, those of other scripts in both forms."""
    text = (resources.files("corpus_assets.pii") / "tlds.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def local_start(text: str, sign: int, least: int = 0) -> int | None:
    """Return where the local part before `sign` starts, or None if there is none.

    A local part is of one script, so that the address in a line of Chinese or Thai is found
    without the words that touch it; only a dot or the like joins two scripts.
    """
    head = text[max(least, sign - LOCAL_MOST - 1) : sign]
    if head.endswith("}"):
        several = _SEVERAL.search(text[max(least, sign - SEVERAL_MOST) : sign])
        return sign - len(several[0]) if several else None
    if head.endswith('"'):
        quoted = _QUOTED.search(head)
        return sign - len(quoted[0]) if quoted else None
    backwards = head[::-1]
    length = 0
    for pattern in (_BACKWARDS_LATIN, _BACKWARDS_OTHER) * 2:
        match = pattern.match(backwards, length)
        if match is not None and (length == 0 or _GLUED.search(backwards[:length])):
            length = match.end()
    if length > LOCAL_MOST:
        return None
    local = head[len(head) - length :]
    skipped = len(local) - len(_without_lead(local))
    if local.endswith((".", "'", "&", "#", "~")) or skipped == len(local):
        return None
    return sign - length + skipped


_LEAD = re.compile(r"^(?:%[0-9A-Fa-f]{2}|[.%+'\-&#~\u0300-\u036f]|&?#?\w{2,8};)+")
_PARAMETER = re.compile(r".*&(?:amp;)?")


def _without_lead(local: str) -> str:
    """Return a local part without what a URL, a quote or a list left before it."""
    parameter = _PARAMETER.match(local)
    if parameter:
        local = local[parameter.end() :]
    lead = _LEAD.match(local)
    return local[lead.end() :] if lead else local


def domain_end(text: str, start: int, most: int = DOMAIN_MOST) -> int | None:
    """Return where the domain at `start` ends, or None if no name in it is in the root zone."""
    match = _DOMAIN.match(text[start : start + most])
    if match is None:
        return None
    labels = _labels(match[0])
    for number in range(len(labels) - 1, 0, -1):
        first, last = labels[number]
        size = _top_level(match[0][first:last])
        if size is None or (size < last - first and number < len(labels) - 1):
            continue
        if number > 1 and _begins_sentence(match[0], labels, number):
            continue
        return start + first + size
    return None


def _labels(domain: str) -> list[Bounds]:
    bounds: list[Bounds] = []
    start = 0
    for dot in _DOTS.finditer(domain):
        bounds.append((start, dot.start()))
        start = dot.end()
    return [*bounds, (start, len(domain))]


def _top_level(label: str) -> int | None:
    """Return how much of a label is a top-level domain: all, or what touches a word after it."""
    known = top_level_domains()
    if label.lower() in known:
        return len(label)
    head = _ASCII_HEAD.match(label)
    if head and head[0].lower() in known:
        rest = label[head.end() :].lstrip("-")
        if rest and not rest[0].isascii():
            return head.end()
    camel = _CAMEL.match(label)
    return camel.end() if camel and camel[1] in known else None


def _begins_sentence(domain: str, labels: list[Bounds], number: int) -> bool:
    """Return whether a last label is the word after a full stop: `me@example.com.In autumn`."""
    last, before = (domain[first:end] for first, end in (labels[number], labels[number - 1]))
    return last.istitle() and before.islower() and before in top_level_domains()


def accept_sign(text: str, sign: int, after: int) -> Bounds | None:
    """Return the bounds of the address whose @ is `text[sign:after]`, or None if it is none."""
    start = local_start(text, sign)
    if start is None:
        return None
    if text[after : after + 1] == "[":
        literal = _LITERAL.match(text[after : after + 50])
        return (start, after + literal.end()) if literal else None
    end = domain_end(text, after)
    if end is None:
        return None
    start = _with_escaped(text, _after_escape(text, start))
    local, domain = text[start:sign], text[after:end]
    if (
        not local
        or _is_code(text, start, end, local, domain)
        or _is_transport(text, start, end, local, domain)
    ):
        return None
    return start, end


def _after_escape(text: str, start: int) -> int:
    r"""Return the start without the letter of an escape such as the `n` of a written `\n`."""
    return start + 1 if _ESCAPE.search(text[max(0, start - 1) : start + 1]) else start


def _with_escaped(text: str, start: int) -> int:
    r"""Return the start of a local part in which TeX escapes underscores: `first\\_last@`."""
    while text[max(0, start - 1) : start + 1] == r"\_":
        earlier = local_start(text, start - 1)
        if earlier is None:
            break
        start = earlier
    return start


def _is_code(text: str, start: int, end: int, local: str, domain: str) -> bool:
    """Return whether an address is a version, a file, an expression or a handle."""
    name, _, top = domain.rpartition(".")
    before = text[start - 1 : start]
    short = len(local) == 1 and len(name) == 1
    followed = text[end : end + 12]
    return bool(
        _VERSION.match(domain)
        or _DENSITY.match(domain)
        or before == "\\"
        or (before == "@" and not text[max(0, start - 2) : start - 1].isalnum())
        or (short and not (local + domain).islower())
        or (top in _FILES and "." not in name)
        or (len(name) <= 2 and top not in _NEVER_CALLED and _CALL_AFTER.match(followed))
        or (local in _CODE_WORDS and domain[0].isupper())
        or (followed.startswith("(") and _CLASS_NAMES.match(domain))
        or (name.isdecimal() and not top.islower())
        or re.match(r"\.(?:html?|php|js|css|png|jpe?g|gif|svg|xml|json)\b", followed)
    )


def _is_transport(text: str, start: int, end: int, local: str, host: str) -> bool:
    """Return whether an address is the user and host of a connection, not a mailbox."""
    if local in _TRANSPORT_USERS and (_FORGES.match(host) or text[end : end + 1] == ":"):
        return True
    line = text[max(0, start - 120) : start]
    return bool(
        _PATH_AFTER.match(text[end : end + 80])
        or ("://" in line and _USERINFO.search(line))
        or (any(name in line for name in _SHELL_NAMES) and _SHELL.search(line.rpartition("\n")[2]))
    )


_AT_WORDS = (
    "at|@|ät|aet|a|arroba|arobase|arobas|chiocciola|chez|et|собака|собачка|гав|zavináč|zavinac|"
    "małpa|malpa|kukac|snabel-?a|alfakrøll|krøllalfa|ätt|ätmerkki|miukumauku|apenstaartje|apestaart|"
    "klammeraffe|affe|kuyruklu|παπάκι|שטרודל|آت|圈|アット|アットマーク|골뱅이"
)
_DOT_WORDS = (
    "dot|d0t|punkt|point|punto|ponto|pt|punct|kropka|piste|pont|tečka|tecka|bodka|точка|тчк|крапка|"
    "nokta|τελεία|נקודה|点|點|ドット|닷|점|stop|dt|prick|punktum|\\."
)
AT_WORDS = (
    *_AT_WORDS.replace("-?", "").split("|"),
    "snabel-a",
    "AT",
    "At",
    "ÄT",
    "ARROBA",
    "Arroba",
)
"""What stands in brackets for @."""
DOT_WORDS = tuple(_DOT_WORDS.replace("\\", "").split("|"))
_OPEN, _CLOSE = r"[(\[{<«【「]", r"[)\]}>»】」]"
_BRACKETED_AT = rf" {{0,2}}(?:{_OPEN}[-*]? ?(?:{_AT_WORDS}|AT|At|ÄT|ARROBA|Arroba) ?[-*]?{_CLOSE}|[-_*|~](?:at|AT)[-_*|~]) {{0,2}}"
_ANY_DOT = rf"(?: {{0,2}}{_OPEN} ?(?i:{_DOT_WORDS}) ?{_CLOSE} {{0,2}}| (?i:{_DOT_WORDS}) |[_*|~](?:dot|DOT)[_*|~]|\.)"
_WORD = r"[\pL\pN][\pL\pN\pM\-]*"

OBFUSCATED = linear(rf"{_BRACKETED_AT}{_WORD}(?:{_ANY_DOT}{_WORD}){{1,5}}")
_SPELLED_AT = "AT|At|at|ÄT|ARROBA|arroba|собака|СОБАКА|chiocciola|CHIOCCIOLA|małpa"
_SPELLED_DOT = "punto|PUNTO|ponto|PONTO|точка|ТОЧКА|kropka|PUNKT|punkt"
"""`at some point in` is no address: after a bare `at` only a bare `dot` counts."""
SPELLED = linear(
    rf" (?:AT|At|at) {_WORD}(?: (?:dot|DOT|Dot) {_WORD}){{1,4}}|"
    rf" (?:{_SPELLED_AT[9:]}) {_WORD}(?: (?:{_SPELLED_DOT}) {_WORD}){{1,4}}"
)
ARCHIVED = linear(rf"(?:^|[\n> ])From:? [A-Za-z0-9._%+\-]{{1,64}} at {_WORD}(?:\.{_WORD}){{1,5}}")
"""As mailing lists' archives print the line `From`; elsewhere ` at ` and a domain are a sentence."""
SPACED = linear(rf" @ {_WORD}(?:\.{_WORD}){{1,5}}")
ENCODED = linear(
    r"(?:&#0{0,4}64;|&#[xX]0{0,4}40;|&commat;|&COMMAT;|%40|\\[uU]0040|\\[xX]40|=40)[\pL\pN]"
)

_DOT_FORM = re.compile(rf"(?: {{0,2}}{_OPEN} ?(?:{_DOT_WORDS}) ?{_CLOSE} {{0,2}}| (?:{_DOT_WORDS}) |[_*|~]dot[_*|~])",
                       re.IGNORECASE)  # fmt: skip
_PLAIN_AT = re.compile(rf"(?:{_BRACKETED_AT}| (?:AT|At|at|ÄT|ARROBA|arroba|собака|СОБАКА|"
                       rf"chiocciola|CHIOCCIOLA|małpa) | @ )")  # fmt: skip
_NOT_NAMES = frozenset(
    [
        "us",
        "me",
        "look",
        "find",
        "visit",
        "online",
        "here",
        "is",
        "are",
        "was",
        "be",
        "found",
        "live",
        "available",
        "hosted",
        "it",
        "them",
        "site",
        "website",
        "page",
        "pages",
        "docs",
        "documentation",
        "more",
        "see",
        "meet",
        "join",
        "follow",
        "up",
        "starts",
        "ends",
        "open",
        "and",
        "or",
        "the",
        "a",
        "an",
        "on",
        "by",
        "of",
        "lunch",
        "dinner",
        "working",
        "works",
        "work",
        "read",
        "buy",
        "sold",
        "only",
        "again",
        "now",
        "today",
        "com",
        "выглядит",
        "смотри",
        "найти",
    ]
)


def accept_written(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of an address in words, `jane (at) example (dot) com`, or None."""
    at = _PLAIN_AT.match(text[start:end])
    if at is None:
        return None
    sign, after = start, start + at.end()
    end = _written_end(text, after, end) or 0
    first = _written_start(text, sign)
    if first is None or not end:
        return None
    spelled = at[0].strip()
    domain = text[after:end]
    if not _is_plausible(text, first, sign, spelled, domain):
        return None
    return first, end


def _written_start(text: str, sign: int) -> int | None:
    """Return where a local part in words starts: `jane (dot) doe` is one too."""
    start = local_start(text, sign)
    while start is not None:
        head = text[max(0, start - 40) : start]
        dots = [m for m in _DOT_FORM.finditer(head) if m.end() == len(head)]
        if not dots:
            return start
        before = local_start(text, start - len(dots[0][0]))
        if before is None:
            return start
        start = before
    return None


def _written_end(text: str, start: int, end: int) -> int | None:
    """Return where a domain in words ends: after the last label that is in the root zone."""
    dots = list(_ANY_DOT_FORM.finditer(text, start, end))
    ends = [*(dot.start() for dot in dots[1:]), end]
    for dot, last in reversed(list(zip(dots, ends, strict=True))):
        size = _top_level(text[dot.end() : last])
        if size is not None:
            return dot.end() + size
    return None


_ANY_DOT_FORM = re.compile(rf"{_DOT_FORM.pattern}|\.", re.IGNORECASE)


def _is_plausible(text: str, first: int, sign: int, spelled: str, domain: str) -> bool:
    """Return whether words around an `at` are an address and not a sentence."""
    local = text[first:sign]
    line = text[max(0, first - 40) : first].rpartition("\n")[2]
    bare = spelled in {"at", "At", "@"}
    letter = spelled.strip("()[]{}<>«»【】「」*_|/~- ").lower() in {"a", "et"}
    if letter and (len(local) < 2 or " " in text[sign - 1 : sign + 1]):
        return False
    if local.lower() in _NOT_NAMES or _VERSION.match(domain):
        return False
    if spelled == "@":
        return bool(re.search(r"[._0-9]", local) or _LABELLED.search(line)) and "/" not in line[-1:]
    if bare:
        return not _MORE.search(line) or bool(_LABELLED.search(line))
    return not _USERINFO.search(line)


_LABELLED = re.compile(
    r"(?:e-?mail|mail|mailto|courriel|correo|contact|kontakt|почта|mejl|邮箱|メール)\W{0,4}(?:\w+\W{1,2})?\Z",
    re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:more|further|the|our|your|this|their|its|latest|all)\s\Z", re.IGNORECASE)


_DOMAIN_BEGINS = re.compile(f"[\\w{_MARKS}\\-]{{1,63}}[.\u3002\uff61]|\\[")


def find_signs(text: str) -> Iterator[Bounds]:
    """Yield the addresses around each @ before what may be a domain."""
    sign = text.find("@")
    while sign >= 0:
        bounds = accept_sign(text, sign, sign + 1) if _DOMAIN_BEGINS.match(text, sign + 1) else None
        if bounds is not None:
            yield bounds
        sign = text.find("@", sign + 1)


def _accept_archived(text: str, start: int, end: int) -> Bounds | None:
    sign = text.index(" at ", start)
    first, last = local_start(text, sign), domain_end(text, sign + len(" at "))
    if first is None or last is None or last > end or text[first:sign].lower() in _NOT_NAMES:
        return None
    return first, last


def _accept_encoded(text: str, start: int, end: int) -> Bounds | None:
    bounds = accept_sign(text, start, end - 1)
    if bounds is None or text[start] != "=":
        return bounds
    return bounds if "=" not in text[max(0, bounds[0] - 3) : bounds[0]] else None


FINDERS = (
    Finder(find_signs, hint_bits.SIGN, keeps_dashes=True),
    Finder(by_pattern(ENCODED, _accept_encoded), hint_bits.ENCODED_SIGN, keeps_dashes=True),
    Finder(by_pattern(OBFUSCATED, accept_written), hint_bits.BRACKETED_AT, keeps_dashes=True),
    Finder(by_pattern(SPELLED, accept_written), hint_bits.SPELLED_AT, keeps_dashes=True),
    Finder(by_pattern(ARCHIVED, _accept_archived), hint_bits.ARCHIVED_AT, keeps_dashes=True),
    Finder(by_pattern(SPACED, accept_written), hint_bits.SPACED_SIGN, keeps_dashes=True),
)
