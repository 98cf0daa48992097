"""Joint denoising of boards: horizons, calls, legal moves, several records, films; and what is refused."""

from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest
from run_cases import BOARDS, MATED, MIDDLE, PROCESSES, MakeRun, Watched

from diffusearch.diffusion.decoding import Decoding
from diffusearch.errors import UserError
from diffusearch.inference.imagination import Imagination
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.roots import Roots
from diffusearch.inference.run import Run


def imagine(run: Run, *arguments: Any, **more: Any) -> list[Imagination]:
    return JointDenoiser(run).imagine(*arguments, **more)


# what is refused, and horizons


def test_only_moves_of_games_that_go_on_are_imagined(make_run: MakeRun) -> None:
    with pytest.raises(UserError, match="predicts no move"):
        imagine(make_run("s-v"), [chess.Board()])
    with pytest.raises(UserError, match="the game is over"):
        imagine(make_run(), [chess.Board(MATED)])


def test_a_horizon_shorter_than_any_trained_is_refused(make_run: MakeRun) -> None:
    run = make_run(horizon=4)
    with pytest.raises(UserError, match=r"trained on records of 4 plies, and horizon 2 is shorter: ask for 4"):
        imagine(run, [chess.Board()], horizon=2)
    mixed = make_run(horizon=4, horizons=[0, 0.5, 0, 0.5])
    with pytest.raises(UserError, match="trained on records of 2, 4 plies, and horizon 1 is shorter: ask for 2"):
        imagine(mixed, [chess.Board()], horizon=1)
    assert len(imagine(mixed, [chess.Board()], Decoding(steps=2), horizon=2)[0].line) == 2


@pytest.mark.parametrize("paradigm", ["s-a", "s-v", "sa-v"])
def test_a_record_of_one_ply_is_one_whatever_the_recipes_horizon_says(make_run: MakeRun, paradigm: str) -> None:
    run = make_run(paradigm, horizon=4)  # the recipe's default
    assert (run.horizon, run.recipe.trained_horizons) == (1, (1,))
    if paradigm == "s-a":
        moves_found = {
            imagine(run, [chess.Board()], horizon=1)[0].move,
            imagine(run, [chess.Board()], Decoding(order="plies"))[0].move,
            imagine(run, [chess.Board()])[0].move,
        }
        assert len(moves_found) == 1


def test_ply_by_ply_needs_a_run_that_was_trained_on_the_shorter_records(make_run: MakeRun) -> None:
    plies = Decoding(order="plies")
    with pytest.raises(UserError, match=r"records of 1 to 4 plies, and the run .* was trained on 4: choose another"):
        imagine(make_run(horizon=4), [chess.Board()], plies)
    assert imagine(make_run(horizons=[0.5, 0.5]), [chess.Board()], plies)[0].steps == 3  # a_0, s_1, a_1
    assert imagine(make_run(process="autoregressive"), [chess.Board()], plies)[0].steps > 3


def test_a_horizon_longer_than_the_learned_positions_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(UserError, match=r"learned positions for 2 plies, and horizon 3 is longer: .*rope"):
        imagine(make_run(), [chess.Board()], horizon=3)
    seen = imagine(make_run(positions="rope"), [chess.Board()], Decoding(steps=2), horizon=3)
    assert len(seen[0].to_json()["plies"]) >= 1


# calls, records and films


def test_the_papers_run_makes_twenty_calls_on_the_whole_record(make_run: MakeRun, watched: Watched) -> None:
    run = make_run(horizon=4, encoding="paper", patch=1, head="vocabulary", attention="full")
    assert run.recipe.decoding == Decoding()
    calls = watched(run)
    (seen,) = imagine(run, [chess.Board()])
    assert run.layout.variables == 312
    assert calls == [("hidden", 1, 312)] * 20
    assert (seen.steps, seen.evaluations) == (20, 20)


def test_one_step_is_one_call_on_the_shortest_trained_record(make_run: MakeRun, watched: Watched) -> None:
    for horizons, plies in (([], 4), ([0, 1, 0, 1], 2), ([1, 0, 0, 1], 1)):
        run = make_run(horizon=4, horizons=horizons)
        calls = watched(run)
        (seen,) = imagine(run, [chess.Board()], Decoding(steps=1))
        rows = [call for call in calls if call[0] == "hidden"]
        assert rows == [("hidden", 1, run.layout.truncated(plies).variables)]
        assert seen.steps == seen.move_step == 1
        (share,) = run.evaluate([chess.Board()])
        told = {chess.Move.from_uci(uci): one for uci, one in seen.probabilities.items()}
        assert told == pytest.approx(share.priors, rel=1e-4)
        calls.clear()
        imagine(run, [chess.Board()], Decoding(steps=1), horizon=4)  # asked for by name
        assert ("hidden", 1, run.layout.variables) in calls


def test_a_run_is_decoded_as_its_recipe_says(make_run: MakeRun) -> None:
    run = make_run(decoding=Decoding(steps=3, order="left-to-right"))
    (own,) = imagine(run, [chess.Board()])
    assert own.steps == 3
    assert own == imagine(run, [chess.Board()], Decoding(steps=3, order="left-to-right"))[0]


