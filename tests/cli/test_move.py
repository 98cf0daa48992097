"""The verbs `move` and `demo`, called as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import chess
import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.cli.move import spec_of
from diffusearch.errors import UserError
from diffusearch.play.schemas import LinePly
from diffusearch.play.terminal import drift

MIDDLEGAME = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"


def run(*words: str) -> str:
    """What the program prints; an exception goes through."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words: str) -> str:
    """The sentence of a refusal (`main` prints it and exits with 2)."""
    result = CliRunner().invoke(app, list(words))
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


@pytest.mark.parametrize("fen", [chess.STARTING_FEN, MIDDLEGAME, "8/5P1k/8/8/8/8/8/K7 w - - 99 140"])
def test_json_holds_move_line_states_and_probabilities(tiny_run: Path, fen: str) -> None:
    words = ["--agent", "diffusearch", "--weights", str(tiny_run), "--steps", "3", "--json"]
    found = json.loads(run("move", fen, *words))
    legal = {move.uci() for move in chess.Board(fen).legal_moves}
    assert found["move"] in legal
    assert found["line"][0] == found["move"]
    assert len(found["states"]) == len(found["line"])
    assert all(state is None or chess.Board(state).is_valid() for state in found["states"])
    assert set(found["probabilities"]) == legal
    assert sum(found["probabilities"].values()) == pytest.approx(1.0)
    assert found["film"] == []


def test_film_has_a_frame_for_each_step(tiny_run: Path) -> None:
    words = ["--agent", "diffusearch", "--weights", str(tiny_run), "--steps", "3", "--order", "margin"]
    found = json.loads(run("move", "startpos", *words, "--film", "--json"))
    assert [frame["step"] for frame in found["film"]] == [0, 1, 2, 3]
    assert found["film"][0]["moves"] == [None] * 4
    assert [len(frame["confidence"]) for frame in found["film"]] == [3] * 4
    assert 1 <= found["move_step"] <= 3


def test_the_default_is_a_search_without_a_film(tiny_run: Path) -> None:
    found = json.loads(run("move", "startpos", "--weights", str(tiny_run), "--json"))
    assert found["film"] == []
    assert found["move_step"] is None
    assert found["evaluations"] > found["steps"] >= 2
    said = refused("move", "startpos", "--weights", str(tiny_run), "--film", "--json")
    assert "--film is no option of agent 'search'" in said
    said = refused("move", "startpos", "--agent", "diffusearch", "--film", "--json")
    assert "drafts, and a film has the steps of joint denoising: add order=confidence" in said


@pytest.mark.parametrize("planner", ["minimax", "mcts", "rollout"])
@pytest.mark.parametrize("dynamics", ["imagined", "rules"])
def test_every_search_by_its_text(tiny_run: Path, planner: str, dynamics: str) -> None:
    text = f"search:{tiny_run}?planner={planner}&dynamics={dynamics}"
    text += "&simulations=9" if planner == "mcts" else ""
    found = json.loads(run("move", MIDDLEGAME, "--agent", text, "--json"))
    assert chess.Move.from_uci(found["move"]) in chess.Board(MIDDLEGAME).legal_moves
    assert found["line"][0] == found["move"]
    assert ("plies" in found) == (dynamics == "imagined")


def test_json_of_an_agent_without_imagination() -> None:
    found = json.loads(run("move", MIDDLEGAME, "--agent", "greedy-material", "--json"))
    board = chess.Board(MIDDLEGAME)
    board.push_uci(found["move"])
    assert found["line"] == [found["move"]]
    assert found["states"] == [board.fen()]
    assert sum(found["probabilities"].values()) == pytest.approx(1.0)


