"""Review of a game: White's win probability after every move, and what each move cost its side.

The loss of a move is the mover's win probability before it, as the agent sees it, less the one after it. It is 0 where
the agent would have played the same move.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import chess

from diffusearch.agents.base import Decision
from diffusearch.errors import UserError
from diffusearch.play.pasted_games import result_of, side
from diffusearch.play.schemas import MAX_REVIEW, NamedMove, Review, ReviewedMove, ReviewRequest
from diffusearch.play.thoughts import named_line, refuse_illegal, share_of


def positions_of(asked: ReviewRequest, board: chess.Board) -> list[chess.Board]:
    """The boards before each reviewed move and after the last one, each with its history."""
    last = len(board.move_stack) if asked.count is None else min(len(board.move_stack), asked.first + asked.count)
    if asked.first >= last:
        raise UserError(f"The game has {len(board.move_stack)} half-moves; there is none to review from {asked.first}.")
    if last - asked.first > MAX_REVIEW:
        raise UserError(f"A review takes at most {MAX_REVIEW} half-moves; ask for fewer with count.")
    replay = board.root()
    boards: list[chess.Board] = []
    for ply, move in enumerate(board.move_stack[:last]):
        if ply >= asked.first:
            boards.append(replay.copy())
        replay.push(move)
    return [*boards, replay]


def review_of(agent_id: str, first: int, boards: Sequence[chess.Board], decisions: Sequence[Decision | None]) -> Review:
    """The review from the agent's decisions in these positions; None where the game is over."""
    values = [_white_value(*pair) for pair in zip(boards, decisions, strict=True)]
    moves: list[ReviewedMove] = []
    for number, (board, after) in enumerate(pairwise(boards)):
        decision, move = decisions[number], after.peek()
        line = [NamedMove(uci=move.uci(), san=board.san(move))]
        if decision is not None:
            refuse_illegal(agent_id, board, decision)
            line = named_line(board, decision.line if decision.line[:1] == (decision.move,) else (decision.move,))
        lost = values[number] - values[number + 1] if board.turn == chess.WHITE else values[number + 1] - values[number]
        moves.append(
            ReviewedMove(
                ply=first + number,
                side=side(board.turn),
                uci=move.uci(),
                san=board.san(move),
                fen=after.fen(),
                white_value=values[number + 1],
                loss=0.0 if decision is None or decision.move == move else share_of(lost),
                best=line[0],
                line=line,
            )
        )
    return Review(agent=agent_id, start_value=values[0], moves=moves)


def _white_value(board: chess.Board, decision: Decision | None) -> float:
    """White's win probability: of the rules where the game is over, else of the agent."""
    if decision is None:
        result = result_of(board)
        return {"1-0": 1.0, "0-1": 0.0}.get(result.score if result else "", 0.5)
    if decision.value is None:
        raise UserError("This agent gives no values, so it cannot review a game; choose another one.")
    value = share_of(decision.value)
    return value if board.turn == chess.WHITE else 1.0 - value
