"""Input streams: digested while read, every member decompressed, lines across block borders."""

import gzip
import hashlib
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.core.streams import BLOCK_BYTES, DigestingStream, decompressed, lines


def zstd(data):
    stream = pa.BufferOutputStream()
    with pa.CompressedOutputStream(stream, "zstd") as compressed:
        compressed.write(data)
    return stream.getvalue().to_pybytes()


PACKERS = {".gz": gzip.compress, ".zst": zstd, "": bytes}


def read_all(path, name):
    stream = DigestingStream(path)
    try:
        return list(lines(decompressed(stream, name)))
    finally:
        stream.digest()


@pytest.mark.parametrize("ending", PACKERS)
def test_a_file_is_decompressed_by_its_ending(tmp_path, ending):
    path = tmp_path / "a"
    path.write_bytes(PACKERS[ending](b"one\ntwo\n"))
    assert read_all(path, f"a.jsonl{ending}") == [b"one", b"two"]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_concatenated_members_are_read_one_after_another(tmp_path, ending):
    pack = PACKERS[ending]
    (tmp_path / "a").write_bytes(pack(b"one\ntw") + pack(b"o\n") + pack(b"three"))
    assert read_all(tmp_path / "a", "a" + ending) == [b"one", b"two", b"three"]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize("keep", [0.5, 0.99])
def test_a_truncated_member_raises(tmp_path, ending, keep):
    data = PACKERS[ending](b"".join(b"%d\n" % n for n in range(50_000)))
    (tmp_path / "a").write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(OSError, match=r".+"):
        read_all(tmp_path / "a", "a" + ending)


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_truncated_second_member_raises(tmp_path, ending):
    pack = PACKERS[ending]
    (tmp_path / "a").write_bytes(pack(b"one\n") + pack(b"two\n" * 1000)[:-3])
    with pytest.raises(OSError, match=r".+"):
        read_all(tmp_path / "a", "a" + ending)


def test_what_is_no_gzip_raises(tmp_path):
    (tmp_path / "a").write_bytes(b'{"text": "plain"}\n')
    with pytest.raises(OSError, match=r".+"):
        read_all(tmp_path / "a", "a.jsonl.gz")


@pytest.mark.parametrize("shift", [-2, -1, 0, 1])
def test_a_line_at_a_block_border_stays_one_line(shift):
    first = b"x" * (BLOCK_BYTES + shift)
    data = first + b"\ny\n\n" + b"z" * (2 * BLOCK_BYTES)
    found = list(lines(io.BytesIO(data)))
    assert [len(line) for line in found] == [len(first), 1, 0, 2 * BLOCK_BYTES]


class Trickle:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data, sizes):
        self.stream, self.sizes = io.BytesIO(data), sizes

    def read(self, size):
        self.sizes = [*self.sizes[1:], self.sizes[0]]
        return self.stream.read(self.sizes[0])


@given(
    st.binary(max_size=60).map(lambda b: bytes(b"\n\rab"[c % 4] for c in b)),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
)
def test_lines_do_not_depend_on_the_blocks(data, sizes):
    expected = data.split(b"\n")
    expected = expected[:-1] if not expected[-1] else expected
    assert list(lines(Trickle(data, sizes))) == expected


def test_a_file_read_in_order_is_digested_on_the_way(tmp_path):
    data = b"abc" * 1000
    (tmp_path / "a").write_bytes(data)
    stream = DigestingStream(tmp_path / "a")
    stream.read(10)
    stream.seek(10)
    assert stream.digest() == hashlib.sha256(data).hexdigest()


def test_a_seek_loses_the_digest(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 1000)
    stream = DigestingStream(tmp_path / "a")
    stream.seek(0, 2)
    assert stream.digest() is None
