"""What comes out of denoising: the move, the future that was denoised with it, and the film of the denoising.

Everything here is in UCI and FEN, in the true colours of the game, ready for JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import chess

from diffusearch.inference.evaluation import PredictedState


@dataclass(frozen=True)
class Ply:
    """One imagined ply: the move a_i and the state s_{i+1} that the model believes follows."""

    move: str | None  # UCI; None where the model says that the game is over
    legal: bool  # whether the move is legal in the state that it is played in (as imagined; the root for i = 0)
    state: str | None  # FEN of the imagined next state, None if it is no valid position or is not imagined at all
    problem: str | None  # why there is no state: the reason, or None
    follows: bool  # whether the state is exactly what the move gives from the state before
    squares: str | None = None  # the imagined board as 64 characters from a8 (FEN letters, '.' empty), valid or not
    wrong: tuple[int, ...] = ()  # squares (a1 = 0) where the imagined board differs from the true result of the move
    value: float | None = None  # of the position in which it is played, for the side that plays it; None: not evaluated


@dataclass(frozen=True)
class Frame:
    """The record after one step of denoising, as it was recorded."""

    step: int  # 0 = everything masked
    moves: tuple[str | None, ...]  # UCI for each ply, None while masked ("0000" = game over)
    squares: tuple[str, ...]  # for each imagined state 64 characters from a8, '?' while masked
    confidence: tuple[tuple[float, ...], ...] = ()  # for each imagined state the probability of its 64 squares, from a8
    probabilities: dict[str, float] = field(default_factory=dict)  # UCI -> probability of the likeliest first moves


@dataclass(frozen=True)
class DraftedMove:
    """A first move that was drafted, and what the network makes of the draft. Its values are of the root's mover."""

    move: str  # UCI
    before: float  # its probability at the first look
    after: float  # its probability with the drafts in sight
    value: float | None  # win probability after the move, by one evaluation
    revised: float  # win probability after the move, as read from the draft
    lines: tuple[tuple[Ply, ...], ...]  # the drafted lines; each begins with the move


@dataclass(frozen=True)
class Imagination:
    """A decision with its imagined future."""

    root: str  # FEN
    move: str  # UCI, the move to play; legal whenever the legality mask is on
    probabilities: dict[str, float]  # UCI -> probability of each legal move; they sum to 1
    line: tuple[Ply, ...]  # the first ply's move is `move`
    film: tuple[Frame, ...] = field(default=(), repr=False)
    log_probability: float = 0.0  # joint log-likelihood of all variables when they were fixed
    value: float | None = None  # win probability of the side to move in [0, 1], where the model knows values
    legal_mass: float | None = None  # probability of all legal moves together, without the legality mask
    raw_legal: bool | None = None  # whether the move would have been legal without the legality mask
    steps: int = 0  # network calls spent
    evaluations: int | None = None  # of one position each, in these calls; None = one a call
    move_step: int | None = None  # the call after which the move changed no more, where it was denoised
    drafts: tuple[DraftedMove, ...] = ()  # likeliest move of the first look first, where drafts were read

    @property
    def nodes(self) -> int:
        """Evaluations of one position by the network."""
        return self.steps if self.evaluations is None else self.evaluations

    @property
    def moves(self) -> tuple[str, ...]:
        """The imagined moves up to the end of the game or the first move that is not legal where it is played."""
        out: list[str] = []
        for ply in self.line:
            if ply.move is None or not ply.legal:
                break
            out.append(ply.move)
        return tuple(out)

    def to_json(self) -> dict[str, Any]:
        """One object with `move`, `line`, `states`, `probabilities` and the rest, for machines."""
        return {
            "root": self.root,
            "move": self.move,
            "line": [ply.move for ply in self.line],
            "states": [ply.state for ply in self.line],
            "plies": [asdict(ply) for ply in self.line],
            "probabilities": self.probabilities,
            "value": self.value,
            "log_probability": self.log_probability,
            "legal_mass": self.legal_mass,
            "raw_legal": self.raw_legal,
            "steps": self.steps,
            "evaluations": self.nodes,
            "move_step": self.move_step,
            "drafts": [asdict(draft) for draft in self.drafts],
            "film": [asdict(frame) for frame in self.film],
        }


def ply_of(
    here: chess.Board | None, uci: str | None, following: chess.Board | None, problem: str | None, squares: str | None
) -> Ply:
    """A move in an imagined state and the imagined state after it, compared with what the rules make of the move.

    Without a valid state before it (None) no move is legal.
    """
    result = result_of(here, uci)
    state = None if following is None else following.fen()
    wrong = () if result is None or squares is None else _differences(squares, letters(result))
    return Ply(uci, result is not None, state, problem, result is not None and result == following, squares, wrong)


def predicted_ply(
    before: chess.Board | None, move: chess.Move, predicted: PredictedState | None, value: float | None
) -> Ply:
    """A move with the state that the network predicts after it, if one was predicted.

    `value` is that of the position before the move (None: it was not evaluated).
    """
    if predicted is None:
        ply = ply_of(before, move.uci(), None, None, None)
    else:
        state = predicted.board
        squares = predicted.squares if state is None else letters(state)
        ply = ply_of(before, move.uci(), state, predicted.problem, squares)
    return replace(ply, value=value)


def result_of(here: chess.Board | None, uci: str | None) -> chess.Board | None:
    """What a move truly gives, if it is legal."""
    move = None if uci is None else chess.Move.from_uci(uci)
    if here is None or move is None or not here.is_legal(move):
        return None
    result = here.copy(stack=False)
    result.push(move)
    return result


def letters(board: chess.Board) -> str:
    """A board as 64 characters from a8 (FEN letters, '.' empty)."""
    out = ["."] * 64
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    for color, names in ((chess.WHITE, "PNBRQK"), (chess.BLACK, "pnbrqk")):
        for mask, letter in zip(kinds, names, strict=True):
            for square in chess.scan_forward(mask & board.occupied_co[color]):
                out[square ^ 56] = letter
    return "".join(out)


def _differences(one: str, other: str) -> tuple[int, ...]:
    """Squares (a1 = 0) where two boards of 64 characters from a8 differ."""
    return () if one == other else tuple(square for square in chess.SQUARES if one[square ^ 56] != other[square ^ 56])
