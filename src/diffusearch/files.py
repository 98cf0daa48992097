"""Files that are there whole or not at all, whatever happens to the program or the machine."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from diffusearch.errors import UserError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file under another name in the same folder, then give it its name in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        put_in_place(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise UserError(f"{path} cannot be written ({error.strerror}): choose another place") from error


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished file its name; content and name survive a power cut."""
    _sync(temporary)
    os.replace(temporary, path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
