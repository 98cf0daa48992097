"""Writes docs/TREE.md: every file of the repository with a phrase about it.

The phrase is the first sentence of a module's docstring or of the comment at the head of a file; files without one
(data, pictures, locks), and documents whose title says too little, are named in SILENT. Run it after
adding or moving a file: `make tree`.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
TREE = ROOT / "docs" / "TREE.md"
WIDTH = 34  # columns of the names, indent included

HEAD = """# The tree

The folders of the package stand in the order of the data: a folder imports only folders above it (a test checks this).
`make tree` writes this page and the picture.

![Two paths through the code: games to weights in 12 files, and a position to a move in 12 files](img/paths.svg)

"""

# The folders of the package, in the order in which they import each other.
STATIONS = {
    "tokens": "positions, moves and values as token ids; the layout of a record; batches",
    "data": "games, the oracle (Stockfish), labels, records, the loader",
    "model": "the transformer: embedding, trunk, heads, board features, residual state",
    "diffusion": "noise processes, loss, decoding and sampling: tensors only, no chess",
    "training": "recipes, the loop, checkpoints, validation",
    "graphs": "the network as ONNX graphs, for play without torch",
    "inference": "a trained run in use: evaluate, predict and imagine positions",
    "search": "explicit search: planners (minimax, MCTS, rollout), evaluator, dynamics",
    "drafts": "draft and revise: futures that the network drafts, and the move that it denoises with them in sight",
    "agents": "every player behind one small interface, built from a short text",
    "evaluation": "accuracy, puzzles, futures, tournaments, Elo, latency, paired comparison",
    "play": "UCI engine, page server, pictures, terminal",
    "reproduce": "the tables and figures of the paper",
    "cli": "the verbs of the program `diffusearch`",
}

# Folders whose files are shown as one line.
CLOSED = {
    "docs/img": "pictures of the documentation",
    "docs/results": "measured results, one JSON each",
    "docs/reproduction": "what `reproduce all` has measured, one JSON each, and the ledger of its calls",
    "src/diffusearch/weights/diffusearch": "recipe and weights of the run that `search` and `diffusearch` use",
    "src/diffusearch/weights/s-a": "the policy's recipe and weights",
    "src/diffusearch/weights/s-v": "the value network's recipe and weights",
    "tests/fixtures": "a few games and a small labelled set made from them",
    "tests/search/mcts/golden": "whole search trees, node by node",
}

FOLDERS = {
    ".ci": "what the continuous integration calls",
    ".github": "for GitHub",
    ".github/workflows": "continuous integration, release and publication of the static page",
    "benchmarks": "speed and matches, measured side by side",
    "benchmarks/soak": "an hour of games, UCI lines, kills and requests before a release (make soak)",
    "docs": "the manual",
    "recipes": "named training runs, one TOML each",
    "recipes/flagship": "a shorter chain of the stages that trained the packaged weights",
    "src/diffusearch": "the package",
    **{f"src/diffusearch/{name}": about for name, about in STATIONS.items()},
    "src/diffusearch/model/board_features": "attack features, policy skip, king exposure (one switch)",
    "src/diffusearch/model/heads": "logits of moves, states and values",
    "src/diffusearch/search/mcts": "MCTS: selection, expansion, backup, play",
    "src/diffusearch/search/minimax": "fixed-width minimax: the planner of the agent `search`",
    "src/diffusearch/weights": "the packaged weights and their card",
    "tests": "tests, in the same folders as the package",
    **{f"tests/{name}": f"tests of {name}" for name in STATIONS},
    "tools": "scripts for work on the project",
    "web": "the page's TypeScript, built into the package, and as a static page with an engine of its own",
    "web/src/engine": "the engine in the browser: what the static page has instead of a server",
    "web/src/engine/agents": "the players",
    "web/src/engine/answers": "what the page asks, answered in the shapes of the API",
    "web/src/engine/diffusion": "joint denoising",
    "web/src/engine/drafts": "draft and revise",
    "web/src/engine/network": "the network in WASM",
    "web/src/engine/rules": "positions, legal moves and ends of games, on chessops",
    "web/src/engine/search": "fixed-width minimax in predicted states",
    "web/src/engine/tokens": "positions and moves as token ids",
    "web/tests": "tests of the engine in the browser, run by vitest",
}

# Files without a docstring or a comment at their head, and documents whose title says too little.
SILENT = {
    "CHANGELOG.md": "what changed for users, by date",
    "CONTRIBUTING.md": "how to work on the code: order of imports, where to add what, style, tests",
    "Makefile": "setup, play, demo, tests, documents: the commands of people and of the continuous integration",
    "README.md": "what it is, figures, and how to play, train and measure",
    "docs/LOG.md": "experiments: question, command, outcome, conclusion",
    "docs/RESULTS.md": "all figures with their commands and intervals",
    "docs/TREE.md": "this page",
    "docs/agents.md": "every agent, its text, its options, and the conventions that all share",
    "docs/evaluation.md": "how agents are measured: verbs, result files, intervals, tournaments",
    "docs/page.md": "the page: playing, settings, the API",
    "docs/words.md": "terms with a meaning of their own in this project",
    "web/src/style/boards.css": "style of the boards",
    "web/src/style/thought.css": "style of the panel that shows a decision",
    ".gitignore": "files that git leaves out",
    "CITATION.cff": "how to cite the project and the paper",
    "LICENSE": "GPL-3.0-or-later",
    "src/diffusearch/__main__.py": "`python -m diffusearch`",
    "src/diffusearch/play/puzzles.json": "the project's own puzzles",
    "src/diffusearch/play/ratings.json": "measured ratings of the agents, written by benchmarks/elo_scale.py",
    "src/diffusearch/py.typed": "tells type checkers that the package is typed",
    "pyproject.toml": "the package, its dependencies, the settings of the tools",
    "web/.npmrc": "settings of npm",
    "web/index.html": "the page's frame",
    "web/package-lock.json": "exact versions of the page's packages",
    "web/package.json": "the page's packages and scripts",
    "web/public/icon.svg": "the page's icon",
    "web/public/licences.txt": "whose work the built page holds: pieces, board, lit-html, with their licences",
    "web/src/engine/settings.json": "agents and their settings, written by tools/browser_engine.py",
    "web/tests/endings.json": "won endings with the root moves that Python leaves, written by tools/browser_engine.py",
    "web/tests/golden.json.gz": "500 positions as Python sees them, written by tools/browser_engine.py",
    "web/tsconfig.json": "settings of the TypeScript compiler",
    "web/tsconfig.page.json": "the same for the page alone, without the engine",
    "web/vitest.config.ts": "settings of the tests",
    "web/vite.config.ts": "how the page is built",
}

SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")
COMMENT = re.compile(r"^\s*(?:#|//|/\*+|<!--)\s*(.*?)\s*(?:\*/|-->)?$")


def files() -> list[str]:
    """The repository's files as git knows them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


