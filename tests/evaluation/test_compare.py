"""Paired comparison: known intervals and tests, a bootstrap beside the closed form, files that cannot be paired."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.evaluation.compare import compare_files, compare_folder, paired
from diffusearch.evaluation.intervals import mcnemar, paired_interval


def write(path: Path, outcomes: str, agent: str = "a", **more: Any) -> Path:
    """A file with one row a character: 1 right, 0 wrong."""
    path.parent.mkdir(parents=True, exist_ok=True)
    row: dict[str, Any] = {"kind": "actions", "agent": agent, "agent_hash": "x", "fen": "f", "answer": "e2e4"}
    rows = [row | {"id": str(i), "move": "e2e4", "right": one == "1"} | more for i, one in enumerate(outcomes)]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_newcombes_published_example() -> None:
    """Newcombe 1998, data 36, 12, 2, 0: difference 0.2, method 10 gives 0.0569 to 0.3404."""
    low, high = paired_interval(36, 2, 12, 0)
    assert (low, high) == (pytest.approx(0.0569, abs=5e-5), pytest.approx(0.3404, abs=5e-5))
    assert paired_interval(36, 12, 2, 0) == (pytest.approx(-high), pytest.approx(-low))


def test_the_interval_agrees_with_a_bootstrap_on_many_rows() -> None:
    counts = np.array([420, 60, 110, 410])  # both, only first, only second, neither
    drawn = np.random.default_rng(0).multinomial(1000, counts / 1000, size=20_000)
    low, high = np.percentile((drawn[:, 2] - drawn[:, 1]) / 1000, [2.5, 97.5])
    assert paired_interval(420, 60, 110, 410) == (pytest.approx(low, abs=2e-3), pytest.approx(high, abs=2e-3))


def test_the_ends_stay_inside() -> None:
    assert paired_interval(0, 0, 5, 0)[1] == 1.0
    low, high = paired_interval(0, 0, 0, 5)
    assert -1.0 < low < 0.0 < high < 1.0
    assert paired_interval(0, 0, 0, 0) == (-1.0, 1.0)


def test_mcnemars_exact_test() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(6, 7) == 1.0
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(12, 2) == pytest.approx(2 * (1 + 14 + 91) / 2**14)
    assert mcnemar(2, 12) == mcnemar(12, 2)
    assert 0.0 < mcnemar(1000, 1200) < 1e-4  # large counts do not overflow


def test_the_four_counts() -> None:
    result = paired([True, True, False, False, False], [True, False, True, True, False])
    counts = [result[name] for name in ("both_right", "only_first_right", "only_second_right", "both_wrong")]
    assert counts == [1, 1, 2, 1]
    assert result["accuracy"] == [0.4, 0.6]
    assert result["difference"] == pytest.approx(0.2)


def test_files_are_paired_by_row_whatever_their_order(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", "11000")
    second = write(tmp_path / "b.jsonl", "10110", "b")
    lines = second.read_text().splitlines()
    second.write_text("\n".join(reversed(lines)) + "\n")
    result = compare_files(first, second)
    assert (result["n"], result["only_first_right"], result["only_second_right"]) == (5, 1, 2)
    assert result["agents"] == ["a", "b"]


def test_files_of_different_rows_are_refused(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", "1100")
    for name, outcomes, more in (
        ("fewer", "110", {}),
        ("other answer", "1100", {"answer": "d2d4"}),
        ("other ids", "1100", {"id": "z"}),
    ):
        with pytest.raises(UserError, match="different test rows"):
            compare_files(first, write(tmp_path / f"{name}.jsonl", outcomes, **more))
    with pytest.raises(UserError, match="one metric"):
        compare_files(first, write(tmp_path / "p.jsonl", "1100", kind="puzzles"))
    with pytest.raises(UserError, match="no row"):
        compare_files(first, write(tmp_path / "empty.jsonl", ""))
    with pytest.raises(UserError, match="no file"):
        compare_files(first, tmp_path / "absent.jsonl")


def test_a_folder_pairs_what_belongs_together(tmp_path: Path) -> None:
    for name, outcomes in (("a", "110"), ("b", "101"), ("c", "111"), ("d", "1111")):
        write(tmp_path / "rows" / f"{name}.jsonl", outcomes, name)
    (tmp_path / "games.jsonl").write_text("{}\n")  # a tournament's log
    assert [result["agents"] for result in compare_folder(tmp_path)] == [["a", "b"], ["a", "c"], ["b", "c"]]


def test_the_verb(tmp_path: Path) -> None:
    files = [
        str(write(tmp_path / f"{name}.jsonl", outcomes, name)) for name, outcomes in (("a", "1100"), ("b", "1111"))
    ]
    done = CliRunner().invoke(app, ["compare", *files])
    assert done.exit_code == 0, done.output
    assert "b minus a: +50.00 points" in done.output
    assert "2 rows gained, 0 lost" in done.output
    out = tmp_path / "result.json"
    done = CliRunner().invoke(app, ["compare", *files, "--json", "--out", str(out)])
    result = json.loads(done.stdout)
    assert (result["kind"], result["mcnemar"]) == ("compare", 0.5)
    assert json.loads(out.read_text()) == result
