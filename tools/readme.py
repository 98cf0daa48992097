"""Runs the commands of README.md's console blocks and writes what they print under them; draws the first picture.

A console block holds lines that begin with `$ `, each followed by what it prints. `make readme` runs it; do so after
new weights.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "img" / "imagined.svg"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STAYS = ("make play", "make setup")  # a server does not end; a set-up prints what happens to be missing


@dataclass(frozen=True)
class Shown:
    """A command in a console block and what the page says that it prints."""

    command: str
    output: str


def blocks(language: str) -> list[str]:
    """The text of all fenced blocks of a language."""
    return [text for kind, text in BLOCK.findall(README.read_text(encoding="utf-8")) if kind == language]


def shown(block: str) -> list[Shown]:
    """The commands of a console block with their output."""
    out = []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        out.append(Shown(command, output))
    return out


def ran(command: str) -> str:
    """What a command of the page prints; make's own line is not part of it."""
    command = command.replace("make demo", "diffusearch demo")
    done = subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True, text=True)
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def refreshed(found: re.Match[str]) -> str:
    """A fenced block with new output."""
    if found[1] != "console":
        return found[0]
    lines = [f"$ {one.command}\n{one.output if one.command in STAYS else ran(one.command)}" for one in shown(found[2])]
    return f"```console\n{''.join(lines)}```"


def first_position() -> str:
    """The position of the picture: that of the first `diffusearch move` on the page."""
    return re.findall(r'diffusearch move "([^"]+)"', README.read_text(encoding="utf-8"))[0]


if __name__ == "__main__":
    README.write_text(BLOCK.sub(refreshed, README.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    subprocess.run(["diffusearch", "explain", first_position(), "--out", str(PICTURE)], check=True)
