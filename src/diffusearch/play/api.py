"""The page's JSON API: positions, decisions, reviews, pasted games and puzzles. Nothing is kept between two requests.

No route works on the event loop: reading what a client sent goes through one work queue, thinking through another, so
that a position is answered while agents think. A client that disconnects gives up its place in either.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, TypeVar

import chess
from fastapi import APIRouter, Depends, Path, Request
from starlette.exceptions import HTTPException
from starlette.routing import Match

from diffusearch.errors import UserError
from diffusearch.play.opponents import Opponents
from diffusearch.play.pasted_games import board_of, describe, pasted, pgn_of, result_of, side
from diffusearch.play.puzzles import PagePuzzle, puzzles
from diffusearch.play.review import positions_of, review_of
from diffusearch.play.schemas import (
    AgentCard,
    AgentChoice,
    GameRequest,
    Paste,
    PastedGame,
    PgnRequest,
    PgnText,
    PositionInfo,
    PuzzleAttempt,
    PuzzleCard,
    PuzzleSolution,
    PuzzleTry,
    PuzzleVerdict,
    Refusal,
    Review,
    ReviewRequest,
    ThinkRequest,
    Thought,
)
from diffusearch.play.thoughts import refuse_illegal, thought_of
from diffusearch.play.work_queue import WorkQueue, while_connected

T = TypeVar("T")

# What every route may answer besides success. 422 (wrong shape) is here so that it, too, is one sentence.
_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "a position, move or option that cannot be"},
    403: {"model": Refusal, "description": "a request from a page of another site"},
    404: {"model": Refusal, "description": "no such agent or puzzle"},
    408: {"model": Refusal, "description": "the request took too long to arrive"},
    409: {"model": Refusal, "description": "the game is over"},
    413: {"model": Refusal, "description": "the request is too long"},
    422: {"model": Refusal, "description": "a field is missing, unknown or of the wrong shape"},
    503: {"model": Refusal, "description": "busy"},
}
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_BATCH = 8  # positions of a review that are one piece of work: others get their turn in between

router = APIRouter(prefix="/api", responses=_REFUSALS)


class NoSuchPuzzle(UserError):
    """The page asked for a puzzle that does not exist."""


class GameOver(UserError):
    """There is nothing left to think about."""


@dataclass
class Service:
    """What the routes work with."""

    opponents: Opponents
    thinking: WorkQueue = field(default_factory=WorkQueue)
    reading: WorkQueue = field(default_factory=lambda: WorkQueue(threads=1))

    def close(self) -> None:
        self.thinking.close()
        self.reading.close()
        self.opponents.close()


class Connection:
    """One request: the service, and whether the client is still there."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.service: Service = request.app.state.service

    async def _gone(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass

    async def answer(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, cancelled when the client disconnects."""
        return await while_connected(self._gone, work)

    async def read(self, work: Callable[[], T]) -> T:
        """A piece of reading and checking in the reading queue."""
        return await self.answer(self.service.reading.run(work))


Asked = Annotated[Connection, Depends(Connection)]
PuzzleId = Annotated[int, Path(ge=0, le=100_000)]


@router.get("/agents", operation_id="agents")
async def agents(connection: Asked) -> list[AgentCard]:
    """Who can be played and at which strengths. Answers at once, also while networks are being loaded."""
    return connection.service.opponents.cards()


@router.post("/position", operation_id="position")
async def position(game: GameRequest, connection: Asked) -> PositionInfo:
    """Legal moves, notation, check and result of a game."""
    return await connection.read(lambda: describe(game))


@router.post("/think", operation_id="think")
async def think(asked: ThinkRequest, connection: Asked) -> Thought:
    """What an agent plays here, and why; with a draw offer, also its answer."""
    service = connection.service
    service.opponents.find(asked.agent).level(asked.level)  # refuse at once, before a place is taken
    board = await connection.read(lambda: _open_game(asked))

    def work() -> Thought:
        decision = service.opponents.decide(asked.agent, board, asked.level)
        return thought_of(asked.agent, board, decision, asked.draw_offered)

    return await connection.answer(service.thinking.run(work))


def _open_game(game: GameRequest) -> chess.Board:
    board = board_of(game)
    result = result_of(board)
    if result is not None:
        raise GameOver(f"The game is over ({result.reason}); take a move back or start a new one.")
    return board


@router.post("/review", operation_id="review")
async def review(asked: ReviewRequest, connection: Asked) -> Review:
    """Values over the moves of a game, what each cost its side, and what the agent would have played."""
    connection.service.opponents.find(asked.agent).level(asked.level)
    boards = await connection.read(lambda: positions_of(asked, board_of(asked)))
    return await connection.answer(_reviewed(asked, boards, connection.service))


async def _reviewed(asked: ReviewRequest, boards: list[chess.Board], service: Service) -> Review:
    opponents, thinking = service.opponents, service.thinking
    going_on = boards if result_of(boards[-1]) is None else boards[:-1]
    decisions = []
    async with thinking.place():
        for start in range(0, len(going_on), _BATCH):
            batch = going_on[start : start + _BATCH]
            decisions += await thinking.piece(
                lambda batch=batch: opponents.decide_many(asked.agent, batch, asked.level)  # type: ignore[misc]
            )
        ends = [None] * (len(boards) - len(going_on))
        return await thinking.piece(lambda: review_of(asked.agent, asked.first, boards, [*decisions, *ends]))


@router.post("/paste", operation_id="paste")
async def paste(asked: Paste, connection: Asked) -> PastedGame:
    """A pasted FEN or PGN as a game."""
    return await connection.read(lambda: pasted(asked.text))


@router.post("/pgn", operation_id="pgn")
async def pgn(asked: PgnRequest, connection: Asked) -> PgnText:
    """The game as PGN, for download."""
    return await connection.read(lambda: PgnText(pgn=pgn_of(asked, date.today())))


@router.get("/puzzles", operation_id="puzzles")
async def puzzle_list() -> list[PuzzleCard]:
    """All puzzles, easiest first, without their solutions."""
    return [_card(number, puzzle) for number, puzzle in enumerate(puzzles())]


@router.post("/puzzles/{number}/try", operation_id="try_puzzle")
async def try_puzzle(number: PuzzleId, tried: PuzzleTry, connection: Asked) -> PuzzleVerdict:
    """Whether the last move is right, and the opponent's answer."""
    puzzle = _puzzle(number)
    return await connection.read(lambda: _verdict(puzzle, tried.moves))


def _verdict(puzzle: PagePuzzle, moves: list[str]) -> PuzzleVerdict:
    right = puzzle.right(moves)
    reply = puzzle.solution[len(moves)] if right and len(moves) < len(puzzle.solution) else None
    if right and moves[-1] != puzzle.solution[len(moves) - 1]:
        reply = None  # another mate: nothing left to answer
    over = reply is None
    return PuzzleVerdict(right=right, solved=right and over, reply=reply, solution=puzzle.san() if over else None)


@router.get("/puzzles/{number}/solution", operation_id="puzzle_solution")
async def puzzle_solution(number: PuzzleId) -> PuzzleSolution:
    """The solution, for those who give up."""
    return PuzzleSolution(solution=_puzzle(number).san())


@router.post("/puzzles/{number}/agent", operation_id="agent_puzzle")
async def agent_puzzle(number: PuzzleId, asked: AgentChoice, connection: Asked) -> PuzzleAttempt:
    """An agent's attempt at the same puzzle, up to its first mistake."""
    puzzle, service = _puzzle(number), connection.service
    service.opponents.find(asked.agent).level(asked.level)
    return await connection.answer(service.thinking.run(lambda: _attempt(puzzle, service.opponents, asked)))


def _attempt(puzzle: PagePuzzle, opponents: Opponents, asked: AgentChoice) -> PuzzleAttempt:
    board = chess.Board(puzzle.fen)
    thought: Thought | None = None
    played: list[str] = []
    moves: list[str] = []
    found = 0
    while True:
        decision = opponents.decide(asked.agent, board, asked.level)
        refuse_illegal(asked.agent, board, decision)
        thought = thought or thought_of(asked.agent, board, decision)
        played.append(board.san(decision.move))
        moves.append(decision.move.uci())
        if not puzzle.right(moves):
            return PuzzleAttempt(solved=False, found=found, moves=played, thought=thought)
        found += 1
        board.push(decision.move)
        if board.is_checkmate() or len(moves) == len(puzzle.solution):
            return PuzzleAttempt(solved=True, found=found, moves=played, thought=thought)
        moves.append(puzzle.solution[len(moves)])
        board.push_uci(moves[-1])


def _puzzle(number: int) -> PagePuzzle:
    if number >= len(puzzles()):
        raise NoSuchPuzzle(f"There is no puzzle {number}; there are {len(puzzles())}, counted from 0.")
    return puzzles()[number]


def _card(number: int, puzzle: PagePuzzle) -> PuzzleCard:
    turn = side(chess.Board(puzzle.fen).turn)
    return PuzzleCard(id=number, fen=puzzle.fen, turn=turn, rating=puzzle.rating, length=puzzle.length)


@router.api_route("/{rest:path}", methods=list(_METHODS), include_in_schema=False)
async def otherwise(rest: str, request: Request) -> None:
    """Whatever no route above takes: 405 with the methods that the path does take, else 404."""
    routes = [route for route in router.routes if getattr(route, "include_in_schema", False)]
    allowed = [
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] == Match.FULL for route in routes)
    ]
    if allowed:
        raise HTTPException(405, f"{request.method} is not allowed here", {"allow": ", ".join(allowed)})
    raise HTTPException(404, "There is no such address")
