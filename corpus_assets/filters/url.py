"""`url`: documents whose URL is on a list of the user's, or has words of one.

Order, reasons and matching are those of datatrove 0.10.1's URLFilter. Registered domains follow the
public suffix list that the package tldextract carries; nothing is downloaded.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import AliasChoices, Field

from corpus_assets.core.errors import InputError
from corpus_assets.core.plan import Config
from corpus_assets.filters.files import PACKAGE, located, opened
from corpus_assets.filters.rules import Batch, Criterion, Verdict
from corpus_assets.filters.url_index import (
    INDEXED,
    Index,
    ListFile,
    build_index,
    entries,
    find_lists,
    open_index,
)

SUFFIXES = f"{PACKAGE}tldextract/.tld_set_snapshot"

NOT_ALPHANUMERIC = re.compile("[^a-zA-Z0-9]+")


class UrlConfig(Config):
    """What `url` looks for. Without lists and entries it drops nothing."""

    lists: tuple[str, ...] = ()
    """Files, folders or tar files with lists, or folders of installed packages
    (`package:NAME/FOLDER`); lists are recognised by name: `domains`, `urls`, `banned_words`,
    `soft_banned_words`, `banned_subwords`."""
    domains: tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("domains", "extra_domains")
    )
    """Registered domains and hosts beside those of the lists."""
    urls: tuple[str, ...] = Field(default=(), validation_alias=AliasChoices("urls", "extra_urls"))
    """Whole URLs beside those of the lists."""
    banned_words: tuple[str, ...] = ()
    """One of them as a piece of the URL drops a document."""
    soft_banned_words: tuple[str, ...] = ()
    """Several different ones drop it."""
    soft_word_threshold: int = Field(default=2, ge=1)
    """How many of them."""
    banned_subwords: tuple[str, ...] = ()
    """One of them anywhere in the URL's letters and digits drops it."""
    fold_case: bool = False
    """Compare hosts and words in any case; datatrove misses `Example.ORG` and `CASINO`."""
    missing: Literal["keep", "drop"] = "keep"
    """What to do with documents without a URL, at which datatrove fails."""


class OpenedUrlConfig(UrlConfig):
    """The same with the files of the lists; words of lists stand among the others."""

    lists: tuple[str, ...] = Field(default=(), exclude=True)
    files: tuple[ListFile, ...]
    suffixes: str
    """What decides registered domains; empty where no list needs them."""


def open_url(config: UrlConfig, base: Path) -> OpenedUrlConfig:
    """Find the lists, read those of words, digest the others.

    Raises:
        InputError: One is missing or cannot be read, or tldextract is not installed.
    """
    files = [file for written in config.lists for file in find_lists(located(written, base))]
    settings = {name: getattr(config, name) for name in UrlConfig.model_fields}
    for role in ("domains", "urls"):
        settings[role] = tuple(sorted(_entries(settings[role])))
    for role in ("banned_words", "soft_banned_words", "banned_subwords"):
        listed = [entry for file in files if file.role == role for entry in entries(file)]
        words = {_squeezed(word) for word in (*_entries(settings[role]), *listed)}
        settings[role] = tuple(sorted(words - {""}))
    indexed = tuple(sorted((f for f in files if f.role in INDEXED), key=lambda f: str(f.path)))
    hosts = bool(settings["domains"]) or any(file.role == "domains" for file in indexed)
    suffixes = _suffix_identity(base) if hosts else ""
    return OpenedUrlConfig.model_validate(settings | {"files": indexed, "suffixes": suffixes})


def _entries(written: Iterable[str]) -> Iterator[str]:
    return (entry.strip() for entry in written if entry.strip() and not entry.startswith("#"))


def _squeezed(text: str) -> str:
    return NOT_ALPHANUMERIC.sub("", text).lower()


def _suffix_identity(base: Path) -> str:
    try:
        snapshot = opened(located(SUFFIXES, base))
    except InputError:
        message = (
            "rule url: lists of domains need the package tldextract; "
            "`pip install 'corpus-assets[recipes]'`."
        )
        raise InputError(message) from None
    return f"tldextract {version('tldextract')}, suffixes {snapshot.sha256}"


def is_idle(config: UrlConfig) -> bool:
    """Return whether there is nothing that could drop a document."""
    names = ("files", "domains", "urls", "banned_words", "soft_banned_words", "banned_subwords")
    return config.missing == "keep" and not any(getattr(config, name, ()) for name in names)


def prepare_url(config: OpenedUrlConfig) -> None:
    """Make the index of the lists."""
    if config.files:
        build_index(config.files, fold_case=config.fold_case)


@lru_cache(maxsize=1)
def _extractor() -> Callable[[str], Any]:
    """Return tldextract with the suffixes it carries, without network and cache."""
    return import_module("tldextract").TLDExtract(suffix_list_urls=(), cache_dir=None)


def judge_url(batch: Batch, config: UrlConfig) -> Verdict:
    """Drop documents by the domain, host, whole text or words of their URL."""
    if not isinstance(config, OpenedUrlConfig):
        config = open_url(config, Path())
    urls = batch.frame["url"].fill_null("").to_list()
    index = open_index(config.files, config.fold_case) if config.files else None
    criteria = [
        *_host_criteria(urls, config, index),
        Criterion("url", _holds(urls, "urls", config.urls, index)),
        *_word_criteria(urls, config),
    ]
    if config.missing == "drop":
        criteria.insert(0, Criterion("no_url", np.array([not each for each in urls], np.bool_)))
    return Verdict(criteria)


def _holds(
    found: list[str], role: str, own: tuple[str, ...], index: Index | None
) -> NDArray[np.bool_]:
    """Return which entries are in the config or in the lists."""
    wanted = frozenset(own)
    holds = np.array([entry in wanted for entry in found], np.bool_)
    return holds if index is None else holds | index.holds(role, found)


def _host_criteria(
    urls: list[str], config: OpenedUrlConfig, index: Index | None
) -> Iterator[Criterion]:
    if not config.suffixes:
        return
    extract = _extractor()
    hosts = [extract(each) for each in urls]
    domains = [host.top_domain_under_public_suffix for host in hosts]
    names = [host.fqdn for host in hosts]
    own = config.domains
    if config.fold_case:
        domains, names = [d.lower() for d in domains], [n.lower() for n in names]
        own = tuple(domain.lower() for domain in own)
    yield Criterion("domain", _holds(domains, "domains", own, index))
    yield Criterion("subdomain", _holds(names, "domains", own, index))


def _word_criteria(urls: list[str], config: OpenedUrlConfig) -> Iterator[Criterion]:
    """Yield the criteria about words; pieces of the URL keep their case, as in datatrove."""
    cased = [each.lower() for each in urls] if config.fold_case else urls
    pieces = [set(NOT_ALPHANUMERIC.split(each)) for each in cased]
    hard, soft = frozenset(config.banned_words), frozenset(config.soft_banned_words)
    if hard:
        yield Criterion("hard_blacklisted", np.array([not hard.isdisjoint(p) for p in pieces]))
    if soft:
        numbers = np.array([len(soft & p) for p in pieces], np.float64)
        yield Criterion.measured(
            "soft_blacklisted", numbers, np.greater_equal, config.soft_word_threshold
        )
    if config.banned_subwords:
        squeezed = pl.Series([_squeezed(each) for each in urls], dtype=pl.String)
        found = squeezed.str.contains_any(list(config.banned_subwords))
        yield Criterion("blacklisted_subword", found.to_numpy())
