"""Grounded imagination: an imagined state starts from the state before it, and a move knows what it moves.

A move changes two squares of sixty-four, so a network that must write the whole board learns to copy for most of its
training. Grounded, it has the copy from the start and learns what changes. *Before* each imagined state stands the
state that would be there if nothing had moved: the last state that is known, read off the record itself. From it come
    the copies    one gate adds to the logit of the token that was there, another to that of the piece that the move
                  puts down (heads.py): the network learns where something stays and where it arrives. At first it
                  believes what the move itself says: its piece is gone from one square and stands on another
    the places    the place of an imagined square starts from what was on it (recall), from what the trunk made of the
                  root's same squares (carry) and from the move that leads there (follow)
    the moves     a move's vector says what stands on the squares that it leaves and reaches
Nothing here knows how pieces move, what castling or en passant is, or what becomes of rights and clocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from diffusearch.model.embedding import Embedding
from diffusearch.tokens import moves
from diffusearch.tokens.layout import Layout

NEITHER, LEFT, REACHED = range(3)

_UNKNOWN = 13  # behind the 13 codes of a square: the move is noised, or the game is over
_NOTHING = 1 << 20  # behind every vocabulary: nothing is copied


class Copies(NamedTuple):
    """What is known of the variables of imagined states before any place is computed: [batch, variables] each."""

    stays: Tensor  # the token if nothing moved
    arrives: Tensor  # the piece that the move puts down
    touched: Tensor  # whether the move leaves this square, reaches it, or neither
    left: Tensor  # the slot of the square that the move leaves,
    reached: Tensor  # and of the one that it reaches; behind the last slot: none is known


def follow_states(tokens: Tensor, layout: Layout) -> tuple[list[Tensor], list[Tensor]]:
    """For each state the state before it, as it would look if nothing had moved; and the state as far as it is known.

    Tokens [batch, >= given variables] of a noised record; what is missing counts as noised. Each state is
    [batch, slots]. Known is the record's own token where it is visible, else the one before. Before the root is itself.
    """
    slots = len(layout.encoding.slots)
    sizes = torch.tensor([slot.size for slot in layout.encoding.slots], device=tokens.device)
    factor, summand = (torch.from_numpy(array).to(tokens.device) for array in layout.encoding.unmoved)
    before, known = [tokens[:, :slots]], [tokens[:, :slots]]
    for segment in layout.segments[1:]:
        if segment.kind == "s":
            before.append((known[-1] * factor + summand).clamp(min=0).minimum(sizes - 1))
            here = tokens[:, segment.start : segment.start + slots]
            known.append(torch.where(here < sizes, here, before[-1]) if here.shape[1] == slots else before[-1])
    return before, known


class Grounding(nn.Module):
    """What the places of a future start from."""

    def __init__(self, layout: Layout, width: int) -> None:
        super().__init__()
        self.carry, self.follow, self.recall = (nn.Linear(width, width) for _ in range(3))
        nn.init.normal_(self.carry.weight, std=0.02)  # hidden states are large, embeddings small
        nn.init.eye_(self.follow.weight)
        nn.init.eye_(self.recall.weight)
        # what stands on the square that a move leaves, and on the one it reaches; loud, as the squares' own vectors are
        self.pieces = nn.Parameter(torch.randn(2 * (_UNKNOWN + 1), width) * 0.25)
        slot_of_square = np.argsort(layout.encoding.squares)
        none = [len(layout.encoding.slots)] * (moves.VOCABULARY + 1 - len(moves.SOURCE))  # the game is over; the mask
        self.left: Tensor
        self.reached: Tensor
        self.promotes: Tensor  # by how much the code of a promoted pawn grows: a move names its new piece
        self.register_buffer("left", torch.tensor([*slot_of_square[moves.SOURCE], *none]), persistent=False)
        promotes = np.pad(moves.PROMOTION, (0, len(none)))
        self.register_buffer("promotes", torch.from_numpy(promotes), persistent=False)
        self.register_buffer("reached", torch.tensor([*slot_of_square[moves.TARGET], *none]), persistent=False)

    def forward(self, places: Tensor, tokens: Tensor, root: Tensor, layout: Layout, embedding: Embedding) -> Tensor:
        """Places [batch, future places, width] of a record and the root's hidden states -> the places, grounded."""
        tokens = tokens.to(places.device)
        before, known = follow_states(tokens, layout)
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
        """What can be copied into the states of a record, of which `follow_states` gave the other two."""
        slots = before[0].shape[1]
        fills = (0, _NOTHING, NEITHER, slots, slots)
        copies = Copies(*(tokens.new_full((tokens.shape[0], layout.variables), fill) for fill in fills))
        for segment in layout.segments:
            if segment.kind != "s":
                continue
            here = slice(segment.start, segment.start + slots)
            copies.stays[:, here] = before[segment.ply]
            move = layout.segment("a", segment.ply - 1)
            if move is not None and move.start < tokens.shape[1]:
                played = tokens[:, move.start]
                left, reached = self.left[played], self.reached[played]
                piece = _standing(known[segment.ply - 1], left) + self.promotes[played]
                copies.arrives[:, segment.start : segment.start + 64] = piece[:, None]
                touched = tokens.new_full((tokens.shape[0], slots + 1), NEITHER)  # the last column: no square
                touched.scatter_(1, left[:, None], LEFT).scatter_(1, reached[:, None], REACHED)
                copies.touched[:, here] = touched[:, :-1]
                copies.left[:, here], copies.reached[:, here] = left[:, None], reached[:, None]
        return copies

    def _pieces(self, move: Tensor, state: Tensor) -> Tensor:
        """Moves [batch] played in states [batch, slots] -> the vectors [batch, width] of what they move and meet."""
        left, reached = (_standing(state, slots[move]) for slots in (self.left, self.reached))
        return self.pieces[left] + self.pieces[_UNKNOWN + 1 + reached]


def _standing(state: Tensor, slots: Tensor) -> Tensor:
    """What stands in states [batch, slots] on one slot each [batch]; behind the last slot nothing is known."""
    return F.pad(state, (0, 1), value=_UNKNOWN).gather(1, slots[:, None])[:, 0]
