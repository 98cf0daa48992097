"""Writes docs/TREE.md: every file of the repository with the phrase that it says about itself.

The phrase is the first sentence of a module's docstring or of the comment at the head of a file; what cannot speak
(data, pictures, locks) is named in SILENT. Run it after adding or moving a file: `make tree`.
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

Read from top to bottom it is the path of the data: games, oracle labels, records, tokens, denoiser, imagination,
decision, score or screen. A station knows only the stations before it. `make tree` writes this page.

"""

# Folders whose files are shown as one line.
CLOSED = {
    "docs/img": "pictures of the documentation",
    "docs/results": "measured results, one JSON each",
    "src/diffusearch/weights/diffusearch": "the flagship's recipe and weights",
    "src/diffusearch/weights/s-a": "the policy's recipe and weights",
    "src/diffusearch/weights/s-v": "the value network's recipe and weights",
    "tests/fixtures": "a few games and a small labelled set made from them",
    "tests/search/golden": "whole search trees, node by node",
}

FOLDERS = {
    ".ci": "what the continuous integration calls",
    "benchmarks": "speed, side by side, as ratios",
    "docs": "the manual",
    "recipes": "one TOML for each training run that has a name",
    "recipes/flagship": "how the weights inside are trained, stage by stage",
    "src/diffusearch": "the package",
    "src/diffusearch/agents": "one tiny interface for every player",
    "src/diffusearch/cli": "the verbs of the one program",
    "src/diffusearch/data": "games, the oracle, labels, records",
    "src/diffusearch/diffusion": "noise processes, their loss, decoding",
    "src/diffusearch/evaluation": "accuracy, puzzles, futures, tournaments, Elo, latency",
    "src/diffusearch/model": "the transformer",
    "src/diffusearch/play": "UCI engine, page server, pictures, terminal",
    "src/diffusearch/reproduce": "the tables and figures of the paper",
    "src/diffusearch/search": "MCTS: selection, expansion, backup",
    "src/diffusearch/tokens": "positions, moves and values as ids; the layout of a record",
    "src/diffusearch/training": "recipes, the loop, checkpoints",
    "src/diffusearch/weights": "the trained weights that are shipped",
    "tests": "mirrors the package",
    "tools": "for those who work on the project",
    "web": "the page's TypeScript, built into the package",
}

# Files that cannot speak for themselves.
SILENT = {
    ".gitignore": "what is made, not kept",
    "CITATION.cff": "how to cite the project and the paper",
    "LICENSE": "GPL-3.0-or-later",
    "src/diffusearch/__main__.py": "`python -m diffusearch`",
    "src/diffusearch/play/puzzles.json": "the project's own puzzles",
    "src/diffusearch/py.typed": "tells type checkers that the package is typed",
    "pyproject.toml": "the package, its dependencies, the settings of the tools",
    "web/.npmrc": "settings of npm",
    "web/index.html": "the page's frame",
    "web/package-lock.json": "exact versions of the page's packages",
    "web/package.json": "the page's packages and scripts",
    "web/public/icon.svg": "the page's icon",
    "web/public/licences.txt": "whose work the built page holds: pieces, board, lit-html, with their licences",
    "web/tsconfig.json": "settings of the TypeScript compiler",
    "web/vite.config.ts": "how the page is built",
}

SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])|; ")
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
    """What a file says about itself."""
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
        station, noun = Path(name).parent.name, Path(name).stem.removeprefix("test_").replace("_", " ")
        said = f"what the tests of {station} share" if noun == "conftest" else f"tests of {station}: {noun}"
    return SENTENCE_END.split(said)[0].rstrip(".,")


def tree() -> str:
    """The page."""
    lines: list[str] = []
    opened: tuple[str, ...] = ()
    for name in sorted(shown(), key=_files_first):
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


def _files_first(name: str) -> list[tuple[bool, str]]:
    """Orders the files of a folder before its subfolders."""
    parts = _parts(name)
    return [(place < len(parts) - 1, part) for place, part in enumerate(parts)]


def _line(depth: int, name: str, about: str) -> str:
    return f"{'  ' * depth + name:<{WIDTH}} {about}".rstrip()


if __name__ == "__main__":
    TREE.write_text(tree(), encoding="utf-8")
