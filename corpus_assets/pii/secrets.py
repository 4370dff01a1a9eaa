"""Keys and passwords: what vendors stamp with a prefix, private key blocks, passwords in URLs.

There is no rule on entropy: hashes, UUIDs and checksums of public things have as much of it.
"""

import re
from collections.abc import Iterator

from corpus_assets.pii import hint_bits
from corpus_assets.pii.spans import Bounds, Finder, by_pattern, linear

VENDORS = {
    "AWS access key": "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    "GitHub": "gh[pousr]_[A-Za-z0-9]{36,}",
    "GitHub, fine-grained": "github_pat_[A-Za-z0-9_]{40,}",
    "GitLab": r"gl(?:pat|dt|rt|ft|soat|ptt|cbt|imt|agent|oas|rtr)-[A-Za-z0-9_\-]{20,64}",
    "Slack": r"xox[abeoprs]-[0-9][A-Za-z0-9\-]{9,}|xoxe\.xox[bp]-[0-9][A-Za-z0-9\-]{9,}",
    "Slack, app": r"xapp-[0-9]-[A-Za-z0-9\-]{20,}",
    "Slack, webhook": "hooks\\.slack\\.com/(?:services|workflows)/T[A-Za-z0-9_]{6,14}/[AB][A-Za-z0-9_]{6,14}/[A-Za-z0-9_]{16,64}",
    "Stripe": "(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,64}",
    "Google API": r"AIza[A-Za-z0-9_\-]{35}",
    "Google OAuth": r"GOCSPX-[A-Za-z0-9_\-]{20,40}|ya29\.[A-Za-z0-9_\-]{20,}|1//0[A-Za-z0-9_\-]{30,}",
    "Hugging Face": "(?:hf|api_org)_[A-Za-z0-9]{30,50}",
    "OpenAI": r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{20,}|sk-[A-Za-z0-9]{32,64}",
    "Anthropic": r"sk-ant-[A-Za-z0-9_\-]{20,}",
    "OpenRouter": "sk-or-v1-[0-9a-f]{32,64}",
    "npm": "npm_[A-Za-z0-9]{36}",
    "PyPI": r"pypi-AgE[A-Za-z0-9_\-]{50,}",
    "SendGrid": r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}",
    "Mailgun": "key-[0-9a-f]{32}",
    "Twilio": "SK[0-9a-f]{32}",
    "DigitalOcean": "do[opr]_v1_[0-9a-f]{64}",
    "Shopify": "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "Square": r"sq0(?:atp|csp|idp)-[A-Za-z0-9_\-]{22,43}",
    "Databricks": "dapi[0-9a-f]{32}(?:-[0-9])?",
    "HashiCorp": r"hv[sbr]\.[A-Za-z0-9_\-]{24,}",
    "Postman": "PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    "New Relic": "NRAK-[A-Z0-9]{27}",
    "Grafana": r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}",
    "Linear": "lin_api_[A-Za-z0-9]{32,48}",
    "Notion": "(?:ntn_|secret_)[A-Za-z0-9]{43,50}",
    "Atlassian": r"ATATT3[A-Za-z0-9_\-=]{150,}|ATCTT3[A-Za-z0-9_\-=]{150,}",
    "Docker Hub": r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{27,40}",
    "Sentry": r"sntry[su]_[A-Za-z0-9+/=_\-]{40,}",
    "Groq, xAI, Replicate": "gsk_[A-Za-z0-9]{48,56}|xai-[A-Za-z0-9]{70,90}|r8_[A-Za-z0-9]{37,40}",
    "Facebook": "EAACEdEose0cBA[0-9A-Za-z]{10,}",
    "RubyGems": "rubygems_[0-9a-f]{48}",
    "PlanetScale, Doppler": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_\-.=]{32,64}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_\-.]{40,60}",
    "age": "AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}",
    "Supabase": "sb[ps]_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_\\-]{20,48}",
    "Figma": r"figd_[A-Za-z0-9_\-]{36,48}",
    "Airtable": r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    "Perplexity": "pplx-[A-Za-z0-9]{40,64}",
    "Netlify": "nfp_[A-Za-z0-9]{36,48}",
    "Tailscale": "tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,48}",
    "LangSmith": "lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
    "Pinecone": "pcsk_[A-Za-z0-9_]{60,80}",
    "Contentful": r"CFPAT-[A-Za-z0-9_\-]{43}",
    "Buildkite": "bkua_[0-9a-f]{40}",
    "Pulumi": "pul-[0-9a-f]{40}",
    "Dynatrace": r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    "HubSpot": "pat-(?:na|eu)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "Heroku": r"HRKU-[A-Za-z0-9_\-]{30,64}",
    "1Password": r"ops_eyJ[A-Za-z0-9_\-]{250,}",
    "Alibaba Cloud": "LTAI[A-Za-z0-9]{17,20}",
    "Discord, webhook": r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_\-]{60,80}",
}
"""Forms by who issues them, from the vendors' own pages."""

