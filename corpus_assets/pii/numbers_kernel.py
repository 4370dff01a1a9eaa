"""What groups of digits may be: addresses, phone numbers, cards, account and security numbers."""

import numpy as np
from numba import int64, uint8, uint64
from numpy.typing import NDArray

from corpus_assets.pii.bytes_kernel import (
    ALNUM,
    BLANK,
    LETTERS,
    PRIME,
    SEED,
    WORD,
    Words,
    has,
    is_alnum,
    is_digit,
    letters_hash,
    set_of,
)
from corpus_assets.pii.hint_bits import (
    AFTER_LABEL,
    AMERICAN,
    BEFORE_LABEL,
    CARD,
    FROM_ABROAD,
    INTERNATIONAL,
    IPV4,
    SSN,
)
from corpus_assets.text.data import Bytes
from corpus_assets.text.kernels import inline, kernel

_NO_ABROAD = set_of(ALNUM + ".,#/-_$+@:=[<")
_BETWEEN = set_of(" \t\n\r\f\v:.=>\"'[*_|,/;&-~(+)#")


@kernel
def _follows_label(
    b: Bytes,
    start: int,
    place: int,
    labels: NDArray[np.uint64],
    connectors: NDArray[np.uint64],
    glued: bool,
) -> bool:
    """Return whether a label may stand before a place, with connectors between.

    What stands in brackets may be anything; with `glued` a label may be the end of a word.
    """
    p = place
    for _ in range(6):
        least = max(start, p - 24)
        while p > least and _BETWEEN[b[p - 1]]:
            if b[p - 1] == 41:
                q = p - 2
                lowest = max(start, p - 90)
                while q > lowest and b[q] != 40 and b[q] != 10 and not is_digit(b[q]):
                    q -= 1
                if b[q] == 40 and q < p - 2:
                    return True
            p -= 1
        if p <= start:
            return False
        h = SEED
        q = p
        least = max(start, p - 40)
        while q > least:
            byte = b[q - 1]
            if byte >= 0x80:
                return True
            if not LETTERS[byte]:
                break
            h = (h ^ uint64(byte | 32)) * PRIME
            q -= 1
            if glued and has(labels, h):
                return True
        if q == p:
            return False
        if has(labels, h):
            return True
        # A connector may touch its label: `mobilephone`.
        joined = False
        h = SEED
        for cut in range(p - 1, q, -1):
            h = (h ^ uint64(b[cut] | 32)) * PRIME
            if has(connectors, h):
                rest = letters_hash(b, q, cut)
                # No label of two letters touches a connector: `for` is no `f` and `or`.
                if cut - q > 2 and has(labels, rest):
                    return True
                joined = joined or has(connectors, rest)
        h = (h ^ uint64(b[q] | 32)) * PRIME
        if not joined and not has(connectors, h):
            return False
        p = q
    return True


@kernel
def _announced(b: Bytes, start: int, place: int, words: Words) -> bool:
    """Return whether a label may stand before a place, before tags, or before words and a colon."""
    if _follows_label(b, start, place, words.labels, words.connectors, False):
        return True
    # Or before tags of HTML: each < with no more than some words between it and the next tag.
    p, tag, tags = place, place, 0
    while p > start and tag - p < 200 and tags < 17:
        p -= 1
        if b[p] == 62:
            tag = p
        elif b[p] == 60:
            tag = p
            tags += 1
            if _follows_label(b, start, p, words.labels, words.connectors, False):
                return True
    before = b[place - 1] if place > start else uint8(32)
    dialled = b[place] == 48 or before == 40 or before == 43
    p, least = place, max(start, place - 24)
    colon = False
    while p > least and _BETWEEN[b[p - 1]]:
        p -= 1
        colon = colon or b[p] == 58
    if not colon:
        return False
    for _ in range(4):
        while p > start and b[p - 1] == 32:
            p -= 1
        h = SEED
        least = max(start, p - 80)
        while p > least and b[p - 1] != 32:
            p -= 1
            if b[p] >= 0x80:
                return True
            h = (h ^ uint64(b[p] | 32)) * PRIME
        if (dialled or has(words.prepositions, h)) and _follows_label(
            b, start, p, words.labels, words.connectors, False
        ):
            return True
    return False


