"""Windows can run the fast tests: what needs POSIX says so by a marker."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
POSIX_NAMES = {"SIGALRM", "SIGHUP", "SIGKILL", "SIGSTOP", "SIGUSR1", "SIGUSR2", "alarm", "fork", "getuid", "mkfifo"}
ELSEWHERE = {"posix", "slow", "engine", "browser"}  # the job on Windows runs no test with one of these markers


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def markers(decorators: list[ast.expr]) -> set[str]:
    found = [node for one in decorators for node in ast.walk(one)]
    return {node.attr for node in found if isinstance(node, ast.Attribute)}


def uses(node: ast.AST, tainted: set[str]) -> bool:
    """Whether code needs POSIX by itself or by a helper or fixture that does; what asks for the system knows both."""
    inside = list(ast.walk(node))
    attributes = {one.attr for one in inside if isinstance(one, ast.Attribute)}
    if "platform" in attributes or "importorskip" in attributes:
        return False
    words = {one.id for one in inside if isinstance(one, ast.Name)} | {
        one.arg for one in inside if isinstance(one, ast.arg)
    }
    texts = [one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    shells = any(one.startswith("#!") for one in texts)
    modules = {
        alias.name for one in inside if isinstance(one, ast.Import | ast.ImportFrom) for alias in one.names
    } & POSIX_MODULES
    return bool(attributes & POSIX_NAMES or shells or modules or words & tainted)


def posix_only(tree: ast.Module, tainted: set[str]) -> list[str]:
    """What Windows cannot run of a test module: code at the top, and tests without a marker; `tainted` grows."""
    whole = next((markers([one.value]) for one in tree.body if _assigned(one) == ["pytestmark"]), set())
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not uses(node, tainted):
                continue
            if not node.name.lower().startswith("test"):
                tainted.add(node.name)
            elif not (whole | markers(node.decorator_list)) & ELSEWHERE:
                found.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found += sorted({alias.name for alias in node.names} & POSIX_MODULES)
            found += [node.module] if isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES else []
        elif {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)} & POSIX_NAMES:
            found.append(ast.unparse(node))
        elif uses(node, tainted):
            tainted.update(_assigned(node))
    return found


def _assigned(node: ast.stmt) -> list[str]:
    return [one.id for one in getattr(node, "targets", []) if isinstance(one, ast.Name)]


def test_windows_can_run_the_fast_tests() -> None:
    """Fixtures of a folder's conftest.py count for all tests below it."""
    tainted: dict[Path, set[str]] = {}
    found = {}
    for path in sorted(TESTS, key=lambda one: (len(one.parts), one.name != "conftest.py")):
        own = set().union(*(tainted.get(folder, set()) for folder in path.parents))
        found[name(path)] = posix_only(ast.parse(path.read_text(encoding="utf-8")), own)
        if path.name == "conftest.py":
            tainted[path.parent] = own
    found.pop(name(Path(__file__)))  # names what it looks for
    bad = {module: words for module, words in found.items() if words}
    assert not bad, f"mark these with pytest.mark.posix, or write them for every system: {bad}"


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("import resource", ["resource"]),
        ("from fcntl import flock", ["fcntl"]),
        ("LIMIT = signal.SIGALRM", ["LIMIT = signal.SIGALRM"]),
        ("def test_a(): os.kill(1, signal.SIGKILL)", ["test_a"]),
        ("def helper(): path.write_text('#!/bin/sh')\ndef test_a(): helper()", ["test_a"]),
        ("SCRIPT = '#!/bin/sh'\n@pytest.fixture\ndef made(): SCRIPT\ndef test_a(made): pass", ["test_a"]),
        ("@pytest.mark.posix\ndef test_a(): os.kill(1, signal.SIGKILL)", []),
        ("pytestmark = [pytest.mark.slow]\ndef test_a(): signal.SIGKILL", []),
        ("def test_a(): pytest.importorskip('resource')", []),
        ("def test_a(): process.kill()", []),
    ],
)
def test_the_test_sees_what_only_posix_has(module: str, words: list[str]) -> None:
    assert posix_only(ast.parse(module), set()) == words
