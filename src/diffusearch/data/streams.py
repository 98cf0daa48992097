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
from typing import IO, BinaryIO, TextIO, cast

import zstandard

from diffusearch.errors import UserError

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
        # Large dumps are many frames one after the other.
        reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, reader), buffer_size=1 << 20))
    if magic[:2] == b"\x1f\x8b":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if magic[:3] == b"BZh":
        return cast(BinaryIO, bz2.BZ2File(file))
    return file
