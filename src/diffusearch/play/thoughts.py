"""A decision as the API shows it: candidates, the line with its boards, the recorded film, the looks ahead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import chess

from diffusearch.agents.base import Decision, LookAhead
from diffusearch.errors import UserError
from diffusearch.inference.imagination import Frame, Imagination, Ply, letters
from diffusearch.play.pasted_games import side
from diffusearch.play.schemas import (
    CandidateMove,
    FilmFrame,
    LinePly,
    LookAheadView,
    NamedMove,
    RootCandidate,
    Thought,
)

CANDIDATES = 6  # moves shown; the rest of the distribution is too small to see
LONGEST = 8  # plies of a line that are shown
# Draw offers: an agent accepts below this win probability, and in a balanced position from this move on.
ACCEPTS_BELOW, BALANCED_BELOW, BALANCED_FROM = 0.45, 0.55, 40


def refuse_illegal(agent_id: str, board: chess.Board, decision: Decision) -> None:
    """An agent without the legality mask may choose a move that has no notation and cannot be played."""
    if not board.is_legal(decision.move):
        raise UserError(
            f"{agent_id} chose {decision.move.uci()}, which is not legal in {board.fen()}: leave legal=off out."
        )


def thought_of(agent_id: str, board: chess.Board, decision: Decision, draw_offered: bool = False) -> Thought:
    """Everything about one decision; an illegal one is refused."""
    refuse_illegal(agent_id, board, decision)
    weighed = {move: share for move, share in decision.probabilities.items() if share > 0 or move == decision.move}
    imagination = decision.imagination
    return Thought(
        agent=agent_id,
        root=board.fen(),
        turn=side(board.turn),
        move=decision.move.uci(),
        san=board.san(decision.move),
        candidates=_candidates(board, weighed),
        line=_predicted_line(board, imagination) if imagination else _true_line(board, decision.line),
        film=_film(board, imagination) if imagination else [],
        look_ahead=None if decision.look_ahead is None else _look_ahead(board, decision.look_ahead),
        value=None if decision.value is None else share_of(decision.value),
        legal_mass=None if imagination is None or imagination.legal_mass is None else share_of(imagination.legal_mass),
        steps=None if imagination is None else imagination.steps,
        evaluations=decision.nodes,
        seconds=decision.seconds,
        imagined=imagination is not None,
        draw_accepted=accepts_draw(board, decision.value) if draw_offered else None,
    )


def accepts_draw(board: chess.Board, value: float | None) -> bool:
    """Whether the side to move, with this win probability, accepts a draw; without a value it declines."""
    if value is None:
        return False
    return value <= ACCEPTS_BELOW or (value <= BALANCED_BELOW and board.fullmove_number >= BALANCED_FROM)


def share_of(value: float) -> float:
    """A probability; floating-point sums may leave [0, 1] by a rounding error."""
    return min(1.0, max(0.0, value))


def named_line(board: chess.Board, line: Iterable[chess.Move]) -> list[NamedMove]:
    """Moves with their SAN, as far as they are legal one after the other."""
    replay = board.copy(stack=False)
    out: list[NamedMove] = []
    for move in line:
        if len(out) == LONGEST or not replay.is_legal(move):
            break
        out.append(NamedMove(uci=move.uci(), san=replay.san(move)))
        replay.push(move)
    return out


def _candidates(board: chess.Board, shares: Mapping[chess.Move, float]) -> list[CandidateMove]:
    best = sorted(shares.items(), key=lambda item: (-item[1], item[0].uci()))[:CANDIDATES]
    return [CandidateMove(uci=move.uci(), san=board.san(move), probability=share_of(share)) for move, share in best]


def _true_line(board: chess.Board, line: tuple[chess.Move, ...]) -> list[LinePly]:
    """A line whose boards are made by the rules."""
    replay = board.copy(stack=False)
    plies = []
    for move in line[:LONGEST]:
        san = replay.san(move)
        replay.push(move)
        plies.append(LinePly(uci=move.uci(), san=san, legal=True, squares=letters(replay), wrong=[], problem=None))
    return plies


def _played(imagination: Imagination) -> list[Ply]:
    """The plies up to the end of the game: behind it there is nothing to show."""
    out: list[Ply] = []
    for ply in imagination.line:
        if ply.move is None:
            break
        out.append(ply)
    return out


def _predicted_line(board: chess.Board, imagination: Imagination) -> list[LinePly]:
    """A line whose boards are predicted: each move is named in the position before it, predicted as well."""
    before: chess.Board | None = board.copy(stack=False)
    plies = []
    for ply in _played(imagination):
        assert ply.move is not None
        plies.append(
            LinePly(
                uci=ply.move,
                san=_san(before, ply.move) if ply.legal else None,
                legal=ply.legal,
                squares=ply.squares,
                wrong=[chess.square_name(square) for square in ply.wrong],
                problem=ply.problem,
            )
        )
        before = chess.Board(ply.state) if ply.state else None
    return plies


def _san(board: chess.Board | None, uci: str) -> str | None:
    move = chess.Move.from_uci(uci)
    return board.san(move) if board is not None and board.is_legal(move) else None


def _film(board: chess.Board, imagination: Imagination) -> list[FilmFrame]:
    """The recorded frames, without the places behind the end of the game."""
    shown = len(_played(imagination))
    return [
        FilmFrame(
            step=frame.step,
            moves=list(frame.moves[:shown]),
            squares=list(frame.squares[:shown]),
            confidence=[[share_of(value) for value in one] for one in frame.confidence[:shown]],
            candidates=_candidates(board, _shares(board, frame)),
        )
        for frame in imagination.film
    ]


def _shares(board: chess.Board, frame: Frame) -> dict[chess.Move, float]:
    """The first moves of a recorded step, without illegal ones (`legal=off`), which have no notation."""
    found = {chess.Move.from_uci(uci): share for uci, share in frame.probabilities.items() if share > 0}
    return {move: share for move, share in found.items() if board.is_legal(move)}


def _look_ahead(board: chess.Board, report: LookAhead) -> LookAheadView:
    return LookAheadView(
        by=report.by,
        candidates=[
            RootCandidate(
                uci=one.move.uci(),
                san=board.san(one.move),
                prior=share_of(one.prior),
                value=None if one.value is None else share_of(one.value),
                score=None if one.score is None else share_of(one.score),
                probability=None if one.probability is None else share_of(one.probability),
                line=named_line(board, one.line or (one.move,)),
            )
            for one in report.candidates
        ],
    )
