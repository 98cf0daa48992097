"""How deep the tree of a search is on average: the plies of its simulations.

The depth is a measured property of the networks that steer the search, not a setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diffusearch.agents.base import Agent
from diffusearch.agents.searching import SearchAgent
from diffusearch.errors import UserError
from diffusearch.evaluation.actions import Progress, silent
from diffusearch.evaluation.labelled_positions import LabelledPosition
from diffusearch.search.mcts.node import Node
from diffusearch.search.mcts.planner import Mcts


def tree_depth(agent: Agent, positions: Sequence[LabelledPosition], progress: Progress = silent) -> dict[str, Any]:
    """The mean depth over all decisions; a decision without a simulation (a forced move) has none."""
    if not isinstance(agent, SearchAgent) or not isinstance(agent.planner, Mcts):
        raise UserError(f"The agent {agent.name!r} grows no tree: measure the depth of mcts or mcts-as-published.")
    depths: list[float] = []
    for position in positions:
        agent.new_game()
        agent.play(position.board())
        tree = agent.planner.trees.get(0)
        if tree is not None and tree.root.sum_visits:
            depths.append(mean_depth(tree.root))
        progress(1)
    return {"n": len(positions), "mean_depth": sum(depths) / len(depths) if depths else None}


def mean_depth(root: Node) -> float:
    """Plies of a simulation on average: each visits one edge for every ply, and one of the root's."""
    visits, seen, waiting = 0, {id(root)}, [root]
    while waiting:
        node = waiting.pop()
        visits += node.sum_visits
        for child in node.children if node.expanded else ():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)
    return visits / root.sum_visits
