"""Arrays -> boards: denoised records become Imaginations, in the true colours of the game."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np

from diffusearch.diffusion.decoding import Floats, Ints, log_softmax
from diffusearch.diffusion.sampling import Sample, SampleFrame
from diffusearch.inference.imagination import Frame, Imagination, Ply, ply_of, result_of
from diffusearch.inference.roots import Roots
from diffusearch.tokens import moves
from diffusearch.tokens.encodings import SWAP
from diffusearch.tokens.layout import Layout
from diffusearch.tokens.states import InvalidState
from diffusearch.tokens.values import BIN_VALUES

_LETTERS = ".PNBRQKpnbrqk?"  # of piece codes, White's first; the last is the mask
_SHOWN = 5  # first moves that a frame names
_OVER = Ply(None, False, None, "the game is not over at the root", False)
_SWAP: Ints = np.append(SWAP, len(SWAP))  # own <-> opponent's piece codes; the mask stays


def read_sample(sample: Sample, roots: Roots, layout: Layout) -> list[Imagination]:
    """One Imagination for each root: the most likely of its samples."""
    count = len(roots.boards)
    assert sample.move_log_probabilities is not None
    assert sample.raw_move_logits is not None
    each = len(sample.tokens) // count  # samples of one root
    best: Ints = sample.log_probability.reshape(count, each).argmax(1) + np.arange(count) * each
    shares = np.exp(sample.move_log_probabilities[best].astype(np.float64))
    raw_shares = _softmax(sample.raw_move_logits[best])
    raw_best = raw_shares.argmax(-1).tolist()
    values = _values(sample, best, layout)
    out = []
    columns = zip(best.tolist(), roots.boards, roots.moves, roots.tokens, strict=True)
    for row, (index, board, own, ids) in enumerate(columns):
        tokens = sample.tokens[index]
        reader = Reader(layout, board)
        on_legal = shares[row, ids]
        on_legal /= max(on_legal.sum(), 1e-300)
        first = reader.move(tokens, 0)
        out.append(
            Imagination(
                root=board.fen(),
                move=first or moves.NONE_UCI,
                probabilities=dict(zip((move.uci() for move in own), on_legal.tolist(), strict=True)),
                line=reader.line(tokens),
                film=tuple(reader.frame(step, frame, index) for step, frame in enumerate(sample.film)),
                log_probability=float(sample.log_probability[index]),
                value=values[row],
                legal_mass=float(raw_shares[row, ids].sum()),
                raw_legal=raw_best[row] in ids,
                steps=int(sample.steps[index]),
                evaluations=int(sample.steps[index]) * each,
                move_step=None if sample.move_step is None else int(sample.move_step[index]),
            )
        )
    return out


def _values(sample: Sample, best: Ints, layout: Layout) -> Sequence[float | None]:
    """The roots' values, where the model knows them."""
    segment = layout.segment("v", 0)
    if segment is not None and not segment.given:
        return [float(value) for value in BIN_VALUES[sample.tokens[best, segment.start]]]
    if sample.value_logits is not None:
        found: list[float] = (_softmax(sample.value_logits[best]) @ BIN_VALUES).tolist()
        return found
    return [None] * len(best)


def _softmax(logits: Floats) -> Floats:
    return np.exp(log_softmax(logits.astype(np.float64)))


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
            here = following if has_states else result_of(here, uci)
        return tuple(plies)

    def frame(self, step: int, frame: SampleFrame, row: int) -> Frame:
        """One record of a batch after a step of denoising."""
        ids, likelihood = frame.tokens[row], frame.likelihood[row]
        shown: list[str | None] = []
        for ply in range(self.layout.horizon):
            segment = self.layout.segment("a", ply)
            over = segment is not None and ids[segment.start] == moves.NONE
            shown.append(moves.NONE_UCI if over else self.move(ids, ply))
        plies = [ply for ply in range(1, self.layout.horizon) if self.layout.segment("s", ply) is not None]
        return Frame(
            step,
            tuple(shown),
            tuple(self.squares(ids, ply) or "" for ply in plies),
            tuple(self._confidence(likelihood, ply) for ply in plies),
            self._likeliest(frame.move_log_probabilities, row),
        )

    def _confidence(self, likelihood: Floats, ply: int) -> tuple[float, ...]:
        """The probability of each predicted square of a state, 64 numbers from a8."""
        segment = self.layout.segment("s", ply)
        assert segment is not None
        found = np.empty(64)
        found[self.layout.encoding.squares] = likelihood[segment.start : segment.start + 64]
        if self.turned:
            found = found[np.arange(64) ^ 56]
        return tuple(round(float(found[square ^ 56]), 3) for square in range(64))

    def _likeliest(self, log_probabilities: Floats | None, row: int) -> dict[str, float]:
        """The likeliest first moves as they are predicted in this step, best first."""
        if log_probabilities is None:
            return {}
        shares = np.exp(log_probabilities[row])
        top = np.argsort(-shares, kind="stable")[:_SHOWN]
        ids = moves.TURN[top] if self.turned else top
        told = zip(ids.tolist(), shares[top].tolist(), strict=True)
        return {moves.id_uci(token): share for token, share in told if share > 0}
