"""From denoised tokens back to chess: samples become Imaginations, in the true colours of the game."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Frame, Imagination, Ply
from diffusearch.diffusion.roots import Roots
from diffusearch.diffusion.sampling import Sample
from diffusearch.tokens import moves
from diffusearch.tokens.encodings import SWAP
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.states import InvalidState
from diffusearch.tokens.values import BIN_VALUES

Ints = npt.NDArray[np.int64]

_LETTERS = ".PNBRQKpnbrqk?"  # of piece codes, White's first; the last is the mask
_OVER = Ply(None, False, None, "the game is not over at the root", False)
_SWAP: Ints = np.append(SWAP, len(SWAP))  # own <-> opponent's piece codes; the mask stays


def read_sample(sample: Sample, roots: Roots, layout: Layout, decoding: Decoding) -> list[Imagination]:
    """One Imagination for each root: the most likely of its samples.

    Where the line is not wanted it ends with the first move, and no state behind it is read.
    """
    count = len(roots.boards)
    assert sample.move_log_probabilities is not None
    assert sample.raw_move_logits is not None
    each = len(sample.tokens) // count  # samples of one root
    best = sample.log_probability.view(count, each).argmax(1) + torch.arange(count) * each
    shares = sample.move_log_probabilities[best].exp().double().numpy()
    raw = sample.raw_move_logits[best].double().softmax(-1)
    raw_best, raw_shares = raw.argmax(-1).tolist(), raw.numpy()
    values = _values(sample, best, layout)
    out = []
    columns = zip(best.tolist(), roots.boards, roots.moves, roots.tokens, strict=True)
    for row, (index, board, own, ids) in enumerate(columns):
        tokens: Ints = sample.tokens[index].numpy()
        reader = Reader(layout, board)
        on_legal = shares[row, ids]
        on_legal /= max(on_legal.sum(), 1e-300)
        first = reader.move(tokens, 0)
        out.append(
            Imagination(
                root=board.fen(),
                move=first or moves.NONE_UCI,
                probabilities=dict(zip((move.uci() for move in own), on_legal.tolist(), strict=True)),
                line=reader.line(tokens) if decoding.line else reader.glance(first),
                film=tuple(reader.frame(step, frame[index]) for step, frame in enumerate(sample.film)),
                log_probability=float(sample.log_probability[index]),
                value=values[row],
                legal_mass=float(raw_shares[row, ids].sum()),
                raw_legal=raw_best[row] in ids,
                steps=int(sample.steps[index]),
                evaluations=int(sample.steps[index]) * each,
            )
        )
    return out


def _values(sample: Sample, best: Tensor, layout: Layout) -> Sequence[float | None]:
    """The roots' values, where the model knows them."""
    segment = layout.segment("v", 0)
    if segment is not None and not segment.given:
        return [float(value) for value in BIN_VALUES[sample.tokens[best, segment.start].numpy()]]
    if sample.value_logits is not None:
        found: list[float] = (sample.value_logits[best].softmax(-1) @ torch.from_numpy(BIN_VALUES)).tolist()
        return found
    return [None] * len(best)


