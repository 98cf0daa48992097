"""Attack features, policy skip and king exposure as operators (model/board_features has what they mean)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from diffusearch.graphs.builder import GraphBuilder
from diffusearch.model.board_features.geometry import CASTLES, JUMPS, LINES, line_of, rays_of, steps_of
from diffusearch.model.board_features.lines import CODES, between_moves, joined_squares
from diffusearch.model.config import LEARNING_RATE_MULTIPLIER
from diffusearch.tokens import moves
from diffusearch.tokens.encodings import SWAP, TURN_RIGHTS
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.states import CASTLING, EN_PASSANT, OWN_KING

_SIZES = (*(CODES,) * 64, 16, 9)
_SLOTS = [*range(64), CASTLING, EN_PASSANT]
_MOST_BETWEEN = 6


def _blockers(g: GraphBuilder, occupied: str, between: npt.NDArray[np.float32]) -> str:
    """How many pieces stand between each of n pairs of squares, [batch, n], from occupied squares [batch, 64]."""
    table = np.full((between.shape[1], _MOST_BETWEEN), 64)
    for row in range(between.shape[1]):
        squares = np.flatnonzero(between[:, row])
        table[row, : len(squares)] = squares
    ones = g.op("OneHot", g.constant(table), g.constant(65, np.int64), g.constant([0.0, 1.0]), axis=-1)
    matrix = g.op("Transpose", g.slice(g.sum(ones, 1), 0, 64, 1), perm=[1, 0])
    return g.op("MatMul", occupied, matrix)


def attack_features(g: GraphBuilder, squares: str, layout: Layout) -> str:
    """Codes [batch, 64] of a1..h8 -> rows [batch x square places, width]."""
    source, target, between = joined_squares()
    steps = (target // 8 - source // 8 + 7) * 15 + target % 8 - source % 8 + 7
    _, direction = np.unique(steps, return_inverse=True)
    none = 2 * CODES**2 * (int(direction.max()) + 1)
    laid = np.argsort(layout.square_order)  # squares in the order of places
    most = int(np.bincount(target).max())
    from_square, first_row = np.full((64, most), 64), np.zeros((64, most), dtype=np.int64)
    lines = np.zeros((64, 64, most), dtype=np.float32)
    for row, square in enumerate(laid):
        own = np.flatnonzero(target == square)
        from_square[row, : len(own)] = source[own]
        first_row[row, : len(own)] = direction[own] * 2 * CODES**2
        lines[:, row, : len(own)] = between[:, own]
    occupied = g.to_float(g.positive(squares))
    blockers = g.reshape(_blockers(g, occupied, lines.reshape(64, -1)), -1, 64, most)
    there = g.pick(g.column(squares, 0), g.spread(from_square.reshape(-1), squares))  # beside the board: empty
    there = g.reshape(there, -1, 64, most)
    here = squares if (laid == np.arange(64)).all() else g.gather(squares, laid, axis=1)
    rows = g.add(g.times(there, 2 * CODES), g.unsqueeze(g.times(here, 2), 2), g.constant(first_row))
    hidden = g.op("Cast", g.op("Greater", blockers, g.constant(0.0)), to=7)
    seen = g.op("And", g.op("Less", blockers, g.constant(2.0)), g.positive(there))
    rows = g.op("Where", seen, g.add(rows, hidden), g.constant(none, np.int64))
    inner = g.places["attack_features.lines"].shape[1]
    table = g.concat([g.slice(g.weight("attack_features.lines"), 0, none, 0), g.constant(np.zeros((1, inner)))], 0)
    summed = g.sum(g.gather(table, rows), 2)
    square = g.reshape(g.op("Gelu", summed, approximate="tanh"), -1, layout.patch * inner)
    return g.linear(square, "attack_features.out")


class PolicySkipGraph:
    """Move scores from boards."""

    def __init__(self, g: GraphBuilder) -> None:
        self.g, self.name = g, "heads.action.policy_skip"

    def turned(self, state: str, *, opponent: bool) -> str:
        """A state [batch, slots] as the tables see it: [batch, 66], turned if the opponent is to move."""
        g = self.g
        board = g.gather(state, _SLOTS, axis=1)
        if not opponent:
            return board
        squares = g.gather(g.constant(SWAP.astype(np.int64)), g.gather(board, np.arange(64) ^ 56, axis=1))
        rights = g.gather(g.constant(TURN_RIGHTS), g.slice(board, 64, 65, 1))
        return g.concat([squares, rights, g.slice(board, 65, 66, 1)], 1)

    def scores(self, board: str) -> str:
        """[batch, 66] -> [batch, 1968]."""
        g, name = self.g, self.name
        rows = g.add(board, g.constant(np.cumsum((0, *_SIZES[:-1]))))
        scores = g.sum(g.gather(g.weight(f"{name}.squares"), rows), 1)
        squares = g.slice(board, 0, 64, 1)
        sources, targets = (g.spread(where, board) for where in (moves.SOURCE, moves.TARGET))
        source, target = (g.pick(squares, where) for where in (sources, targets))
        first = g.op("Range", *(g.constant(value, np.int64) for value in (0, len(moves.SOURCE) * CODES**2, CODES**2)))
        pairs = g.reshape(g.weight(f"{name}.pairs"), -1)
        pair = g.lookup(pairs, g.add(g.times(source, CODES), target, first), -1, len(moves.SOURCE))
        occupied = g.to_float(g.positive(squares))
        blocked = g.to_float(g.op("Greater", _blockers(g, occupied, between_moves()), g.constant(0.0)))
        moved = g.times(g.reshape(g.weight(f"{name}.blocked"), -1), LEARNING_RATE_MULTIPLIER)
        skipped = g.op("Mul", blocked, g.lookup(moved, source, -1, len(moves.SOURCE)))
        return g.add(scores, pair, skipped, self._king_exposure(squares, sources, targets))

    def _king_exposure(self, squares: str, sources: str, targets: str) -> str:
        """Squares [batch, 64] and those of all moves, [batch, 1968] each -> [batch, 1968]."""
        g = self.g
        own_king = g.op("Equal", squares, g.constant(OWN_KING, np.int64))
        king = g.op("ArgMax", g.to_float(own_king), axis=1, keepdims=0)
        board = g.column(g.op("Where", own_king, g.constant(0, np.int64), squares), 0)
        around = np.concatenate([np.arange(65)[:, None], steps_of((*LINES, *CASTLES))], axis=1)[:64]  # [64, 11]
        count = around.shape[1]
        stands = g.gather(g.constant(around), king)
        table = g.gather(g.constant(rays_of().reshape(65, -1)), around)  # [64, 11, 56]
        rays = g.reshape(g.gather(table, king), 0, -1)  # [batch, 616]
        codes = g.reshape(g.op("GatherElements", board, rays, axis=1), 0, count, len(LINES), 7)
        first = g.op("ArgMax", g.to_float(g.positive(codes)), axis=3)  # [batch, 11, lines, 1]
        met = g.op("GatherElements", codes, first, axis=3)
        adjacent = g.op("Where", g.positive(first), g.constant(0, np.int64), g.constant(CODES, np.int64))
        lines = g.reshape(self._line(g.reshape(g.add(met, adjacent), 0, count, -1)), 0, count, -1)
        jumped = g.reshape(g.gather(g.gather(g.constant(steps_of(JUMPS)), around), king), 0, -1)  # [batch, 88]
        pieces = g.op("GatherElements", board, jumped, axis=1)
        jump = g.times(g.reshape(g.weight(f"{self.name}.king_exposure.jumps"), -1), LEARNING_RATE_MULTIPLIER)
        jumps = g.reshape(g.gather(jump, pieces), 0, count, -1)
        exposure = g.add(g.sum(lines, 2), g.sum(jumps, 2))  # [batch, 11]
        here, steps, castles = (g.slice(exposure, a, b, 1) for a, b in ((0, 1), (1, 9), (9, 11)))
        castles = g.add(castles, here, g.slice(exposure, 1, 3, 1))
        zeros = g.op("Expand", g.constant(np.zeros((1, 65), dtype=np.float32)), self._rows_and(king, 65))
        stepped = g.op("ScatterElements", zeros, g.slice(stands, 1, count, 1), g.concat([steps, castles], 1), axis=1)
        # other pieces: the target closes a line or captures an attacker, the source opens a line
        ray = g.reshape(g.slice(rays, 0, 56, 1), 0, len(LINES), 7)
        nearest = g.reshape(g.slice(first, 0, 1, 1), 0, len(LINES), 1)
        steps_away = g.constant(np.arange(7))
        until = g.to_float(g.op("LessOrEqual", steps_away, nearest))
        own_lines = g.reshape(g.slice(lines, 0, 1, 1), 0, len(LINES), 1)
        reached = g.reshape(g.op("Mul", own_lines, until), 0, -1)
        where = g.concat([g.slice(rays, 0, 56, 1), g.slice(jumped, 0, 8, 1)], 1)
        values = g.concat([reached, g.reshape(g.slice(jumps, 0, 1, 1), 0, -1)], 1)
        closed = g.op("ScatterElements", zeros, where, values, axis=1, reduction="add")
        other = g.op("Cast", g.op("Not", g.op("Equal", steps_away, nearest)), to=7)
        behind = g.op("Mul", g.reshape(g.slice(codes, 0, 1, 1), 0, len(LINES), 7), other)
        second = g.op("GatherElements", behind, g.op("ArgMax", g.to_float(g.positive(behind)), axis=2), axis=2)
        opens = g.op("Sub", self._line(g.reshape(second, 0, -1)), g.reshape(own_lines, 0, -1))
        at = g.reshape(g.op("GatherElements", ray, nearest, axis=2), 0, -1)
        opened = g.op("ScatterElements", zeros, at, opens, axis=1)
        line = g.constant(line_of()[:64])
        same = [g.gather(line, squares_of, axis=1) for squares_of in (moves.SOURCE, moves.TARGET)]
        leaves = g.gather(g.to_float(g.op("Not", g.op("Equal", *same))), king)  # [batch, 1968]
        others = g.op("Sub", here, g.pick(closed, targets))
        others = g.add(others, g.op("Mul", g.pick(opened, sources), leaves))
        moves_king = g.op("Equal", g.constant(moves.SOURCE), g.unsqueeze(king, 1))
        return g.op("Where", moves_king, g.pick(stepped, targets), others)

    def _line(self, codes: str) -> str:
        """The numbers of the first pieces on the lines [batch, ..., lines]; of an adjacent piece the code is 13 up."""
        g = self.g
        table = g.times(g.reshape(g.weight(f"{self.name}.king_exposure.lines"), -1), LEARNING_RATE_MULTIPLIER)
        return g.gather(table, g.add(codes, g.constant(np.arange(len(LINES)) * 2 * CODES)))

    def _rows_and(self, x: str, columns: int) -> str:
        """The shape [batch, columns] of arrays with as many rows as x."""
        g = self.g
        return g.concat([g.op("Shape", x, start=0, end=1), g.constant(np.array([columns]))], 0)