def test_text_names_move_line_and_candidates(tiny_run: Path) -> None:
    words = ["--agent", "diffusearch", "--weights", str(tiny_run), "--seed", "1"]
    lines = run("move", MIDDLEGAME, *words).splitlines()
    assert lines[0] == f"agent     diffusearch:{tiny_run}?seed=1"
    assert lines[1].startswith("move ")
    assert lines[2].startswith("line ")
    assert "3... " in lines[2]
    assert any(line.startswith("moves ") for line in lines)


def test_options_become_the_agents_spec() -> None:
    run_a = Path("runs/a")
    assert str(spec_of("diffusearch", None)) == "diffusearch"
    assert str(spec_of("diffusearch", run_a, steps=5, order=None, k=2)) == "diffusearch:runs/a?steps=5&k=2"
    assert str(spec_of("s-a?temperature=1", run_a, seed=0)) == "s-a:runs/a?temperature=1&seed=0"
    with pytest.raises(UserError, match="names its weights already"):
        spec_of("s-a:runs/b", run_a)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("8/8/8/8 w",), "is not a FEN"),
        (("8/8/8/8/8/8/8/8 w - - 0 1",), "not a playable position"),
        (("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "--agent", "random"), "stalemate"),
        (("startpos", "--agent", "diffusearhc"), "did you mean 'diffusearch'"),
        (("startpos", "--weights", "nowhere"), "nowhere is no run folder"),
        (("startpos", "--agent", "random", "--steps", "3"), "--steps is no option of agent 'random'"),
        (("startpos", "--agent", "search?widths=4x0"), "joined by x, such as 4x2x2x1"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    said = refused("move", *words)
    assert sentence in said
    assert "\n" not in said


def test_bad_order_is_refused() -> None:
    assert "left-to-right" in refused("move", "startpos", "--agent", "diffusearch", "--order", "sideways")


def test_demo_shows_position_film_boards_and_verdict(tiny_run: Path) -> None:
    said = run("demo", "--agent", f"diffusearch:{tiny_run}?order=left-to-right&steps=7", "--puzzle", "2")
    assert "Puzzle 2, rated about" in said
    assert "step 2 of 7" in said
    assert "step 7 of 7" not in said  # shown as the imagined boards
    assert "after " in said
    assert said.count("♔") >= 1
    assert "agent     diffusearch:" in said
    assert "film=on" not in said
    assert said.splitlines()[-1].endswith(("the agent finds its first move", "the agent plays another move"))


def test_the_first_board_that_does_not_follow_is_named_under_the_line() -> None:
    right = LinePly(uci="e2e4", san="e4", legal=True, squares="." * 64, wrong=[], problem=None)
    bad = right.model_copy(update={"uci": "d7d5", "san": "d5", "wrong": ["d5", "d7"]})
    assert drift([right]) == []
    (said,) = drift([right, bad, bad])
    assert "predicted after d5 has 2 wrong squares" in said


def test_demo_of_an_agent_that_imagines_nothing() -> None:
    said = run("demo", "--agent", "random")
    assert "noise" not in said
    assert "solution  " in said


def test_demo_refuses_a_puzzle_that_is_not_there() -> None:
    assert "choose 1 to " in refused("demo", "--agent", "random", "--puzzle", "100000")


def test_explain_draws_agents_side_by_side_and_the_strip(tiny_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "case.svg"
    words = ["--agent", "diffusearch", "--agent", "greedy-material", "--weights", str(tiny_run), "--steps", "2"]
    said = run("explain", MIDDLEGAME, *words, "--out", str(out)).splitlines()
    assert said == [str(out), str(tmp_path / "case-boards.svg")]
    assert "Greedy: " in "".join(ElementTree.parse(out).getroot().itertext())
    assert ElementTree.parse(said[1]).getroot().tag.endswith("svg")


def test_explain_refuses_other_formats_and_missing_folders(tmp_path: Path) -> None:
    assert "no .svg file" in refused("explain", "startpos", "--out", str(tmp_path / "case.png"))
    assert "make it first" in refused("explain", "startpos", "--out", str(tmp_path / "no" / "case.svg"))
