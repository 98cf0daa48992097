"""The trained weights inside the package: one run folder each for `diffusearch`, `s-a` and `s-v`."""

from __future__ import annotations

from pathlib import Path

from diffusearch.errors import UserError

NAMES = ("diffusearch", "s-a", "s-v")
VERSION = "1.2"  # of all packaged weights together; a new number whenever one of the files changes, see CARD.md


def packaged(name: str) -> Path:
    """The run folder of packaged weights."""
    folder = Path(__file__).parent / name
    if name not in NAMES or not (folder / "weights.safetensors").exists():
        have = ", ".join(n for n in NAMES if (Path(__file__).parent / n / "weights.safetensors").exists()) or "none"
        raise UserError(f"no weights named {name!r} in the package (there are: {have}): give a run folder instead")
    return folder


def version_of(folder: Path) -> str | None:
    """The version of packaged weights by their run folder; None for any other run."""
    return VERSION if folder.resolve().parent == Path(__file__).resolve().parent else None
