"""The layout of a record: which variables it has, of which type, and which place of the trunk carries them.

A record is a list of typed segments (states, actions, values), one table for all eight paradigms. *Variables* are
what is diffused; *places* are what the trunk computes on. A place carries a patch of k squares (k = 1 in the paper).
The order is by ply, so the layout of a shorter horizon is a prefix of that of a longer one.

Games that end inside the horizon: after the last move the final state stands in every later state segment, and the
action there is NONE. Plies that are merely unknown (a puzzle's line is over) have no loss and stay noised.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.tokens import moves, values
from diffusearch.tokens.encodings import ENCODINGS, Encoding

Ints = npt.NDArray[np.int64]

# paradigm -> (segments of the root's ply, segments of each later ply, segments that are given and never noised)
PARADIGMS: dict[str, tuple[str, str, str]] = {
    "s-a": ("sa", "", "s"),
    "s-v": ("sv", "", "s"),
    "sa-v": ("sav", "", "sa"),
    "s-aa": ("sa", "a", "s"),
    "s-asa": ("sa", "sa", "s"),
    "s-ass": ("sa", "s", "s"),
    "s-avav": ("sav", "av", "s"),
    "s-avsav": ("sav", "sav", "s"),
}
# These value what they are given and predict no move.
JUDGES = tuple(name for name, (first, _, given) in PARADIGMS.items() if first.removeprefix(given) == "v")

_PATCHES = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (1, 8)}  # squares a place -> (ranks, files)


@dataclass(frozen=True)
class Segment:
    """A state s_i, an action a_i (played in s_i) or a value v_i (of s_i, for the side to move there)."""

    kind: str  # "s", "a" or "v"
    ply: int  # i
    given: bool  # part of the condition: never noised, never predicted
    start: int  # first variable
    place: int  # first place


@dataclass(frozen=True)
class Group:
    """All predicted variables that share a type: they share a vocabulary and an output head."""

    type: str
    size: int  # vocabulary without the mask
    variables: Ints  # [n], ascending
    places: Ints  # [n], the place that carries each
    patch: Ints  # [n], which of its place's outputs of this type speaks of it
    plies: Ints  # [n]


class Layout:
    """The variables and places of records of one paradigm, encoding, patch size and horizon."""

    def __init__(self, paradigm: str, horizon: int, encoding: str = "paper", patch: int = 1) -> None:
        if paradigm not in PARADIGMS:
            raise UserError(f"paradigm {paradigm!r} is unknown: choose one of {', '.join(PARADIGMS)}")
        if encoding not in ENCODINGS:
            raise UserError(f"encoding {encoding!r} is unknown: choose one of {', '.join(ENCODINGS)}")
        if patch not in _PATCHES:
            raise UserError(f"a place carries 1, 2, 4 or 8 squares, not {patch}: set patch to one of these")
        if horizon < 1:
            raise UserError(f"the horizon is at least 1, not {horizon}")
        first, later, given = PARADIGMS[paradigm]
        self.paradigm, self.patch = paradigm, patch
        self.horizon = horizon if later else 1
        self.encoding: Encoding = ENCODINGS[encoding]
        self.state_places = self._state_places()

        self.segments: list[Segment] = []
        variable = place = 0
        for ply in range(self.horizon):
            for kind in first if ply == 0 else later:
                self.segments.append(Segment(kind, ply, ply == 0 and kind in given, variable, place))
                variable += len(self.encoding.slots) if kind == "s" else 1
                place += len(self.state_places) if kind == "s" else 1
        self.variables, self.places = variable, place
        self.given_variables = sum(self._width(s) for s in self.segments if s.given)
        self.predicted = self.variables - self.given_variables
        self.given_places = sum(self._places(s) for s in self.segments if s.given)

    def truncated(self, horizon: int) -> Layout:
        """The same layout with a shorter horizon: a prefix of this one."""
        return layout(self.paradigm, horizon, self.encoding.name, self.patch)

    def _width(self, segment: Segment) -> int:
        return len(self.encoding.slots) if segment.kind == "s" else 1

    def _places(self, segment: Segment) -> int:
        return len(self.state_places) if segment.kind == "s" else 1

    def _state_places(self) -> list[tuple[int, ...]]:
        """The slots that each place of a state carries: patches of squares, then the rest (one place, or one each)."""
        ranks, files = _PATCHES[self.patch]
        slot_of = {int(square): slot for slot, square in enumerate(self.encoding.squares)}
        places = []
        for rank in range(0, 8, ranks):
            for file in range(0, 8, files):
                patch = [(rank + r) * 8 + file + f for r in range(ranks) for f in range(files)]
                places.append(tuple(slot_of[square] for square in patch))
        if self.patch == 1:
            places.sort()  # the paper's order: one character after another
        rest = range(64, len(self.encoding.slots))
        return places + ([(slot,) for slot in rest] if self.patch == 1 else [tuple(rest)])

    @cached_property
    def square_order(self) -> Ints:
        """[64]: square s of the frame is output number square_order[s] when a state's patches are laid end to end."""
        laid = [int(self.encoding.squares[slot]) for place in self.state_places for slot in place if slot < 64]
        return np.argsort(np.array(laid))

    @cached_property
    def sizes(self) -> Ints:
        """[variables] the size of each variable's vocabulary, which is also its mask token."""
        out: list[int] = []
        for segment in self.segments:
            if segment.kind == "s":
                out.extend(slot.size for slot in self.encoding.slots)
            else:
                out.append(moves.VOCABULARY if segment.kind == "a" else values.BINS)
        return np.array(out)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """[variables] the type of each variable."""
        out: list[str] = []
        for segment in self.segments:
            if segment.kind == "s":
                out.extend(slot.type for slot in self.encoding.slots)
            else:
                out.append("action" if segment.kind == "a" else "value")
        return tuple(out)

    @cached_property
    def plies(self) -> Ints:
        """[variables] the ply i that each variable belongs to."""
        return np.repeat([s.ply for s in self.segments], [self._width(s) for s in self.segments])

    @cached_property
    def place_of(self) -> Ints:
        """[variables] the place that carries each variable."""
        out = np.zeros(self.variables, dtype=np.int64)
        for segment in self.segments:
            if segment.kind == "s":
                for offset, slots in enumerate(self.state_places):
                    out[[segment.start + slot for slot in slots]] = segment.place + offset
            else:
                out[segment.start] = segment.place
        return out

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The predicted variables by type, in the order in which the types first occur."""
        found: dict[str, list[int]] = {}
        for variable in range(self.given_variables, self.variables):
            found.setdefault(self.types[variable], []).append(variable)
        place_of, groups = self.place_of, []
        within = self._within_place()
        for kind, members in found.items():
            index = np.array(members)
            groups.append(
                Group(kind, int(self.sizes[index[0]]), index, place_of[index], within[index], self.plies[index])
            )
        return tuple(groups)

    def groups_at(self, place: int) -> tuple[Group, ...]:
        """The predicted variables of one place by type: parts of the groups."""
        return self._groups_by_place[place]

    @cached_property
    def _groups_by_place(self) -> list[tuple[Group, ...]]:
        out: list[list[Group]] = [[] for _ in range(self.places)]
        for group in self.groups:
            for place in np.unique(group.places):
                here = group.places == place
                part = (group.variables[here], group.places[here], group.patch[here], group.plies[here])
                out[int(place)].append(Group(group.type, group.size, *part))
        return [tuple(groups) for groups in out]

    def _within_place(self) -> Ints:
        """[variables] the number of variables of the same type before it in its place."""
        seen: dict[tuple[int, str], int] = {}
        out = np.zeros(self.variables, dtype=np.int64)
        order = [(segment, slots) for segment in self.segments for slots in self._slots(segment)]
        for segment, slots in order:
            for slot in slots:
                variable = segment.start + slot
                key = (int(self.place_of[variable]), self.types[variable])
                out[variable] = seen.get(key, 0)
                seen[key] = seen.get(key, 0) + 1
        return out

    def _slots(self, segment: Segment) -> list[tuple[int, ...]]:
        return self.state_places if segment.kind == "s" else [(0,)]

    def per_place(self, kind: str) -> int:
        """How many variables of a type one place carries at most (the number of outputs its head needs)."""
        within = self._within_place()
        return 1 + max((int(within[v]) for v in range(self.variables) if self.types[v] == kind), default=0)

    def segment(self, kind: str, ply: int) -> Segment | None:
        """The segment of a kind at a ply, or None if the paradigm has none there."""
        return next((s for s in self.segments if s.kind == kind and s.ply == ply), None)

    def __repr__(self) -> str:
        return (
            f"Layout({self.paradigm}, h={self.horizon}, {self.encoding.name}, patch={self.patch}: "
            f"{self.variables} variables on {self.places} places)"
        )


@lru_cache(maxsize=64)
def layout(paradigm: str, horizon: int, encoding: str = "paper", patch: int = 1) -> Layout:
    """The layout, made once."""
    return Layout(paradigm, horizon, encoding, patch)
