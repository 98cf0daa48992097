"""The draft reader as operators (model/heads/drafts.py has what they mean)."""

from __future__ import annotations

import numpy as np
import onnx

from diffusearch.graphs.builder import BOOL, FLOAT, GraphBuilder, Inputs, Outputs
from diffusearch.model.config import ABSENT, LEARNING_RATE_MULTIPLIER, NUMBERS, POOLED, QUERIES
from diffusearch.model.rows import turned_places
from diffusearch.tokens.drafts import BEFORE, DEPTH, LINES, NODES, PLIES
from diffusearch.tokens.layout import Layout

_NAME = "draft_reader"


class DraftsGraph:
    """Writes the graph `revise`."""

    def __init__(self, g: GraphBuilder, layout: Layout, width: int) -> None:
        self.g, self.layout, self.width = g, layout, width
        self.exists = "exists"

    def model(self) -> onnx.ModelProto:
        """Drafts as in inference/backend.py -> scores of drafted moves, the scale, win probabilities.

        Nothing reads the output `rest`, the score of all other moves: it stays because the packaged graphs have it.
        """
        g, places, nodes = self.g, self.layout.given_places, ["roots", "drafts", NODES]
        inputs: Inputs = {
            "root": (FLOAT, ["roots", places, self.width]),
            "hidden": (FLOAT, [*nodes, places, self.width]),
            "root_odds": (FLOAT, ["roots"]),
            "odds": (FLOAT, nodes),
            "log_shares": (FLOAT, nodes),
            "exists": (BOOL, nodes),
            "over": (BOOL, nodes),
        }
        numbers = self._numbers()
        seen = g.op("And", "exists", g.op("Not", "over"))
        odds = g.add("odds", g.op("Where", seen, self._corrections(numbers), g.constant(0.0)))
        worth = self._worth(odds)
        value_weight = self._rule(0)
        scores = g.add(g.op("Mul", worth, value_weight), self._of_numbers(numbers))
        drafted = self._node("exists", 0)
        top = g.op("ReduceMax", g.op("Where", drafted, worth, g.constant(-ABSENT)), self._axes(1), keepdims=1)
        some = g.op("ReduceMax", g.to_float(drafted), self._axes(1), keepdims=1)
        rest = g.op("Mul", some, g.add(g.op("Mul", top, value_weight), self._weight("rest")))
        win = self._weight("win")
        wins = g.add(g.op("Mul", worth, g.gather(win, np.array(0))), g.gather(win, np.array(1)))
        outputs: Outputs = {
            "scores": (g.op("Where", drafted, scores, rest), FLOAT),
            "rest": (g.op("Squeeze", rest, self._axes(1)), FLOAT),
            "scale": (g.op("Exp", g.times(self._rule(2), LEARNING_RATE_MULTIPLIER)), FLOAT),
            "wins": (g.op("Sigmoid", wins), FLOAT),
        }
        return g.model(inputs, outputs)

    def _weight(self, name: str) -> str:
        return self.g.weight(f"{_NAME}.{name}")

    def _rule(self, index: int) -> str:
        return self.g.gather(self._weight("rule"), np.array(index))

    def _axes(self, axis: int) -> str:
        return self.g.constant(np.array([axis], dtype=np.int64))

    def _node(self, x: str, node: int) -> str:
        """Of values [roots, drafts, nodes] those of one node."""
        return self.g.gather(x, np.array(node), axis=2)

    def _dense(self, x: str, name: str) -> str:
        """A linear layer over the last of any number of dimensions."""
        g = self.g
        turned = g.op("Transpose", self._weight(f"{name}.weight"), perm=[1, 0])
        return g.add(g.op("MatMul", x, turned), self._weight(f"{name}.bias"))

    def _numbers(self) -> str:
        """[roots, drafts, nodes, numbers], 0 where a node does not exist."""
        g = self.g
        replies = g.op("Mul", "log_shares", g.constant(np.array([float(b is not None) for b in BEFORE])))
        along = np.zeros((NODES, NODES))  # which replies lead to a node
        for node in range(NODES):
            at: int | None = node
            while at is not None and BEFORE[at] is not None:
                along[at, node] = 1.0
                at = BEFORE[at]
        change = g.op("Sub", "odds", g.unsqueeze(g.unsqueeze("root_odds", 1), 2))
        each = [g.times("odds", 0.5), g.times(change, 0.5), g.times(g.op("Abs", "odds"), 1 / 3)]
        each += [g.times(replies, 1 / 3), g.times(g.op("MatMul", replies, g.constant(along)), 1 / 3)]
        each += [g.to_float("exists"), g.to_float("over")]
        stacked = g.concat([g.unsqueeze(one, 3) for one in each], 3)
        return g.op("Mul", stacked, g.unsqueeze(g.to_float("exists"), 3))

    def _corrections(self, numbers: str) -> str:
        """[roots, drafts, nodes] what the squares change in the values."""
        g = self.g
        turned = g.gather("hidden", np.array(turned_places(self.layout)), axis=3)
        opponent = g.constant(np.array([ply % 2 == 1 for ply in PLIES])[:, None, None])
        pooled = self._pool(g.op("Where", opponent, turned, "hidden"), 3)
        root = self._pool("root", 1)
        spread = g.op("Expand", g.unsqueeze(g.unsqueeze(root, 1), 2), g.op("Shape", pooled))
        ply = g.add(g.times(g.slice(numbers, 0, DEPTH, 3), 0.0), g.constant(np.eye(DEPTH)[np.array(PLIES) - 1]))
        x = g.concat([pooled, spread, numbers, ply], 3)
        x = g.op("Gelu", self._dense(g.op("Gelu", self._dense(x, "squares.0")), "squares.3"))
        return g.op("Squeeze", self._dense(x, "correction"), self._axes(3))

    def _pool(self, hidden: str, axis: int) -> str:
        """Hidden states [..., places, width], places on that axis -> [..., queries x 24]."""
        g, keep = self.g, [0] * axis
        attention = g.op("Softmax", g.add(self._dense(hidden, "query"), self._weight("place_bias")), axis=axis)
        collected = g.reshape(self._dense(hidden, "collect"), *keep, 0, QUERIES, POOLED)
        weighed = g.op("Mul", g.unsqueeze(attention, axis + 2), collected)
        return g.reshape(g.sum(weighed, axis), *keep, QUERIES * POOLED)

    def _worth(self, odds: str) -> str:
        """[roots, drafts] the soft minimum over lines of their mean log odds."""
        g = self.g
        weights = g.op("Softmax", self._weight("ply_weights"), axis=0)
        lines = []
        for line in LINES:
            value, terms = self._node(odds, line[0]), []
            for at, node in enumerate(line):
                value = g.op("Where", self._node("exists", node), self._node(odds, node), value)
                terms.append(g.op("Mul", value, g.gather(weights, np.array(at))))
            total = g.add(*terms)
            if line is not LINES[0]:
                total = g.op("Where", self._node("exists", line[1]), total, g.constant(ABSENT))
            lines.append(g.unsqueeze(total, 2))
        temperature = g.op("Exp", self._rule(1))
        cold = g.op("Neg", g.op("Div", g.concat(lines, 2), temperature))
        least = g.op("ReduceLogSumExp", cold, self._axes(2), keepdims=0)
        return g.op("Neg", g.op("Mul", temperature, least))

    def _of_numbers(self, numbers: str) -> str:
        """[roots, drafts] the term of the drafts' numbers."""
        g = self.g
        flat = g.reshape(numbers, 0, 0, NODES * NUMBERS)
        first = g.times(g.slice("log_shares", 0, 1, 2), 1 / 3)
        ones = g.add(g.times(first, 0.0), g.constant(1.0))
        rank = g.times(g.op("CumSum", ones, g.constant(1, np.int64), exclusive=1), 1 / 6)
        x = g.op("Gelu", self._dense(g.concat([flat, first, rank], 2), "numbers.0"))
        return g.op("Squeeze", self._dense(x, "numbers.2"), self._axes(2))
