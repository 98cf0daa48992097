"""The verbs label, data show, data check and data selfplay, as a user calls them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import chess.pgn
import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.data.labelled import read_labelled
from diffusearch.data.selfplay import play_games
from diffusearch.errors import UserError

PUZZLES = """PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes
aaa,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1900,80,95,100,crushing
"""


def call(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def test_puzzles_are_labelled_by_their_solutions(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(PUZZLES)
    call("label", tmp_path / "p.csv", "--out", tmp_path / "out")
    rows = list(read_labelled(tmp_path / "out"))
    assert [row["line"] for row in rows] == ["e6e7 b2b1 b3c1 b1c1", "b3c1 b1c1 h6c1", "h6c1"]
    assert {row["future"] for row in rows} == {"played"}
    assert not any(row["ended"] for row in rows)


def test_engine_games_are_labelled_by_their_own_moves(games_pgn: Path, tmp_path: Path) -> None:
    printed = call("label", games_pgn, "--out", tmp_path, "--future", "played", "--limit-games", 9, "--json")
    assert json.loads(printed)["kept"] == 9
    rows = list(read_labelled(tmp_path))
    assert min(row["ply"] for row in rows) == 16
    assert all(row["line"].startswith(row["played"]) for row in rows)
    assert call("data", "check", tmp_path).endswith("0 problems\n")


def test_games_come_through_a_pipe(games_pgn: Path, tmp_path: Path) -> None:
    words = ["label", "-", "--out", str(tmp_path), "--future", "played", "--limit-games", "5", "--json"]
    with games_pgn.open("rb") as games:
        done = subprocess.run(
            [sys.executable, "-m", "diffusearch", *words], stdin=games, capture_output=True, check=True
        )
    assert json.loads(done.stdout)["kept"] == 5
    assert {row["pool"] for row in read_labelled(tmp_path)} == {"stdin"}


def test_a_search_is_a_row(games_pgn: Path, tmp_path: Path, make_engine: Callable[..., str]) -> None:
    call("label", games_pgn, "--out", tmp_path / "o", "--engine", make_engine(), "--limit-games", 1, "--per-game", 2)
    assert [row["future"] for row in read_labelled(tmp_path / "o")] == ["relabel", "relabel"]
    manifest = json.loads((tmp_path / "o" / "manifest.json").read_text())
    assert manifest["options"]["budget"] == {"nodes": 10_000}
    assert manifest["options"]["extend"] == {"nodes": 2_000}


def test_show_prints_and_draws(labelled: Path, tmp_path: Path) -> None:
    printed = call("data", "show", labelled, "--boards", 2, "--svg", tmp_path)
    assert "2360 records of 300 games" in printed
    assert "win probability:" in printed
    assert len(list(tmp_path.glob("*.svg"))) == 2
    numbers = json.loads(call("data", "show", labelled, "--json"))
    assert numbers["records"] == 2360
    assert numbers["engine"]["name"] == "Stockfish 15.1"


def test_check_exits_with_one_when_something_is_wrong(labelled: Path, tmp_path: Path) -> None:
    for name in ("manifest.json", "shard-000002.parquet"):
        (tmp_path / name).write_bytes((labelled / name).read_bytes())
    assert "not in the folder" in call("data", "check", tmp_path, code=1)
    assert json.loads(call("data", "check", tmp_path, "--json", code=1))["count"] == 2


def test_selfplay_repeats_with_the_seed(
    tmp_path: Path, make_engine: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("diffusearch.data.selfplay.LONGEST", 30)
    texts = []
    for seed in (1, 1, 2):
        out = tmp_path / "games.pgn"
        call("data", "selfplay", "--out", out, "--games", 2, "--seed", seed, "--engine", make_engine())
        texts.append(out.read_text())
    assert texts[0] == texts[1] != texts[2]
    game = chess.pgn.read_game(io.StringIO(texts[0]))
    assert game is not None
    assert game.errors == []
    assert game.end().board().ply() > 6


@pytest.mark.parametrize(("mode", "words"), [("dead", "crashed"), ("unscored", "no score"), ("illegal", "illegal")])
def test_selfplay_says_what_is_wrong_with_the_engine(
    tmp_path: Path, make_engine: Callable[..., str], mode: str, words: str
) -> None:
    engine = make_engine(mode)
    with pytest.raises(UserError, match=rf"{re.escape(engine)}.*{words}.*--engine"):
        list(play_games(engine, 1, 1, 0))


def test_selfplay_refuses_a_folder_before_it_plays(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder: give the PGN file to write as --out"):
        call("data", "selfplay", "--out", tmp_path, "--games", 1)


@pytest.mark.parametrize(
    ("words", "option", "below"),
    [
        (["label", "GAMES"], "--out", ""),
        (["label", "GAMES"], "--out", "below"),
        (["data", "selfplay", "--games", "1"], "--out", "games.pgn"),
        (["data", "show", "LABELS"], "--svg", ""),
    ],
)
def test_a_folder_that_is_a_file_is_refused(
    games_pgn: Path,
    labelled: Path,
    tmp_path: Path,
    make_engine: Callable[..., str],
    words: list[str],
    option: str,
    below: str,
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    given = {"GAMES": str(games_pgn), "LABELS": str(labelled)}
    engine = [] if "show" in words else ["--engine", make_engine()]
    with pytest.raises(UserError, match=rf"file.* cannot be made \(.*\): choose another {option}"):
        call(*(given.get(word, word) for word in words), option, file / below, *engine)
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["label", "no-such.pgn"], "no games at no-such.pgn"),
        (["label", "GAMES", "--engine", "no-such-engine"], "no-such-engine"),
        (["label", "GAMES", "--future", "guess"], "unknown future"),
        (["label", "GAMES", "--nodes", "5", "--depth", "5"], "only one of"),
        (["label", "GAMES", "--nodes", "-1"], "--nodes -1 is too small; give 1 or more"),
        (["label", "GAMES", "--extend-nodes", "0"], "--extend-nodes 0 is too small; give 1 or more"),
        (["label", "GAMES", "--timeout", "-1"], "--timeout -1 is too small; give more than 0"),
        (["label", "GAMES", "--timeout", "inf"], "--timeout inf is no finite number; give more than 0"),
        (["label", "GAMES", "--hash", "0"], "--hash 0 is too small; give 1 or more"),
        (["label", "GAMES", "--speed", "warp"], "unknown speed"),
        (["label", "GAMES", "GAMES", "--future", "played"], "two sources"),
        (["label", "GAMES", "--future", "played", "--min-rating", "9000"], "gave no position"),
    ],
)
def test_mistakes_are_the_users_errors(
    games_pgn: Path, tmp_path: Path, make_engine: Callable[..., str], words: list[str], message: str
) -> None:
    engine = [] if "--engine" in words else ["--engine", make_engine()]
    given = [str(games_pgn) if word == "GAMES" else word for word in words]
    with pytest.raises(UserError, match=message):
        call(*given, "--out", tmp_path / "out", *engine)
    assert "is too small" not in message or not (tmp_path / "out").exists()  # a folder would stop the next command
