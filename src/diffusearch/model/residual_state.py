"""Residual state (`residual_state = true`): a predicted state is the state before it plus what changes.

A move changes two of sixty-four squares. A network that must predict the whole board spends most of its training on
learning to copy. Here the copy is built in, and the network learns the changes. The
previous state of a predicted state is the last known state of the record, as it would be if nothing had moved
(known_states.py). These parts use it:
    copy gates      add to the state logits: one gate to the previous token of a square, the other to the piece that
                    moves. Their initial values apply the move: the source square is empty, the target has the piece.
                    While the move is noised, "unchanged" is right for most squares and the surest token of the record;
                    `copy_gates = "after-move"` keeps the gates shut until the move is visible
    castling table  adds to the castling logits: which rights are lost when a move leaves or reaches a square
    places          the input of a predicted state's places is a sum of linear maps: `recall` of the previous tokens,
                    `carry` of the hidden states at the same places of the root, `follow` of the last move's place
    moves           the vector of a move is its own row plus vectors of its source and target squares; the input of
                    its place also has vectors of the pieces on them
Only the move from source to target square and the piece of a promotion are built in. Castling, en passant, rights and
clocks must be learned; the packaged weights have not learned en passant. Needs prefix attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.config import LEARNING_RATE_MULTIPLIER
from diffusearch.model.embedding import Embedding
from diffusearch.model.known_states import known_states
from diffusearch.model.rows import UNKNOWN, slots_of_moves
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout

NEITHER, SOURCE, TARGET = range(3)

_NOTHING = 1 << 20  # beyond every vocabulary: nothing is copied
_SQUARES = 65  # the last one: no square, because the move is noised or the game is over


@dataclass(frozen=True)
class Copies:
    """What the states of a record can copy: known before any place is computed."""

    tokens: Tensor  # [batch, variables, 2] the token if nothing moved, and the piece that the move puts down
    gates: Tensor  # [batch, variables, 2] what the gates of these two start from
    source: Tensor  # [batch, variables] the slot of the move's source square,
    target: Tensor  # and of its target square; beyond the last slot: unknown
    open: Tensor | None = None  # [batch, variables] bool: whether the gates count; None: all do

    def logits(self, gates: Tensor, variables: Tensor, size: int) -> Tensor:
        """Gates [batch, n, 2] of some variables [n] -> logits [batch, n, size]: each gate at the token it copies."""
        gates = (gates + self.gates[:, variables]).to(gates.dtype)
        if self.open is not None:
            gates = gates * self.open[:, variables, None]
        copied = self.tokens[:, variables].clamp(max=size)  # the last column takes what is not known
        return gates.new_zeros(*gates.shape[:2], size + 1).scatter_add(-1, copied, gates)[..., :-1]


def copy_gates(width: int, variables: int) -> nn.Linear:
    """Hidden states of places -> two gates for each of the variables they carry."""
    gates = nn.Linear(width, 2 * variables)
    nn.init.zeros_(gates.weight)
    nn.init.zeros_(gates.bias)
    with torch.no_grad():  # at the start, most likely nothing has moved
        gates.bias[::2] = 6.0
    return gates


class CastlingTable(nn.Module):
    """Castling logits from the squares of the last move and the rights before it.

    Rights are lost when a king or rook leaves its square or a rook is captured on it. This is rare, and a table of
    square x rights before x rights after remembers it. It starts at zero.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.table = nn.Parameter(torch.zeros(2 * _SQUARES * size, size))

    def forward(self, before: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """Rights before the move and the slots of its squares, [batch, n] each -> logits [batch, n, size]."""
        left = source.clamp(max=_SQUARES - 1) * self.size + before
        reached = (_SQUARES + target.clamp(max=_SQUARES - 1)) * self.size + before
        return LEARNING_RATE_MULTIPLIER * (F.embedding(left, self.table) + F.embedding(reached, self.table))


class MoveVectors(nn.Module):
    """Vectors of moves: the sum of a vector of the source square and one of the target square."""

    def __init__(self, width: int) -> None:
        super().__init__()
        # large enough to matter beside the hidden states of the root
        self.squares = nn.Parameter(torch.randn(2 * 64, width) * 0.25)

    def forward(self) -> Tensor:
        """[1968, width]"""
        source, target = (torch.from_numpy(one).to(self.squares.device) for one in (moves.SOURCE, moves.TARGET))
        return self.squares[source] + self.squares[64 + target]


class ResidualState(nn.Module):
    """The starting vectors of the future's places, and what the heads can copy."""

    def __init__(self, layout: Layout, width: int, *, after_move: bool = False) -> None:
        """`after_move`: copy gates open only where the move that leads to the state is visible."""
        super().__init__()
        self.after_move = after_move
        self.carry, self.follow, self.recall = (nn.Linear(width, width) for _ in range(3))
        nn.init.normal_(self.carry.weight, std=0.02)  # hidden states are large, embeddings small
        nn.init.eye_(self.follow.weight)
        nn.init.eye_(self.recall.weight)
        # the pieces on a move's source and target squares; as large as the vectors of the squares
        self.pieces = nn.Parameter(torch.randn(2 * (UNKNOWN + 1), width) * 0.25)
        # what the gates start from on other squares, on the source and on the target square of the move
        self.touched = nn.Parameter(torch.tensor([[0.0, 0.0], [-12.0, 0.0], [-12.0, 12.0]]))
        self.source: Tensor
        self.target: Tensor
        self.promotes: Tensor  # by how much the code of a promoted pawn grows
        for name, array in zip(("source", "target", "promotes"), slots_of_moves(layout), strict=True):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)

    def forward(self, places: Tensor, tokens: Tensor, root: Tensor, layout: Layout, embedding: Embedding) -> Tensor:
        """Embedded places [batch, future places, width] and the root's hidden states -> the trunk's input."""
        tokens = tokens.to(places.device)
        before, known = known_states(tokens, layout)
        carried = self.carry(root)
        move = torch.zeros_like(places[:, :1])  # the last one so far
        out: list[Tensor] = []
        for segment in layout.segments:
            start = segment.place - layout.given_places
            if segment.given:
                continue
            if segment.kind == "s":
                recalled = self.recall(embedding.state(before[segment.ply], layout))
                out.append(places[:, start : start + len(layout.state_places)] + carried + recalled + self.follow(move))
                continue
            place = places[:, start : start + 1]
            if segment.kind == "a" and segment.start < tokens.shape[1]:
                state = known[min(segment.ply, len(known) - 1)]
                place = move = place + self._pieces(tokens[:, segment.start], state)[:, None]
            out.append(place)
        return torch.cat(out, dim=1)

    def copies(self, tokens: Tensor, layout: Layout, before: list[Tensor], known: list[Tensor]) -> Copies:
        """What the states of a record can copy; `before` and `known` are those of `known_states`."""
        slots, shape = before[0].shape[1], (tokens.shape[0], layout.variables)
        stays, arrives = tokens.new_zeros(shape), tokens.new_full(shape, _NOTHING)
        touched, source, target = (tokens.new_full(shape, fill) for fill in (NEITHER, slots, slots))
        visible = torch.ones(shape, dtype=torch.bool, device=tokens.device) if self.after_move else None
        for segment in layout.segments:
            if segment.kind != "s":
                continue
            here = slice(segment.start, segment.start + slots)
            stays[:, here] = before[segment.ply]
            move = layout.segment("a", segment.ply - 1)
            if move is not None and move.start < tokens.shape[1]:
                played = tokens[:, move.start]
                left, reached = self.source[played], self.target[played]
                piece = _on(known[segment.ply - 1], left) + self.promotes[played]
                arrives[:, segment.start : segment.start + 64] = piece[:, None]
                marks = tokens.new_full((tokens.shape[0], slots + 1), NEITHER)  # the last column: no square
                marks.scatter_(1, left[:, None], SOURCE).scatter_(1, reached[:, None], TARGET)
                touched[:, here] = marks[:, :-1]
                source[:, here], target[:, here] = left[:, None], reached[:, None]
                if visible is not None:
                    visible[:, here] = (played < moves.VOCABULARY)[:, None]
        return Copies(torch.stack([stays, arrives], -1), F.embedding(touched, self.touched), source, target, visible)

    def _pieces(self, move: Tensor, state: Tensor) -> Tensor:
        """Moves [batch] in states [batch, slots] -> vectors [batch, width] of the pieces on their squares."""
        source, target = (_on(state, slots[move]) for slots in (self.source, self.target))
        return self.pieces[source] + self.pieces[UNKNOWN + 1 + target]


def _on(state: Tensor, slots: Tensor) -> Tensor:
    """The codes [batch] on one slot each [batch] of states [batch, slots]; beyond the last slot: unknown."""
    return F.pad(state, (0, 1), value=UNKNOWN).gather(1, slots[:, None])[:, 0]
