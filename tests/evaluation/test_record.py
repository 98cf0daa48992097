"""The commit of a result: that of the checkout, whoever owns it; results of the repository without one say so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from diffusearch.agents.simple import RandomAgent
from diffusearch.evaluation.record import commit, digest
from diffusearch.evaluation.row_log import agent_digest
from diffusearch.reproduce import digests

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


class Known(RandomAgent):
    """An agent of known provenance."""

    def __init__(self, provenance: dict[str, Any]) -> None:
        super().__init__()
        self.known = provenance

    @property
    def provenance(self) -> dict[str, Any]:
        return self.known


def test_digests_are_those_that_folders_and_results_have() -> None:
    """They are compared with what earlier versions wrote: conditions.json (64 digits), rows (12), results (16)."""
    recipe = {"weights": "a", "recipe": {"name": "tiny", "depth": [1, 2.5, None, True]}}
    assert digest(recipe) == "8218e5899748d45dff43d3196bc9b3d5ec9218a23b957d32177af17154a7ffa2"
    assert (
        digest(None) == "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
    )  # an agent without weights
    assert digest([recipe], 16) == "cf25f1c249542a93"
    run = {"run": PurePosixPath("runs/tiny"), **recipe}
    assert (agent_digest(Known(run)), digests.digest(run)) == ("d369cd77a4e5", "d369cd77a4e51298")


def test_no_git_is_no_commit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() is None


def test_the_results_of_the_repository_have_a_commit_or_say_that_they_have_none() -> None:
    results = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs" / "results").rglob("*.json")}
    assert results
    silent = [name for name, one in results.items() if not one["commit"] and "no commit: " not in one.get("remark", "")]
    assert silent == []
