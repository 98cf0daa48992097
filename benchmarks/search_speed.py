"""One decision of each search by the packaged model, against one look and against the paper's MCTS.

The agents decide the same positions of random games one at a time, in turns. Prints the medians over the positions of
the ratios of processor time, with the network evaluations of one position that each takes.

    python benchmarks/search_speed.py [--positions 20] [--agents search 'search?dynamics=rules' mcts]
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch

from diffusearch.agents.build import agent
from diffusearch.evaluation.future_quality import random_positions

AGENTS = (
    "search",
    "search?dynamics=rules",
    "search?widths=4x2",
    "search?planner=rollout",
    "search?planner=mcts&simulations=32",
    "diffusearch?steps=1",
    "s-a",
    "mcts",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--agents", nargs="+", default=AGENTS, help="the first is what the others are compared with")
    options = parser.parse_args()
    torch.set_num_threads(1)
    players = {text: agent(text) for text in options.agents}
    boards = [position.board() for position in random_positions(options.positions + 1, seed=1)]
    took: dict[str, list[float]] = {text: [] for text in players}
    nodes: dict[str, list[int]] = {text: [] for text in players}
    for board in boards:
        for text, player in players.items():
            player.new_game()
            start = time.process_time()
            nodes[text].append(player.play(board).nodes)
            took[text].append(time.process_time() - start)
    first = took[options.agents[0]][1:]  # the first decision of each pays for lazy initialisation
    for text in players:
        ratio = statistics.median(one / base for one, base in zip(took[text][1:], first, strict=True))
        print(
            f"{text}: {ratio:.2f} of the time of {options.agents[0]}, {statistics.median(nodes[text]):.0f} evaluations"
        )


if __name__ == "__main__":
    main()
