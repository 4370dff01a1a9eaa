"""English tokens of any text, as spaCy has them: one pass of a kernel over the chunks.

A chunk between white space is one word by its characters alone, or was split before and is
remembered, or is split by `affixes_kernel`, or by `english`. So results never depend on what is
remembered. 30 microseconds for a document of 3 kB; spaCy takes 8,000 as datatrove calls it.
"""
# The types are those of numba.
# pyright: reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false

from functools import cache

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from corpus_assets.text import affixes_kernel, characters, english
from corpus_assets.text.affixes_kernel import LONGEST, split_natively
from corpus_assets.text.data import Bytes, Offsets, larger
from corpus_assets.text.kernels import code_point, hash_bytes, hash_of, kernel, put

# What a byte is to the scan.
PLAIN, BREAKING_BYTE, SPACE_BYTE, WIDE = range(4)

# Why the kernel returned.
DONE, UNKNOWN, FULL, AMONG_OTHERS = range(4)

# What stands before a chunk.
NOTHING, ONE_SPACE, GAP = range(3)

AFTER_GAP = 16
"""Flag of a token: before it in its document is white space that is a token in spaCy, which is
all but one space."""

BEFORE_MARK, BEFORE_RUN, AFTER_MARK, AFTER_RUN = 1 << 24, 1 << 25, 1 << 26, 1 << 27
"""Beside the number of tokens: a token before, or after, may change them, which at our side has
a byte that is not plain, or has plain ones."""
COUNT = BEFORE_MARK - 1

PLAIN_EXCEPTION = 15
"""Bytes of the longest exception without a breaking character."""
EDGE = 8
"""Bytes of the longest run of plain bytes in tokens that are joined."""
CUTS_PER_ENTRY = 4
REMEMBERED = 24
"""Bytes of the longest chunk whose split by `affixes_kernel` is remembered."""
LAST_ASCII = 0x7F

SPACE_FLAG, BREAKING_FLAG = characters.SPACE, characters.BREAKING


@cache
def _kinds() -> Bytes:
    flags = characters.flags()[:256]
    kinds = np.full(256, PLAIN, np.uint8)
    kinds[flags & BREAKING_FLAG != 0] = BREAKING_BYTE
    kinds[flags & SPACE_FLAG != 0] = SPACE_BYTE
    kinds[128:] = WIDE
    return kinds


@cache
def _plain_exceptions() -> Bytes:
    """Return 1 at the slot of each exception without a breaking character."""
    flags = characters.flags()
    table = np.zeros(1 << 16, np.uint8)
    for text, tokens in english.rules().exceptions.items():
        data = text.encode()
        if len(tokens) > 1 and not any(flags[ord(c)] & BREAKING_FLAG for c in text):
            if not text.isascii() or len(data) > PLAIN_EXCEPTION:
                message = f"the kernel has no place for the exception {text!r}"
                raise ValueError(message)
            table[(data[0] & 63) << 10 | (data[-1] & 63) << 4 | len(data)] = 1
    return table


@cache
def _edges() -> tuple[Bytes, NDArray[np.uint64]]:
    """Return how a token before (0) or after (1) may look that takes part in a join.

    By its byte at our side, where that is breaking or wide, shape (2, 256); else by hashes of its
    run of plain bytes there, shape (2, runs).
    """
    kinds = _kinds()
    table = np.zeros((2, 256), np.uint8)
    runs: tuple[set[int], set[int]] = set(), set()

    def mark(side: int, data: bytes) -> None:
        size = next((i for i, byte in enumerate(data) if kinds[byte] != PLAIN), len(data))
        if size == 0:
            table[side, data[0]] = 1
        elif size > EDGE:
            message = f"the kernel has no place for the token {data!r} of a sequence"
            raise ValueError(message)
        else:
            run = data[:size] if side else data[:size][::-1]
            runs[side].add(int(hash_of(np.frombuffer(run, np.uint8))))

    for sequences in english.rules().sequences.values():
        for sequence in sequences:
            for token in sequence[:-1]:
                mark(0, token.encode()[::-1])
            for token in sequence[1:]:
                mark(1, token.encode())
    hashes = np.zeros((2, max(map(len, runs))), np.uint64)
    for side in (0, 1):
        hashes[side, : len(runs[side])] = sorted(runs[side])
    return table, hashes


