"""Text files are UTF-8 on every system: each call that opens one says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def without_encoding(tree: ast.AST) -> Iterator[int]:
    """The lines of calls that read or write text in the system's own encoding."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        owner = getattr(node.func.value, "id", "") if isinstance(node.func, ast.Attribute) else ""
        if function not in {"open", "fdopen", "read_text", "write_text"} or owner == "webbrowser":
            continue
        if function == "open" and owner == "os":  # a handle of bytes
            continue
        first = 1 if isinstance(node.func, ast.Name) or owner in {"os", "gzip"} else 0  # where the mode stands
        words = {one.arg: one.value for one in node.keywords}
        mode = words.get("mode", node.args[first] if len(node.args) > first else None)
        binary = "open" in function and isinstance(mode, ast.Constant) and "b" in str(mode.value)
        if not binary and "encoding" not in words:
            yield node.lineno


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_text_is_read_and_written_as_utf_8(path: Path) -> None:
    found = list(without_encoding(ast.parse(path.read_text(encoding="utf-8"))))
    assert not found, f'{name(path)}, lines {found}: say encoding="utf-8"'


def test_the_test_sees_files_in_the_encoding_of_the_system() -> None:
    bad = [
        "p.read_text()",
        "p.write_text(t)",
        "p.open()",
        "p.open('a')",
        "open(p)",
        "open(p, 'w')",
        "os.fdopen(h, 'w')",
    ]
    good = ["p.open('rb')", "open(p, 'wb')", "p.open(mode='r+b')", "p.read_text(encoding='utf-8')", "os.open(p, flags)"]
    assert list(without_encoding(ast.parse("\n".join(bad)))) == list(range(1, len(bad) + 1))
    assert not list(without_encoding(ast.parse("\n".join(good))))
