from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import chess.pgn
import pytest
from rich.console import Console
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.evaluation import crosstable
from diffusearch.evaluation import tournament as event
from diffusearch.evaluation.games import Fixture, GameRules
from diffusearch.evaluation.tournament import pairings, play_tournament, schedule

pytestmark = pytest.mark.slow

BOOK = [("e2e4",), ("d2d4",), ("c2c4",), ("g1f3",)]
QUICK = GameRules(max_plies=12)
AGENTS = ["random", "greedy-material"]
KILLED = """
import os, signal
from diffusearch.cli import main
from diffusearch.evaluation.gamelog import GameLog
append, groups = GameLog.append, []
def append_then_die(log, games):
    append(log, games)
    groups.append(games)
    if len(groups) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
GameLog.append = append_then_die
main()
"""


def test_games_of_other_weights_do_not_count(tmp_path: Path) -> None:
    fixtures = schedule([("random", "greedy-material")], 2, 4)
    play_tournament(fixtures, BOOK, QUICK, tmp_path, recipes={"random": {"weights": "a"}, "greedy-material": None})
    play_tournament(fixtures, BOOK, QUICK, tmp_path, recipes={"random": {"weights": "a"}, "another": {"weights": "c"}})
    with pytest.raises(UserError, match="other weights of 'random'"):
        play_tournament(fixtures, BOOK, QUICK, tmp_path, recipes={"random": {"weights": "b"}})


def test_games_of_a_referee_with_other_weights_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from diffusearch.evaluation import session

    weights = "a"
    monkeypatch.setattr(session, "recipe_of", lambda agent: {"weights": weights} if agent.name == "s-v" else None)
    words = ["tournament", "--agents", *AGENTS, "--games", "2", "--max-plies", "4", "--replicas", "10"]
    words += ["--referee", "s-v", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "tournament.json").read_text())
    assert (result["agent"], list(result["recipe"])) == (AGENTS, AGENTS)  # the referee did not play
    weights = "b"
    assert "other weights of 's-v'" in str(CliRunner().invoke(app, words).exception)


@pytest.mark.parametrize("text", [b"", b'{"rules": {', b"[]", b"\xff", b'{"players": 3}'])
def test_damaged_conditions_are_named(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "conditions.json").write_bytes(text)
    with pytest.raises(UserError, match=r"conditions\.json is damaged.* give another --out"):
        play_tournament([], BOOK, QUICK, tmp_path)


def test_pairings() -> None:
    assert pairings(["a", "b", "c"]) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairings(["a", "b", "c"], gauntlet=True) == [("a", "b"), ("a", "c")]
    with pytest.raises(UserError, match="at least two"):
        pairings(["a"])
    with pytest.raises(UserError, match="named twice"):
        pairings(["a", "a"])


def test_every_opening_is_played_with_both_colours_by_every_pairing() -> None:
    fixtures = schedule([("a", "b"), ("a", "c")], 4, 4)
    assert fixtures[:4] == [Fixture("a", "b", 0), Fixture("b", "a", 0), Fixture("a", "b", 1), Fixture("b", "a", 1)]
    assert len(fixtures) == len(set(fixtures)) == 8
    with pytest.raises(UserError, match="even number"):
        schedule([("a", "b")], 3, 4)
    with pytest.raises(UserError, match="needs 5 openings"):
        schedule([("a", "b")], 10, 4)


def test_a_second_run_plays_only_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = schedule([("random", "greedy-material")], 4, 4)
    first = play_tournament(few, BOOK, QUICK, tmp_path)
    asked: list[int] = []
    real = event.run

    def counted(tasks: Any, *rest: Any) -> Any:
        asked.append(sum(len(task.fixtures) for task in tasks))
        return real(tasks, *rest)

    monkeypatch.setattr(event, "run", counted)
    assert play_tournament(few, BOOK, QUICK, tmp_path) == first
    more = play_tournament(schedule([("random", "greedy-material")], 8, 4), BOOK, QUICK, tmp_path)
    assert asked == [0, 4]
    assert more[:4] == first


def test_a_line_cut_short_by_a_kill_is_played_again(tmp_path: Path) -> None:
    fixtures = schedule([("random", "greedy-material")], 4, 4)
    whole = play_tournament(fixtures, BOOK, QUICK, tmp_path)
    log = tmp_path / "games.jsonl"
    log.write_text(log.read_text()[:-20])
    assert play_tournament(fixtures, BOOK, QUICK, tmp_path) == whole  # agents draw lots by seed and game alone
    assert len(log.read_text().splitlines()) == 4
    log.write_text("no game\n" + log.read_text())
    with pytest.raises(UserError, match="line 1 is no game"):
        play_tournament(fixtures, BOOK, QUICK, tmp_path)


def test_other_rules_or_openings_are_refused(tmp_path: Path) -> None:
    fixtures = schedule([("random", "greedy-material")], 2, 4)
    play_tournament(fixtures, BOOK, QUICK, tmp_path)
    with pytest.raises(UserError, match="other rules"):
        play_tournament(fixtures, BOOK, GameRules(max_plies=13), tmp_path)
    with pytest.raises(UserError, match="other openings"):
        play_tournament(fixtures, BOOK[::-1], QUICK, tmp_path)


