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
            size = int.from_bytes(file.read(8), "little")
            if size > _HEADER_LIMIT:
                raise ValueError("its header is too long")
            header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        out = {}
        for name, entry in header.items():
            first, end = entry["data_offsets"]
            place = TensorPlace(entry["dtype"], tuple(entry["shape"]), 8 + size + first, end - first)
            if place.length != math.prod(place.shape) * _SIZES[place.kind]:
                raise ValueError(f"{name} has {place.length} bytes")
            out[name] = place
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): train first with `diffusearch train`") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged or no safetensors file ({error}): take it from its source again") from None
    return out