class EnglishTokenizer:
    """Splits batches of documents. Not for several threads at once: one for each."""

    def __init__(self, entries: int = 1 << 19) -> None:
        """Make a tokenizer.

        Args:
            entries: Chunks remembered at most, 24 MB for the default; at one more all are
                forgotten. Two different ones are taken for one another with a probability of
                1e-14 for each new chunk.
        """
        slots = 1 << max(2 * entries - 1, 1).bit_length()
        self._keys = np.zeros(slots, np.uint64)
        self._values = np.zeros(slots, np.int64)
        # Room for the longest chunk that is remembered, however few may be.
        self._cuts = np.zeros(max(CUTS_PER_ENTRY * entries, REMEMBERED + 1), np.int32)
        self._fill = np.array([0, 0, entries], np.int64)

    def __call__(
        self, buffer: Bytes, firsts: Offsets, lasts: Offsets
    ) -> tuple[Offsets, Offsets, Offsets, Bytes]:
        """Return the tokens of the documents `buffer[firsts[i] : lasts[i]]`.

        Returns:
            The first token of each document, shape (documents + 1); where each token begins and
            ends in the buffer, shape (tokens,); `AFTER_GAP` or 0 for each token.
        """
        places = int((lasts - firsts).sum()) // 4 + 64
        starts, ends = np.empty(places, np.int64), np.empty(places, np.int64)
        gaps = np.empty(places, np.uint8)
        bounds = np.zeros(len(firsts) + 1, np.int64)
        given = np.empty(LONGEST, np.int64)
        state = np.array([0, -1, 0, 0, -1, NOTHING], np.int64)
        rules = affixes_kernel.tables()
        while True:
            status = _tokenise(
                buffer,
                firsts,
                lasts,
                (_kinds(), characters.flags(), _plain_exceptions(), *_edges()),
                (rules.classes, rules.units, rules.keys, rules.values, rules.cuts),
                rules.longest,
                (self._keys, self._values, self._cuts, self._fill),
                (starts, ends, gaps, bounds),
                given,
                state,
            )
            if status == DONE:
                tokens = state[2]
                return bounds, starts[:tokens], ends[:tokens], gaps[:tokens]
            if status == FULL:
                starts, ends = larger(starts), larger(ends)
                gaps = larger(gaps)
                continue
            first, last = int(state[1]), int(state[3])
            chunk = buffer[first:last].tobytes().decode()
            if status == AMONG_OTHERS:
                begin, end = int(firsts[state[0]]), int(lasts[state[0]])
                tokens = english.split_among(
                    _last_chunks(buffer, begin, first), chunk, _first_chunks(buffer, last, end)
                )
                given = _ends(tokens)
                state[4] = len(given)
            else:
                self._learn(buffer[first:last], *english.split_and_tell(chunk))

    def _learn(self, chunk: Bytes, tokens: list[str], sides: tuple[set[str], set[str]]) -> None:
        """Remember how a chunk is split."""
        ends = _ends(tokens)
        if len(ends) > len(self._cuts) - 1:
            self._cuts = np.zeros(len(ends) + 1, np.int32)
            self._fill[0] = self._fill[2]
        count = len(ends)
        count |= sum({_mark(before[::-1], BEFORE_MARK, BEFORE_RUN) for before in sides[0]})
        count |= sum({_mark(after, AFTER_MARK, AFTER_RUN) for after in sides[1]})
        _remember(
            chunk, 0, len(chunk), count, ends, self._keys, self._values, self._cuts, self._fill
        )


def _mark(token: str, mark: int, run: int) -> int:
    return run if ord(token[0]) < LAST_ASCII and _kinds()[ord(token[0])] == PLAIN else mark


