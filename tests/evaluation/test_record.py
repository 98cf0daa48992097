"""The commit of a result: that of the checkout, whoever owns it; results of the repository without one say so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from diffusearch.evaluation.record import commit

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("owner", ["0", "1"])  # git's own switch: 1 = the checkout belongs to another user
def test_the_commit_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch, owner: str) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "rev-parse", "HEAD"]
    head = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", owner)
    found = commit()
    assert found is not None
    assert found.removesuffix("+") == head


def test_no_git_is_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() is None


def test_the_results_of_the_repository_have_a_commit_or_say_that_they_have_none() -> None:
    results = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs" / "results").rglob("*.json")}
    assert results
    silent = [name for name, one in results.items() if not one["commit"] and "no commit: " not in one.get("remark", "")]
    assert silent == []