@kernel
def _noun_follows(b: Bytes, i: int, end: int, nouns: NDArray[np.uint64]) -> bool:
    """Return whether one of the next five words may say that the number before was a phone's."""
    p = i
    while (
        p < end
        and p < i + 3
        and (
            BLANK[b[p]]
            or b[p] == 44
            or b[p] == 59
            or b[p] == 58
            or b[p] == 40
            or b[p] == 41
            or b[p] == 45
            or b[p] == 91
            or b[p] == 124
        )
    ):
        p += 1
    if p == i:
        return False
    for _ in range(5):
        q = p
        most = min(end, p + 16)
        while q < most and (LETTERS[b[q]] or b[q] == 39 or b[q] >= 0x80):
            if b[q] >= 0x80:
                return True
            q += 1
        if q == p:
            return False
        if has(nouns, letters_hash(b, p, q)):
            return True
        p = q
        while p < end and p < q + 2 and (b[p] == 32 or b[p] == 44):
            p += 1
        if p == q:
            return False
    return False


@kernel
def is_iban(b: Bytes, start: int, place: int, end: int, lengths: NDArray[np.uint8]) -> bool:
    """Return whether digits at a place are the check digits of an IBAN around them."""
    p = place
    if p > start and b[p - 1] == 32:
        p -= 1
    if p - 2 < start or not (LETTERS[b[p - 1]] and LETTERS[b[p - 2]]):
        return False
    if p - 3 >= start and WORD[b[p - 3]]:
        return False
    first, second = int64(b[p - 2] | 32) - 97, int64(b[p - 1] | 32) - 97
    left = int64(lengths[first * 26 + second])
    if left == 0:
        return False
    remainder, i, taken = int64(0), place, 2
    while taken < left:
        if i < end and taken > 3 and (b[i] == 32 or b[i] == 46 or b[i] == 45):
            i += 1
        if i >= end or not is_alnum(b[i]):
            return False
        if taken > 3:
            if is_digit(b[i]):
                remainder = (remainder * 10 + int64(b[i]) - 48) % 97
            else:
                remainder = (remainder * 100 + int64(b[i] | 32) - 87) % 97
        i += 1
        taken += 1
    remainder = (remainder * 100 + first + 10) % 97
    remainder = (remainder * 100 + second + 10) % 97
    check = (int64(b[place]) - 48) * 10 + int64(b[place + 1]) - 48
    return (remainder * 100 + check) % 97 == 1


@inline
def _value(b, first, last):
    """Return the value of an octet, or -1."""
    size = last - first
    if size > 3 or (size > 1 and b[first] == 48):
        return -1
    value = 0
    for i in range(first, last):
        value = value * 10 + int64(b[i]) - 48
    return value if value < 256 else -1


@kernel
def _names_host(b: Bytes, start: int, place: int, words: Words) -> bool:
    """Return whether one of `hosts` stands in the 60 code points before a place."""
    points, p = 0, place
    while p > start and points < 60:
        p -= 1
        byte = b[p]
        if 0x80 <= byte < 0xC0:
            continue
        points += 1
        if p + 1 >= place:
            continue
        then = b[p + 1]
        # Long s and i without a dot, or with one, are letters to a search without case.
        if (byte == 0xC5 and then == 0xBF) or (byte == 0xC4 and (then == 0xB0 or then == 0xB1)):
            return True
        lead = byte | 32 if uint8(byte - 65) < 26 else byte
        second = then | 32 if uint8(then - 65) < 26 else then
        number = words.first_host[int64(lead) << 8 | int64(second)]
        while (
            0 <= number < words.hosts.shape[0]
            and words.hosts[number, 1] == lead
            and words.hosts[number, 2] == second
        ):
            size = int64(words.hosts[number, 0])
            k = 2
            while k < size and p + k < place:
                byte = b[p + k]
                if uint8(byte - 65) < 26:
                    byte = uint8(byte | 32)
                if byte != words.hosts[number, 1 + k]:
                    break
                k += 1
            if k == size:
                if size > 2:
                    return True
                # `ip` and `ips` count as a word alone.
                k = p + 3 if p + 2 < place and b[p + 2] | 32 == 115 else p + 2
                if not (p > start and is_alnum(b[p - 1])) and not (k < place and is_alnum(b[k])):
                    return True
            number += 1
    return False


