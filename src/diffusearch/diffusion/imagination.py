"""What comes out of denoising: the move, the future that was imagined with it, and the film of how it came.

Everything here is in plain chess words (UCI, FEN), in the true colours of the game, ready for JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


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
    value: float | None = None  # win probability of the side that plays the move (in the order turns)


@dataclass(frozen=True)
class Frame:
    """The record in the middle of denoising: what is fixed so far."""

    step: int  # 0 = everything masked
    moves: tuple[str | None, ...]  # UCI for each ply, None while masked ("0000" = game over)
    squares: tuple[str, ...]  # for each imagined state 64 characters from a8, '?' while masked


@dataclass(frozen=True)
class Imagination:
    """A decision with its imagined future."""

    root: str  # FEN
    move: str  # UCI, the move to play; legal whenever the legality mask is on
    probabilities: dict[str, float]  # UCI -> share over the legal moves, sums to 1
    line: tuple[Ply, ...]  # the first ply's move is `move`
    film: tuple[Frame, ...] = field(default=(), repr=False)
    log_probability: float = 0.0  # joint log-likelihood of all variables when they were fixed
    value: float | None = None  # win probability of the side to move in [0, 1], where the model knows values
    legal_mass: float | None = None  # share of the unmasked move distribution that lies on legal moves
    raw_legal: bool | None = None  # whether the move would have been legal without the legality mask
    steps: int = 0  # network calls spent
    evaluations: int | None = None  # of one position each, in these calls; None = one a call

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
            "film": [asdict(frame) for frame in self.film],
        }
