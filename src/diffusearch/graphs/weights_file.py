"""Where each tensor lies in a safetensors file: its header is JSON, and the tensors follow one after another."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from diffusearch.errors import UserError

_HEADER_LIMIT = 1 << 26  # bytes


@dataclass(frozen=True)
class TensorPlace:
    """One tensor of the file."""

    kind: str  # "F16", "BF16" or "F32"
    shape: tuple[int, ...]
    offset: int  # bytes from the start of the file
    length: int  # bytes

    def read(self, path: Path) -> bytes:
        with path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.length)


_SIZES = {"F16": 2, "BF16": 2, "F32": 4}


def tensor_places(path: Path) -> dict[str, TensorPlace]:
    """Every tensor by its name; any other file is refused."""
    try:
        with path.open("rb") as file:
            first_bytes = file.read(8)
            if len(first_bytes) < 8:
                raise ValueError(f"it has {len(first_bytes)} bytes")
            size = int.from_bytes(first_bytes, "little")
            if size > _HEADER_LIMIT:
                raise ValueError("its header is too long")
            written = file.read(size)
            if len(written) < size:
                raise ValueError("its header is cut short")
            header = json.loads(written)
        header.pop("__metadata__", None)
        out = {}
        for name, entry in header.items():
            first, end = entry["data_offsets"]
            place = TensorPlace(entry["dtype"], tuple(entry["shape"]), 8 + size + first, end - first)
            if place.length != math.prod(place.shape) * _SIZES[place.kind]:
                raise ValueError(f"{name} has {place.length} bytes")
            out[name] = place
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): give yourself the right to read it") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(f"{path} is damaged or no safetensors file ({error}): take it from its source again") from None
    return out


def check_whole(path: Path) -> None:
    """Refuse a file that is no safetensors file, or that is cut short or longer than its tensors."""
    places, size = tensor_places(path), path.stat().st_size
    end = max((place.offset + place.length for place in places.values()), default=0)
    if size != end:
        raise UserError(f"{path} is damaged (it has {size} bytes, not {end}): take it from its source again")
