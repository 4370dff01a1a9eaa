"""IP addresses of the public internet, IPv4 and IPv6, and none of what only looks like one.

The special ranges are pinned here: Python's own table changes with its patch releases.
"""

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from corpus_assets.pii import hint_bits
from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

SPECIAL_RANGES = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
"""IANA IPv4 Special-Purpose Address Registry (RFC 6890 and updates, 2024), and multicast."""

GLOBAL_UNICAST = IPv6Network("2000::/3")
"""What IANA hands out; nothing else of IPv6 names a host of the public internet."""

SPECIAL_RANGES_6 = tuple(
    IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
"""IANA IPv6 Special-Purpose Address Registry (2024), the part in 2000::/3."""

RESOLVERS = frozenset(
    IPv4Address(text)
    for text in [
        "1.0.0.1",
        "1.0.0.2",
        "1.0.0.3",
        "1.1.1.1",
        "1.1.1.2",
        "1.1.1.3",
        "4.2.2.1",
        "4.2.2.2",
        "4.2.2.3",
        "4.2.2.4",
        "4.2.2.5",
        "4.2.2.6",
        "8.8.4.4",
        "8.8.8.8",
        "8.20.247.20",
        "8.26.56.26",
        "9.9.9.9",
        "9.9.9.10",
        "9.9.9.11",
        "45.90.28.0",
        "64.6.64.6",
        "64.6.65.6",
        "76.76.2.0",
        "76.76.10.0",
        "76.76.19.19",
        "77.88.8.1",
        "77.88.8.8",
        "84.200.69.80",
        "84.200.70.40",
        "94.140.14.14",
        "94.140.15.15",
        "114.114.114.114",
        "114.114.115.115",
        "119.29.29.29",
        "149.112.112.112",
        "149.112.112.10",
        "149.112.112.11",
        "180.76.76.76",
        "185.228.168.9",
        "185.228.169.9",
        "208.67.220.220",
        "208.67.220.222",
        "208.67.222.220",
        "208.67.222.222",
        "223.5.5.5",
        "223.6.6.6",
    ]
)
RESOLVERS_6 = frozenset(
    IPv6Address(text)
    for text in [
        "2001:4860:4860::8844",
        "2001:4860:4860::8888",
        "2001:4860:4860::64",
        "2001:4860:4860::6464",
        "2606:4700:4700::1001",
        "2606:4700:4700::1111",
        "2606:4700:4700::1002",
        "2606:4700:4700::1112",
        "2606:4700:4700::64",
        "2606:4700:4700::6400",
        "2620:119:35::35",
        "2620:119:53::53",
        "2620:fe::9",
        "2620:fe::fe",
        "2620:fe::10",
        "2620:fe::11",
        "2620:fe::fe:9",
        "2a10:50c0::ad1:ff",
        "2a10:50c0::ad2:ff",
        "2a02:6b8::feed:ff",
        "2400:3200::1",
        "2400:3200:baba::1",
        "2402:4e00::",
    ]
)
"""Public DNS resolvers by their operators' pages: they stand in every tutorial and name nobody."""


@lru_cache(maxsize=4096)
def is_public_ipv4(text: str) -> bool:
    """Return whether a dotted quad names one host of the public internet that is no resolver."""
    try:
        address = IPv4Address(text)
    except ValueError:
        return False
    return address not in RESOLVERS and not any(address in part for part in SPECIAL_RANGES)


def is_public_ipv6(text: str) -> bool:
    """Return whether a text names one host of the public IPv6 internet that is no resolver."""
    try:
        address = IPv6Address(text)
    except ValueError:
        return False
    return (
        address in GLOBAL_UNICAST
        and address not in RESOLVERS_6
        and not any(address in part for part in SPECIAL_RANGES_6)
    )


_VERSION_WORDS = (
    r"versions?|versión|versiones|versão|versões|versione|versioni|versie|versies|versionen|"
    r"версия|версии|версию|версией|верс\.|версія|версії|wersja|wersji|wersję|verze|verzi|verzió|"
    r"verzija|verzije|versiunea|versiune|sürüm|sürümü|έκδοση|έκδοσης|गो संस्करण|संस्करण|"
    r"バージョン|版本|버전|الإصدار|إصدار|نسخه|نسخة|גרסה|גירסה|เวอร์ชัน|เวอร์ชั่น|phiên bản|versi|"
    r"utgåva|versjon|udgave|versio|verzia|верзија|ver|vers|rev|revision|rel|release|released|"
    r"releases|build|builds|firmware|fw|patch|hotfix|update|updated|upgrade|upgraded|upgrading|"
    r"downgrade|kernel|driver|drivers|treiber|bios|uefi|sdk|dll|api|tag|tags|"
    r"chrome|chromium|firefox|safari|edge|opera|webkit|windows|android|ios|macos|linux|ubuntu|"
    r"debian|java|jdk|jre|python|ruby|php|perl|mysql|mariadb|mongodb|postgres|postgresql|nginx|"
    r"apache|tomcat|openssl|openssh|flash|acrobat|office|photoshop|node|nodejs|npm|docker|"
    r"kubernetes|wordpress|drupal|joomla|oracle|db2|sap|matlab|unity|unreal|directx|cuda|nvidia|"
    r"outlook|thunderbird|mozilla|eudora|adobe|reader|skype|vlc|winamp|itunes|quicktime|teamviewer|"
    r"zoom|whatsapp|wechat|telegram|微信|mini|mobile|explorer|toolbar|x-mailer|user-agent|e\.?c|enzyme|"
    r"changelog|release notes"
)
_SECTION_WORDS = (
    r"sections?|sect|sec|subsections?|chapters?|chap|ch|clauses?|cl|articles?|art|paragraphs?|"
    r"pkwiu|pkd|cpv|cnae|nace|naics|оквэд|окпд|pos|para|paras|figures?|fig|figs|tables?|tbl|appendix|annex|items?|steps?|rules?|requirements?|"
    r"req|eq|equations?|listing|exercise|theorem|lemma|oid|part|task|"
    r"kapitel|kap|abschnitt|abschn|ziffer|ziff|absatz|abs|nummer|abbildung|abb|tabelle|tab|anlage|"
    r"punkt|paragraf|chapitre|paragraphe|alinéa|annexe|figura|capítulo|cap|sección|seção|secção|"
    r"apartado|secció|apartat|capítol|artículo|artigo|capitolo|sezione|paragrafo|hoofdstuk|sectie|paragraaf|artikel|"
    r"rozdział|rozdz|pkt|punkcie|kapitola|oddíl|odst|fejezet|bölüm|madde|avsnitt|afsnit|luku|kohta|"
    r"глава|главе|главы|раздел|раздела|разделе|пункт|пункта|пункте|п|пп|разд|рис|табл|статья|розділ|"
    r"κεφάλαιο|ενότητα|章|節|节|第|図|表|图|장|절|บท|ข้อ|หมวด|अध्याय|खंड|धारा|الفصل|القسم|المادة|"
    r"فصل|بخش|פרק|סעיף|chương|mục|điều|bab|pasal"
)
_JOINT = (
    r"[\s:=(\"'\[,>#~^≥≤<*`_–号號为為是番-]{0,4}(?:(?:is|to|of|numbers?|no|nr|n°|num|and|or|bis|und|oder|y|"
    r"et|ou|e|ed|на|до|и|или)\b\.?[\s:=(\"',–-]{0,3}){0,3}"
    r"(?:v\.?\s?)?(?:[0-9]+(?:\.[0-9]+){1,5}[\s,;/&–-]{1,3}(?:(?:and|or|to|und|y|et|и)\s)?){0,4}"
)
_NO_ADDRESS = linear(
    rf"(?i)(?:versions?|revision|release|§{{1,2}}|oid|版本|バージョン|버전|เวอร์ชัน|(?:^|[^\pL])(?:{_VERSION_WORDS}|{_SECTION_WORDS})"
    rf"(?:nummer|number| (?:player|toolbar|portable|reader|suite|pro|professional|express|lite|edition|"
    rf"enterprise|ultimate|beta|desktop|browser|plugin|engine|framework|runtime|core|editor|viewer|manager|"
    rf"studio|messenger))?)\.?{_JOINT}$"
)
"""By RE2: seven times as fast here as Python's engine, which tries every word at every place."""
_STEMS = ("addr", "adress", "adres", "direcci", "endere", "indirizzo", "hostname", "hostip")
_WORDS = "ip ips ipv4 dns host hosts server servers ping pings gateway router from client user port"
_OTHER_WORDS = "адрес сервер хост 地址 アドレス サーバ 주소 서버 عنوان כתובת ://".split()
ADDRESS_WORDS = (*_STEMS, *_WORDS.split(), *_OTHER_WORDS)
"""What stands before an address: how words start, words, and what may stand within one."""
_ADDRESS_WORDS = linear(
    rf"(?i:(?:^|[^\pL\pN])(?:{'|'.join(_STEMS)}|(?:(?:[a-z]+)?server|{'|'.join(_WORDS.split())})s?"
    rf"(?:$|[^\pL\pN-]|-(?:$|[^a])))|{'|'.join(_OTHER_WORDS)})"
)
"""Not `User-Agent`, which announces the version of a program."""
_SMALL = 32
"""Four numbers all below it are a version or a section unless a word says address: of the public
addresses one in a thousand is such."""

_WORD_BEFORE = re.compile(r"[A-Za-z0-9_]/\Z|[A-Za-z_]-\Z|[A-Za-z0-9]\+\Z")
_MULTIADDRESS = re.compile(r"(?:ip4|ipv4|tcp|udp|https?:|ftp:)/\Z", re.IGNORECASE)
_MAPPED = re.compile(r"(?<![0-9A-Fa-f:.])(?:::(?:ffff:(?:0:)?)?|64:ff9b::)\Z", re.IGNORECASE)
_AFTER = re.compile(r"[A-Za-z0-9_]|\.[0-9a-z]|-[A-Za-z]|\+[A-Za-z]|%[0-9]")
_HEADING = re.compile(r"[\s#*>|-]*\Z")
_TITLE = re.compile(r"\.[ \t]+[^\W\d_]")
"""What stands around the number of a section: nothing on its line before it, a title after it."""
_UPGRADED = re.compile(
    r"(?:up|down)?(?:grad|dat|migrat|mov)\w{0,4} from (?:[0-9.]{7,15} to )?\Z", re.IGNORECASE
)
_RELEASED = re.compile(r"[ \t]*\((?:19|20)[0-9]{2}[-/.]")
_COMPARED = re.compile(r"[A-Za-z0-9_\]\"'] ?(?:[><=~^!]=|~>) ?[\"']?v?\Z")
_VERSION_AFTER = re.compile(
    r"\s?(?:版|更新|升级|升級|正式版|バージョン|アップデート|버전|업데이트|release[ds]?\b|updates?\b|hotfix\b|patch\b|"
    r"changelog\b|firmware\b)",
    re.IGNORECASE,
)
"""A requirement before, a word of releases after."""
_REVERSED = re.compile(r"\.in-addr\.arpa|\.(?:nip|sslip|xip)\.io", re.IGNORECASE)


def accept_ipv4(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a public IPv4 address, IPv6 prefix of a mapped one included, or None."""
    quad = text[start:end]
    before = text[max(0, start - 60) : start]
    after = text[end : end + 14]
    if before[-1:].isascii() and (before[-1:].isalnum() or before[-1:] in {"_", "."}):
        return None
    if (_AFTER.match(after) and not _REVERSED.match(after)) or quad.endswith(".0"):
        return None
    if not is_public_ipv4(quad):
        return None
    mapped = _MAPPED.search(before) if before.endswith(":") else None
    if mapped:
        return start - len(mapped[0]), end
    return None if _is_other_number(before, quad, after) else (start, end)


def _is_other_number(before: str, quad: str, after: str) -> bool:
    """Return whether four numbers are a version, a section or the like, by what stands around."""
    touches = before.endswith(("/", "-", "+"))
    if touches and _WORD_BEFORE.search(before) and not _MULTIADDRESS.search(before):
        return True
    small = all(int(part) < _SMALL for part in quad.split("."))
    seems_version = (small and not re.match(r":[0-9]{2,5}\b", after)) or _COMPARED.search(
        before[-6:]
    )
    if _VERSION_AFTER.match(after) or (
        seems_version and not _ADDRESS_WORDS.search(before.encode())
    ):
        return True
    line = before.rpartition("\n")[2]
    if (_HEADING.match(line) and _RELEASED.match(after)) or (small and _UPGRADED.search(line)):
        return True
    is_title = _HEADING.match(line) is not None and _TITLE.match(after) is not None
    return is_title or _NO_ADDRESS.search(line.encode()) is not None


def accept_ipv6(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a public IPv6 address, or None."""
    while end > start and text[end - 1] in ".:" and text[end - 2 : end] != "::":
        end -= 1
    before = text[max(0, start - 6) : start]
    after = text[end : end + 1]
    if before[-1:].isascii() and (before[-1:].isalnum() or before[-1:] in {"_", "."}):
        return None
    if before.endswith("::") or re.search(
        r"(?<![A-Za-z0-9])[0-9A-Fa-f]{0,3}[0-9][0-9A-Fa-f]{0,3}:\Z", before
    ):
        return None
    if after.isascii() and (after.isalnum() or after == "_"):
        return None
    address = text[start:end]
    if address.endswith("::") and after == "/":
        return None
    return (start, end) if is_public_ipv6(address) else None


IPV4 = linear(r"[0-9]{1,3}(?:\.[0-9]+){3,}")
IPV6 = linear(r"[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:.]{2,60}")


def _accept_quad(text: str, start: int, end: int) -> Bounds | None:
    """Take a dotted number only if it has four parts: none is found inside a longer one."""
    return (
        accept_ipv4(text, start, end)
        if end - start <= 15 and text.count(".", start, end) == 3
        else None
    )


FINDERS = (
    Finder(by_pattern(IPV4, _accept_quad), hint_bits.IPV4),
    Finder(by_pattern(IPV6, accept_ipv6), hint_bits.IPV6),
)
