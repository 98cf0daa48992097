"""Every explicit search as a player: a planner over an evaluator and dynamics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import chess

from diffusearch.agents.base import Agent, Candidate, Decision, Limits, LookAhead
from diffusearch.agents.chance import choose
from diffusearch.agents.drawing_moves import root_moves
from diffusearch.agents.imagining import playable
from diffusearch.agents.strength import Strength
from diffusearch.inference.evaluation import Allowed
from diffusearch.inference.imagination import Imagination
from diffusearch.search.evaluator import Evaluator
from diffusearch.search.planner import Budget, Plan, Planner

REPORTED = 8  # root moves whose variations a decision reports


class SearchAgent(Agent):
    """Plays the best move of a plan, or samples from its policy at a temperature."""

    def __init__(
        self,
        planner: Planner,
        name: str = "search",
        temperature: float = 0.0,
        strength: int = 100,
        seed: int = 0,
        provenance: dict[str, Any] | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        """`provenance` says what the networks are; `evaluator` says at the root whether a draw is to be avoided."""
        self.name, self.planner, self.seed = name, planner, seed
        self.evaluator = evaluator
        self.temperature = Strength(strength).temperature(temperature)
        self._provenance = provenance or {}

    @property
    def provenance(self) -> dict[str, Any]:
        return self._provenance

    @property
    def horizon(self) -> int:
        return self.planner.horizon

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        """The next move of a game: the planner may go on from its last tree."""
        start = time.perf_counter()
        plan = self.planner.plan_in_game(board, self._allowed([board], limits), _budget(limits))
        return self._decision(board, plan, self._choose(board, plan), limits, time.perf_counter() - start)

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        start = time.perf_counter()
        plans = self.planner.plan(boards, self._allowed(boards, limits), _budget(limits))
        return self._decisions(boards, plans, limits, start)

    def play_in_games(
        self, boards: Sequence[chess.Board], games: Sequence[int], limits: Limits = Limits()
    ) -> list[Decision]:
        start = time.perf_counter()
        plans = self.planner.plan_in_games(boards, games, self._allowed(boards, limits), _budget(limits))
        return self._decisions(boards, plans, limits, start)

    def _decisions(
        self, boards: Sequence[chess.Board], plans: Sequence[Plan], limits: Limits, start: float
    ) -> list[Decision]:
        """The decisions of a batch that was begun at `start`; each counts its share of the time."""
        seconds = (time.perf_counter() - start) / max(1, len(boards))
        return [
            self._decision(board, plan, self._choose(board, plan), limits, seconds)
            for board, plan in zip(boards, plans, strict=True)
        ]

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        """The best root moves of one search, each with its score and variation."""
        start = time.perf_counter()
        plan = self.planner.plan_in_game(board, self._allowed([board], limits), _budget(limits))
        seconds = time.perf_counter() - start
        return [self._decision(board, plan, one.move, limits, seconds) for one in plan.moves[:lines]]

    def work(self, steps: int) -> int:
        return self.planner.work(steps)

    def further(self, limits: Limits) -> int:
        return self.planner.further(limits.depth)

    def new_game(self) -> None:
        self.planner.new_game()

    def _allowed(self, boards: Sequence[chess.Board], limits: Limits) -> Allowed | None:
        """The root moves of each board; None: all the legal ones."""
        return root_moves(boards, limits, self.evaluator).allowed

    def _choose(self, board: chess.Board, plan: Plan) -> chess.Move:
        return choose(plan.policy, self.temperature, self.seed, board)

    def _decision(self, board: chess.Board, plan: Plan, move: chess.Move, limits: Limits, seconds: float) -> Decision:
        chosen, policy = plan.root_move(move), plan.policy
        variation = plan.variation(move)
        plies = variation.plies
        value = plan.value if chosen.score is None else chosen.score
        imagination = None
        if plies is not None:
            imagination = Imagination(
                root=board.fen(),
                move=move.uci(),
                probabilities={own.uci(): policy.get(own, 0.0) for own in board.legal_moves},
                line=plies,
                log_probability=variation.log_probability,
                value=value,
                legal_mass=plan.legal_mass,
                raw_legal=plan.raw_legal,
                steps=plan.calls,
                evaluations=plan.evaluations,
            )
        report = LookAhead(
            tuple(
                Candidate(one.move, one.prior, one.value, one.score, plan.variation(one.move).moves)
                for one in plan.moves[: REPORTED if limits.line else 0]
            )
        )
        return Decision(
            move=move,
            probabilities=policy,
            line=playable(board, [one.uci() for one in variation.moves]),
            value=value,
            nodes=plan.evaluations,
            seconds=seconds,
            imagination=imagination,
            look_ahead=report if limits.line else None,
        )


def _budget(limits: Limits) -> Budget:
    return Budget(limits.steps, limits.nodes, limits.depth, limits.seconds, limits.line, limits.resume)
