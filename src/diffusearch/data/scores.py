"""Engine scores as text: "34" is centipawns, "#3" a mate in 3 moves, "#-2" being mated in 2.

A score is always from the view of the side to move in the position that is scored.
"""

from __future__ import annotations

from typing import NamedTuple

from diffusearch.errors import UserError
from diffusearch.tokens.values import win_probability


class Score(NamedTuple):
    """Exactly one of the two is given."""

    cp: int | None = None
    mate: int | None = None

    def __str__(self) -> str:
        return f"#{self.mate}" if self.mate is not None else str(self.cp)

    @classmethod
    def parse(cls, text: str) -> Score:
        return cls(mate=int(text[1:])) if text.startswith("#") else cls(cp=int(text))

    def win(self) -> float:
        """Win probability of the side to move."""
        return win_probability(self.cp, self.mate)

    def order(self) -> int:
        """A number that grows with the score for the side to move; a quicker mate counts as more."""
        if self.mate is not None:
            return 10**6 - self.mate if self.mate > 0 else -(10**6) - self.mate
        assert self.cp is not None
        return self.cp

    def after_best_move(self) -> Score:
        """The score one ply later in the principal variation, from the other side's view.

        A move of the winning side shortens the mate by one (#3 becomes #-2); a move of the losing side does not
        (#-2 becomes #2).
        """
        if self.mate is not None:
            return Score(mate=-(self.mate - 1) if self.mate > 0 else -self.mate)
        assert self.cp is not None
        return Score(cp=-self.cp)


def parse_values(text: str) -> list[Score]:
    """The column `values`: the score of each state of the line."""
    return [_score(word, text) for word in text.split()]


def parse_actions(text: str) -> dict[str, Score]:
    """The column `actions`: UCI move -> score after it, from the mover's view; the oracle's action first."""
    pairs = (word.partition(":") for word in text.split())
    return {move: _score(score, text) for move, _, score in pairs}


def action_wins(text: str | None, most: int) -> list[tuple[str, float]]:
    """The first `most` moves of the column `actions` with the mover's win probability after each."""
    return [(move, score.win()) for move, score in parse_actions(" ".join((text or "").split()[:most])).items()]


def _score(word: str, text: str) -> Score:
    try:
        return Score.parse(word)
    except ValueError:
        words = "write centipawns, #N or #-N, as in `e2e4:34 g1f3:#3`"
        raise UserError(f"{text[:60]!r} has {word[:20]!r} where a score belongs; {words}") from None
