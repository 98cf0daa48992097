"""An engine's score as text: "34" are centipawns, "#3" is a mate in 3 moves, "#-2" being mated in 2.

Always from the view of the side to move in the position that is scored.
"""

from __future__ import annotations

from typing import NamedTuple

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
        """A number that is the higher the better the score is for the side to move; quick mates lead."""
        if self.mate is not None:
            return 10**6 - self.mate if self.mate > 0 else -(10**6) - self.mate
        assert self.cp is not None
        return self.cp

    def after_best_move(self) -> Score:
        """The same judgement one ply down the principal variation, from the other side's view.

        A winner's move shortens his mate by one (#3 becomes #-2); a loser's move leaves it as long (#-2 becomes #2).
        """
        if self.mate is not None:
            return Score(mate=-(self.mate - 1) if self.mate > 0 else -self.mate)
        assert self.cp is not None
        return Score(cp=-self.cp)


def parse_values(text: str) -> list[Score]:
    """The column `values`: the score of each state of the line."""
    return [Score.parse(word) for word in text.split()]


def parse_actions(text: str) -> dict[str, Score]:
    """The column `actions`: UCI move -> score after it, from the mover's view; best first."""
    pairs = (word.split(":") for word in text.split())
    return {move: Score.parse(score) for move, score in pairs}
