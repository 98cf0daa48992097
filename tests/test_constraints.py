"""constraints.txt pins everything that is installed for the project, and locked.txt has a hash for each."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
_SPEC = importlib.util.spec_from_file_location("lock", ROOT / "tools" / "lock.py")
assert _SPEC is not None
assert _SPEC.loader is not None
lock = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(lock)


def test_every_installed_distribution_that_the_extras_pull_is_pinned() -> None:
    pulled = lock.pulled()
    assert {"numpy", "chess", "pytest", "ray"} <= set(pulled)
    assert not set(pulled) - set(lock.pins(ROOT / "constraints.txt")), "run tools/lock.py"


def test_the_hashed_list_has_the_same_versions() -> None:
    constraints, locked = lock.pins(ROOT / "constraints.txt"), lock.pins(ROOT / "locked.txt")
    assert locked == {name: version for name, version in constraints.items() if name not in lock.MANY_BUILDS}
    blocks = re.split(r"^(?=\S+==)", (ROOT / "locked.txt").read_text(), flags=re.MULTILINE)[1:]
    assert len(blocks) == len(locked)
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_constraints_have_no_hash() -> None:
    """One would turn on hash checking for the checkout and torch, too."""
    assert "--hash" not in (ROOT / "constraints.txt").read_text()
