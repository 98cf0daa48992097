"""A side that is ahead avoids draws at the root and makes progress: moves that do not are left out while others are.

The rules decide, with the game's history: stalemate, dead position, fifty moves, third occurrence, and also the second
occurrence of a position, from which a player who is ahead gains nothing. Values alone do not show this: a network
gives a repeated position the value that it gave it the first time. With few pieces on the board, moves are left out
too after which a reply draws or takes what could still win. Against a bare king only moves that make progress remain
(bare_king.py, king_and_pawn.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import chess

from diffusearch.agents.bare_king import faces_bare_king, progressing
from diffusearch.agents.base import Limits
from diffusearch.agents.candidates import candidates
from diffusearch.agents.king_and_pawn import is_king_and_pawn, winning
from diffusearch.inference.evaluation import Allowed
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.outcome import Outcome, outcome

AHEAD = 0.55  # win probability from which a draw is worth less than playing on
FEW = 6  # men on the board, kings included, up to which the replies are looked at


class RootMoves(list[list[chess.Move]]):
    """The moves that an agent chooses from on each board."""

    def __init__(self, moves: Sequence[list[chess.Move]], whole: bool) -> None:
        super().__init__(moves)
        self.whole = whole  # whether they are all the legal ones on every board

    @property
    def allowed(self) -> Allowed | None:
        """The moves for an evaluator or a planner, which read None as all the legal ones."""
        return None if self.whole else self


def draws(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move ends the game in a draw or repeats a position of the game."""
    board.push(move)
    found = outcome(board) is Outcome.DRAWN or (board.halfmove_clock >= 4 and board.is_repetition(2))
    board.pop()
    return found


def lets_draw(board: chess.Board, move: chess.Move) -> bool:
    """Whether some reply to a move ends the game in a draw, or leaves the side to move nothing to win with."""
    winner, found = board.turn, False
    board.push(move)
    for reply in board.legal_moves:
        board.push(reply)
        found = outcome(board) is Outcome.DRAWN or board.has_insufficient_material(winner)
        board.pop()
        if found:
            break
    board.pop()
    return found


def root_moves(boards: Sequence[chess.Board], limits: Limits, evaluator: Evaluator | None) -> RootMoves:
    """The moves that an agent chooses from on each board.

    With an evaluator, moves that draw are left out where the side to move is ahead and has others. The network values
    only boards on which some moves draw and others do not.
    """
    moves = [candidates(board, limits) for board in boards]
    whole = not limits.moves
    if evaluator is None:
        return RootMoves(moves, whole)
    asked: list[int] = []
    rest: dict[int, list[chess.Move]] = {}
    for at, (board, own) in enumerate(zip(boards, moves, strict=True)):
        if best := _progress(board, own):
            whole, moves[at] = whole and len(best) == len(own), best
        elif 0 < len(kept := _kept(board, own)) < len(own):
            asked.append(at)
            rest[at] = kept
    if asked:
        values = evaluator.evaluate([boards[at] for at in asked], priors=False)
        for at, one in zip(asked, values, strict=True):
            if one.value is not None and one.value > AHEAD:
                whole, moves[at] = False, rest[at]
    return RootMoves(moves, whole)


def _progress(board: chess.Board, moves: Sequence[chess.Move]) -> list[chess.Move]:
    """Against a bare king that can be mated, the moves that make progress; else none."""
    if faces_bare_king(board):
        return progressing(board, moves)
    if is_king_and_pawn(board):
        return winning(board, [move for move in moves if not draws(board, move)])
    return []


def _kept(board: chess.Board, moves: Sequence[chess.Move]) -> list[chess.Move]:
    """The moves that do not draw; with few men on the board, of these the ones after which no reply draws, if any."""
    kept = [move for move in moves if not draws(board, move)]
    if chess.popcount(board.occupied) > FEW:
        return kept
    return [move for move in kept if not lets_draw(board, move)] or kept
