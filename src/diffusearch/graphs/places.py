"""The trunk's input as operators: embeddings, attack features and residual states (model/ has what they mean)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffusearch.graphs.board_features import attack_features
from diffusearch.graphs.builder import GraphBuilder
from diffusearch.graphs.record import RecordGraph
from diffusearch.model.config import ModelConfig
from diffusearch.model.rows import UNKNOWN, TableRows, is_slotted
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout


class PlacesGraph:
    """Tokens -> vectors of places [batch, n, width]."""

    def __init__(self, g: GraphBuilder, config: ModelConfig, whole: Layout) -> None:
        self.g, self.config, self.whole = g, config, whole
        self.rows = TableRows(whole, is_slotted(config))
        self.base, self.patches = self.rows.indices(whole)
        self._vocabulary: str | None = None

    @property
    def vocabulary(self) -> str:
        """All token vectors; under the residual state moves also have vectors of their squares. Padding is zeros."""
        if self._vocabulary is not None:
            return self._vocabulary
        g, table = self.g, self.g.weight("embedding.table")
        zeros = g.constant(np.zeros((1, self.config.trunk.width), dtype=np.float32))
        parts = [g.slice(table, 0, self.rows.padding, 0), zeros]
        if self.config.residual_state and "action" in self.rows.first:
            squares = g.weight("embedding.added.action.squares")
            start, count = self.rows.first["action"], len(moves.SOURCE)
            added = g.add(g.gather(squares, moves.SOURCE), g.gather(squares, moves.TARGET + 64))
            own = g.add(g.slice(table, start, start + count, 0), added)
            rest = g.slice(table, start + count, self.rows.padding, 0)
            parts = [*([g.slice(table, 0, start, 0)] if start else []), own, rest, zeros]
        self._vocabulary = g.concat(parts, 0)
        return self._vocabulary

    def type_rows(self, kind: str, size: int) -> str:
        """The vectors [size, width] of a type without its mask."""
        start = self.rows.first[kind]
        return self.g.slice(self.vocabulary, start, start + size, 0)

    def root(self, given: str, layout: Layout) -> str:
        """The given places, with the attack features of the root's squares."""
        g, end = self.g, layout.given_variables
        patches = self._patches(layout.given_places, 0, end, 0)
        x = self._summed(given, 0, end, g.constant(patches))
        x = self._positioned(x, 0, layout.given_places)
        return self._with_attacks(x, given, layout.given_places)

    def _with_attacks(self, x: str, tokens: str, end: int | str) -> str:
        """Places from the root on, up to `end`, with the attack features of the root's squares."""
        g = self.g
        if not self.config.board_features:
            return x
        squares = 64 // self.config.patch
        rows = attack_features(g, g.slice(tokens, 0, 64, 1), self.whole)
        features = g.reshape(rows, -1, squares, self.config.trunk.width)
        return g.concat([g.add(g.slice(x, 0, squares, 1), features), g.slice(x, squares, end, 1)], 1)

    def record(self, record: RecordGraph) -> str:
        """All places of a record."""
        layout = record.layout
        end = record.reaches(lambda one: one.places)
        patches = record.upto(self._patches(layout.places, 0, layout.variables, 0), lambda one: one.places)
        x = self._summed(record.tokens, 0, layout.variables, patches)
        return self._with_attacks(self._positioned(x, 0, end), record.tokens, end)

    def future(self, record: RecordGraph, root: str) -> str:
        """The places after the root; `root` are its hidden states [batch, given places, width]."""
        g, layout = self.g, record.layout
        first, start = layout.given_variables, layout.given_places
        count = record.reaches(lambda one: one.places - one.given_places)
        patches = record.upto(
            self._patches(layout.places, first, layout.variables, start), lambda one: one.places - one.given_places
        )
        tokens = g.slice(record.tokens, first, layout.variables, 1)
        end = record.reaches(lambda one: one.places)
        x = self._positioned(self._summed(tokens, first, layout.variables, patches), start, end)
        return x if not self.config.residual_state else self._with_states(x, record, root, count)

    def _patches(self, places: int, first: int, end: int, start: int) -> npt.NDArray[np.int64]:
        """The variables of the places start.., counted from `first`; padding is the column after the last."""
        patches = self.patches[start:places]
        return np.where(patches < 0, end - first, patches - first)

    def _summed(self, tokens: str, first: int, end: int, patches: str) -> str:
        g = self.g
        rows = g.column(g.add(tokens, g.constant(self.base[first:end])), self.rows.padding)
        return g.sum(g.gather(self.vocabulary, g.gather(rows, patches, axis=1)), 2)

    def _positioned(self, x: str, start: int, end: int | str) -> str:
        if self.config.trunk.positions != "learned":
            return x
        return self.g.add(x, self.g.slice(self.g.weight("embedding.places"), start, end, 0))

    def _with_states(self, places: str, record: RecordGraph, root: str, count: int | str) -> str:
        """The same with what future states start from: the state before, the root's hidden states, the last move."""
        g, layout = self.g, record.layout
        states = len(layout.state_places)
        carried = self._linear(root, "residual_state.carry", layout.given_places)
        if layout.given_places != states:
            carried = g.slice(carried, 0, states, 1)
        patches = g.constant(self._patches(states, 0, record.slots, 0))
        if isinstance(count, str):  # all places, so that each has its number; what lies beyond is cut off below
            missing = g.op("Sub", g.constant(np.array([layout.places - layout.given_places])), count)
            pads = g.concat([g.constant(np.array([0, 0, 0, 0])), missing, g.constant(np.array([0]))], 0)
            places = g.op("Pad", places, pads)
        move = g.op("Mul", g.slice(places, 0, 1, 1), g.constant(0.0))  # the last one so far
        out: list[str] = []
        for segment in layout.segments:
            start = segment.place - layout.given_places
            if segment.given:
                continue
            if segment.kind == "s":
                before = self._summed(record.before[segment.ply], 0, record.slots, patches)
                recalled = self._linear(before, "residual_state.recall", states)
                followed = self._linear(move, "residual_state.follow", 1)
                out.append(g.add(g.slice(places, start, start + states, 1), carried, recalled, followed))
                continue
            place = g.slice(places, start, start + 1, 1)
            if segment.kind == "a":
                place = move = g.add(place, self._pieces(record, segment.start, segment.ply))
            out.append(place)
        x = g.concat(out, 1)
        return x if record.horizon is None else g.slice(x, 0, count, 1)

    def _linear(self, x: str, name: str, count: int) -> str:
        """[batch, count, width] through a linear layer."""
        width = self.config.trunk.width
        return self.g.reshape(self.g.linear(self.g.reshape(x, -1, width), name), -1, count, width)

    def _pieces(self, record: RecordGraph, variable: int, ply: int) -> str:
        """Vectors [batch, 1, width] of the pieces on the squares of a move."""
        g, table = self.g, self.g.weight("residual_state.pieces")
        source, target = (record.on(record.state(ply), slots) for slots in record.move_slots(record.variable(variable)))
        return g.add(g.gather(table, source), g.gather(table, g.add(target, g.constant(UNKNOWN + 1, np.int64))))
