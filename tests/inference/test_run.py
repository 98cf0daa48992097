"""A run in use: boards in; priors, values and states after moves out, alike for both colours."""

from __future__ import annotations

from typing import Any

import chess
import pytest
import torch
from run_cases import BOARDS, MATED, MIDDLE, PROCESSES, MakeRun, Watched

from diffusearch.data.records import Line, replay
from diffusearch.diffusion.decoding import Decoding
from diffusearch.errors import UserError
from diffusearch.inference.joint import JointDenoiser
from diffusearch.tokens import moves
from diffusearch.tokens.batch import masked, tokenise
from diffusearch.tokens.layout import layout
from diffusearch.tokens.values import BIN_VALUES

# What the packaged model has besides the plain transformer.
FEATURES = {"board_features": True, "residual_state": True, "feature_width": 4}


def turned(move: chess.Move) -> chess.Move:
    return chess.Move(move.from_square ^ 56, move.to_square ^ 56, move.promotion)


# evaluate


@pytest.mark.parametrize("process", PROCESSES)
def test_priors_are_shares_of_the_legal_moves(make_run: MakeRun, process: str) -> None:
    for board, one in zip(BOARDS, make_run(process=process).evaluate(BOARDS), strict=True):
        assert set(one.priors) == set(board.legal_moves)
        assert sum(one.priors.values()) == pytest.approx(1.0)
        assert min(one.priors.values()) >= 0.0
        assert one.legal_mass is not None
        assert 0.0 < one.legal_mass <= 1.0 + 1e-9
        assert one.value is None


@pytest.mark.parametrize("options", [{}, {"horizons": [1.0, 1.0]}, {"attention": "full"}, FEATURES])
def test_an_evaluation_is_what_the_heads_say(make_run: MakeRun, options: dict[str, Any]) -> None:
    """In float64 against one whole pass over the record that starts at the position and is masked behind it."""
    run = make_run(root_value=True, double=True, **options)
    shape = layout("s-asa", 1 if "horizons" in options else 2, "compact", 8)
    found = run.evaluate(BOARDS)
    alone = run.evaluate(BOARDS, priors=False)
    for board, one, other in zip(BOARDS, found, alone, strict=True):
        given = tokenise(replay([Line(board.fen(), [])], 1), shape.truncated(1)).tokens[:, : shape.given_variables]
        x = masked(given, shape)
        with torch.inference_mode():
            hidden = run.net.hidden(x, shape)
            raw = run.net.logits(hidden, shape, tokens=x)["action"][0, 0].softmax(-1).numpy()
            value = run.net.value_logits(hidden, shape)[0].softmax(-1).numpy() @ BIN_VALUES
        ids = {move: moves.MOVE_ID[(move if board.turn else turned(move)).uci()] for move in board.legal_moves}
        mass = sum(raw[token] for token in ids.values())
        assert one.priors == pytest.approx({move: raw[token] / mass for move, token in ids.items()}, rel=1e-9)
        assert one.legal_mass == pytest.approx(mass, rel=1e-9)
        assert one.raw_legal is (int(raw.argmax()) in ids.values())
        assert one.value == pytest.approx(value, rel=1e-5)  # values are float32
        assert (other.priors, other.value) == ({}, pytest.approx(value, rel=1e-5))


def test_raw_legality_is_that_of_the_likeliest_move(make_run: MakeRun) -> None:
    run = make_run(double=True)
    boards = [chess.Board(fen) for fen in (MIDDLE, "7k/8/8/8/8/8/7r/K7 w - - 0 1")]
    found = run.evaluate(boards)
    seen = JointDenoiser(run).imagine(boards, Decoding(steps=1), horizon=2)
    assert [one.raw_legal for one in found] == [one.raw_legal for one in seen]
    assert [one.legal_mass for one in found] == pytest.approx([one.legal_mass for one in seen], rel=1e-4)


def test_a_turned_board_has_turned_priors_and_the_same_value(make_run: MakeRun) -> None:
    board = chess.Board(MIDDLE)
    white, black = make_run(root_value=True).evaluate([board, board.mirror()])
    assert {turned(move): share for move, share in white.priors.items()} == pytest.approx(black.priors, rel=1e-4)
    assert white.value == pytest.approx(black.value, rel=1e-4)


@pytest.mark.parametrize("paradigm", ["s-v", "s-asa"])
def test_values_of_any_position(make_run: MakeRun, paradigm: str) -> None:
    run = make_run(paradigm, root_value=paradigm == "s-asa")
    found = run.evaluate([*BOARDS, chess.Board(MATED)], priors=False)
    assert all(one.value is not None and 0 < one.value < 1 and one.priors == {} for one in found)
    assert run.evaluate([], priors=False) == []


def test_root_moves_can_be_narrowed_in_an_evaluation(make_run: MakeRun) -> None:
    run = make_run(root_value=True, double=True)
    narrow = [list(board.legal_moves)[1:4] for board in BOARDS]
    for own, one, whole in zip(narrow, run.evaluate(BOARDS, narrow), run.evaluate(BOARDS), strict=True):
        assert list(one.priors) == own
        mass = sum(whole.priors[move] for move in own)
        assert one.priors == pytest.approx({move: whole.priors[move] / mass for move in own}, rel=1e-9)
        assert (one.value, one.raw_legal) == (whole.value, whole.raw_legal)
        assert one.legal_mass == whole.legal_mass  # of all legal moves


