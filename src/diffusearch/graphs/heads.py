"""The heads as operators: logits by type from the hidden states of places (model/heads has what they mean)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffusearch.graphs.board_features import PolicySkipGraph
from diffusearch.graphs.builder import GraphBuilder
from diffusearch.graphs.places import PlacesGraph
from diffusearch.graphs.record import Copied, RecordGraph
from diffusearch.model.config import LEARNING_RATE_MULTIPLIER, ModelConfig
from diffusearch.model.rows import GroupIndices
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Group, Layout

_SQUARES = 65  # of the castling table: the last one is no square

Pick = Callable[[Layout], Group | None]  # which variables are asked for, by the layout of the record's horizon


class HeadsGraph:
    """Logits [batch, variables, vocabulary] of groups of variables."""

    def __init__(self, g: GraphBuilder, config: ModelConfig, places: PlacesGraph, record: RecordGraph) -> None:
        self.g, self.config, self.places, self.record = g, config, places, record
        self.shift = int(config.trunk.attention == "causal")  # a place is predicted from the one before it
        self._copies: Copied | None = None

    def logits(self, hidden: str, pick: Pick) -> str:
        """Of the picked variables, from the hidden states [batch, places, width] of the record."""
        group = pick(self.record.layout)
        assert group is not None
        if group.type == "action":
            return self._moves(hidden, group, pick)
        out = self._first(hidden, group, pick)
        if group.type != "value" and self.config.residual_state:
            out = self.g.add(out, *self._copied(hidden, group, pick))
        return out

    def _indices(self, layout: Layout, group: Group) -> GroupIndices:
        return GroupIndices(layout, group, several=self.config.head != "vocabulary")

    def _here(self, hidden: str, group: Group, pick: Pick) -> str:
        """Rows [batch x distinct places, width]."""
        places = self.record.upto(
            self._indices(self.record.layout, group).places - self.shift,
            lambda layout: 0 if (one := pick(layout)) is None else len(self._indices(layout, one).places),
        )
        return self.g.reshape(self.g.gather(hidden, places, axis=1), -1, self.config.trunk.width)

    def _by_variable(self, rows: str, group: Group, pick: Pick, size: int) -> str:
        """Outputs of places -> [batch, variables, size]."""
        g, places = self.g, self.record.reaches(lambda layout: self._outputs(layout, pick))
        out = self.record.shaped(rows, places, size)
        order = self._indices(self.record.layout, group).order
        return out if order is None else g.gather(out, self.record.upto(order, self._variables(pick)), axis=1)

    def _outputs(self, layout: Layout, pick: Pick) -> int:
        """Outputs of all places that carry the picked variables."""
        group = pick(layout)
        if group is None:
            return 0
        each = layout.per_place(group.type) if self.config.head != "vocabulary" else 1
        return len(self._indices(layout, group).places) * each

    @staticmethod
    def _variables(pick: Pick) -> Callable[[Layout], int]:
        return lambda layout: 0 if (one := pick(layout)) is None else len(one.variables)

    def _first(self, hidden: str, group: Group, pick: Pick) -> str:
        """The linear or tied term."""
        g, here = self.g, self._here(hidden, group, pick)
        if self.config.head == "vocabulary":
            out = g.op("Gemm", here, self.places.type_rows(group.type, group.size), transB=1)
        else:
            out = g.linear(here, f"heads.{group.type}.first.out")
        return self._by_variable(out, group, pick, group.size)

    # --- states ------------------------------------------------------------------------------------------------

    def _copied(self, hidden: str, group: Group, pick: Pick) -> list[str]:
        """The copy gates and the castling table."""
        g, record = self.g, self.record
        if self._copies is None:
            self._copies = record.copies()
        copies = self._copies
        starts = {s.ply: s.start for s in record.layout.segments if s.kind == "s"}
        index = [
            (int(ply) - 1) * record.slots + int(variable) - starts[int(ply)]
            for variable, ply in zip(group.variables, group.plies, strict=True)
        ]
        columns = record.upto(np.array(index), self._variables(pick))

        def own(values: str) -> str:
            return g.gather(values, columns, axis=1)

        gates = self._by_variable(
            g.linear(self._here(hidden, group, pick), f"heads.{group.type}.copy_gates"), group, pick, 2
        )
        gates = g.add(gates, g.gather(g.weight("residual_state.touched"), own(copies.marks)))
        size = g.constant(np.arange(group.size))
        terms = []
        for number, token in enumerate((copies.stays, copies.arrives)):
            hit = g.to_float(g.op("Equal", g.unsqueeze(own(token), 2), size))
            if self.config.copy_gates == "after-move":
                hit = g.op("Mul", hit, g.unsqueeze(g.to_float(own(copies.visible)), 2))
            terms.append(g.op("Mul", g.slice(gates, number, number + 1, 2), hit))
        if group.type == "castling" and record.layout.encoding.name == "compact":
            table = g.times(g.weight("heads.castling.castling_table.table"), LEARNING_RATE_MULTIPLIER)
            before = own(copies.stays)
            for start, slots in ((0, copies.source), (_SQUARES, copies.target)):
                square = g.op("Min", own(slots), g.constant(_SQUARES - 1, np.int64))
                rows = g.times(g.add(square, g.constant(start, np.int64)), group.size)
                terms.append(g.gather(table, g.add(rows, before)))
        return terms

    # --- moves -------------------------------------------------------------------------------------------------

    def _moves(self, hidden: str, group: Group, pick: Pick) -> str:
        g = self.g
        out = self._first(hidden, group, pick)
        terms = []
        if self.config.head == "squares":
            terms.append(self._source_target(hidden, group, pick))
        if self.config.board_features and self.config.head != "vocabulary":
            terms.append(self._policy_skip(group, pick))
        if not terms:
            return out
        scores = self._of_plies(g.add(*terms), pick, len(moves.SOURCE))
        pads = g.constant(np.array([0, 0, 0, 0, 0, 1]))
        return g.add(out, g.op("Pad", scores, pads))

    def _of_plies(self, rows: str, pick: Pick, size: int) -> str:
        """Rows [batch x moves, size] -> [batch, moves, size]."""
        return self.record.shaped(rows, self.record.reaches(self._variables(pick)), size)

    def _source_target(self, hidden: str, group: Group, pick: Pick) -> str:
        """[batch x moves, 1968]"""
        g, layout, width = self.g, self.record.layout, self.config.trunk.width
        name, inner = "heads.action.source_target", self.config.head_width
        own = self._indices(layout, group).squares
        places = self.record.upto(own, lambda one: self._variables(pick)(one) * (64 // layout.patch))
        squares = g.reshape(g.gather(hidden, places, axis=1), -1, width)
        sides = [g.linear(squares, f"{name}.{side}") for side in ("source", "target")]
        source, target = (g.reshape(side, -1, 64, inner) for side in sides)
        if not (layout.square_order == np.arange(64)).all():
            source, target = (g.gather(side, layout.square_order, axis=1) for side in (source, target))
        action = g.reshape(g.linear(self._here(hidden, group, pick), f"{name}.action"), -1, 3, inner)
        gate, u, w = (g.slice(action, part, part + 1, 1) for part in range(3))  # [n, 1, inner]
        # <source, gate target> + <source, u> + <target, w>, the first two as one product
        scale = float(inner**-0.5)
        gated = g.op("Mul", source, g.times(g.add(gate, g.constant(1.0)), scale))
        turned = g.op("Transpose", target, perm=[0, 2, 1])
        scores = g.op("MatMul", gated, turned)
        from_u = g.op("MatMul", source, g.op("Transpose", u, perm=[0, 2, 1]))
        scores = g.add(scores, from_u, g.op("MatMul", w, turned))
        scores = g.reshape(scores, -1, 64 * 64)
        pair = g.pick(scores, g.spread(moves.SOURCE * 64 + moves.TARGET, scores))
        promotion = g.linear(g.reshape(target, -1, inner), f"{name}.promotion")  # [n x 64, 4]
        padded = g.op("Pad", promotion, g.constant(np.array([0, 1, 0, 0])))
        becomes = g.pick(g.reshape(padded, -1, 64 * 5), g.spread(moves.TARGET * 5 + moves.PROMOTION, scores))
        return g.add(pair, becomes)

    def _policy_skip(self, group: Group, pick: Pick) -> str:
        """[batch x moves, 1968]"""
        g, skip = self.g, PolicySkipGraph(self.g)
        plies = [int(ply) for ply in group.plies]
        boards = [skip.turned(self.record.state(ply), opponent=bool(ply % 2)) for ply in plies]
        if len(plies) == 1:
            return skip.scores(boards[0])
        count = self.record.reaches(self._variables(pick))
        stacked = g.concat([g.unsqueeze(board, 1) for board in boards], 1)
        rows = g.reshape(stacked if isinstance(count, int) else g.slice(stacked, 0, count, 1), -1, 66)
        own = skip.scores(rows)
        other = g.pick(own, g.spread(moves.TURN[: len(moves.SOURCE)], rows))
        scores, turned = (self._of_plies(one, pick, len(moves.SOURCE)) for one in (own, other))
        opponent = g.constant(np.array([bool(ply % 2) for ply in plies])[:, None])
        if not isinstance(count, int):
            opponent = g.slice(opponent, 0, count, 0)
        return g.reshape(g.op("Where", opponent, turned, scores), -1, len(moves.SOURCE))