@kernel
def _is_quad(
    b: Bytes,
    start: int,
    end: int,
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    g: int,
    words: Words,
) -> bool:
    """Return whether four groups joined by dots can be a public address."""
    first, last = firsts[g], lasts[g + 3]
    if first > start and (WORD[b[first - 1]] or b[first - 1] == 46):
        return False
    if last < end and WORD[b[last]]:
        return False
    one = _value(b, firsts[g], lasts[g])
    two = _value(b, firsts[g + 1], lasts[g + 1])
    three = _value(b, firsts[g + 2], lasts[g + 2])
    four = _value(b, firsts[g + 3], lasts[g + 3])
    if one <= 0 or two < 0 or three < 0 or four <= 0:
        return False
    if one == 10 or one == 127 or one >= 224:
        return False
    if one < 32 and two < 32 and three < 32 and four < 32:
        port = last + 1 < end and b[last] == 58 and is_digit(b[last + 1])
        mapped = first > start and b[first - 1] == 58
        if not (port or mapped or _names_host(b, start, first, words)):
            return False
    return not (
        (one == 192 and (two == 168 or (two == 0 and (three == 0 or three == 2))))
        or (one == 198 and (18 <= two < 20 or (two == 51 and three == 100)))
        or (one == 203 and two == 0 and three == 113)
        or (one == 172 and 16 <= two < 32)
        or (one == 169 and two == 254)
        or (one == 100 and 64 <= two < 128)
    )


@kernel
def _passes_luhn(b: Bytes, first: int, last: int) -> bool:
    total, odd = 0, True
    for i in range(last - 1, first - 1, -1):
        if is_digit(b[i]):
            digit = int64(b[i]) - 48
            if not odd:
                digit *= 2
                if digit > 9:
                    digit -= 9
            total += digit
            odd = not odd
    return total % 10 == 0


@inline
def _value10(b, i):
    return (int64(b[i]) - 48) * 10 + int64(b[i + 1]) - 48


@inline
def _is_year(b, first, last):
    early = b[first] == 49 and b[first + 1] == 57
    return last - first == 4 and (early or (b[first] == 50 and b[first + 1] == 48))


@kernel
def _is_date(b: Bytes, firsts: NDArray[np.int64], lasts: NDArray[np.int64], n: int) -> bool:
    """Return whether groups start with two years or with a year, a month and a day."""
    if n < 2 or not _is_year(b, firsts[0], lasts[0]) or firsts[1] - lasts[0] != 1:
        return False
    joint = b[lasts[0]]
    if (joint == 45 or joint == 47) and _is_year(b, firsts[1], lasts[1]):
        return True
    if n < 3 or firsts[2] - lasts[1] != 1 or b[lasts[1]] != joint:
        return False
    if lasts[1] - firsts[1] != 2 or lasts[2] - firsts[2] != 2 or not (joint == 45 or joint == 46):
        return False
    month = _value10(b, firsts[1])
    day = _value10(b, firsts[2])
    return 1 <= month <= 12 and 1 <= day <= 31