SIGNED_JSON = r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{16,}"
"""Searched for alone: its first part may go on for long, and so would the search for the others."""

TAILS = {
    "Discord": (r"\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40}", "[MNO][A-Za-z0-9_-]{23,27}"),
    "Mailchimp": ("-us[0-9]{1,2}", "[0-9a-f]{32}"),
    "Telegram": (r":AA[A-Za-z0-9_\-]{32,33}", "[0-9]{8,10}"),
    "HashiCorp Terraform": (r"\.atlasv1\.[A-Za-z0-9_\-=]{60,70}", "[A-Za-z0-9]{14}"),
}
"""Forms with nothing fixed at their start: what to search for, and what must stand before it."""


PREFIXES = {
    **dict.fromkeys(("AKIA", "ASIA", "ABIA", "ACCA"), 16),
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), 36),
    **dict.fromkeys(("github_pat_", "dckr_pat_", "dckr_oat_"), 27),
    **dict.fromkeys(("glpat-", "gldt-", "glrt-", "glft-", "glsoat-", "glptt-", "glcbt-"), 20),
    **dict.fromkeys(("glimt-", "glagent-", "gloas-", "glrtr-", "GOCSPX-", "ya29."), 20),
    **dict.fromkeys([f"xox{kind}-" for kind in "abeoprs"], 10),
    **dict.fromkeys(("xapp-", "hooks.slack.com/", "tskey-", "sb_secret_"), 20),
    **dict.fromkeys(("sbp_", "sbs_", "pplx-", "bkua_", "pul-", "lsv2_pt_", "lsv2_sk_"), 40),
    **dict.fromkeys(("figd_", "nfp_", "pat-na", "pat-eu"), 36),
    **dict.fromkeys(("pcsk_", "discord.com/api/", "discordapp.com/api"), 60),
    "pat": 79,
    "CFPAT-": 43,
    "dt0": 93,
    "HRKU-": 30,
    "ops_eyJ": 250,
    "LTAI": 17,
    "xoxe.xox": 12,
    **dict.fromkeys(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), 16),
    **dict.fromkeys(("whsec_", "hvs.", "hvb.", "hvr."), 24),
    **dict.fromkeys(("AIza", "1//0", "hf_", "api_org_"), 30),
    **dict.fromkeys(("sk-", "sq0atp-", "sq0csp-", "sq0idp-"), 20),
    **dict.fromkeys(("npm_", "key-", "SK", "dapi", "lin_api_", "glsa_", "glc_"), 32),
    **dict.fromkeys(("shpat_", "shpca_", "shppa_", "shpss_", "pscale_"), 32),
    **dict.fromkeys(("pypi-AgE", "SG.", "PMAK-", "gsk_"), 48),
    **dict.fromkeys(("dop_v1_", "doo_v1_", "dor_v1_", "xai-"), 64),
    **dict.fromkeys(("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "sntrys_", "sntryu_"), 40),
    **dict.fromkeys(("ntn_", "secret_", "rubygems_"), 43),
    **dict.fromkeys(("ATATT3", "ATCTT3"), 150),
    "NRAK-": 27,
    "r8_": 37,
    "EAACEdEose0cBA": 10,
    "AGE-SECRET-KEY-1": 58,
    "eyJ": 36,
}
"""How the keys of `VENDORS` start, and fewest bytes after that: necessary, so it says no more."""

_MASK = re.compile(
    r"(?i)x{5,}|\*{3,}|\.{3,}|-{6,}|0{8,}|1{10,}|(.)\1{8,}|your[_-]?|placeholder|redacted|"
    r"dummy|fake|insert|replace|changeme|abcdefabcdefabcdef"
)
_DISTINCT = 6


def _is_masked(value: str) -> bool:
    """Return whether a key is shown with its secret part struck out."""
    return _MASK.search(value) is not None or len(set(value[4:])) < _DISTINCT


_EDGE = re.compile(r"[A-Za-z0-9_]")


def accept_key(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a vendor's key, or None where it is part of a word or masked."""
    if (start and _EDGE.match(text[start - 1])) or _EDGE.match(text[end : end + 1]):
        return None
    while text[end - 1] == "-":
        end -= 1
    return None if _is_masked(text[start:end]) else (start, end)


_HEADS = tuple((re.compile(tail), re.compile(rf"{head}\Z")) for tail, head in TAILS.values())
_LONGEST_HEAD = 33


def accept_tail(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of a key that is recognised by its end, or None."""
    before = text[max(0, start - _LONGEST_HEAD) : start]
    for tail, head in _HEADS:
        found = head.search(before) if tail.fullmatch(text, start, end) else None
        if found:
            return accept_key(text, start - len(found[0]), end)
    return None


ASSIGNED = linear(
    r"(?i:aws_?secret(?:_?access)?_?key|secret_?access_?key|aws_?secret)[\"']?\s{0,3}(?::|=>|=|:=)\s{0,3}[\"']?"
    r"[A-Za-z0-9/+]{40}|"
    r"(?i:account_?key|shared_?access_?key|shared_?access_?signature|storage_?key)[\"']?\s{0,2}[=:]\s{0,2}[\"']?"
    r"[A-Za-z0-9+/]{40,88}={0,2}"
)
_VALUE = re.compile(r"[A-Za-z0-9/+]{40,88}={0,2}\Z")


def accept_assigned(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of the value in `aws_secret_access_key = VALUE`, or None."""
    value = _VALUE.search(text, start, end)
    if value is None or _EDGE.match(text[end : end + 1]) or text[end : end + 1] in {"/", "+"}:
        return None
    return None if _is_masked(value[0]) else (value.start(), end)


BEGIN = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
)
_END = re.compile(
    r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----"
)
BLOCK_MOST = 32_768
"""Characters of a private key block: one of 16,384 bits has 13,000."""
_LINE = re.compile(r"[A-Za-z0-9+/=]{20,}")


def find_private_keys(text: str) -> Iterator[Bounds]:
    """Yield whole private key blocks; one that is cut off goes as far as its lines do."""
    begins = list(BEGIN.finditer(text))
    for number, begin in enumerate(begins):
        bound = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        bound = min(bound, begin.end() + BLOCK_MOST)
        end = _END.search(text, begin.end(), bound)
        last = end.start() if end else _cut_off_end(text, begin.end(), bound)
        body = text[begin.end() : last]
        if _LINE.search(body) and not _is_masked_body(body):
            yield begin.start(), end.end() if end else last


_LINES = re.compile(r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})+")


def _cut_off_end(text: str, start: int, bound: int) -> int:
    lines = _LINES.match(text, start, bound)
    return lines.end() if lines else start


def _is_masked_body(body: str) -> bool:
    return "..." in body or "…" in body or len(set(body)) < 10


URL_PASSWORD = linear(r"://[^\s/:@\"'<>`\[\](){},;\\]*:[^\s/\"'<>`,\\]+@[A-Za-z0-9\[_\pL]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,20}\Z")
LONGEST_PASSWORD = 128
_PLACEHOLDER = re.compile(
    r"(?i)(?:\$|%|<|\{|\[|\*|#)|(?:(?:your|my|the|some|new|db|user|admin|root|test)?[_\-.]?"
    r"(?:pass(?:word|wd|phrase|code)?|passwort|pwd|pw|pass(?:word)?here|token|api[_-]?key|key|secret|credentials?|"
    r"contraseña|mot[_-]?de[_-]?passe|parol[ae]?|пароль|密码|x+|\*+|\.+|-+|_+|todo|changeme|redacted|hidden|masked|removed)"
    r"[0-9_\-]{0,2}(?:here)?)\Z"
)


def accept_url_password(text: str, start: int, end: int) -> Bounds | None:
    """Return the bounds of the password in `scheme://user:password@host`, or None."""
    first, last = text.index(":", start + len("://"), end) + 1, end - len("@x")
    if last - first > LONGEST_PASSWORD or not _SCHEME.search(text[max(0, start - 21) : start]):
        return None
    password = text[first:last]
    if _PLACEHOLDER.match(password) or _MASK.search(password):
        return None
    return first, last


KEYS = linear("|".join(VENDORS.values()))
ENDS = linear("|".join(tail for tail, _ in TAILS.values()))
FINDERS = (
    Finder(by_pattern(KEYS, accept_key), hint_bits.KEY),
    Finder(by_pattern(linear(SIGNED_JSON), accept_key), hint_bits.KEY),
    Finder(by_pattern(ENDS, accept_tail), hint_bits.KEY_END),
    Finder(by_pattern(ASSIGNED, accept_assigned), hint_bits.ASSIGNED),
    Finder(find_private_keys, hint_bits.PRIVATE_KEY),
    Finder(by_pattern(URL_PASSWORD, accept_url_password), hint_bits.URL_PASSWORD),
)