def shown() -> list[str]:
    """What the tree lists: files (no empty `__init__.py`), and closed folders, with a slash, in place of theirs."""
    out: dict[str, None] = {}
    for name in files():
        closed = next((folder for folder in CLOSED if name.startswith(folder + "/")), None)
        if closed:
            out[closed + "/"] = None
        elif not (name.endswith("__init__.py") and not (ROOT / name).read_text().strip()):
            out[name] = None
    return list(out)


def phrase(name: str) -> str:
    """The phrase of a file or closed folder."""
    if name in SILENT:
        return SILENT[name]
    if name.endswith("/"):
        return CLOSED[name[:-1]]
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".py"):
        said = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    elif name.endswith(".md"):
        said = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), "")
    else:
        lines = [line for line in text.splitlines() if not line.startswith("#!")]
        found = COMMENT.match(lines[0]) if lines else None
        said = found[1] if found else ""
    if not said and name.startswith("tests/"):  # the test's place and name say it
        folder, noun = Path(name).parent.relative_to("tests"), Path(name).stem.removeprefix("test_")
        tested = folder / f"{noun}.py"
        if noun == "conftest":
            said = f"fixtures of the tests of {folder}"
        elif (ROOT / "src" / "diffusearch" / tested).is_file():
            said = f"tests of {tested}"
        else:
            said = f"tests of {folder}: {noun.replace('_', ' ')}"
    return SENTENCE_END.split(said)[0].rstrip(".,")


def tree() -> str:
    """The page."""
    lines: list[str] = []
    opened: tuple[str, ...] = ()
    for name in sorted(shown(), key=_in_order):
        *folders, last = _parts(name)
        for depth in range(len(folders)):
            if tuple(folders[: depth + 1]) != opened[: depth + 1]:
                about = FOLDERS.get("/".join(folders[: depth + 1]), "")
                lines.append(_line(depth, folders[depth] + "/", about))
        opened = tuple(folders)
        lines.append(_line(len(folders), last + ("/" if name.endswith("/") else ""), phrase(name)))
    return HEAD + "```text\n" + "\n".join(lines) + "\n```\n"


def _parts(name: str) -> list[str]:
    return name.rstrip("/").split("/")


def _in_order(name: str) -> list[tuple[bool, int, str]]:
    """Orders the files of a folder before its subfolders, and the package's folders as STATIONS."""
    parts, stations = _parts(name), list(STATIONS)
    inside = parts[:2] == ["src", "diffusearch"]
    out = []
    for place, part in enumerate(parts):
        station = inside and place == 2 and part in STATIONS
        out.append((place < len(parts) - 1, stations.index(part) if station else len(stations), part))
    return out


def _line(depth: int, name: str, about: str) -> str:
    return f"{'  ' * depth + name:<{WIDTH}} {about}".rstrip()


if __name__ == "__main__":
    TREE.write_text(tree(), encoding="utf-8")
