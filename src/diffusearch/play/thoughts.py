"""A decision -> what the page shows of it: candidates, the line with its boards, the film."""

from __future__ import annotations

import chess

from diffusearch.agents.base import Decision
from diffusearch.inference.imagination import Imagination
from diffusearch.play.positions import side
from diffusearch.play.schemas import Candidate, FilmFrame, LinePly, Thought

CANDIDATES = 6  # bars on the page; the rest of the distribution is too small to see
LONGEST = 8  # plies of a calculated line that are shown


def squares_of(board: chess.Board) -> str:
    """64 characters from a8, '.' for an empty square."""
    letters = []
    for rank in reversed(range(8)):
        for file in range(8):
            piece = board.piece_at(chess.square(file, rank))
            letters.append(piece.symbol() if piece else ".")
    return "".join(letters)


def thought_of(agent_id: str, board: chess.Board, decision: Decision) -> Thought:
    """Everything about one decision, in the page's words."""
    weighed = [(move, share) for move, share in decision.probabilities.items() if share > 0 or move == decision.move]
    best = sorted(weighed, key=lambda item: (-item[1], item[0].uci()))[:CANDIDATES]
    imagination = decision.imagination
    return Thought(
        agent=agent_id,
        root=board.fen(),
        turn=side(board.turn),
        move=decision.move.uci(),
        san=board.san(decision.move),
        candidates=[Candidate(uci=move.uci(), san=board.san(move), probability=_share(p)) for move, p in best],
        line=_imagined_line(board, imagination) if imagination else _real_line(board, decision.line),
        film=_film(imagination) if imagination else [],
        value=None if decision.value is None else _share(decision.value),
        legal_mass=None if imagination is None or imagination.legal_mass is None else _share(imagination.legal_mass),
        nodes=decision.nodes,
        seconds=decision.seconds,
        imagined=imagination is not None,
    )


def _share(value: float) -> float:
    """Floating sums may leave [0, 1] by a hair."""
    return min(1.0, max(0.0, value))


def _real_line(board: chess.Board, line: tuple[chess.Move, ...]) -> list[LinePly]:
    """A calculated line: its boards are the true ones."""
    replay = board.copy(stack=False)
    plies = []
    for move in line[:LONGEST]:
        san = replay.san(move)
        replay.push(move)
        plies.append(LinePly(uci=move.uci(), san=san, legal=True, squares=squares_of(replay), wrong=[], problem=None))
    return plies


def _imagined_line(board: chess.Board, imagination: Imagination) -> list[LinePly]:
    """An imagined line: each move is named in the state that it is played in, which is imagined itself."""
    believed: chess.Board | None = board.copy(stack=False)
    plies = []
    for ply in imagination.line:
        plies.append(
            LinePly(
                uci=ply.move,
                san=_san(believed, ply.move) if ply.legal else None,
                legal=ply.legal,
                squares=ply.squares,
                wrong=[chess.square_name(square) for square in ply.wrong],
                problem=ply.problem,
            )
        )
        believed = chess.Board(ply.state) if ply.state else None
    return plies


def _san(board: chess.Board | None, uci: str | None) -> str | None:
    if board is None or uci is None:
        return None
    move = chess.Move.from_uci(uci)
    return board.san(move) if board.is_legal(move) else None


def _film(imagination: Imagination) -> list[FilmFrame]:
    return [
        FilmFrame(step=frame.step, moves=list(frame.moves), squares=list(frame.squares)) for frame in imagination.film
    ]
