"""A run in use: boards in; priors, values, states after moves and imaginations out, alike for both colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import numpy as np
import pytest
import torch

from diffusearch.data.records import Line, replay
from diffusearch.diffusion.decoding import Decoding
from diffusearch.errors import UserError
from diffusearch.inference.roots import Roots
from diffusearch.inference.run import Run
from diffusearch.tokens import moves
from diffusearch.tokens.batch import masked, tokenise
from diffusearch.tokens.layout import layout
from diffusearch.tokens.values import BIN_VALUES

# What the packaged model has besides the plain transformer.
FEATURES = {"board_features": True, "residual_state": True, "feature_width": 4}
MIDDLE = "r3k2r/ppp2ppp/2n1bn2/3qp3/3P4/2N1PN2/PPP2PPP/R2QK2R w KQkq - 0 9"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
BOARDS = [chess.Board(), chess.Board(MIDDLE), chess.Board(MIDDLE).mirror()]
PROCESSES = ["absorbing", "multinomial", "gaussian", "autoregressive", "direct"]
MakeRun = Callable[..., Run]


def turned(move: chess.Move) -> chess.Move:
    return chess.Move(move.from_square ^ 56, move.to_square ^ 56, move.promotion)


def watched(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """Every network call with its rows and variables, as they are made."""
    calls: list[tuple[str, int, int]] = []
    hidden, read_root = run.net.hidden, run.net.read_root

    def watch_hidden(tokens: torch.Tensor, *more: Any) -> torch.Tensor:
        calls.append(("hidden", *tokens.shape))
        return hidden(tokens, *more)

    def watch_root(tokens: torch.Tensor, *more: Any) -> Any:
        calls.append(("root", *tokens.shape))
        return read_root(tokens, *more)

    monkeypatch.setattr(run.net, "hidden", watch_hidden)
    monkeypatch.setattr(run.net, "read_root", watch_root)
    return calls


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
    seen = run.imagine(boards, Decoding(steps=1), horizon=2)
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


def test_many_positions_are_evaluated_as_few(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(root_value=True, double=True)
    whole = run.evaluate(BOARDS)
    monkeypatch.setattr(run.backend, "batch", 2)
    calls = watched(run, monkeypatch)
    for one, other in zip(whole, run.evaluate(BOARDS), strict=True):
        assert one.priors == pytest.approx(other.priors, rel=1e-9)
    assert [rows for kind, rows, _ in calls if kind == "hidden"] == [2, 1]


def test_evaluations_use_the_shortest_trained_layout(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    for horizons, plies in (([], 4), ([0, 0.5, 0, 0.5], 2), ([0.5, 0.5], 1)):
        run = make_run(horizon=4, horizons=horizons)
        calls = watched(run, monkeypatch)
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
    make_run: MakeRun, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(root_value=True, double=True, **options)
    monkeypatch.setattr(run.backend, "batch", 2)  # several parts of positions, and of states
    evaluations = run.evaluate(BOARDS)
    asked = [(board, one, move) for board, one in zip(BOARDS, evaluations, strict=True) for move in [*one.priors][:3]]
    boards, kept, chosen = ([row[column] for row in asked] for column in range(3))
    calls = watched(run, monkeypatch)
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
        seen = run.imagine([board] * 3, Decoding(order="plies", steps=2), legal=[[move] for move in own])
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
    for call in (lambda run: run.evaluate(boards), lambda run: run.imagine(boards)):
        with pytest.raises(UserError, match="predicts no move"):
            call(make_run("s-v"))
    for call in (lambda run: run.imagine([chess.Board(MATED)]), lambda run: run.evaluate([chess.Board(MATED)])):
        with pytest.raises(UserError, match="the game is over"):
            call(make_run("s-asa"))
    move = [chess.Move.from_uci("e2e4")]
    for run in (make_run("s-a"), make_run("s-aa"), make_run(process="autoregressive"), make_run(process="gaussian")):
        assert not run.predicts_states
        with pytest.raises(UserError, match="predicts no state after a move"):
            run.predict(boards, [None], move)
    assert make_run().predicts_states
    assert make_run(process="direct").predicts_states


def test_a_horizon_shorter_than_any_trained_is_refused(make_run: MakeRun) -> None:
    run = make_run(horizon=4)
    with pytest.raises(UserError, match=r"trained on records of 4 plies, and horizon 2 is shorter: ask for 4"):
        run.imagine([chess.Board()], horizon=2)
    mixed = make_run(horizon=4, horizons=[0, 0.5, 0, 0.5])
    with pytest.raises(UserError, match="trained on records of 2, 4 plies, and horizon 1 is shorter: ask for 2"):
        mixed.imagine([chess.Board()], horizon=1)
    assert len(mixed.imagine([chess.Board()], Decoding(steps=2), horizon=2)[0].line) == 2


@pytest.mark.parametrize("paradigm", ["s-a", "s-v", "sa-v"])
def test_a_record_of_one_ply_is_one_whatever_the_recipes_horizon_says(make_run: MakeRun, paradigm: str) -> None:
    run = make_run(paradigm, horizon=4)  # the recipe's default
    assert (run.horizon, run.recipe.trained_horizons) == (1, (1,))
    if paradigm == "s-a":
        moves_found = {
            run.imagine([chess.Board()], horizon=1)[0].move,
            run.imagine([chess.Board()], Decoding(order="plies"))[0].move,
            run.imagine([chess.Board()])[0].move,
        }
        assert len(moves_found) == 1


def test_ply_by_ply_needs_a_run_that_was_trained_on_the_shorter_records(make_run: MakeRun) -> None:
    plies = Decoding(order="plies")
    with pytest.raises(UserError, match=r"records of 1 to 4 plies, and the run .* was trained on 4: choose another"):
        make_run(horizon=4).imagine([chess.Board()], plies)
    assert make_run(horizons=[0.5, 0.5]).imagine([chess.Board()], plies)[0].steps == 3  # a_0, s_1, a_1
    assert make_run(process="autoregressive").imagine([chess.Board()], plies)[0].steps > 3


def test_a_horizon_longer_than_the_learned_positions_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(UserError, match=r"learned positions for 2 plies, and horizon 3 is longer: .*rope"):
        make_run().imagine([chess.Board()], horizon=3)
    seen = make_run(positions="rope").imagine([chess.Board()], Decoding(steps=2), horizon=3)
    assert len(seen[0].to_json()["plies"]) >= 1


# imagine


def test_the_papers_run_makes_twenty_calls_on_the_whole_record(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(horizon=4, encoding="paper", patch=1, head="vocabulary", attention="full")
    assert run.recipe.decoding == Decoding()
    calls = watched(run, monkeypatch)
    (seen,) = run.imagine([chess.Board()])
    assert run.layout.variables == 312
    assert calls == [("hidden", 1, 312)] * 20
    assert (seen.steps, seen.evaluations) == (20, 20)


def test_one_step_is_one_call_on_the_shortest_trained_record(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for horizons, plies in (([], 4), ([0, 1, 0, 1], 2), ([1, 0, 0, 1], 1)):
        run = make_run(horizon=4, horizons=horizons)
        calls = watched(run, monkeypatch)
        (seen,) = run.imagine([chess.Board()], Decoding(steps=1))
        rows = [call for call in calls if call[0] == "hidden"]
        assert rows == [("hidden", 1, run.layout.truncated(plies).variables)]
        assert seen.steps == seen.move_step == 1
        (share,) = run.evaluate([chess.Board()])
        told = {chess.Move.from_uci(uci): one for uci, one in seen.probabilities.items()}
        assert told == pytest.approx(share.priors, rel=1e-4)
        calls.clear()
        run.imagine([chess.Board()], Decoding(steps=1), horizon=4)  # asked for by name
        assert ("hidden", 1, run.layout.variables) in calls


def test_a_run_is_decoded_as_its_recipe_says(make_run: MakeRun) -> None:
    run = make_run(decoding=Decoding(steps=3, order="left-to-right"))
    (own,) = run.imagine([chess.Board()])
    assert own.steps == 3
    assert own == run.imagine([chess.Board()], Decoding(steps=3, order="left-to-right"))[0]


@pytest.mark.parametrize("encoding", [{"encoding": "paper", "patch": 1, "head": "vocabulary"}, {}])
def test_imaginations_start_with_a_legal_move(make_run: MakeRun, encoding: dict[str, object]) -> None:
    for board, seen in zip(BOARDS, make_run(**encoding).imagine(BOARDS, Decoding(steps=5)), strict=True):
        assert chess.Move.from_uci(seen.move) in board.legal_moves
        assert seen.line[0].move == seen.move
        assert seen.root == board.fen()
        assert seen.steps == 5
        assert seen.film == ()


def test_root_moves_can_be_narrowed_in_an_imagination(make_run: MakeRun) -> None:
    run, board = make_run(), chess.Board(MIDDLE).mirror()
    for move in list(board.legal_moves)[:4]:
        assert run.imagine([board], Decoding(steps=2), legal=[[move]])[0].move == move.uci()


def test_the_likeliest_of_many_imaginations_is_told(make_run: MakeRun) -> None:
    run, board = make_run(), chess.Board()
    several = Decoding(steps=4, temperature=1.0, imaginations=5)
    one = Decoding(steps=4, temperature=1.0)
    generator = np.random.default_rng(1)
    best = run.imagine([board] * 3, several, generator)
    assert [(seen.steps, seen.nodes) for seen in best] == [(4, 20)] * 3
    alone = [run.imagine([board], one, generator)[0].log_probability for _ in range(8)]
    assert np.mean([seen.log_probability for seen in best]) > np.mean(alone)  # the best of five beats an average one


@pytest.mark.parametrize("order", ["confidence", "plies", "segments"])
def test_several_records_that_would_be_the_same_are_refused(make_run: MakeRun, order: str) -> None:
    with pytest.raises(UserError, match=r"imaginations = 4 at temperature 0 denoises the same record each time"):
        make_run().imagine([chess.Board()], Decoding(order=order, imaginations=4))


@pytest.mark.parametrize("choice", [{"temperature": 0.5}, {"order": "random"}, {"carry": "gumbel"}], ids=str)
def test_records_denoised_side_by_side_differ(make_run: MakeRun, choice: dict[str, Any]) -> None:
    run, board = make_run(), chess.Board()
    layout, decoding = run.asked_layout(Decoding(**choice)), Decoding(imaginations=6, **choice)
    sample = run._sample(Roots.of([board], layout), decoding, layout, np.random.default_rng(0), None, False)
    assert len({tuple(tokens) for tokens in sample.tokens.tolist()}) > 1


def test_noise_that_is_random_needs_no_temperature(make_run: MakeRun) -> None:
    run = make_run(process="gaussian", root_value=False)
    assert run.imagine([chess.Board()], Decoding(steps=2, imaginations=2))[0].nodes == 4


def test_the_same_seed_imagines_the_same(make_run: MakeRun) -> None:
    run, choice = make_run(), Decoding(steps=3, temperature=1.0)
    first, second = (run.imagine([chess.Board()], choice, np.random.default_rng(5))[0] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("process", PROCESSES)
def test_a_film_has_a_frame_for_each_call_and_probabilities(make_run: MakeRun, process: str) -> None:
    run = make_run(process=process, horizon=3)
    choice = Decoding(steps=4, order="left-to-right" if process == "autoregressive" else "confidence")
    for board, seen in zip(BOARDS, run.imagine(BOARDS, choice, film=True), strict=True):
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


def test_a_run_says_what_it_is(make_run: MakeRun) -> None:
    run = make_run()
    assert run.provenance["model"]["horizon"] == run.horizon == 2
    assert run.provenance["weights"] is None  # never saved
    small = run.quantised()
    assert small.recipe == run.recipe
    assert chess.Move.from_uci(small.imagine([chess.Board()], Decoding(steps=1))[0].move) in chess.Board().legal_moves
