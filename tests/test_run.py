"""A run opened for use: boards in; priors, values and imaginations out, alike for both colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import chess
import numpy as np
import pytest
import torch

from diffusearch.diffusion.decoding import Decoding
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.run import Run
from diffusearch.training.recipe import recipe_from_dict

FLAGSHIP = {"residual_state": True, "board_features": True, "feature_width": 4}
MIDDLE = "r3k2r/ppp2ppp/2n1bn2/3qp3/3P4/2N1PN2/PPP2PPP/R2QK2R w KQkq - 0 9"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"


@pytest.fixture
def make_run() -> Callable[..., Run]:
    """A run with random weights."""

    def make(paradigm: str = "s-asa", **options: Any) -> Run:
        process = options.pop("process", "absorbing")
        horizons = options.pop("horizons", [])
        attention = "causal" if process == "autoregressive" else "prefix"
        trunk = {"layers": 1, "width": 32, "heads": 2, "attention": attention}
        model = {"paradigm": paradigm, "horizon": 2, "encoding": "compact", "patch": 8, "head": "squares"}
        values = {"horizons": horizons, "process": {"kind": process}, "model": model | {"trunk": trunk} | options}
        recipe = recipe_from_dict(values)
        torch.set_num_threads(1)
        torch.manual_seed(0)
        net = Denoiser(recipe.model)
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                parameter.mul_(3.0)  # opinions
                if name == "attack_features.lines":
                    torch.nn.init.normal_(parameter)
        return Run(recipe, net)

    return make


@pytest.mark.parametrize("process", ["absorbing", "multinomial", "gaussian", "autoregressive", "direct"])
def test_priors_are_shares_of_the_legal_moves(make_run, process: str) -> None:
    boards = [chess.Board(), chess.Board(MIDDLE), chess.Board(MIDDLE).mirror()]
    for board, priors in zip(boards, make_run(process=process).priors(boards), strict=True):
        assert set(priors) == set(board.legal_moves)
        assert sum(priors.values()) == pytest.approx(1.0)
        assert min(priors.values()) >= 0.0


def test_a_turned_board_gets_turned_priors(make_run) -> None:
    board = chess.Board(MIDDLE)
    white, black = make_run(root_value=True).priors([board, board.mirror()])
    for move, share in white.items():
        turned = chess.Move(move.from_square ^ 56, move.to_square ^ 56, move.promotion)
        assert black[turned] == pytest.approx(share, rel=1e-4)


@pytest.mark.parametrize("paradigm", ["s-v", "s-asa"])
def test_values_of_any_position(make_run, paradigm: str) -> None:
    run = make_run(paradigm, root_value=paradigm == "s-asa")
    board = chess.Board(MIDDLE)
    values = run.values([board, board.mirror(), chess.Board(MATED)])
    assert values.shape == (3,)
    assert bool(((values > 0) & (values < 1)).all())
    assert values[0] == pytest.approx(values[1], abs=1e-5)  # the side to move sees the same
    assert run.values([]).shape == (0,)


def test_one_look_gives_priors_and_values(make_run) -> None:
    run = make_run(root_value=True)
    boards = [chess.Board(), chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")]
    assert run.looks
    priors, values = run.look(boards)
    assert values == pytest.approx(run.values(boards), abs=1e-6)
    for one, other in zip(priors, run.priors(boards), strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    assert not make_run().looks


def test_values_of_actions(make_run) -> None:
    board = chess.Board(MIDDLE)
    one, two = make_run("sa-v").action_values([board, board.mirror()])
    assert set(one) == set(board.legal_moves)
    assert len({round(value, 6) for value in one.values()}) > 5  # different moves, different values
    for move, value in one.items():
        assert two[chess.Move(move.from_square ^ 56, move.to_square ^ 56, move.promotion)] == pytest.approx(
            value, abs=1e-5
        )


def test_what_a_run_does_not_know_is_refused(make_run) -> None:
    boards = [chess.Board()]
    with pytest.raises(UserError, match="no values"):
        make_run("s-asa").values(boards)
    with pytest.raises(UserError, match="not sa-v"):
        make_run("s-v").action_values(boards)
    for call in (lambda run: run.priors(boards), lambda run: run.imagine(boards)):
        with pytest.raises(UserError, match="predicts no move"):
            call(make_run("s-v"))
    with pytest.raises(UserError, match="the game is over"):
        make_run("s-asa").imagine([chess.Board(MATED)])


@pytest.mark.parametrize("encoding", [{"encoding": "paper", "patch": 1, "head": "vocabulary"}, {}])
def test_imaginations_start_with_a_legal_move(make_run, encoding: dict[str, object]) -> None:
    boards = [chess.Board(), chess.Board(MIDDLE).mirror()]
    for board, seen in zip(boards, make_run(**encoding).imagine(boards, Decoding(steps=5)), strict=True):
        assert chess.Move.from_uci(seen.move) in board.legal_moves
        assert seen.line[0].move == seen.move
        assert seen.root == board.fen()
        assert seen.steps == 5


def test_root_moves_can_be_narrowed(make_run) -> None:
    run, board = make_run(), chess.Board(MIDDLE).mirror()
    for move in list(board.legal_moves)[:4]:
        assert run.imagine([board], Decoding(steps=2), legal=[[move]])[0].move == move.uci()


def test_a_shorter_horizon_and_many_imaginations(make_run) -> None:
    run, board = make_run(), chess.Board()
    assert len(run.imagine([board], Decoding(steps=2), horizon=1)[0].line) == 1
    several = Decoding(steps=4, temperature=1.0, imaginations=5)
    one = Decoding(steps=4, temperature=1.0)
    generator = torch.Generator().manual_seed(1)
    best = run.imagine([board] * 3, several, generator)
    assert len(best) == 3
    alone = [run.imagine([board], one, generator)[0].log_probability for _ in range(8)]
    assert np.mean([seen.log_probability for seen in best]) > np.mean(alone)  # the best of five beats an average one


def test_the_same_seed_imagines_the_same(make_run) -> None:
    run, choice = make_run(), Decoding(steps=3, temperature=1.0)
    first, second = (run.imagine([chess.Board()], choice, torch.Generator().manual_seed(5))[0] for _ in range(2))
    assert first == second


def test_priors_use_a_horizon_that_was_trained(make_run) -> None:
    """A model that only ever saw two plies is asked with two; one that saw one ply is asked with one."""
    board, one = chess.Board(MIDDLE), Decoding(steps=1)
    for horizons, asked in (([], 2), ([0.5, 0.5], 1)):
        run = make_run(horizons=horizons)
        told = run.imagine([board], one, horizon=asked)[0].probabilities
        for move, share in run.priors([board])[0].items():
            assert share == pytest.approx(told[move.uci()], abs=1e-6)


@pytest.mark.parametrize("process", ["absorbing", "multinomial", "gaussian", "autoregressive", "direct"])
@pytest.mark.parametrize("order", ["plies", "left-to-right", "confidence"])
def test_the_move_is_the_same_where_its_line_is_not_wanted(make_run, process: str, order: str) -> None:
    run = make_run(process=process, root_value=process in ("absorbing", "direct"))
    boards = [chess.Board(), chess.Board(MIDDLE), chess.Board(MIDDLE).mirror()]
    whole = run.imagine(boards, Decoding(steps=4, order=order), torch.Generator().manual_seed(1))
    short = run.imagine(boards, Decoding(steps=4, order=order, line=False), torch.Generator().manual_seed(1))
    for one, other in zip(whole, short, strict=True):
        assert (other.move, other.raw_legal) == (one.move, one.raw_legal)
        assert other.probabilities == pytest.approx(one.probabilities, abs=1e-6)
        assert other.value == pytest.approx(one.value, abs=1e-6)
        assert other.legal_mass == pytest.approx(one.legal_mass, abs=1e-6)
        assert [ply.move for ply in other.line] == [one.move]
    calls = {one.steps for one in short}
    if process in ("absorbing", "direct") and order != "confidence":
        assert calls == {1}  # the first call fixes the move
    else:
        assert calls == {one.steps for one in whole}


@pytest.mark.parametrize("choice", [{"move_last": True}, {"remask": True}, {"temperature": 1.0}])
def test_moves_that_later_calls_may_change_are_denoised_to_the_end(make_run, choice: dict[str, Any]) -> None:
    run, decoding = make_run(), Decoding(steps=3, order="plies", **choice)
    boards = [chess.Board(), chess.Board(MIDDLE)]
    whole = run.imagine(boards, decoding, torch.Generator().manual_seed(1))
    short = run.imagine(boards, replace(decoding, line=False), torch.Generator().manual_seed(1))
    assert [(one.move, one.steps) for one in short] == [(one.move, one.steps) for one in whole]


@pytest.mark.parametrize("options", [{}, FLAGSHIP, {"horizons": [0.0, 1.0]}])
def test_unfolding_sees_what_priors_values_and_imagining_see(
    make_run, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("diffusearch.run", "diffusearch.diffusion.unfolding"):
        monkeypatch.setattr(f"{module}.BATCH", 2)  # several parts of positions, and of states
    run = make_run(root_value=True, **options)
    boards = [chess.Board(), chess.Board(MIDDLE), chess.Board(MIDDLE).mirror()]
    seen = run.unfold(boards, 3)
    narrow = [list(board.legal_moves)[:2] for board in boards]
    narrowed = run.unfold(boards, 3, narrow)
    far = Decoding(order="plies", steps=2)
    alike = zip(boards, seen, run.priors(boards), run.values(boards), strict=True)
    for board, one, priors, value in alike:
        assert one.shares == pytest.approx(priors, abs=1e-5)
        assert one.value == pytest.approx(value, abs=1e-5)
        assert list(one.states) == sorted(one.shares, key=one.shares.__getitem__, reverse=True)[:3]
        lone = run.imagine([board] * 3, far, legal=[[move] for move in one.states], horizon=2)
        for found, state in zip(lone, one.states.values(), strict=True):
            first = found.line[0]
            assert (first.state, first.problem) == (state.board and state.board.fen(), state.problem)
            assert state.squares == (None if state.board else first.squares)
            assert state.log_probability >= found.log_probability - 1e-3  # there a reply was denoised as well
            assert (one.legal_mass, one.raw_legal) == (pytest.approx(found.legal_mass, abs=1e-5), found.raw_legal)
    boards_found = any(state.board is not None for one in seen for state in one.states.values())
    assert boards_found == ("residual_state" in options)
    for own, one, whole in zip(narrow, narrowed, seen, strict=True):
        assert set(one.shares) == set(one.states) == set(own)
        assert sum(one.shares.values()) == pytest.approx(1.0)
        assert one.value == pytest.approx(whole.value, abs=1e-5)
        assert (one.legal_mass, one.raw_legal) == (
            pytest.approx(whole.legal_mass),
            whole.raw_legal,
        )  # of all legal ones
    assert run.unfold([], 3) == []


def test_only_runs_that_imagine_and_value_states_unfold(make_run) -> None:
    for run in (make_run(), make_run("s-a", root_value=True), make_run(root_value=True, process="autoregressive")):
        assert not run.foresees
        with pytest.raises(UserError, match="does not imagine and value"):
            run.unfold([chess.Board()], 1)
    with pytest.raises(UserError, match="the game is over"):
        make_run(root_value=True).unfold([chess.Board(MATED)], 1)
