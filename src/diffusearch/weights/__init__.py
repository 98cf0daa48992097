"""The trained weights inside the package: one run folder each for `diffusearch`, `s-a` and `s-v`."""

from __future__ import annotations

from pathlib import Path

from diffusearch.errors import UserError

NAMES = ("diffusearch", "s-a", "s-v")


def packaged(name: str) -> Path:
    """The run folder of packaged weights."""
    folder = Path(__file__).parent / name
    if name not in NAMES or not (folder / "weights.safetensors").exists():
        have = ", ".join(n for n in NAMES if (Path(__file__).parent / n / "weights.safetensors").exists()) or "none"
        raise UserError(f"no weights named {name!r} in the package (there are: {have}): give a run folder instead")
    return folder