def test_a_second_tournament_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    fixtures = schedule([("random", "greedy-material")], 2, 4)

    def second(done: int) -> None:
        with pytest.raises(UserError, match=f"another tournament is using {tmp_path}"):
            play_tournament(fixtures, BOOK, QUICK, tmp_path)

    play_tournament(fixtures, BOOK, QUICK, tmp_path, progress=second)  # the second one starts while this one plays
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 2
    play_tournament(fixtures, BOOK, QUICK, tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be made"):
        play_tournament(schedule([("random", "greedy-material")], 2, 4), BOOK, QUICK, tmp_path / "file" / "out")


def test_processes_play_the_same_games(tmp_path: Path) -> None:
    fixtures = schedule([("random", "greedy-material")], 8, 4)
    alone = play_tournament(fixtures, BOOK, QUICK, tmp_path / "one", together=8)
    assert play_tournament(fixtures, BOOK, QUICK, tmp_path / "two", together=2, processes=2) == alone


def test_the_verb_survives_a_kill_and_writes_everything(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("".join(f"{a}2{a}3\n{a}2{a}4\n" for a in "abcdefgh"))
    words = ["tournament", "--agents", *AGENTS, "random?seed=1", "--games", "16", "--max-plies", "40"]
    words += ["--together", "2", "--book", str(book), "--out", str(tmp_path / "t"), "--replicas", "20", "--json"]
    log = tmp_path / "t" / "games.jsonl"
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = log.read_text().splitlines()
    assert len(before) == 4  # two groups of two

    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["n"] == 48
    after = log.read_text().splitlines()
    assert after[:4] == before
    assert len(after) == 48
    assert {row["agent"] for row in result["ratings"]} == {*AGENTS, "random?seed=1"}
    assert result["interval"][0] <= result["accuracy"] <= result["interval"][1]
    assert sum(result["endings"].values()) == 48
    with (tmp_path / "t" / "games.pgn").open() as file:
        games = 0
        while game := chess.pgn.read_game(file):
            assert not game.errors
            games += 1
    assert games == 48
    assert "| agent |" in (tmp_path / "t" / "crosstable.md").read_text()
    assert (tmp_path / "t" / "crosstable.png").read_bytes().startswith(b"\x89PNG")


def test_the_verb_refuses_bad_input_before_the_first_game(tmp_path: Path) -> None:
    def error(*words: str) -> str:
        return str(CliRunner().invoke(app, ["tournament", *words, "--out", str(tmp_path / "t")]).exception)

    assert "no agent 'nobody'" in error("--agents", "random", "nobody", "--games", "2")
    assert "--anchor" in error("--agents", "random greedy-material", "--anchor", "stockfish@1500")
    assert "--anchor 'random@inf'" in error("--agents", "random greedy-material", "--anchor", "random@inf")
    assert "even number" in error("--agents", "random greedy-material", "--games", "3")
    assert not (tmp_path / "t").exists()


def test_a_rated_table_for_people(tmp_path: Path) -> None:
    words = ["tournament", "--agents", *AGENTS, "--games", "4", "--max-plies", "20", "--replicas", "20"]
    words += ["--out", str(tmp_path), "--anchor", "random@500"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "greedy" in done.output
    assert "random = 500" in (tmp_path / "crosstable.md").read_text()


def test_the_table_fits_80_columns_with_many_agents_of_long_names() -> None:
    names = [f"search:runs/a-rather-long-name-of-a-run?planner=mcts&simulations={n}" for n in range(9)]
    row = {"elo": -1234.5, "interval": [-1300.2, -1100.9], "games": 3200, "score": 0.123, "draws": 0.5}
    result = {
        "players": names,
        "ratings": [row | {"agent": name} for name in names],
        "los": [[0.999] * 9 for _ in names],
        "wins_draws_losses": [[[1000, 200, 2000]] * 9 for _ in names],
        "rules": {"referee": None, "max_plies": 300},
        "anchors": {},
        "prior": 2.0,
        "advantage": 30.0,
        "draw_margin": 50.0,
        "n": 14400,
        "endings": {"checkmate": 14400},
    }
    out = io.StringIO()
    Console(file=out, width=80).print(crosstable.terminal(result))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for whole in ("-1300 to -1101", "1000-200-2000", "99.9 %", "12.3 %", "3200"):
        assert whole in out.getvalue()


def test_ray_plays_the_same_games(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    fixtures = schedule([("random", "greedy-material")], 4, 4)
    try:
        ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False)
        played = play_tournament(fixtures, BOOK, QUICK, tmp_path / "ray", together=2, ray=True)
    finally:
        ray.shutdown()
    assert played == play_tournament(fixtures, BOOK, QUICK, tmp_path / "here")


@pytest.mark.engine
def test_stockfish_judges_openings(tmp_path: Path) -> None:
    words = ["openings", "--count", "2", "--plies", "4", "--judge", "stockfish:nodes=500", "--out", str(tmp_path / "b")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "stockfish:nodes=500" in (tmp_path / "b").read_text()
    refused = CliRunner().invoke(app, [*words[:-4], "--judge", "random", "--out", str(tmp_path / "c")])
    assert "knows no values" in str(refused.exception)
