"""The words of the page's API: every request and every answer as a typed model.

Shapes and sizes are checked here; whether a FEN is a position and a move is legal is checked in `positions`.
Squares are names ("e4"), moves are UCI, probabilities lie in [0, 1], values are win probabilities of the mover.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_MOVES = 1000  # half-moves of one game; the longest master games have fewer than 600
MAX_PASTE = 100_000  # characters of a pasted FEN or PGN

Uci = Annotated[str, StringConstraints(pattern=r"^[a-h][1-8][a-h][1-8][nbrq]?$")]
Square = Annotated[str, StringConstraints(pattern=r"^[a-h][1-8]$")]
Fen = Annotated[str, StringConstraints(min_length=1, max_length=120)]
PlayerName = Annotated[str, StringConstraints(min_length=1, max_length=1000)]  # an agent's text may be long
Side = Literal["white", "black"]
Score = Literal["1-0", "0-1", "1/2-1/2"]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class Message(BaseModel):
    """Base of all models: unknown fields are refused, so that a typo is an error and not silence."""

    model_config = ConfigDict(extra="forbid")


class Game(Message):
    """A game as the page keeps it: where it began and every move since."""

    fen: Fen | None = Field(default=None, description="start position; null is the usual one")
    moves: list[Uci] = Field(default_factory=list, max_length=MAX_MOVES)


class LegalMove(Message):
    uci: Uci
    source: Square
    target: Square
    promotion: Literal["n", "b", "r", "q"] | None
    san: str


class PlayedMove(Message):
    uci: Uci
    san: str
    fen: str = Field(description="the position after the move")
    check: Square | None = Field(description="the king that the move put in check")


class Result(Message):
    score: Score
    reason: str


class Position(Message):
    """Everything the page may know about the rules: it asks after each move."""

    start: str
    fen: str
    turn: Side
    check: Square | None
    legal: list[LegalMove]
    history: list[PlayedMove]
    result: Result | None


class AgentCard(Message):
    id: str
    name: str
    about: str
    levels: list[str] = Field(description="labels of its strengths, weakest first")
    default: int = Field(description="index into the levels")
    problem: str | None = Field(description="why it cannot play here, or null")


class ThinkRequest(Game):
    agent: str = Field(min_length=1, max_length=300, description="an id from the list of agents")
    level: int | None = Field(default=None, ge=0, le=99, description="index into the agent's levels")


class Candidate(Message):
    uci: Uci
    san: str
    probability: Probability


class LinePly(Message):
    """One ply of the line, imagined or calculated: the move and the board that is believed to follow."""

    uci: Uci | None = Field(description="null where the agent says that the game is over")
    san: str | None
    legal: bool
    squares: str | None = Field(description="64 characters from a8, '.' empty; null if no board was imagined")
    wrong: list[Square] = Field(description="squares that differ from what the move really gives")
    problem: str | None


class FilmFrame(Message):
    step: int = Field(description="0 = everything masked")
    moves: list[str | None] = Field(description="UCI for each ply, null while masked, 0000 = game over")
    squares: list[str] = Field(description="64 characters from a8 for each imagined board, '?' while masked")


class Thought(Message):
    """What an agent decided in a position, and what it foresaw."""

    agent: str
    root: str
    turn: Side
    move: Uci
    san: str
    candidates: list[Candidate]
    line: list[LinePly]
    film: list[FilmFrame]
    value: Probability | None
    legal_mass: Probability | None
    nodes: int
    seconds: float
    imagined: bool


class Paste(Message):
    text: str = Field(min_length=1, max_length=MAX_PASTE, description="a FEN or a PGN")


class PastedGame(Message):
    fen: str
    moves: list[Uci]
    white: str | None
    black: str | None


class PgnRequest(Game):
    white: PlayerName
    black: PlayerName
    resigned: Side | None = None


class PgnText(Message):
    pgn: str


class PuzzleCard(Message):
    id: int
    fen: str
    turn: Side
    rating: int = Field(description="estimated from the effort that Stockfish needs")
    length: int = Field(description="how many moves the solver has to find")


class PuzzleTry(Message):
    moves: list[Uci] = Field(min_length=1, max_length=40, description="all moves since the puzzle began, both sides")


class PuzzleVerdict(Message):
    right: bool
    solved: bool
    reply: Uci | None = Field(description="the opponent's answer, where the puzzle goes on")
    solution: list[str] | None = Field(description="the whole solution in SAN, once it is over")


class PuzzleSolution(Message):
    solution: list[str] = Field(description="both sides' moves in SAN")


class PuzzleAgentRequest(Message):
    agent: str = Field(min_length=1, max_length=300, description="an id from the list of agents")
    level: int | None = Field(default=None, ge=0, le=99)


class PuzzleAttempt(Message):
    solved: bool
    found: int
    moves: list[str] = Field(description="what the agent played, in SAN, up to its first mistake")
    thought: Thought


class Refusal(Message):
    """Every answer that is not a success: one sentence that says what was wrong and what to do."""

    detail: str
