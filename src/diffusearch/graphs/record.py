"""The record that a graph reads: its tokens, its horizon, and its states as far as they are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from diffusearch.graphs.builder import INT64, GraphBuilder
from diffusearch.model.rows import UNKNOWN, slots_of_moves
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout

NOTHING = -1  # a token that no vocabulary has: nothing is copied


class RecordGraph:
    """Tokens [batch, variables] of a record, and of what follows from them without the network."""

    def __init__(self, g: GraphBuilder, layout: Layout, tokens: str, horizon: str | None = None) -> None:
        """`horizon`: computed in the graph (an array of one number) where records may be shorter; None: the layout's.

        `tokens` always has all variables of the layout.
        """
        self.g, self.layout, self.tokens, self.horizon = g, layout, tokens, horizon
        self.slots = len(layout.encoding.slots)
        self.before, self.known = self._states()

    def reaches(self, count: Callable[[Layout], int]) -> int | str:
        """A number that depends on the layout of the record's horizon."""
        if self.horizon is None:
            return count(self.layout)
        table = [count(self.layout.truncated(h)) for h in range(1, self.layout.horizon + 1)]
        return self.g.gather(self.g.constant(np.array([0, *table])), self.horizon)

    def upto(self, array: npt.NDArray[np.int64], count: Callable[[Layout], int]) -> str:
        """The first entries of a constant, as many as the record's horizon needs."""
        end = self.reaches(count)
        return self.g.constant(array[:end]) if isinstance(end, int) else self.g.slice(self.g.constant(array), 0, end, 0)

    def shaped(self, rows: str, count: int | str, *rest: int) -> str:
        """Rows of all records together as [batch, count, *rest]."""
        g = self.g
        if isinstance(count, int):
            return g.reshape(rows, -1, count, *rest)
        batch = g.op("Shape", self.tokens, start=0, end=1)
        return g.op("Reshape", rows, g.concat([batch, count, g.constant(np.array(rest))], 0), allowzero=1)

    def variable(self, index: int) -> str:
        """The tokens [batch, 1] of one variable."""
        return self.g.slice(self.tokens, index, index + 1, 1)

    def _states(self) -> tuple[list[str], list[str]]:
        """For each state what it is if nothing had moved, and what is known of it, [batch, slots] each."""
        g, layout = self.g, self.layout
        sizes = np.array([slot.size for slot in layout.encoding.slots])
        factor, summand = layout.encoding.unmoved
        root = g.slice(self.tokens, 0, self.slots, 1)
        before, known = [root], [root]
        for segment in layout.segments[1:]:
            if segment.kind != "s":
                continue
            moved = g.add(g.op("Mul", known[-1], g.constant(factor)), g.constant(summand))
            moved = g.op("Min", g.op("Max", moved, g.constant(0, np.int64)), g.constant(sizes - 1))
            here = g.slice(self.tokens, segment.start, segment.start + self.slots, 1)
            before.append(moved)
            known.append(g.op("Where", g.op("Less", here, g.constant(sizes)), here, moved))
        return before, known

    def state(self, ply: int) -> str:
        """The state in which the move of a ply is played, as far as it is known."""
        return self.known[min(ply, len(self.known) - 1)]

    def move_slots(self, move: str) -> tuple[str, str]:
        """The slots [batch, 1] of the source and target squares of moves [batch, 1]."""
        source, target, _ = slots_of_moves(self.layout)
        return self.g.gather(self.g.constant(source), move), self.g.gather(self.g.constant(target), move)

    def on(self, state: str, slots: str) -> str:
        """The codes [batch, 1] on one slot each of states [batch, slots]; beyond the last slot: unknown."""
        return self.g.op("GatherElements", self.g.column(state, UNKNOWN), slots, axis=1)

    def copies(self) -> Copied:
        """What the future states can copy, all of them side by side: [batch, states x slots] each."""
        g, layout = self.g, self.layout
        parts: dict[str, list[str]] = {
            name: [] for name in ("stays", "arrives", "marks", "source", "target", "visible")
        }
        promotes = g.constant(slots_of_moves(layout)[2])
        slots = g.constant(np.arange(self.slots)[None])
        on_board = g.constant((np.arange(self.slots) < 64)[None])
        for ply in range(1, len(self.before)):
            move = layout.segment("a", ply - 1)
            stays = self.before[ply]
            zeros = g.op("Mul", stays, g.constant(0, np.int64))
            parts["stays"].append(stays)
            if move is None:
                fills = {"arrives": NOTHING, "marks": 0, "source": self.slots, "target": self.slots, "visible": 1}
                for name, fill in fills.items():
                    parts[name].append(g.add(zeros, g.constant(fill, np.int64)))
                continue
            played = self.variable(move.start)
            left, reached = self.move_slots(played)
            piece = g.add(self.on(self.known[ply - 1], left), g.gather(promotes, played))
            parts["arrives"].append(g.op("Where", on_board, piece, g.constant(NOTHING, np.int64)))
            marks = g.op("Where", g.op("Equal", slots, left), g.constant(1, np.int64), g.constant(0, np.int64))
            parts["marks"].append(g.op("Where", g.op("Equal", slots, reached), g.constant(2, np.int64), marks))
            parts["source"].append(g.add(zeros, left))
            parts["target"].append(g.add(zeros, reached))
            seen = g.op("Less", played, g.constant(moves.VOCABULARY, np.int64))
            parts["visible"].append(g.add(zeros, g.op("Cast", seen, to=INT64)))
        return Copied(**{name: g.concat(values, 1) for name, values in parts.items()})


class Copied:
    """What the future states of a record can copy (model/residual_state.py)."""

    def __init__(self, stays: str, arrives: str, marks: str, source: str, target: str, visible: str) -> None:
        self.stays, self.arrives = stays, arrives  # the token if nothing moved, and the piece that the move puts down
        self.marks = marks  # 0 another square, 1 the move's source, 2 its target
        self.source, self.target = source, target  # the slots of the move's squares
        self.visible = visible  # 1 where the move that leads to the state is visible, else 0
