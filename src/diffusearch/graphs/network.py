"""The graphs of a run: up to five for play, and one for other programs.

evaluate   roots -> logits of the first move and of the value, and what the others need of the roots
value      the same without the move: all that the leaves of a search need
predict    roots and a move of each -> the likeliest states after the moves, and their log-probabilities
revise     drafts -> scores of the drafted moves (where the model has a draft reader)
denoise    partly noised records of any horizon up to the model's -> logits of all their variables
step       the same for whole records alone, from nothing but their tokens; with the root's value

Under prefix attention the root does not attend to the future: its hidden states, keys and values are outputs of
`evaluate` and `value` and inputs of the others. Otherwise every graph computes the whole record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from diffusearch.graphs.about import FLOAT_BLOCKS, graph_names
from diffusearch.graphs.builder import FLOAT, INT64, GraphBuilder, Inputs, Outputs
from diffusearch.graphs.drafts import DraftsGraph
from diffusearch.graphs.heads import HeadsGraph
from diffusearch.graphs.places import PlacesGraph
from diffusearch.graphs.record import RecordGraph
from diffusearch.graphs.trunk import Places, TrunkGraph
from diffusearch.graphs.weights_file import TensorPlace
from diffusearch.tokens.layout import JUDGES, Group, Layout
from diffusearch.training.recipe import Recipe


def graphs(recipe: Recipe, places: dict[str, TensorPlace], *, int8: bool = False) -> dict[str, onnx.ModelProto]:
    """The graphs that a run has, by name."""
    return {
        name: getattr(NetworkGraph(recipe, places, floats=FLOAT_BLOCKS.get(name) if int8 else None), name)()
        for name in graph_names(recipe)
    }


@dataclass(frozen=True)
class Roots:
    """The given places as they are computed: hidden states [batch, given places, width], keys and values by block."""

    hidden: str
    past: list[str]


class NetworkGraph:
    """Writes one graph."""

    def __init__(
        self,
        recipe: Recipe,
        places: dict[str, TensorPlace],
        embedded: Path | None = None,
        *,
        floats: int | None = None,
    ) -> None:
        """`embedded`: the weights' file, copied into the graph.

        `floats`: the trunk's blocks from this number on have 8-bit weights; None: no block has.
        """
        self.recipe, self.model = recipe, recipe.model
        self.g = GraphBuilder(places, embedded)
        model = self.model
        self.whole = model.layout
        self.places = PlacesGraph(self.g, model, self.whole)
        self.trunk = TrunkGraph(self.g, model.trunk, floats=floats)
        self.prefix = model.trunk.attention == "prefix"

    def evaluate(self) -> onnx.ModelProto:
        g, near = self.g, self.recipe.trained_layout()
        record = RecordGraph(g, near, self._masked("given", near))
        outputs: Outputs = {}
        if not self.prefix:
            hidden = self._hidden(record, None)
        elif self.model.residual_state and any(s.kind == "s" and not s.given for s in near.segments):
            hidden = self._two_passes(record, near, outputs)
        else:
            hidden = self._one_pass(record, near, outputs)
        heads = HeadsGraph(g, self.model, self.places, record)
        if self.model.paradigm in JUDGES:
            outputs["value"] = (g.reshape(heads.logits(hidden, lambda one: one.groups[0]), -1, 128), FLOAT)
        else:
            outputs["moves"] = (g.reshape(heads.logits(hidden, _first_move), -1, self._vocabulary(near)), FLOAT)
            if self.model.root_value:
                outputs["value"] = (self._root_value(hidden, near), FLOAT)
        return g.model({"given": (INT64, ["roots", near.given_variables])}, outputs)

    def _root_value(self, hidden: str, near: Layout) -> str:
        g = self.g
        mean = g.op("ReduceMean", g.slice(hidden, 0, near.given_places, 1), g.constant(np.array([1])), keepdims=0)
        return g.linear(mean, "root_value.out")

    def _one_pass(self, record: RecordGraph, near: Layout, outputs: Outputs) -> str:
        """Root and future together, the root blind to the future: each weight is read once."""
        g, given = self.g, near.given_places
        root = self.places.root("given", near)
        future = self.places.future(record, root)  # no state among them: the root's hidden states are not used
        x = g.reshape(g.concat([root, future], 1), -1, self.model.trunk.width)
        rows, present = self.trunk(Places(x, near.places), blind=given)
        hidden = g.reshape(rows, -1, near.places, self.model.trunk.width)
        past = [g.slice(one, 0, given, 3) for one in present]
        outputs["hidden"] = (g.slice(hidden, 0, given, 1), FLOAT)
        outputs["past"] = (g.concat(past, 0), FLOAT)
        return hidden

    def _two_passes(self, record: RecordGraph, near: Layout, outputs: Outputs) -> str:
        roots = self._roots("given", near)
        outputs["hidden"], outputs["past"] = (roots.hidden, FLOAT), (self.g.concat(roots.past, 0), FLOAT)
        return self._hidden(record, roots)

    def value(self) -> onnx.ModelProto:
        g, near = self.g, self.recipe.trained_layout()
        roots = self._roots("given", near)
        value = self._root_value(roots.hidden, near)
        outputs: Outputs = {"value": (value, FLOAT), "hidden": (roots.hidden, FLOAT)}
        outputs["past"] = (g.concat(roots.past, 0), FLOAT)
        return g.model({"given": (INT64, ["roots", near.given_variables])}, outputs)

    def _roots(self, given: str, near: Layout) -> Roots:
        """The given places by themselves."""
        g, width = self.g, self.model.trunk.width
        x = g.reshape(self.places.root(given, near), -1, width)
        rows, past = self.trunk(Places(x, near.given_places))
        return Roots(g.reshape(rows, -1, near.given_places, width), past)

    def predict(self) -> onnx.ModelProto:
        g, near = self.g, self.recipe.trained_layout(2)
        action, state = near.segment("a", 0), near.segment("s", 1)
        assert action is not None
        assert state is not None
        inputs: Inputs = {"given": (INT64, ["roots", near.given_variables]), "rows": (INT64, ["moves"])}
        inputs["moves"] = (INT64, ["moves"])
        roots = self._root_inputs(inputs, near, rows="rows")
        masked = self._masked(g.gather("given", "rows"), near)
        tokens = g.concat(
            [
                g.slice(masked, 0, action.start, 1),
                g.unsqueeze("moves", 1),
                g.slice(masked, action.start + 1, near.variables, 1),
            ],
            1,
        )
        record = RecordGraph(g, near, tokens)
        hidden = self._hidden(record, roots)
        heads = HeadsGraph(g, self.model, self.places, record)
        end = state.start + len(near.encoding.slots)
        found: list[tuple[Group, str]] = []
        likelihood: list[str] = []
        for group in near.groups:
            if group.type in ("action", "value"):
                continue
            pick = _within(group.type, end)
            logits, part = heads.logits(hidden, pick), pick(near)
            assert part is not None
            found.append((part, g.op("ArgMax", logits, axis=2, keepdims=0)))
            best = g.op("ReduceMax", logits, g.constant(np.array([2])), keepdims=0)
            total = g.op("ReduceLogSumExp", logits, g.constant(np.array([2])), keepdims=0)
            likelihood.append(g.sum(g.op("Sub", best, total), 1))
        columns = np.concatenate([part.variables for part, _ in found])
        states = g.gather(g.concat([tokens for _, tokens in found], 1), np.argsort(columns), axis=1)
        return g.model(inputs, {"states": (states, INT64), "log_probability": (g.add(*likelihood), FLOAT)})

    def revise(self) -> onnx.ModelProto:
        return DraftsGraph(self.g, self.recipe.trained_layout(), self.model.trunk.width).model()

    def denoise(self) -> onnx.ModelProto:
        g, whole = self.g, self.whole
        inputs: Inputs = {"record": (INT64, ["records", "variables"])}
        horizon = None
        if whole.horizon > 1:
            counts = [whole.truncated(h).variables for h in range(1, whole.horizon + 1)]
            length = g.op("Shape", "record", start=1, end=2)
            horizon = g.sum(
                g.op("Cast", g.op("GreaterOrEqual", length, g.constant(np.array(counts))), to=INT64), 0, keep=True
            )
            missing = g.op("Slice", g.constant(whole.sizes), length, g.constant(np.array([whole.variables])))
            shape = g.concat([g.op("Shape", "record", start=0, end=1), g.op("Shape", missing)], 0)
            tokens = g.concat(["record", g.op("Expand", missing, shape)], 1)
        else:
            tokens = "record"
        roots = self._root_inputs(inputs, whole, rows=None)
        record = RecordGraph(g, whole, tokens, horizon)
        hidden = self._hidden(record, roots)
        heads = HeadsGraph(g, self.model, self.places, record)
        outputs: Outputs = {}
        for group in whole.groups:
            outputs[group.type] = (heads.logits(hidden, _of_type(group.type)), FLOAT)
        return g.model(inputs, outputs)

    def step(self) -> onnx.ModelProto:
        g, whole = self.g, self.whole
        record = RecordGraph(g, whole, "tokens")
        roots = self._roots(g.slice("tokens", 0, whole.given_variables, 1), whole) if self.prefix else None
        hidden = self._hidden(record, roots)
        heads = HeadsGraph(g, self.model, self.places, record)
        outputs: Outputs = {}
        shapes: dict[str, list[Any]] = {"root_value": ["batch", 128]}
        for group in whole.groups:
            outputs[output_name(group)] = (heads.logits(hidden, _of_type(group.type)), FLOAT)
            shapes[output_name(group)] = ["batch", len(group.variables), group.size]
        if self.model.root_value:
            outputs["root_value"] = (self._root_value(hidden, whole), FLOAT)
        return g.model({"tokens": (INT64, ["batch", whole.variables])}, outputs, shapes)

    def _root_inputs(self, inputs: Inputs, near: Layout, rows: str | None) -> Roots | None:
        """The inputs that hold the roots; `rows` picks one of them for each record."""
        if not self.prefix:
            return None
        g, trunk = self.g, self.model.trunk
        inputs["hidden"] = (FLOAT, ["roots", near.given_places, trunk.width])
        inputs["past"] = (
            FLOAT,
            [2 * trunk.layers, "roots", trunk.heads, near.given_places, trunk.width // trunk.heads],
        )
        hidden, past = "hidden", "past"
        if rows is not None:
            hidden, past = g.gather(hidden, rows), g.gather(past, rows, axis=1)
        return Roots(hidden, g.ops("Split", past, count=trunk.layers, axis=0, num_outputs=trunk.layers))

    def _hidden(self, record: RecordGraph, roots: Roots | None) -> str:
        """Hidden states [batch, places, width] of records."""
        g, width = self.g, self.model.trunk.width
        if roots is None:
            count, first = record.reaches(lambda one: one.places), 0
            x = self.places.record(record)
        else:
            first = record.layout.given_places
            count = record.reaches(lambda one: one.places - one.given_places)
            x = self.places.future(record, roots.hidden)
        rows, _ = self.trunk(Places(g.reshape(x, -1, width), count, first), None if roots is None else roots.past)
        hidden = record.shaped(rows, count, width)
        return hidden if roots is None else g.concat([roots.hidden, hidden], 1)

    def _masked(self, given: str, near: Layout) -> str:
        """Given variables with masks after them: [batch, variables]."""
        g = self.g
        masks = near.sizes[near.given_variables :]
        shape = g.concat([g.op("Shape", given, start=0, end=1), g.constant(np.array([len(masks)]))], 0)
        return g.concat([given, g.op("Expand", g.constant(masks[None]), shape)], 1)

    @staticmethod
    def _vocabulary(near: Layout) -> int:
        action = near.segment("a", 0)
        assert action is not None
        return int(near.sizes[action.start])


def output_name(group: Group) -> str:
    """The name of a type's logits in the file for other programs."""
    return group.type.replace(" ", "_")


def _first_move(one: Layout) -> Group | None:
    action = one.segment("a", 0)
    assert action is not None
    return next(group for group in one.groups_at(action.place) if group.type == "action")


def _of_type(kind: str) -> Callable[[Layout], Group | None]:
    return lambda one: next((group for group in one.groups if group.type == kind), None)


def _within(kind: str, end: int) -> Callable[[Layout], Group | None]:
    """The variables of a type before `end`."""

    def pick(one: Layout) -> Group | None:
        group = next((group for group in one.groups if group.type == kind), None)
        if group is None:
            return None
        here = group.variables < end
        return Group(
            group.type, group.size, group.variables[here], group.places[here], group.patch[here], group.plies[here]
        )

    return pick
