"""Which row of the table of token vectors belongs to a token, and which variables a place carries: plain indices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffusearch.model.config import ModelConfig
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Group, Layout

Ints = npt.NDArray[np.int64]

UNKNOWN = 13  # after the 13 codes of a square: the move is noised, or the game is over


def is_slotted(config: ModelConfig) -> bool:
    """Whether every slot of a state has rows of its own."""
    return config.head != "vocabulary" and (config.encoding == "compact" or config.patch > 1)


class TableRows:
    """The first row of each kind of variable; a kind's last row is its mask, the table's last row is padding."""

    def __init__(self, layout: Layout, slotted: bool) -> None:
        self.slotted = slotted
        self.first: dict[object, int] = {}
        total = 0
        for variable in range(layout.variables):
            kind = self._kind(layout, variable)
            if kind not in self.first:
                self.first[kind] = total
                total += int(layout.sizes[variable]) + 1
        self.padding = total  # a row of zeros for places that carry fewer variables than others

    def _kind(self, layout: Layout, variable: int) -> object:
        segment = next(s for s in reversed(layout.segments) if s.start <= variable)
        return variable - segment.start if self.slotted and segment.kind == "s" else layout.types[variable]

    def indices(self, layout: Layout) -> tuple[Ints, Ints]:
        """The first row of each variable [variables], and the variables of each place [places, k] (padded with -1)."""
        carried: list[list[int]] = [[] for _ in range(layout.places)]
        for variable, place in enumerate(layout.place_of):
            carried[int(place)].append(variable)
        most = max(len(c) for c in carried)
        base = np.array([self.first[self._kind(layout, v)] for v in range(layout.variables)], dtype=np.int64)
        return base, np.array([c + [-1] * (most - len(c)) for c in carried], dtype=np.int64)


class GroupIndices:
    """Where the variables of a group are, among the places and among the outputs of its head."""

    def __init__(self, layout: Layout, group: Group, *, several: bool) -> None:
        """`several`: a place has outputs for each of the variables of the type that it carries."""
        self.places, inverse = np.unique(group.places, return_inverse=True)  # the distinct ones
        each = layout.per_place(group.type) if several else 1
        order: Ints = inverse * each + group.patch
        identity = len(order) == len(self.places) * each and bool((order == np.arange(len(order))).all())
        self.order = None if identity else order  # [variables] numbers among the outputs; None: as they come
        squares: list[int] = []
        if group.type == "action":
            for ply in group.plies:
                state = next(s for s in reversed(layout.segments) if s.kind == "s" and s.ply <= ply)
                squares.extend(range(state.place, state.place + 64 // layout.patch))
        # of moves, one after another: the square places of the state in which each is played
        self.squares: Ints = np.array(squares, dtype=np.int64)


def slots_of_moves(layout: Layout) -> tuple[Ints, Ints, Ints]:
    """Of every token of a move, the mask included: the slots of its source and target squares (beyond the last slot:
    none), and by how much the code of a promoted pawn grows."""
    slot_of_square = np.argsort(layout.encoding.squares)
    none = [len(layout.encoding.slots)] * (moves.VOCABULARY + 1 - len(moves.SOURCE))  # the game is over; the mask
    source, target = (np.array([*slot_of_square[squares], *none]) for squares in (moves.SOURCE, moves.TARGET))
    return source, target, np.pad(moves.PROMOTION, (0, len(none)))


def turned_places(layout: Layout) -> list[int]:
    """For each place of a state the place of the same squares in the frame of the other side (ranks mirrored)."""
    if not layout.encoding.turned:
        return list(range(layout.given_places))
    squares = [{int(layout.encoding.squares[slot]) for slot in place if slot < 64} for place in layout.state_places]
    mirrored = [{square ^ 56 for square in place} for place in squares]
    return [squares.index(place) if place else index for index, place in enumerate(mirrored)]
