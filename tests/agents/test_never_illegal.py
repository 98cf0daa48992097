"""No agent ever plays an illegal move: whole games from random openings against random movers.

A few games each by default. The long run: DIFFUSEARCH_GAMES=1000 pytest --timeout 0 tests/agents/test_never_illegal.py,
and with trained weights DIFFUSEARCH_AGENTS="diffusearch s-a mcts?simulations=20" beside it.
"""

from __future__ import annotations

import os
import random

import chess
import pytest

from diffusearch.agents.base import Agent
from diffusearch.agents.build import agent as build

GAMES = int(os.environ.get("DIFFUSEARCH_GAMES", "2"))
TEXTS = os.environ.get("DIFFUSEARCH_AGENTS", "").split()
LONGEST = 100 if GAMES < 100 else 400  # plies; games against a random mover can go on for long


def opening(chance: random.Random) -> chess.Board:
    board = chess.Board()
    for _ in range(chance.randrange(2, 13)):
        moves = list(board.legal_moves)
        if not moves:
            return opening(chance)
        board.push(chance.choice(moves))
    return board if any(board.legal_moves) else opening(chance)


def play_games(agent: Agent, games: int, seed: int) -> int:
    """Play them side by side, so that batches are used; gives the number of moves the agent made."""
    chance = random.Random(seed)
    boards = [opening(chance) for _ in range(games)]
    colours = [number % 2 == 0 for number in range(games)]
    made = 0
    for _ in range(LONGEST):
        going = [index for index, board in enumerate(boards) if not board.is_game_over(claim_draw=False)]
        mine = [index for index in going if boards[index].turn == colours[index]]
        decisions = dict(zip(mine, agent.play_many([boards[index] for index in mine]), strict=True))
        if mine and made % 7 == 0:  # one of them also alone: the other way through the code
            agent.new_game()
            assert agent.play(boards[mine[0]]).move in boards[mine[0]].legal_moves
        for index in going:
            board = boards[index]
            move = decisions[index].move if index in decisions else chance.choice(list(board.legal_moves))
            assert board.is_legal(move), (agent.name, board.fen(), move)
            board.push(move)
        made += len(mine)
    return made


def test_mock_agents(mock_agent: Agent) -> None:
    assert play_games(mock_agent, GAMES, seed=1) > GAMES


@pytest.mark.parametrize("text", TEXTS or ["random?seed=7"])
def test_agents_by_text(text: str) -> None:
    with build(text) as agent:
        assert play_games(agent, GAMES, seed=2) > GAMES
