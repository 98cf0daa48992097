"""Any source as a stream of text lines: a file or standard input, plain or packed, in flat memory.

The packing (zstd, gzip, bzip2) is told by the first bytes, not by the name, so a pipe works like a file.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, TextIO, cast

import zstandard

from diffusearch.errors import UserError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = "-"
_PACKINGS = (".zst", ".gz", ".bz2")
# What a damaged archive raises in the middle of reading, by packing.
DAMAGE = (EOFError, OSError, zstandard.ZstdError)


def pool_name(path: str) -> str:
    """A source's name in the records: the file name without folders, packing and kind."""
    return "stdin" if path == STDIN else Path(bare_name(path)).stem


def bare_name(path: str) -> str:
    """The file name without its packing: games.pgn.zst -> games.pgn."""
    name = Path(path).name
    return Path(name).stem if Path(name).suffix.lower() in _PACKINGS else name


def sha256(path: Path) -> str:
    """The hash of a file's bytes as they lie on disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def open_text(path: str) -> Iterator[TextIO]:
    """Lines of a source. Bytes that are not UTF-8 become U+FFFD: names in old files, never moves."""
    if path == STDIN:
        yield _text(cast(io.BufferedReader, sys.stdin.buffer))
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise UserError(
                f"cannot read {path}: {error.strerror}; give an existing file, or - for standard input"
            ) from error
        yield _text(file)


def _text(file: io.BufferedReader) -> TextIO:
    return io.TextIOWrapper(cast(IO[bytes], _unpack(file)), encoding="utf-8", errors="replace")


def _unpack(file: io.BufferedReader) -> BinaryIO:
    magic = file.peek(4)[:4]
    if magic == b"\x28\xb5\x2f\xfd":
        return cast(BinaryIO, io.BufferedReader(_ZstdFrames(file), buffer_size=1 << 20))
    if magic[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if magic[:3] == b"BZh":
        return cast(BinaryIO, bz2.BZ2File(file))
    return file


class _ZstdFrames(io.RawIOBase):
    """Frames of zstd one after the other, as large dumps have them; a frame that is cut off raises EOFError.

    (The library's own stream reader takes a cut-off file for a short one.)
    """

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._fed = False  # whether the frame has begun
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._ready:
            packed = self._packed or self._file.read(1 << 16)
            if not packed:
                if self._fed:
                    raise EOFError("cut off in the middle of a frame")
                return 0
            self._ready = memoryview(self._frame.decompress(packed))
            self._packed, self._fed = b"", True
            if self._frame.eof:
                self._packed, self._fed = self._frame.unused_data, False
                self._frame = zstandard.ZstdDecompressor().decompressobj()
        target = memoryview(buffer).cast("B")
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
