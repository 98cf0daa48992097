"""An append-only file of JSON objects, one a line. A line is on the disk when `append` returns."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.files import write_whole


class JsonLines:
    """Such a file; `what` names a line's content in error messages."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self._end: int | None = None  # bytes after our last reading or writing

    def read(self) -> list[dict[str, Any]]:
        """The objects so far. A last line that a kill cut short is dropped; any other damage is an error."""
        if not self.path.exists():
            self._end = 0
            return []
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{self.path} cannot be read ({error}): give another file.") from error
        lines = text.split("\n")
        torn = lines.pop()  # what follows the last newline: nothing, unless writing was cut short
        found = [self._object(line, number) for number, line in enumerate(lines, start=1)]
        if torn:
            write_whole(self.path, text[: len(text) - len(torn)])
        self._end = self.path.stat().st_size
        return found

    def _object(self, line: str, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError as error:
            raise self.damaged(number, error) from error
        if not isinstance(value, dict):
            raise self.damaged(number, TypeError("no object"))
        return value

    def damaged(self, number: int, error: Exception) -> UserError:
        """The error that names a damaged line."""
        return UserError(f"{self.path}, line {number} is no {self.what} ({error}): correct or delete the line.")

    def append(self, objects: Sequence[dict[str, Any]]) -> None:
        """Add objects. Lines that somebody else added since `read` are an error: they would be there twice."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                if self._end not in (None, os.fstat(file.fileno()).st_size):
                    raise UserError(f"another program writes to {self.path}: end it, then give the command again.")
                file.write("".join(json.dumps(one) + "\n" for one in objects))
                file.flush()
                os.fsync(file.fileno())
                self._end = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise UserError(f"{self.path} cannot be written ({error.strerror}): choose another place.") from error
