"""Files on disk: written whole or not at all, whatever happens to the program, and locked while they are in use."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from diffusearch.errors import UserError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under another name in the same folder, then give it its name in one step."""
    temporary = temporary_for(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        put_in_place(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written ({error.strerror}): choose another place") from error


def make_folder(folder: Path, option: str = "--out") -> None:
    """Make a folder with those above it, or say that the `option` which named it needs another value."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder} cannot be made ({error.strerror}): choose another {option}") from None


def sha256(path: Path) -> str:
    """The SHA-256 of the bytes of a file on disk, as hexadecimal text."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): check that it is there and may be read") from error


def temporary_for(path: Path) -> Path:
    """The name under which a file is written before it gets its own; `remove_leftovers` finds it."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed processes; call it only while the folder is locked."""
    for leftover in folder.glob(".*.tmp"):
        with suppress(OSError):
            leftover.unlink()


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished file its name; content and name survive a power cut."""
    _sync(temporary)
    os.replace(temporary, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    if sys.platform == "win32" and path.is_dir():
        return  # Windows has no handle of a folder to flush
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path, busy: str | None = None) -> Iterator[None]:
    """Hold the lock file `path`. If another process holds it: wait, or raise UserError with the sentence `busy`.

    The operating system drops the lock when the process ends, however it ends. The file itself stays.
    """
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror}): choose another place") from error
    with file:
        while not _lock(file.fileno(), wait=busy is None):
            if busy is not None:
                raise UserError(busy)
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, wait: bool) -> bool:
        """Lock the first byte; False if another process holds it."""
        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            if wait:
                time.sleep(0.2)
            return False
        return True

else:
    import fcntl

    def _lock(handle: int, *, wait: bool) -> bool:
        """Lock the whole file; False if another process holds it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError as error:  # a file system without locks
            raise UserError(f"the folder's file system has no locks ({error.strerror}): choose another place") from None
        return True