def test_many_positions_are_evaluated_as_few(
    make_run: MakeRun, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(root_value=True, double=True)
    whole = run.evaluate(BOARDS)
    monkeypatch.setattr(run.backend, "batch", 2)
    calls = watched(run)
    for one, other in zip(whole, run.evaluate(BOARDS), strict=True):
        assert one.priors == pytest.approx(other.priors, rel=1e-9)
    assert [rows for kind, rows, _ in calls if kind == "hidden"] == [2, 1]


def test_evaluations_use_the_shortest_trained_layout(make_run: MakeRun, watched: Watched) -> None:
    for horizons, plies in (([], 4), ([0, 0.5, 0, 0.5], 2), ([0.5, 0.5], 1)):
        run = make_run(horizon=4, horizons=horizons)
        calls = watched(run)
        run.evaluate(BOARDS)
        assert [call for call in calls if call[0] == "hidden"] == [("hidden", 3, run.layout.truncated(plies).variables)]


def test_values_of_actions(make_run: MakeRun) -> None:
    board = chess.Board(MIDDLE)
    one, two = make_run("sa-v").action_values([board, board.mirror()])
    assert set(one) == set(board.legal_moves)
    assert len({round(value, 6) for value in one.values()}) > 5  # different moves, different values
    assert {turned(move): value for move, value in one.items()} == pytest.approx(two, rel=1e-4)


# predict


@pytest.mark.parametrize("options", [{}, FEATURES, {"attention": "full"}, {"horizons": [0.5, 0.5]}])
def test_states_are_the_same_with_and_without_evaluations(
    make_run: MakeRun, watched: Watched, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(root_value=True, double=True, **options)
    monkeypatch.setattr(run.backend, "batch", 2)  # several parts of positions, and of states
    evaluations = run.evaluate(BOARDS)
    asked = [(board, one, move) for board, one in zip(BOARDS, evaluations, strict=True) for move in [*one.priors][:3]]
    boards, kept, chosen = ([row[column] for row in asked] for column in range(3))
    calls = watched(run)
    found = run.predict(boards, kept, chosen)
    assert not [call for call in calls if call[0] == "root"]  # the roots are known
    mixed = [one if row % 2 else None for row, one in enumerate(kept)]
    foreign = make_run(root_value=True, double=True, **options).evaluate(BOARDS)  # of another run: of no use
    others = [foreign[row // 3] for row in range(len(asked))]
    for evaluations_given in ([None] * len(asked), mixed, others):
        again = run.predict(boards, evaluations_given, chosen)
        for one, two in zip(found, again, strict=True):
            assert (one.board and one.board.fen(), one.problem, one.squares) == (
                two.board and two.board.fen(),
                two.problem,
                two.squares,
            )
            assert one.log_probability == pytest.approx(two.log_probability, rel=1e-9)
    assert run.predict([], [], []) == []


@pytest.mark.parametrize("options", [{}, FEATURES])
def test_a_predicted_state_is_the_one_that_denoising_ply_by_ply_finds(
    make_run: MakeRun, options: dict[str, Any]
) -> None:
    run = make_run(root_value=True, horizons=[0.5, 0.5], double=True, **options)
    for board in BOARDS:
        own = list(board.legal_moves)[:3]
        found = run.predict([board] * 3, [None] * 3, own)
        seen = JointDenoiser(run).imagine([board] * 3, Decoding(order="plies", steps=2), legal=[[move] for move in own])
        for state, one in zip(found, seen, strict=True):
            first = one.line[0]
            assert (first.state, first.problem) == (state.board and state.board.fen(), state.problem)
            assert state.squares == (None if state.board else first.squares)
            assert state.log_probability > one.log_probability  # there a reply was denoised as well


# what a run cannot do


def test_what_a_run_does_not_know_is_refused(make_run: MakeRun) -> None:
    boards = [chess.Board()]
    with pytest.raises(UserError, match="no value head"):
        make_run("s-asa").evaluate(boards, priors=False)
    with pytest.raises(UserError, match="not sa-v"):
        make_run("s-v").action_values(boards)
    with pytest.raises(UserError, match="predicts no move"):
        make_run("s-v").evaluate(boards)
    with pytest.raises(UserError, match="the game is over"):
        make_run("s-asa").evaluate([chess.Board(MATED)])
    move = [chess.Move.from_uci("e2e4")]
    for run in (make_run("s-a"), make_run("s-aa"), make_run(process="autoregressive"), make_run(process="gaussian")):
        assert not run.predicts_states
        with pytest.raises(UserError, match="predicts no state after a move"):
            run.predict(boards, [None], move)
    assert make_run().predicts_states
    assert make_run(process="direct").predicts_states


def test_a_run_says_what_it_is(make_run: MakeRun) -> None:
    run = make_run()
    assert run.provenance["model"]["horizon"] == run.horizon == 2
    assert run.provenance["weights"] is None  # never saved
    small = run.quantised()
    assert small.recipe == run.recipe
    assert set(small.evaluate([chess.Board()])[0].priors) == set(chess.Board().legal_moves)
