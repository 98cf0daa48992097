"""Writes docs/img/paths.svg: the files that games pass to become weights, and a position passes to become a move.

`make tree` runs it. A path has at most 12 stops and no file twice; files are named below src/diffusearch.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "diffusearch"
PICTURE = ROOT / "docs" / "img" / "paths.svg"
MOST = 12  # stops of a path


@dataclass(frozen=True)
class Stop:
    """A file below the package and what it does on the path."""

    file: str
    does: str


@dataclass(frozen=True)
class Lane:
    """One path: what goes in, the files it passes, what comes out."""

    title: str
    start: str
    stops: tuple[Stop, ...]
    end: str


LANES = (
    Lane(
        "Training: games to weights",
        "games (PGN)",
        (
            Stop("data/pgn.py", "reads the games"),
            Stop("data/root_positions.py", "chooses positions"),
            Stop("data/oracle.py", "asks Stockfish for moves, lines and values"),
            Stop("data/label_run.py", "writes the labelled folder"),
            Stop("training/sources.py", "reads the folders that a recipe names"),
            Stop("data/records.py", "replays lines into arrays of records"),
            Stop("data/loader.py", "draws the rows of each step"),
            Stop("tokens/batch.py", "turns rows into token ids"),
            Stop("diffusion/absorbing.py", "masks a part of the variables"),
            Stop("model/denoiser.py", "predicts the masked variables"),
            Stop("diffusion/loss.py", "compares them with the record"),
            Stop("training/state.py", "changes the weights"),
        ),
        "runs/NAME/weights.safetensors",
    ),
    Lane(
        "Play: a position to a move (agent search)",
        "position (FEN)",
        (
            Stop("cli/move.py", "reads the command; UCI and page: play/"),
            Stop("agents/build.py", "makes the agent from its text"),
            Stop("agents/searching.py", "asks its planner"),
            Stop("search/minimax/planner.py", "plans: grow, back up, choose"),
            Stop("search/minimax/tree.py", "follows the likeliest moves, 4x2x2x1"),
            Stop("search/dynamics.py", "asks for the state after a move"),
            Stop("inference/run.py", "evaluates positions, predicts states"),
            Stop("inference/roots.py", "turns boards into token ids"),
            Stop("model/denoiser.py", "gives priors, value, next state"),
            Stop("inference/reading.py", "turns tokens into boards"),
            Stop("search/minimax/backup.py", "backs up values: minimum, maximum"),
            Stop("search/minimax/variation.py", "reads off the line after the move"),
        ),
        "move, line, value",
    ),
)
NOTE = (
    "The agent diffusearch passes agents/imagining.py, inference/joint.py and diffusion/sampling.py, and not search/."
)
NOTE_FILES = ("agents/imagining.py", "inference/joint.py", "diffusion/sampling.py")

LANE_WIDTH, ROW, TOP, LEFT = 460, 44, 64, 24
# Colours for light and dark pages; a page's own background shows through.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .file { font: 12px ui-monospace, monospace; }
  .does { fill: #59636e; font-size: 12px; }
  .box { fill: #f6f8fa; stroke: #818b98; }
  .end { fill: #ddf4ff; stroke: #0969da; }
  .line { stroke: #818b98; stroke-width: 1.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .does { fill: #9da7b0; }
    .box { fill: #212830; stroke: #656c76; }
    .end { fill: #12304f; stroke: #4493f8; }
  }
"""


def box(x: int, y: int, kind: str, name: str, does: str = "") -> str:
    """A stop of the path: its name, and what it does beside it on a second line."""
    height = 34 if does else 24
    lines = [f'<rect class="{kind}" x="{x}" y="{y}" width="{LANE_WIDTH - 40}" height="{height}" rx="5"/>']
    lines.append(
        f'<text class="{"file" if does else ""}" x="{x + 10}" y="{y + (15 if does else 16)}">{escape(name)}</text>'
    )
    if does:
        lines.append(f'<text class="does" x="{x + 10}" y="{y + 29}">{escape(does)}</text>')
    return "\n".join(lines)


def drawn(lane: Lane, x: int) -> str:
    """A path from top to bottom; a short line joins each stop with the next."""
    parts = [f'<text class="title" x="{x}" y="28">{escape(lane.title)}</text>', box(x, TOP - 20, "end", lane.start)]
    y, below = TOP + 14, TOP + 4
    for number, stop in enumerate(lane.stops, 1):
        parts.append(f'<line class="line" x1="{x + 20}" y1="{below}" x2="{x + 20}" y2="{y}"/>')
        parts.append(box(x, y, "box", f"{number}. {stop.file}", stop.does))
        below, y = y + 34, y + ROW
    parts.append(f'<line class="line" x1="{x + 20}" y1="{below}" x2="{x + 20}" y2="{y}"/>')
    parts.append(box(x, y, "end", lane.end))
    return "\n".join(parts)


def picture() -> str:
    """Both paths side by side as SVG."""
    width = LEFT + LANE_WIDTH * len(LANES)
    height = TOP + 14 + ROW * max(len(lane.stops) for lane in LANES) + 24 + 40
    lanes = "\n".join(drawn(lane, LEFT + LANE_WIDTH * at) for at, lane in enumerate(LANES))
    note = f'<text class="does" x="{LEFT}" y="{height - 14}">{escape(NOTE)}</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    label = "Two paths through the code: games to weights, and a position to a move"
    return f'{head} role="img" aria-label="{label}">\n<style>{STYLE}</style>\n{lanes}\n{note}\n</svg>\n'


def problems() -> list[str]:
    """What is wrong with the paths: missing files, files named twice, too many stops."""
    found = [f"no file {name}" for name in NOTE_FILES if not (PACKAGE / name).is_file()]
    for lane in LANES:
        files = [stop.file for stop in lane.stops]
        found += [f"{lane.title}: no file {name}" for name in files if not (PACKAGE / name).is_file()]
        found += [f"{lane.title}: {name} twice" for name in sorted(set(files)) if files.count(name) > 1]
        if len(files) > MOST:
            found.append(f"{lane.title}: {len(files)} stops, at most {MOST}")
    return found


if __name__ == "__main__":
    if problems():
        sys.exit("\n".join(problems()))
    PICTURE.write_text(picture(), encoding="utf-8")
