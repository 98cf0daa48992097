from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.inference.imagination import Imagination, Ply


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, oracle: Any) -> Callable[..., Any]:
    """Runs the program with the oracle behind every agent's text."""
    monkeypatch.setitem(sys.modules, "diffusearch.agents.build", SimpleNamespace(agent=lambda text: oracle))
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_actions_json_has_figures_and_provenance(run: Any, labelled: Callable[..., Path], oracle: Any) -> None:
    path = labelled()
    oracle.runs = {"name": "mine"}
    done = run("eval", "actions", "--agent", "oracle", "--data", path, "--limit", 3, "--json")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["n"], result["accuracy"], result["kind"]) == (3, 1.0, "actions")
    assert 0 < result["interval"][0] < result["interval"][1] == 1.0
    assert result["agent"] == "oracle"
    assert result["recipe"]["name"] == "mine"
    assert result["data_hash"] == hashlib.sha256(path.read_bytes()).hexdigest()
    for name in ("command", "commit", "seed", "version", "date"):
        assert name in result
    (written,) = Path("runs/results").glob("actions-oracle-*-n3.json")
    assert json.loads(written.read_text()) == result


def test_other_rows_are_another_file(run: Any, labelled: Callable[..., Path], puzzle_file: Callable[..., Path]) -> None:
    chosen = ((), ("--skip", 1), ("--seed", 7), ("--skip", 1, "--seed", 7))
    for words in chosen:
        done = run("eval", "actions", "--agent", "oracle", "--data", labelled(), "--limit", 2, "--json", *words)
        assert json.loads(done.stdout)["skip"] == int("--skip" in words)
    names = {path.stem.partition("-n")[2] for path in Path("runs/results").glob("actions-*.json")}
    assert names == {"2", "2-skip1", "2-seed7", "2-skip1-seed7"}
    done = run("eval", "puzzles", "--agent", "oracle", "--data", puzzle_file(), "--skip", 1, "--json")
    assert json.loads(done.stdout)["n"] == 1
    done = run("eval", "puzzles", "--agent", "oracle", "--data", puzzle_file(), "--skip", 9)
    assert "behind row 9" in str(done.exception)


def test_actions_for_people_say_what_is_left_out(run: Any, labelled: Callable[..., Path]) -> None:
    done = run("eval", "actions", "--agent", "oracle", "--data", labelled(), "--out", "one.json")
    assert done.stdout.startswith("oracle: the oracle's move in 100.00 % [51.01, 100.00] of 4 positions\n")
    assert "left out" in done.stdout
    assert Path("one.json").is_file()


def test_puzzles(run: Any, puzzle_file: Callable[..., Path]) -> None:
    done = run("eval", "puzzles", "--agent", "oracle", "--data", puzzle_file(), "--json")
    result = json.loads(done.stdout)
    assert (result["n"], result["accuracy"], result["accuracy_mate_tolerant"]) == (2, 1.0, 1.0)
    assert "mate-tolerant" in run("eval", "puzzles", "--agent", "o", "--data", puzzle_file()).stdout


def test_rows_are_written_and_compared(
    run: Any, labelled: Callable[..., Path], puzzle_file: Callable[..., Path], oracle: Any
) -> None:
    words = ("--data", labelled(), "--rows-out")
    assert run("eval", "actions", "--agent", "o", *words, "a.jsonl").exit_code == 0
    oracle.name, oracle.answers = "other", {}
    assert run("eval", "actions", "--agent", "o", *words, "b.jsonl").exit_code == 0
    result = json.loads(run("compare", "a.jsonl", "b.jsonl", "--json").stdout)
    assert (result["n"], result["agents"], result["only_second_right"]) == (4, ["table", "other"], 0)
    assert result["difference"] == -result["only_first_right"] / 4 < 0
    assert "another agent" in str(run("eval", "actions", "--agent", "o", *words, "a.jsonl").exception)
    assert run("eval", "puzzles", "--agent", "o", "--data", puzzle_file(), "--rows-out", "p.jsonl").exit_code == 0
    assert "one metric" in str(run("compare", "a.jsonl", "p.jsonl").exception)


def test_a_result_that_cannot_be_written_is_refused_before_the_agent_is_asked(
    run: Any, labelled: Callable[..., Path], oracle: Any
) -> None:
    Path("file").write_text("")
    done = run("eval", "actions", "--agent", "o", "--data", labelled(), "--out", "file/out")
    assert "cannot be written" in str(done.exception)
    assert oracle.batches == []


def test_latency_rows(run: Any, labelled: Callable[..., Path]) -> None:
    done = run("eval", "latency", "--agent", "o", "--data", labelled(), "--sweep", "steps=1,2", "--json")
    result = json.loads(done.stdout)
    assert [row["agent"] for row in result["rows"]] == ["o?steps=1", "o?steps=2"]
    assert result["n"] == 4


def test_futures_table_and_raw_legality(run: Any, labelled: Callable[..., Path], oracle: Any) -> None:
    for fen, line in zip(*(read_labelled_columns(labelled())), strict=True):
        plies = tuple(Ply(move, True, fen, None, True, "." * 64) for move in line.split())
        imagined = Imagination(fen, line.split()[0], {}, plies, raw_legal=fen.endswith(" 1"))
        oracle.imaginations[chess.Board(fen).epd()] = imagined
    done = run("eval", "futures", "--agent", "o", "--data", labelled())
    assert done.exit_code == 0, done.output
    assert "3        100.00    100.00     100.00             100.00" in done.stdout
    assert "legal without the mask: 25.00 %" in done.stdout


def read_labelled_columns(path: Path) -> tuple[list[str], list[str]]:
    table = parquet.read_table(path)
    return table["fen"].to_pylist(), table["line"].to_pylist()


def test_futures_needs_one_source_and_an_imagining_agent(run: Any, labelled: Callable[..., Path]) -> None:
    assert "exactly one" in str(run("eval", "futures", "--agent", "o").exception)
    assert "imagines no future" in str(run("eval", "futures", "--agent", "o", "--data", labelled()).exception)


def test_a_missing_file_is_a_user_error(run: Any) -> None:
    assert "no labelled positions" in str(run("eval", "actions", "--agent", "o", "--data", "absent").exception)