@pytest.mark.parametrize("encoding", [{"encoding": "paper", "patch": 1, "head": "vocabulary"}, {}])
def test_imaginations_start_with_a_legal_move(make_run: MakeRun, encoding: dict[str, object]) -> None:
    for board, seen in zip(BOARDS, imagine(make_run(**encoding), BOARDS, Decoding(steps=5)), strict=True):
        assert chess.Move.from_uci(seen.move) in board.legal_moves
        assert seen.line[0].move == seen.move
        assert seen.root == board.fen()
        assert seen.steps == 5
        assert seen.film == ()


def test_root_moves_can_be_narrowed_in_an_imagination(make_run: MakeRun) -> None:
    run, board = make_run(), chess.Board(MIDDLE).mirror()
    for move in list(board.legal_moves)[:4]:
        assert imagine(run, [board], Decoding(steps=2), legal=[[move]])[0].move == move.uci()


def test_the_likeliest_of_many_imaginations_is_told(make_run: MakeRun) -> None:
    run, board = make_run(), chess.Board()
    several = Decoding(steps=4, temperature=1.0, imaginations=5)
    one = Decoding(steps=4, temperature=1.0)
    generator = np.random.default_rng(1)
    best = imagine(run, [board] * 3, several, generator)
    assert [(seen.steps, seen.nodes) for seen in best] == [(4, 20)] * 3
    alone = [imagine(run, [board], one, generator)[0].log_probability for _ in range(8)]
    assert np.mean([seen.log_probability for seen in best]) > np.mean(alone)  # the best of five beats an average one


@pytest.mark.parametrize("order", ["confidence", "plies", "segments"])
def test_several_records_that_would_be_the_same_are_refused(make_run: MakeRun, order: str) -> None:
    with pytest.raises(UserError, match=r"imaginations = 4 at temperature 0 denoises the same record each time"):
        imagine(make_run(), [chess.Board()], Decoding(order=order, imaginations=4))


@pytest.mark.parametrize("choice", [{"temperature": 0.5}, {"order": "random"}, {"carry": "gumbel"}], ids=str)
def test_records_denoised_side_by_side_differ(make_run: MakeRun, choice: dict[str, Any]) -> None:
    joint, board = JointDenoiser(make_run()), chess.Board()
    layout, decoding = joint.asked_layout(Decoding(**choice)), Decoding(imaginations=6, **choice)
    sample = joint._sample(Roots.of([board], layout), decoding, layout, np.random.default_rng(0), None, False)
    assert len({tuple(tokens) for tokens in sample.tokens.tolist()}) > 1


def test_noise_that_is_random_needs_no_temperature(make_run: MakeRun) -> None:
    run = make_run(process="gaussian", root_value=False)
    assert imagine(run, [chess.Board()], Decoding(steps=2, imaginations=2))[0].nodes == 4


def test_drafts_of_a_decoding_are_not_read(make_run: MakeRun) -> None:
    run, choice = make_run(decoding=Decoding(steps=2, drafts=6)), Decoding(steps=2)
    assert imagine(run, BOARDS) == imagine(run, BOARDS, choice)


def test_the_same_seed_imagines_the_same(make_run: MakeRun) -> None:
    run, choice = make_run(), Decoding(steps=3, temperature=1.0)
    first, second = (imagine(run, [chess.Board()], choice, np.random.default_rng(5))[0] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("process", PROCESSES)
def test_a_film_has_a_frame_for_each_call_and_probabilities(make_run: MakeRun, process: str) -> None:
    run = make_run(process=process, horizon=3)
    choice = Decoding(steps=4, order="left-to-right" if process == "autoregressive" else "confidence")
    for board, seen in zip(BOARDS, imagine(run, BOARDS, choice, film=True), strict=True):
        assert [frame.step for frame in seen.film] == list(range(seen.steps + 1))
        assert seen.film[0].moves == (None,) * 3
        assert seen.film[0].probabilities == {}
        assert seen.film[-1].moves[0] == seen.move
        assert seen.move_step is not None
        assert 1 <= seen.move_step <= seen.steps
        for frame in seen.film:
            assert len(frame.squares) == len(frame.confidence) == 2
            for squares, confidence in zip(frame.squares, frame.confidence, strict=True):
                assert len(squares) == len(confidence) == 64
                assert all(0.0 <= one <= 1.0 for one in confidence)
            shares = list(frame.probabilities.values())
            assert len(shares) <= 5
            assert shares == sorted(shares, reverse=True)
            assert all(0.0 < share <= 1.0 for share in shares)
            assert {chess.Move.from_uci(uci) for uci in frame.probabilities} <= set(board.legal_moves)
        if process in ("absorbing", "multinomial", "direct"):
            known = [frame.moves[0] for frame in seen.film]
            assert known[seen.move_step] == seen.move
            assert all(one == seen.move for one in known[seen.move_step :])
            assert known[seen.move_step - 1] != seen.move
