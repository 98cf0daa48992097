"""mcts: the policy and the value network joined by a tree search; the tree is kept between the moves of a game."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import chess

from diffusearch.agents.base import Agent, Decision, Limits
from diffusearch.agents.candidates import candidates
from diffusearch.agents.chance import choose
from diffusearch.agents.strength import Strength
from diffusearch.search.conventions import FAIR
from diffusearch.search.mcts import search
from diffusearch.search.nets import Policy, Value
from diffusearch.search.node import Tree
from diffusearch.search.play import edge_value, principal_line, ranking, shares
from diffusearch.search.settings import Settings

TREES = 64  # searched side by side: enough to fill the networks' batches, few enough for the memory


class SearchAgent(Agent):
    """MCTS as a player. `Limits.nodes` are simulations; seconds can only shorten a search."""

    def __init__(
        self,
        policy: Policy,
        value: Value,
        settings: Settings = Settings(),
        name: str = "mcts",
        strength: int = 100,
        seed: int = 0,
    ) -> None:
        self.name = name
        self.policy = policy
        self.value = value
        dial = Strength(strength)
        self.settings = replace(settings, simulations=dial.effort(settings.simulations))
        self.temperature = dial.temperature(settings.temperature)
        self.seed = seed
        self.tree: Tree | None = None  # of the game being played, at the last position that was decided

    def play(self, board: chess.Board, limits: Limits = Limits()) -> Decision:
        tree = self._tree(board, limits)
        return self._decide([tree], limits)[0]

    def play_many(self, boards: Sequence[chess.Board], limits: Limits = Limits()) -> list[Decision]:
        """Unrelated positions: a new tree for each, evaluated in common batches. The kept tree is not touched."""
        out: list[Decision] = []
        for start in range(0, len(boards), TREES):
            out += self._decide([self._new(board, limits) for board in boards[start : start + TREES]], limits)
        return out

    def analyse(self, board: chess.Board, limits: Limits = Limits(), lines: int = 1) -> list[Decision]:
        """The most visited moves, each with its value and principal line."""
        start = time.perf_counter()
        tree = self._tree(board, limits)
        (evaluated,) = search([tree], self.policy, self.value, self._within(limits), limits.seconds)
        seconds = time.perf_counter() - start
        edges = ranking(tree.root, self.settings)[:lines]
        return [self._decision(tree, edge, evaluated, seconds) for edge in edges]

    def new_game(self) -> None:
        self.tree = None

    def _decide(self, trees: Sequence[Tree], limits: Limits) -> list[Decision]:
        start = time.perf_counter()
        evaluated = search(trees, self.policy, self.value, self._within(limits), limits.seconds)
        seconds = (time.perf_counter() - start) / max(1, len(trees))
        out: list[Decision] = []
        for tree, count in zip(trees, evaluated, strict=True):
            move = choose(self._shares(tree), self.temperature, self.seed, tree.board)
            out.append(self._decision(tree, tree.root.moves.index(move), count, seconds))
        return out

    def _within(self, limits: Limits) -> Settings:
        return self.settings if limits.nodes is None else replace(self.settings, simulations=limits.nodes)

    def _tree(self, board: chess.Board, limits: Limits) -> Tree:
        """The kept tree with the board as its root where the game went on from it, else a new one."""
        if limits.moves:
            return self._new(board, limits)
        if self.tree is None or not self.settings.reuse or not self.tree.follow(board):
            self.tree = self._new(board, limits)
        return self.tree

    def _new(self, board: chess.Board, limits: Limits) -> Tree:
        moves = candidates(board, limits)
        return Tree(board, self.settings.conventions, moves if limits.moves else ())

    def _shares(self, tree: Tree) -> dict[chess.Move, float]:
        """Shares of the root's moves, best first: equals in visits are told apart by their values."""
        share = shares(tree.root)
        return {tree.root.moves[edge]: float(share[edge]) for edge in ranking(tree.root, self.settings)}

    def _decision(self, tree: Tree, edge: int, evaluated: int, seconds: float) -> Decision:
        # The published scale is no win probability, so it is not shown as one.
        fair = self.settings.conventions is FAIR
        return Decision(
            move=tree.root.moves[edge],
            probabilities=self._shares(tree),
            line=principal_line(tree.root, edge, self.settings),
            value=edge_value(tree.root, edge, self.settings) if fair else None,
            nodes=evaluated,
            seconds=seconds,
        )