class Reader:
    """Reads the tokens of records that start from one root."""

    def __init__(self, layout: Layout, root: chess.Board) -> None:
        self.layout, self.root = layout, root
        self.turned = layout.encoding.turned and not root.turn

    def move(self, tokens: Ints, ply: int) -> str | None:
        """UCI of the action at a ply; None if the paradigm has none there, it is masked, or the game is over."""
        segment = self.layout.segment("a", ply)
        if segment is None or tokens[segment.start] >= moves.NONE:
            return None
        token = int(tokens[segment.start])
        return moves.id_uci(int(moves.TURN[token]) if self.turned else token)

    def squares(self, tokens: Ints, ply: int) -> str | None:
        """The board of the state at a ply as 64 characters from a8, '?' where masked."""
        segment = self.layout.segment("s", ply)
        if segment is None:
            return None
        codes = np.empty(64, dtype=np.int64)
        codes[self.layout.encoding.squares] = tokens[segment.start : segment.start + 64]
        if self.turned:  # own pieces are Black's: back to absolute colours and ranks
            codes = codes[np.arange(64) ^ 56]
            codes = _SWAP[codes]
        return "".join(_LETTERS[codes[square ^ 56]] for square in range(64))

    def board(self, tokens: Ints, ply: int) -> chess.Board:
        """The state at a ply; raises InvalidState."""
        segment = self.layout.segment("s", ply)
        assert segment is not None
        number = self.root.fullmove_number + (ply + (not self.root.turn)) // 2
        span = tokens[segment.start : segment.start + len(self.layout.encoding.slots)]
        return self.layout.encoding.decode(span, self.root.turn, number)

    def glance(self, first: str | None) -> tuple[Ply, ...]:
        """The first move alone, whatever is imagined behind it."""
        if first is None:
            return (_OVER,)
        return (Ply(first, self.root.is_legal(chess.Move.from_uci(first)), None, None, False),)

    def line(self, tokens: Ints) -> tuple[Ply, ...]:
        """The imagined plies, up to the end of the game as the model sees it."""
        plies: list[Ply] = []
        here: chess.Board | None = self.root  # the state that the next move is played in, as imagined
        has_states = self.layout.segment("s", 1) is not None
        for ply in range(self.layout.horizon):
            uci = self.move(tokens, ply)
            if uci is None and self.layout.segment("a", ply) is not None:
                if ply == 0:
                    plies.append(_OVER)
                break  # the model says that the game is over
            if uci is None and self.layout.segment("s", ply + 1) is None:
                break  # s-ass: nothing is imagined of the last ply
            following, problem, squares = None, None, None
            if self.layout.segment("s", ply + 1) is not None:
                squares = self.squares(tokens, ply + 1)
                try:
                    following = self.board(tokens, ply + 1)
                except InvalidState as error:
                    problem = str(error)
            plies.append(ply_of(here, uci, following, problem, squares))
            here = following if has_states else _result(here, uci)
        return tuple(plies)

    def frame(self, step: int, tokens: Tensor) -> Frame:
        """The record after a step of denoising."""
        ids: Ints = tokens.numpy()
        shown: list[str | None] = []
        for ply in range(self.layout.horizon):
            segment = self.layout.segment("a", ply)
            over = segment is not None and ids[segment.start] == moves.NONE
            shown.append(moves.NONE_UCI if over else self.move(ids, ply))
        boards = [self.squares(ids, ply) for ply in range(1, self.layout.horizon)]
        return Frame(step, tuple(shown), tuple(board for board in boards if board is not None))


def ply_of(
    here: chess.Board | None, uci: str | None, following: chess.Board | None, problem: str | None, squares: str | None
) -> Ply:
    """A move as it is imagined in a state, and the state behind it: compared with what the rules make of the move.

    Without a valid state before it (None) no move is legal.
    """
    result = _result(here, uci)
    state = None if following is None else following.fen()
    wrong = () if result is None or squares is None else _differences(squares, result)
    return Ply(uci, result is not None, state, problem, result is not None and result.fen() == state, squares, wrong)


def _result(here: chess.Board | None, uci: str | None) -> chess.Board | None:
    """What a move truly gives, if it is legal."""
    move = None if uci is None else chess.Move.from_uci(uci)
    if here is None or move is None or not here.is_legal(move):
        return None
    result = here.copy(stack=False)
    result.push(move)
    return result


def _differences(squares: str, board: chess.Board) -> tuple[int, ...]:
    """Squares (a1 = 0) where 64 characters from a8 differ from a board."""
    out = []
    for square in chess.SQUARES:
        piece = board.piece_at(square)
        if squares[square ^ 56] != (piece.symbol() if piece else "."):
            out.append(square)
    return tuple(out)
