"""The page's JSON API: positions, thoughts, pastes and puzzles. Nothing is kept between two requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import chess
from fastapi import APIRouter, Depends, Path, Request

from diffusearch.errors import UserError
from diffusearch.play.desk import Desk
from diffusearch.play.positions import board_of, describe, pasted, pgn_of, result_of, side
from diffusearch.play.puzzles import Puzzle, puzzles
from diffusearch.play.roster import Roster
from diffusearch.play.schemas import (
    AgentCard,
    Game,
    Paste,
    PastedGame,
    PgnRequest,
    PgnText,
    Position,
    PuzzleAgentRequest,
    PuzzleAttempt,
    PuzzleCard,
    PuzzleSolution,
    PuzzleTry,
    PuzzleVerdict,
    Refusal,
    ThinkRequest,
    Thought,
)
from diffusearch.play.thoughts import thought_of

# What every route may answer besides success. 422 (wrong shape) is here so that it, too, is one sentence.
_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "a position, move or option that cannot be"},
    404: {"model": Refusal, "description": "no such agent or puzzle"},
    409: {"model": Refusal, "description": "the game is over"},
    413: {"model": Refusal, "description": "the request is too long"},
    422: {"model": Refusal, "description": "a field is missing, unknown or of the wrong shape"},
    503: {"model": Refusal, "description": "busy"},
}

router = APIRouter(prefix="/api", responses=_REFUSALS)


class NoSuchPuzzle(UserError):
    """The page asked for a puzzle that does not exist."""


class GameOver(UserError):
    """There is nothing left to think about."""


def _roster(request: Request) -> Roster:
    roster: Roster = request.app.state.roster
    return roster


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


TheRoster = Annotated[Roster, Depends(_roster)]
TheDesk = Annotated[Desk, Depends(_desk)]
PuzzleId = Annotated[int, Path(ge=0, le=100_000)]


@router.get("/agents", operation_id="agents")
def agents(roster: TheRoster) -> list[AgentCard]:
    """Who can be played, and how their strength is set."""
    return roster.cards()


@router.post("/position", operation_id="position")
def position(game: Game) -> Position:
    """Legal moves, notation, check and result of a game."""
    return describe(game)


@router.post("/think", operation_id="think")
async def think(asked: ThinkRequest, roster: TheRoster, desk: TheDesk) -> Thought:
    """What an agent would play here, and what it foresees."""
    board = board_of(asked)
    result = result_of(board)
    if result is not None:
        raise GameOver(f"The game is over ({result.reason}); take a move back or start a new one.")
    return await desk.think(_thinking(roster, asked.agent, asked.level, board))


def _thinking(roster: Roster, agent: str, level: int | None, board: chess.Board) -> Callable[[], Thought]:
    roster.offer(agent).level(level)  # refuse at once, before a place is taken
    return lambda: thought_of(agent, board, roster.decide(agent, board, level))


@router.post("/paste", operation_id="paste")
def paste(asked: Paste) -> PastedGame:
    """A pasted FEN or PGN as a game."""
    return pasted(asked.text)


@router.post("/pgn", operation_id="pgn")
def pgn(asked: PgnRequest) -> PgnText:
    """The game as PGN, for download."""
    return PgnText(pgn=pgn_of(asked, date.today()))


@router.get("/puzzles", operation_id="puzzles")
def puzzle_list() -> list[PuzzleCard]:
    """All puzzles, easiest first, without their solutions."""
    return [_card(number, puzzle) for number, puzzle in enumerate(puzzles())]


@router.post("/puzzles/{number}/try", operation_id="try_puzzle")
def try_puzzle(number: PuzzleId, tried: PuzzleTry) -> PuzzleVerdict:
    """Whether the last move is right, and the opponent's answer."""
    puzzle = _puzzle(number)
    right = puzzle.right(tried.moves)
    reply = puzzle.solution[len(tried.moves)] if right and len(tried.moves) < len(puzzle.solution) else None
    if right and tried.moves[-1] != puzzle.solution[len(tried.moves) - 1]:
        reply = None  # another mate: nothing left to answer
    over = reply is None
    return PuzzleVerdict(right=right, solved=right and over, reply=reply, solution=puzzle.san() if over else None)


@router.get("/puzzles/{number}/solution", operation_id="puzzle_solution")
def puzzle_solution(number: PuzzleId) -> PuzzleSolution:
    """For those who give up."""
    return PuzzleSolution(solution=_puzzle(number).san())


@router.post("/puzzles/{number}/agent", operation_id="agent_puzzle")
async def agent_puzzle(number: PuzzleId, asked: PuzzleAgentRequest, roster: TheRoster, desk: TheDesk) -> PuzzleAttempt:
    """An agent's attempt at the same puzzle, up to its first mistake."""
    puzzle = _puzzle(number)
    roster.offer(asked.agent).level(asked.level)
    return await desk.think(lambda: _attempt(puzzle, roster, asked))


def _attempt(puzzle: Puzzle, roster: Roster, asked: PuzzleAgentRequest) -> PuzzleAttempt:
    board = chess.Board(puzzle.fen)
    thought: Thought | None = None
    played: list[str] = []
    moves: list[str] = []
    found = 0
    while True:
        decision = roster.decide(asked.agent, board, asked.level)
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


def _puzzle(number: int) -> Puzzle:
    if number >= len(puzzles()):
        raise NoSuchPuzzle(f"There is no puzzle {number}; there are {len(puzzles())}, counted from 0.")
    return puzzles()[number]


def _card(number: int, puzzle: Puzzle) -> PuzzleCard:
    turn = side(chess.Board(puzzle.fen).turn)
    return PuzzleCard(id=number, fen=puzzle.fen, turn=turn, rating=puzzle.rating, length=puzzle.length)
