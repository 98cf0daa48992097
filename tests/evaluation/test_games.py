from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import chess
import chess.pgn
import pytest

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.errors import UserError
from diffusearch.evaluation.games import Fixture, GameRules, Played, play_games


class Script(Agent):
    """Plays given moves in turn, whatever the board."""

    def __init__(self, moves: str) -> None:
        self.moves = iter(moves.split())
        self.batches: list[int] = []
        self.games = 0

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        return Decision(chess.Move.from_uci(next(self.moves)), {})

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        self.batches.append(len(boards))
        return super().play_many(boards, limits)

    def new_game(self) -> None:
        self.games += 1


class Verdict(Agent):
    """A referee with a fixed view: White's win probability."""

    def __init__(self, white: float | None) -> None:
        self.white = white

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        value = None if self.white is None else self.white if board.turn else 1 - self.white
        return Decision(next(iter(board.legal_moves)), {}, value=value)


def one(
    white: str, black: str, opening: str = "", rules: GameRules = GameRules(), referee: Agent | None = None
) -> Played:
    agents: dict[str, Agent] = {"w": Script(white), "b": Script(black)}
    return play_games([Fixture("w", "b", 0)], [tuple(opening.split())], agents, rules, referee)[0]


def test_mate_decides_for_both_colours() -> None:
    lost = one("f2f3 g2g4", "e7e5 d8h4")
    assert (lost.result, lost.reason, lost.points) == ("0-1", "checkmate", 0.0)
    won = one("e2e4 d1h5 f1c4 h5f7", "e7e5 b8c6 g8f6")
    assert (won.result, won.reason, won.points) == ("1-0", "checkmate", 1.0)


def test_repetition_is_drawn_without_a_claim_and_the_opening_counts() -> None:
    shuffle = one("f3g1 g1f3 f3g1 g1f3", "f6g8 g8f6 f6g8 g8f6", opening="g1f3 g8f6")
    assert (shuffle.result, shuffle.reason) == ("1/2-1/2", "threefold repetition")
    assert shuffle.book_plies == 2
    # the starting position itself has come three times: before the opening, and twice by shuffling
    assert len(shuffle.moves) == 8


def test_length_is_a_draw_after_the_opening() -> None:
    game = one("d2d4", "d7d5", opening="e2e4 e7e5", rules=GameRules(max_plies=2))
    assert (game.result, game.reason, len(game.moves)) == ("1/2-1/2", "2 plies", 4)


def test_an_illegal_move_loses() -> None:
    game = one("e2e4", "e2e4")
    assert (game.result, game.reason) == ("1-0", "illegal move e2e4")
    assert game.moves == ("e2e4",)


@pytest.mark.parametrize(("white", "result"), [(0.995, "1-0"), (0.005, "0-1")])
def test_a_referee_ends_won_games_after_its_patience(white: float, result: str) -> None:
    rules = GameRules(referee="r", patience=3)
    game = one("a2a3 b2b3 c2c3", "a7a6 b7b6 c7c6", rules=rules, referee=Verdict(white))
    assert (game.result, game.reason, len(game.moves)) == (result, "adjudicated by the referee", 3)


def test_a_referee_in_doubt_lets_play_on_and_one_without_values_is_refused() -> None:
    game = one("a2a3 b2b3", "a7a6 b7b6", rules=GameRules(max_plies=4), referee=Verdict(0.98))
    assert game.reason == "4 plies"
    with pytest.raises(UserError, match="knows no values"):
        one("a2a3", "a7a6", referee=Verdict(None))


def test_games_run_side_by_side_in_batches(random_agent: Any) -> None:
    # two games with colours changed: both agents always have exactly one board to decide in each round
    a, b = Script("a2a3 a7a6 b2b3 b7b6"), Script("a2a3 a7a6 b2b3 b7b6")
    fixtures = [Fixture("a", "b", 0), Fixture("b", "a", 0)]
    games = play_games(fixtures, [()], {"a": a, "b": b}, GameRules(max_plies=4))
    assert [game.fixture for game in games] == fixtures
    assert a.batches == [1, 1, 1, 1]
    assert a.games == 1
    many = play_games([Fixture("r", "s", i) for i in range(3)], [("e2e4",), ("d2d4",), ("c2c4",)],
                      {"r": random_agent, "s": random_agent}, GameRules(max_plies=30))  # fmt: skip
    assert [game.moves[0] for game in many] == ["e2e4", "d2d4", "c2c4"]


def test_log_lines_and_pgn_hold_the_game() -> None:
    game = one("f2f3 g2g4", "e7e5 d8h4")
    assert Played.from_json(game.to_json()) == game
    read = chess.pgn.read_game(io.StringIO(game.pgn()))
    assert read is not None
    assert not read.errors
    assert (read.headers["White"], read.headers["Result"]) == ("w", "0-1")
    assert tuple(move.uci() for move in read.mainline_moves()) == game.moves
    assert "checkmate" in game.pgn()