def _ends(tokens: list[str]) -> Offsets:
    return np.cumsum([len(token.encode()) for token in tokens], dtype=np.int64)


def _last_chunks(buffer: Bytes, begin: int, end: int) -> str:
    """Return the end of a text, as many chunks as can reach over it."""
    size, reach = 256, english.rules().reach
    while True:
        start = max(begin, end - size)
        text = buffer[start:end].tobytes().decode(errors="ignore")
        parts = text.rsplit(maxsplit=reach)
        if len(parts) > reach:
            return text[len(parts[0]) :]
        if start == begin:
            return text
        size *= 4


def _first_chunks(buffer: Bytes, begin: int, end: int) -> str:
    """Return the start of a text in the same way."""
    size, reach = 256, english.rules().reach
    while True:
        stop = min(end, begin + size)
        text = buffer[begin:stop].tobytes().decode(errors="ignore")
        parts = text.split(maxsplit=reach)
        if len(parts) > reach:
            return text[: len(text) - len(parts[-1])]
        if stop == end:
            return text
        size *= 4


@kernel
def _is_among(hashes: NDArray[np.uint64], buffer: Bytes, start: int, end: int) -> bool:
    h = hash_bytes(buffer, start, end)
    found = False
    for k in range(hashes.size):
        found |= hashes[k] == h
    return found


@kernel
def _remember(
    buffer: Bytes,
    start: int,
    end: int,
    count: int,
    ends: NDArray[np.int64],
    keys: NDArray[np.uint64],
    values: NDArray[np.int64],
    cuts: NDArray[np.int32],
    fill: NDArray[np.int64],
) -> None:
    """Put a chunk into the table; `fill`: chunks, cuts, and the most chunks that it may hold."""
    tokens = count & COUNT
    if fill[0] >= fill[2] or fill[1] + tokens + 1 > cuts.size:
        keys[:] = uint64(0)
        fill[0] = 0
        fill[1] = 0
    place = fill[1]
    cuts[place] = count
    for k in range(tokens):
        cuts[place + 1 + k] = ends[k]
    fill[1] += tokens + 1
    fill[0] += 1
    put(keys, values, hash_bytes(buffer, start, end), place << 32 | (end - start))


