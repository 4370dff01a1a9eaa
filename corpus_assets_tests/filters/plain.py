"""The quality rules in plain Python, for the kernels to be compared with.

Each function returns the reason or None; words and sentences are those of spaCy.
"""

import re
from collections import Counter
from itertools import pairwise

import spacy

from corpus_assets.text.characters import stop_marks
from corpus_assets.text.english import split_text
from corpus_assets.text.normalise import PUNCTUATION

STOP_MARKS = stop_marks()
SYMBOLS = {*map(chr, PUNCTUATION), *STOP_MARKS}
STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
TOP = {2: 0.2, 3: 0.18, 4: 0.16}
LONGER = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.1}
CITATION = re.compile(r"\[\d*\]|\[edit\]|\[citation needed\]")
POLICY = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies",
          "use cookies")  # fmt: skip

NLP = spacy.blank("en")
NLP.add_pipe("sentencizer")


def sentences(text):
    """Return the pieces into which datatrove cuts a text: up to the end of each sentence."""
    ends = [sentence.end_char for sentence in NLP(text).sents]
    return [text[i:j] for i, j in pairwise([0, *ends[:-1], len(text)])]


def repeated(pieces):
    counts = Counter(pieces)
    return sum(n - 1 for n in counts.values()), sum((n - 1) * len(p) for p, n in counts.items())


def repetition(text):  # noqa: C901 - as datatrove has it
    if not text:
        return "empty"
    for name, pieces in (
        ("para", re.split("\n{2,}", text.strip())),
        ("line", re.split("\n+", text)),
    ):
        number, chars = repeated(pieces)
        if number / len(pieces) > 0.3:
            return f"dup_{name}_frac"
        if chars / len(text) > 0.2:
            return f"dup_{name}_char_frac"
    words = split_text(text)
    for n, limit in TOP.items():
        grams = [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
        if grams:
            gram, count = Counter(grams).most_common(1)[0]
            if len(gram) * count / len(text) > limit:
                return f"top_{n}_gram"
    for n, limit in LONGER.items():
        seen, chars, i = set(), 0, 0
        while i + n <= len(words):
            gram = "".join(words[i : i + n])
            known = gram in seen
            chars += known * len(gram)
            i += n if known else 1
            seen.add(gram)
        if chars / len(text) > limit:
            return f"duplicated_{n}_n_grams"
    return None


def measures(text):
    """Return what Gopher's quality rules measure, in the order in which they are tested."""
    words, lines = split_text(text), text.splitlines()
    real = [word for word in words if not set(word) <= SYMBOLS]
    mean = sum(map(len, real)) / len(real) if real else 0
    starts = [line.lstrip().startswith(("•", "-")) for line in lines]
    ends = [line.rstrip().endswith(("...", "…")) for line in lines]
    return {
        "short_doc": len(real),
        "long_doc": len(real),
        "below_avg_threshold": mean,
        "above_avg_threshold": mean,
        "too_many_hashes": text.count("#") / len(words),
        "too_many_ellipsis": (text.count("...") + text.count("…")) / len(words),
        "too_many_bullets": sum(starts) / len(lines),
        "too_many_end_ellipsis": sum(ends) / len(lines),
        "below_alpha_threshold": sum(any(map(str.isalpha, w)) for w in words) / len(words),
        "enough_stop_words": len(STOP_WORDS & set(words)),
    }


def c4(text, *, stop=True, by_line=True, fewest=5):
    """Return the reason and the text."""
    kept, count = [], 0
    for piece in text.splitlines() if by_line else sentences(text):
        line = piece.strip()
        words = line.split()
        line = CITATION.sub("", line)
        low = line.lower()
        if (
            any(len(word) > 1000 for word in words)
            or (stop and not line.endswith(tuple(".?!\"'")))
            or (stop and line.endswith("..."))
            or len(words) < 3
        ):
            continue
        if "lorem ipsum" in low:
            return "lorem_ipsum", text
        if "javascript" in low:
            continue
        if "{" in line:
            return "curly_bracket", text
        if not any(phrase in low for phrase in POLICY):
            count += len(sentences(line)) if by_line else 1
            kept.append(line)
    if count < fewest:
        return "too_few_sentences", text
    return None, ("\n" if by_line else " ").join(kept).strip()


def fineweb(text):
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return "empty"
    if sum(line.endswith(STOP_MARKS) for line in lines) / len(lines) < 0.12:
        return "line_punct_ratio"
    if sum(len(line) <= 30 for line in lines) / len(lines) > 0.67:
        return "short_line_ratio"
    if repeated(lines)[1] / len(text.replace("\n", "")) > 0.01:
        return "char_dup_ratio"
    if text.count("\n") / len(split_text(text)) > 0.3:
        return "list_ratio"
    return None
