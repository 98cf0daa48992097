"""The page's API: every request and every answer as a typed model.

Shapes and sizes are checked here; whether a FEN is a position and a move is legal is checked in `pasted_games`.
Squares are names ("e4"), moves are UCI, probabilities lie in [0, 1], values are win probabilities of the mover.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_MOVES = 1000  # half-moves of one game; the longest master games have fewer than 600
MAX_PASTE = 100_000  # characters of a pasted FEN or PGN
MAX_REVIEW = 400  # half-moves of one review

Uci = Annotated[str, StringConstraints(pattern=r"^[a-h][1-8][a-h][1-8][nbrq]?$")]
Square = Annotated[str, StringConstraints(pattern=r"^[a-h][1-8]$")]
Fen = Annotated[str, StringConstraints(min_length=1, max_length=120)]
PlayerName = Annotated[str, StringConstraints(min_length=1, max_length=1000)]  # an agent's text may be long
Side = Literal["white", "black"]
Score = Literal["1-0", "0-1", "1/2-1/2"]
Probability = Annotated[float, Field(ge=0.0, le=1.0)]


class ApiModel(BaseModel):
    """Base of all models: unknown fields are refused, so that a typo is an error and not silence."""

    model_config = ConfigDict(extra="forbid")


class GameRequest(ApiModel):
    """A game as the page keeps it: where it began and every move since."""

    fen: Fen | None = Field(default=None, description="start position; null is the usual one")
    moves: list[Uci] = Field(default_factory=list, max_length=MAX_MOVES)


class LegalMove(ApiModel):
    uci: Uci
    source: Square
    target: Square
    promotion: Literal["n", "b", "r", "q"] | None
    san: str


class PlayedMove(ApiModel):
    uci: Uci
    san: str
    fen: str = Field(description="the position after the move")
    check: Square | None = Field(description="the king that the move put in check")


class GameResult(ApiModel):
    score: Score
    reason: str


class PositionInfo(ApiModel):
    """All that the rules say about a position; the page knows no rules and asks after each move."""

    start: str
    fen: str
    turn: Side
    check: Square | None
    legal: list[LegalMove]
    history: list[PlayedMove]
    result: GameResult | None


class Rating(ApiModel):
    """A measured rating with its 95 % interval."""

    elo: int
    low: int
    high: int


class LevelCard(ApiModel):
    label: str
    rating: Rating | None = Field(description="null until it is measured")


class AgentCard(ApiModel):
    id: str
    name: str
    about: str
    levels: list[LevelCard] = Field(description="its strengths, weakest first")
    default: int = Field(description="index into the levels")
    state: Literal["loading", "ready", "problem"] = Field(description="requests that come while it loads are queued")
    problem: str | None = Field(description="why it cannot play here, or null")


class AgentChoice(ApiModel):
    agent: str = Field(min_length=1, max_length=1000, description="an id from the list of agents")
    level: int | None = Field(default=None, ge=0, le=99, description="index into the agent's levels")


class ThinkRequest(GameRequest, AgentChoice):
    draw_offered: bool = Field(default=False, description="whether the player offers a draw with the last move")


class CandidateMove(ApiModel):
    uci: Uci
    san: str
    probability: Probability


class NamedMove(ApiModel):
    uci: Uci
    san: str


class LinePly(ApiModel):
    """One ply of the line: the move, and the board after it as predicted by the network or made by the rules."""

    uci: Uci
    san: str | None = Field(description="null where the move is not legal in the predicted position")
    legal: bool
    squares: str | None = Field(description="64 characters from a8, '.' empty; null if no board was predicted")
    wrong: list[Square] = Field(description="squares that differ from what the move really gives")
    problem: str | None


class FilmFrame(ApiModel):
    """The record after one denoising step, as it was recorded while the agent decided."""

    step: int = Field(description="0 = everything masked")
    moves: list[str | None] = Field(description="UCI for each ply, null while masked, 0000 = game over")
    squares: list[str] = Field(description="64 characters from a8 for each predicted board, '?' while masked")
    confidence: list[list[Probability]] = Field(
        description="for each predicted board the probability of each square's likeliest token, from a8; or empty"
    )
    candidates: list[CandidateMove] = Field(description="the move's distribution at this step, likeliest first")


class RootCandidate(ApiModel):
    """A root move that was looked into; values are win probabilities of the side to move at the root."""

    uci: Uci
    san: str
    prior: Probability = Field(description="the network's probability of the move before it looked ahead")
    value: Probability | None = Field(description="after the move, by one evaluation")
    score: Probability | None = Field(description="after the move, as the search or the drafts made it")
    probability: Probability | None = Field(description="of the move after the drafts were read; null for a search")
    line: list[NamedMove] = Field(description="the line behind the score, the move first")


class LookAheadView(ApiModel):
    by: Literal["search", "drafts"] = Field(description="a tree that was searched, or drafts that the network read")
    candidates: list[RootCandidate] = Field(description="best first")


class Thought(ApiModel):
    """What an agent decided in a position, and why."""

    agent: str
    root: str
    turn: Side
    move: Uci
    san: str
    candidates: list[CandidateMove]
    line: list[LinePly]
    film: list[FilmFrame] = Field(description="empty unless denoising steps were recorded")
    look_ahead: LookAheadView | None = Field(description="null unless a tree was searched or drafts were read")
    value: Probability | None = Field(description="win probability of the side to move")
    legal_mass: Probability | None
    steps: int | None = Field(description="network calls, or null where the agent does not count them")
    evaluations: int = Field(description="positions that the network evaluated, or the nodes of an engine")
    seconds: float
    imagined: bool = Field(description="whether the boards of the line are predicted by the network")
    draw_accepted: bool | None = Field(default=None, description="the answer to a draw offer; null without one")


class ReviewRequest(GameRequest, AgentChoice):
    """A whole game, or `count` half-moves of it from `first` on."""

    first: int = Field(default=0, ge=0, lt=MAX_MOVES)
    count: int | None = Field(default=None, ge=1, le=MAX_REVIEW, description="null: the rest of the game")


class ReviewedMove(ApiModel):
    ply: int = Field(description="counted from 0")
    side: Side
    uci: Uci
    san: str
    fen: str = Field(description="the position after the move")
    white_value: Probability = Field(description="White's win probability after the move")
    loss: Probability = Field(description="what the move cost its side, in win probability")
    best: NamedMove = Field(description="what the agent would have played")
    line: list[NamedMove] = Field(description="the agent's line, its best move first")


class Review(ApiModel):
    agent: str
    start_value: Probability = Field(description="White's win probability before the first of these moves")
    moves: list[ReviewedMove]


class Paste(ApiModel):
    text: str = Field(min_length=1, max_length=MAX_PASTE, description="a FEN or a PGN")


class PastedGame(ApiModel):
    fen: str
    moves: list[Uci]
    white: str | None
    black: str | None


class PgnRequest(GameRequest):
    white: PlayerName
    black: PlayerName
    resigned: Side | None = None
    flagged: Side | None = Field(default=None, description="whose time ran out")
    draw_agreed: bool = False


class PgnText(ApiModel):
    pgn: str


class PuzzleCard(ApiModel):
    id: int
    fen: str
    turn: Side
    rating: int = Field(description="estimated from the effort that Stockfish needs")
    length: int = Field(description="how many moves the solver has to find")


class PuzzleTry(ApiModel):
    moves: list[Uci] = Field(min_length=1, max_length=40, description="all moves since the puzzle began, both sides")


class PuzzleVerdict(ApiModel):
    right: bool
    solved: bool
    reply: Uci | None = Field(description="the opponent's answer, where the puzzle goes on")
    solution: list[str] | None = Field(description="the whole solution in SAN, once it is over")


class PuzzleSolution(ApiModel):
    solution: list[str] = Field(description="both sides' moves in SAN")


class PuzzleAttempt(ApiModel):
    solved: bool
    found: int
    moves: list[str] = Field(description="what the agent played, in SAN, up to its first mistake")
    thought: Thought


class Refusal(ApiModel):
    """Every answer that is not a success: one sentence that says what was wrong and what to do."""

    detail: str