@kernel
def _tokenise(
    buffer: Bytes,
    firsts: Offsets,
    lasts: Offsets,
    characters_: tuple[Bytes, NDArray[np.uint16], Bytes, Bytes, NDArray[np.uint64]],
    rules: tuple[
        NDArray[np.uint16],
        NDArray[np.int64],
        NDArray[np.uint64],
        NDArray[np.int64],
        NDArray[np.int32],
    ],
    longest: int,
    memory: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    out: tuple[Offsets, Offsets, Bytes, Offsets],
    given: NDArray[np.int64],
    state: NDArray[np.int64],
) -> int:
    """Go on from `state` until all is done or Python must help; return why.

    state: document, byte (-1: at its start), tokens written, end of the chunk at the byte,
    number of ends in `given` that are the tokens of this chunk or -1, what stands before it.
    """
    kinds, flags, exceptions, edges, runs = characters_
    classes, units, rule_keys, rule_values, rule_cuts = rules
    keys, values, cuts, fill = memory
    starts, ends, gaps, bounds = out
    mask = uint64(keys.size - 1)
    native = np.empty(2 * LONGEST, np.int64)
    document, i, tokens = state[0], state[1], state[2]
    before = state[5]
    while document < firsts.size:
        end = lasts[document]
        if i < 0:
            i = firsts[document]
            bounds[document] = tokens
            before = int64(NOTHING)
        while i < end:
            # White space, then a chunk; Python sends us back to the start of a chunk.
            run = i
            while i < end:
                kind = kinds[buffer[i]]
                if kind == SPACE_BYTE:
                    i += 1
                    continue
                if kind == WIDE:
                    point, length = code_point(buffer, i, end)
                    if point < flags.size and flags[point] & SPACE_FLAG:
                        i += length
                        continue
                break
            if i > run and bounds[document] < tokens:
                before = int64(ONE_SPACE if i == run + 1 and buffer[run] == 32 else GAP)
            if i == end:
                break
            start = i
            breaking = False
            wide = False
            while i < end:
                kind = kinds[buffer[i]]
                if kind == PLAIN:
                    i += 1
                elif kind == BREAKING_BYTE:
                    breaking = True
                    i += 1
                elif kind == SPACE_BYTE:
                    break
                else:
                    point, length = code_point(buffer, i, end)
                    if point < flags.size and flags[point] & SPACE_FLAG:
                        break
                    wide = True
                    if point < flags.size:
                        breaking |= flags[point] & BREAKING_FLAG != 0
                    else:
                        breaking = True
                    i += length
            size = i - start
            state[0], state[1], state[2], state[3] = document, start, tokens, i
            state[5] = before
            if tokens + 1 > starts.size:
                return FULL
            known = not breaking
            if known and not wide and size <= PLAIN_EXCEPTION:
                slot = (buffer[start] & 63) << 10 | (buffer[i - 1] & 63) << 4 | size
                known = exceptions[slot] == 0
            if known:
                starts[tokens] = start
                ends[tokens] = i
                gaps[tokens] = AFTER_GAP if before == GAP else 0
                tokens += 1
                continue
            count = state[4]
            cut = int64(-1)
            if count < 0:
                h = hash_bytes(buffer, start, i)
                place = h & mask
                while keys[place] != uint64(0) and (
                    keys[place] != h or values[place] & 0xFFFFFFFF != size
                ):
                    place = (place + uint64(1)) & mask
                if keys[place] == uint64(0):
                    count = split_natively(
                        buffer,
                        start,
                        i,
                        classes,
                        units,
                        rule_keys,
                        rule_values,
                        rule_cuts,
                        longest,
                        native,
                    )
                    if count < 0:
                        return UNKNOWN
                    # Long ones seldom come again, and would only fill the table.
                    if size <= REMEMBERED:
                        _remember(buffer, start, i, count, native, keys, values, cuts, fill)
                else:
                    cut = values[place] >> 32
                    count = int64(cuts[cut])
                    cut += 1
                if count > COUNT:
                    if count & (BEFORE_MARK | BEFORE_RUN) and before == ONE_SPACE:
                        stop = ends[tokens - 1]
                        k = stop
                        while k > starts[tokens - 1] and kinds[buffer[k - 1]] == PLAIN:
                            k -= 1
                        if k == stop:
                            if count & BEFORE_MARK and edges[0, buffer[k - 1]]:
                                return AMONG_OTHERS
                        elif count & BEFORE_RUN and stop - k <= EDGE:
                            if _is_among(runs[0], buffer, k, stop):
                                return AMONG_OTHERS
                    if i + 1 < end and buffer[i] == 32:
                        k = i + 1
                        while k < end and k <= i + 1 + EDGE and kinds[buffer[k]] == PLAIN:
                            k += 1
                        if k == i + 1:
                            if count & AFTER_MARK and edges[1, buffer[k]]:
                                return AMONG_OTHERS
                        elif count & AFTER_RUN and k <= i + 1 + EDGE:
                            if _is_among(runs[1], buffer, i + 1, k):
                                return AMONG_OTHERS
                count &= COUNT
            if tokens + count > starts.size:
                return FULL
            token = start
            for k in range(count):
                starts[tokens + k] = token
                if state[4] >= 0:
                    token = start + given[k]
                elif cut >= 0:
                    token = start + cuts[cut + k]
                else:
                    token = start + native[k]
                ends[tokens + k] = token
                gaps[tokens + k] = 0
            if before == GAP:
                gaps[tokens] = AFTER_GAP
            tokens += count
            state[4] = -1
        document += 1
        i = int64(-1)
    bounds[firsts.size] = tokens
    state[2] = tokens
    return DONE
