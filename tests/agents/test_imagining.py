"""Agents that imagine: decoding options, lines, limits, lots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import chess
import pytest

from diffusearch.agents.base import Limits
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.imagination import DraftedMove, ply_of


def test_the_first_imagined_move_is_played_with_its_line_and_value(dreamer: Any) -> None:
    agent = ImaginingAgent(dreamer, Decoding(steps=8, imaginations=3, temperature=1.0))
    decision = agent.play(chess.Board())
    assert decision.imagination is not None
    assert decision.move.uci() == decision.imagination.move
    assert 1 <= len(decision.line) <= 3  # the last imagined move is not legal and is left out
    assert decision.value == 0.6
    assert decision.nodes == 24


def test_limits_of_steps_replace_the_agents(dreamer: Any) -> None:
    agent = ImaginingAgent(dreamer, Decoding(steps=8, order="margin"))
    agent.play(chess.Board())
    agent.play(chess.Board(), Limits(steps=3))
    assert [call[1].steps for call in dreamer.calls] == [8, 3]
    assert {call[1].order for call in dreamer.calls} == {"margin"}


def test_a_batch_is_one_call(dreamer: Any) -> None:
    ImaginingAgent(dreamer).play_many([chess.Board()] * 5)
    assert [call[0] for call in dreamer.calls] == [5]


def test_lines_are_imagined_for_each_first_move(dreamer: Any) -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")
    lines = ImaginingAgent(dreamer).analyse(board, lines=3)
    assert [call[0] for call in dreamer.calls] == [1, 2]  # the best, then its two rivals together
    assert [one.imagination.move for one in lines] == [one.move.uci() for one in lines]  # type: ignore[union-attr]
    assert lines[0].probabilities == lines[1].probabilities
    assert [one.value for one in lines] == [0.6, None, None]


def test_root_moves_reach_the_model(dreamer: Any) -> None:
    wanted = (chess.Move.from_uci("a2a3"),)
    ImaginingAgent(dreamer).play(chess.Board(), Limits(moves=wanted))
    assert dreamer.calls[0][2] == [[*wanted]]


def test_the_generator_follows_from_seed_and_game(dreamer: Any) -> None:
    board = chess.Board()
    ImaginingAgent(dreamer, seed=1).play(board)
    ImaginingAgent(dreamer, seed=1).play(board)
    ImaginingAgent(dreamer, seed=2).play(board)
    board.push_uci("e2e4")
    ImaginingAgent(dreamer, seed=1).play(board)
    first, again, other, later = dreamer.seeds
    assert first == again
    assert len({first, other, later}) == 3


def test_the_dial_takes_steps_and_certainty_away(dreamer: Any) -> None:
    played = {ImaginingAgent(dreamer, strength=10, seed=seed).play(chess.Board()).move for seed in range(20)}
    assert len(played) > 3
    assert {call[1].steps for call in dreamer.calls} == {2}
    decision = ImaginingAgent(dreamer, strength=10, seed=3).play(chess.Board())
    assert decision.imagination is not None
    assert decision.imagination.move == decision.move.uci()  # a future for the move that is really played
    assert len(decision.probabilities) == 20


def test_a_drawn_move_keeps_the_drafts_that_the_probabilities_come_from(
    dreamer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    imagine = dreamer.imagine

    def drafting(boards: Any, decoding: Any, generator: Any, legal: Any = None, *rest: Any, **film: Any) -> Any:
        free = legal is None
        before, after = (0.4, 0.5) if free else (1.0, 1.0)
        line = (ply_of(chess.Board(), "e2e4", None, None, None),)
        draft = DraftedMove("e2e4", before, after, value=0.5, revised=0.6, lines=(line,))
        found = imagine(boards, decoding, generator, legal, *rest, **film)
        return [replace(one, drafts=(draft,)) for one in found]

    monkeypatch.setattr(dreamer, "imagine", drafting)
    for seed in range(20):
        decision = ImaginingAgent(dreamer, strength=10, seed=seed).play(chess.Board())
        assert decision.look_ahead is not None
        assert [(one.prior, one.probability) for one in decision.look_ahead.candidates] == [(0.4, 0.5)]


def test_film_and_horizon_reach_the_model(dreamer: Any) -> None:
    ImaginingAgent(dreamer).play(chess.Board())
    ImaginingAgent(dreamer, horizon=2, film=True).play(chess.Board())
    assert dreamer.asked == [(None, False), (2, True)]
    assert (ImaginingAgent(dreamer).horizon, ImaginingAgent(dreamer, horizon=2).horizon) == (4, 2)
    assert ImaginingAgent(dreamer).provenance == {"name": "dreamer"}


def test_work_counts_all_imaginations(dreamer: Any) -> None:
    assert ImaginingAgent(dreamer, Decoding(imaginations=4, temperature=1.0)).work(5) == 20


def test_work_counts_the_future_of_a_drawn_move(dreamer: Any) -> None:
    for seed in range(20):
        agent = ImaginingAgent(dreamer, strength=10, seed=seed)
        decision = agent.play(chess.Board(), Limits(steps=5))
        assert 5 <= decision.nodes <= agent.work(5) == 10


def test_its_own_steps_are_those_of_its_strength(dreamer: Any) -> None:
    assert ImaginingAgent(dreamer, Decoding(steps=20)).own_steps == 20
    assert ImaginingAgent(dreamer, Decoding(steps=20), strength=50).own_steps == 10
