"""Any source as a stream of text lines: a file or standard input, plain or compressed, in bounded memory.

The first bytes tell the compression (zstd, gzip, bzip2), not the name, so a pipe works like a file. A small file may
unpack to many gigabytes: unpacking goes in small pieces, and a line longer than LINE_BYTES is refused.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import zstandard

from diffusearch.errors import UserError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = "-"
LINE_BYTES = 1 << 20  # a line of a PGN file or a puzzle table has at most a few kB
ZSTD_WINDOW = 1 << 27  # bytes; the highest level of the zstd program needs as much
_ENDINGS = (".zst", ".gz", ".bz2")
# A block of zstd unpacks 4 bytes to 128 kB at most: a piece of this size never gives more than 16 MB.
_ZSTD_PIECE = 512
_PIECE = 1 << 16
# What a damaged archive raises in the middle of reading, by compression.
DAMAGE = (EOFError, OSError, zstandard.ZstdError)


def pool_name(path: str) -> str:
    """The name of a source in the records: the file name without folders and endings."""
    return "stdin" if path == STDIN else Path(bare_name(path)).stem


def bare_name(path: str) -> str:
    """The file name without the ending of its compression: games.pgn.zst -> games.pgn."""
    name = Path(path).name
    return Path(name).stem if Path(name).suffix.lower() in _ENDINGS else name


@contextmanager
def open_text(path: str) -> Iterator[TextIO]:
    """Lines of a source. Bytes that are not UTF-8 become U+FFFD: names in old files, never moves.

    A line of more than LINE_BYTES raises a UserError; a damaged archive raises one of DAMAGE while it is read.
    """
    if path == STDIN:
        yield _text(cast(io.BufferedReader, sys.stdin.buffer), "standard input")
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise UserError(
                f"cannot read {path}: {error.strerror}; give an existing file, or - for standard input"
            ) from error
        yield _text(file, path)


def read_table(lines: Iterable[str], path: str, columns: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The last line and the fields of each row of a CSV text; raises csv.Error where the text is no CSV.

    The text has a header with at least the `columns`.

    A quoted field may contain line breaks, so the length of a row is bounded too.
    """
    length = 0

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > LINE_BYTES:
                raise UserError(f"{path} has a row of more than {LINE_BYTES} characters; give a lichess puzzle CSV")
            yield line

    reader = csv.DictReader(counted())
    missing = set(columns) - set(reader.fieldnames or ())
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(sorted(missing))}; give a lichess puzzle CSV")
    for row in reader:
        length = 0
        yield reader.line_num, row


def _text(file: io.BufferedReader, name: str) -> TextIO:
    raw = _BoundedLines(_unpack(file), name)
    return io.TextIOWrapper(io.BufferedReader(raw, _PIECE), encoding="utf-8", errors="replace")


def _unpack(file: io.BufferedReader) -> Callable[[], bytes]:
    """A function that gives the next piece of the unpacked bytes, b"" at the end."""
    magic = file.peek(4)[:4]
    if magic == b"\x28\xb5\x2f\xfd":
        return _ZstdFrames(file).read
    stream: io.BufferedReader | gzip.GzipFile | bz2.BZ2File = file
    if magic[:2] == b"\x1f\x8b":
        stream = gzip.GzipFile(fileobj=file)
    elif magic[:3] == b"BZh":
        stream = bz2.BZ2File(file)
    return lambda: stream.read1(_PIECE)


class _BoundedLines(io.RawIOBase):
    """The bytes of a source; refuses a line of more than LINE_BYTES before it is kept anywhere."""

    def __init__(self, read: Callable[[], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._ready = memoryview(b"")
        self._open = 0  # bytes since the last line break

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._ready:
            piece = self._read()
            last = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            self._open = self._open + len(piece) if last < 0 else len(piece) - last - 1
            if self._open > LINE_BYTES:
                raise UserError(
                    f"{self._name} has a line of more than {LINE_BYTES} bytes; give a PGN file or a puzzle CSV"
                )
            self._ready = memoryview(piece)
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


class _ZstdFrames:
    """Frames of zstd one after the other, as large dumps have them; a frame that is cut off raises EOFError.

    The stream reader of the library takes a cut-off file for a short one.
    """

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._packed = b""
        self._begin()

    def _begin(self) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
        self._fed = False  # whether the frame has begun

    def read(self) -> bytes:
        """The next unpacked bytes, 16 MB at most; b"" at the end."""
        while True:
            packed = self._packed or self._file.read(_ZSTD_PIECE)
            if not packed:
                if self._fed:
                    raise EOFError("cut off in the middle of a frame")
                return b""
            piece = self._frame.decompress(packed)
            self._packed, self._fed = b"", True
            if self._frame.eof:
                self._packed = self._frame.unused_data
                self._begin()
            if piece:
                return piece