@kernel
def bits_of_numbers(
    b: Bytes,
    start: int,
    end: int,
    firsts: NDArray[np.int64],
    lasts: NDArray[np.int64],
    n: int,
    digits: int,
    words: Words,
) -> int:
    """Return the bits of groups of digits that at most three separators part."""
    flags = 0
    here, there = firsts[0], lasts[n - 1]
    chain_first, chain = 0, 0
    spaced = False
    for g in range(n):
        size = lasts[g] - firsts[g]
        gap = firsts[g] - lasts[g - 1] if g else 0
        joint = b[firsts[g] - 1] if g else uint8(0)
        single = gap == 1 and (joint == 32 or joint == 46 or joint == 45)
        if not single:
            chain_first, chain, spaced = g, 0, False
        chain += size
        spaced = spaced or (single and joint == 32)
        dotted = g and gap == 1 and joint == 46
        # Four groups, and neither a fifth before nor one after.
        ends = g == n - 1 or not (firsts[g + 1] - lasts[g] == 1 and b[lasts[g]] == 46)
        if dotted and ends and g >= 3 and not flags & IPV4:
            run = g
            while run > 0 and firsts[run] - lasts[run - 1] == 1 and b[lasts[run - 1]] == 46:
                run -= 1
            if g - run == 3 and _is_quad(b, start, end, firsts, lasts, run, words):
                flags |= IPV4
        if chain >= 14 and not flags & CARD:
            ended = g == n - 1
            if not ended:
                after = b[lasts[g]]
                ended = not (
                    firsts[g + 1] - lasts[g] == 1 and (after == 32 or after == 46 or after == 45)
                )
            if ended:
                first = b[firsts[chain_first]]
                head = lasts[chain_first] - firsts[chain_first]
                if head == 4:
                    # Cards are in groups of 4, 4, 4 and more, of 4, 6 and 4 or 5, of 4, 5 and 6.
                    second, third = chain_first + 1, chain_first + 2
                    fits = third <= g and 4 <= lasts[second] - firsts[second] <= 6
                    if not (fits and 4 <= lasts[third] - firsts[third] <= 6):
                        head = 0
                if chain > 41:
                    flags |= CARD
                elif (
                    first != 48
                    and first != 49
                    and first != 55
                    and (head == 4 or head == 6 or head >= 14)
                ):
                    if spaced or (chain <= 19 and _passes_luhn(b, firsts[chain_first], lasts[g])):
                        flags |= CARD
        if digits >= 9 and not flags & SSN:
            begin = -1
            hyphens = False
            if size == 9:
                begin = g
            elif (
                single
                and g
                and (
                    (size == 4 and lasts[g - 1] - firsts[g - 1] == 5)
                    or (size == 6 and lasts[g - 1] - firsts[g - 1] == 3)
                )
            ):
                begin = g - 1
            elif (
                single
                and g > 1
                and size == 4
                and lasts[g - 1] - firsts[g - 1] == 2
                and lasts[g - 2] - firsts[g - 2] == 3
                and firsts[g - 1] - lasts[g - 2] == 1
            ):
                begin = g - 2
                hyphens = joint == 45 and b[lasts[g - 2]] == 45
            if begin >= 0 and (
                hyphens or _follows_label(b, start, firsts[begin], words.ssn, words.ssn, True)
            ):
                flags |= SSN
        if digits >= 10 and g > 1 and single and size == 4 and not flags & AMERICAN:
            one, two = lasts[g - 2] - firsts[g - 2], lasts[g - 1] - firsts[g - 1]
            lead = b[firsts[g - 2]]
            if one == 4 and lead == 49:
                lead = b[firsts[g - 2] + 1]
                one = 3
            wide = firsts[g - 1] - lasts[g - 2]
            if one == 3 and two == 3 and lead >= 50 and b[firsts[g - 1]] >= 50 and wide <= 2:
                left = b[lasts[g - 2]]
                if (
                    left == 41
                    or (left == joint and joint != 32 and wide == 1)
                    or ((left == 47 or left == 32) and joint == 45)
                ):
                    flags |= AMERICAN
        if digits >= 9 and b[firsts[g]] == 48 and not flags & FROM_ABROAD and size >= 2:
            p = firsts[g]
            before = b[p - 1] if p > start else uint8(32)
            far = b[p - 2] if p - 1 > start else uint8(32)
            barred = _NO_ABROAD[before] or ((before == 32 or before == 9) and is_digit(far))
            q = p + 2 if b[p + 1] == 48 else p + 3
            if q < end and (b[q] == 32 or b[q] == 46 or b[q] == 45):
                q += 1
            if q < end and b[q] == 48 and b[p + 1] == 48:
                barred = True
            if not barred and (b[p + 1] == 48 or (b[p + 1] == 49 and size >= 3 and b[p + 2] == 49)):
                flags |= FROM_ABROAD
    if digits >= 7:
        p = here
        if p > start and b[p - 1] == 40:
            p -= 1
        if p > start and b[p - 1] == 32:
            p -= 1
        if p > start and b[p - 1] == 43:
            p -= 1
            before = b[p - 1] if p > start else uint8(32)
            if not (is_alnum(before) or before == 43 or before == 42 or before == 94):
                flags |= INTERNATIONAL
        # A dotted quad is no number of a phone.
        quad = n > 3 and p == here and lasts[3] - here <= 15
        for g in range(1, 4 if quad else 0):
            size = lasts[g] - firsts[g]
            quad = quad and size < 4 and firsts[g] - lasts[g - 1] == 1 and b[lasts[g - 1]] == 46
        quad = quad and lasts[0] - here < 4 and (lasts[3] >= end or b[lasts[3]] != 46)
        dated = b[p] != 43 and _is_date(b, firsts, lasts, n)
        if not quad and not dated and _announced(b, start, here, words):
            flags |= AFTER_LABEL
        trunk = False
        for g in range(n):
            trunk = (
                trunk
                or b[firsts[g]] == 48
                or (
                    g + 2 < n
                    and lasts[g + 2] - firsts[g + 2] == 4
                    and lasts[g + 1] - firsts[g + 1] == 3
                )
            )
        if n > 1 and trunk and _noun_follows(b, there, end, words.nouns):
            flags |= BEFORE_LABEL
    return flags
