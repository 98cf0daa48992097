"""A side that is ahead avoids draws: root moves that draw or repeat a position are left out while there are others.

The rules decide, with the game's history: stalemate, dead position, fifty moves, third occurrence, and also the second
occurrence of a position, from which a player who is ahead gains nothing. Values alone do not show this: a network
gives a repeated position the value that it gave it the first time.
"""

from __future__ import annotations

from collections.abc import Sequence

import chess

from diffusearch.agents.base import Limits
from diffusearch.agents.candidates import candidates
from diffusearch.search.evaluator import Allowed, Evaluator
from diffusearch.search.outcome import Outcome, outcome

AHEAD = 0.55  # win probability from which a draw is worth less than playing on


def draws(board: chess.Board, move: chess.Move) -> bool:
    """Whether a move ends the game in a draw or repeats a position of the game."""
    board.push(move)
    found = outcome(board) is Outcome.DRAWN or (board.halfmove_clock >= 4 and board.is_repetition(2))
    board.pop()
    return found


def root_moves(boards: Sequence[chess.Board], limits: Limits, evaluator: Evaluator | None) -> list[list[chess.Move]]:
    """The moves that an agent chooses from on each board.

    With an evaluator, moves that draw are left out where the side to move is ahead and has others. The network values
    only boards on which some moves draw and others do not.
    """
    moves = [candidates(board, limits) for board in boards]
    if evaluator is None:
        return moves
    rest = [[move for move in own if not draws(board, move)] for board, own in zip(boards, moves, strict=True)]
    asked = [at for at, (own, kept) in enumerate(zip(moves, rest, strict=True)) if 0 < len(kept) < len(own)]
    if asked:
        values = evaluator.evaluate([boards[at] for at in asked], priors=False)
        for at, one in zip(asked, values, strict=True):
            if one.value is not None and one.value > AHEAD:
                moves[at] = rest[at]
    return moves


def narrowed(boards: Sequence[chess.Board], moves: Sequence[Sequence[chess.Move]]) -> Allowed | None:
    """The moves, or None where they are all the legal ones on every board."""
    whole = all(len(own) == board.legal_moves.count() for board, own in zip(boards, moves, strict=True))
    return None if whole else moves
