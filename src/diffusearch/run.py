"""A trained model, opened for use: positions in, priors, values or imaginations out.

A run folder holds recipe.toml and weights.safetensors. This is the border between chess (boards, moves) and tensors:
everything before it speaks python-chess, everything behind it speaks tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from diffusearch.data.loader import tokenise
from diffusearch.data.records import LEGAL_BYTES, UNKNOWN
from diffusearch.data.streams import sha256
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.imagination import Imagination
from diffusearch.diffusion.process import make_process
from diffusearch.diffusion.reading import read_sample
from diffusearch.diffusion.roots import Allowed, Roots, masked, token_mask, tokens_of
from diffusearch.diffusion.sampling import Sample, reach
from diffusearch.diffusion.turns import by_turns
from diffusearch.diffusion.unfolding import BATCH, Unfolded, unfold
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.model.int8 import int8
from diffusearch.tokens import states
from diffusearch.tokens.layout import JUDGES, Layout
from diffusearch.tokens.values import BIN_VALUES
from diffusearch.training.checkpoint import load_denoiser
from diffusearch.training.recipe import Recipe, load_recipe


class Run:
    """A model with its recipe."""

    def __init__(self, recipe: Recipe, net: Denoiser, fingerprint: str | None = None) -> None:
        self.recipe, self.net = recipe, net.eval()
        self.fingerprint = fingerprint  # sha256 of the weights' file
        self.process = make_process(recipe.process.kind, recipe.process.timesteps)
        self.layout = net.layout

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Open a run folder; damaged or foreign files are refused with the reason."""
        folder = Path(path)
        if not (folder / "recipe.toml").is_file():
            raise UserError(f"{folder} is no run folder: give the folder that `diffusearch train` wrote")
        recipe = load_recipe(folder / "recipe.toml")
        file = folder / "weights.safetensors"
        return cls(recipe, load_denoiser(recipe.model, file), sha256(file))

    def quantised(self) -> Run:
        """The same run with 8-bit weights in its trunk: faster on a CPU, not exact."""
        return Run(self.recipe, int8(self.net), self.fingerprint)

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def paradigm(self) -> str:
        return self.recipe.model.paradigm

    @property
    def horizon(self) -> int:
        return self.recipe.model.horizon

    @property
    def knows_values(self) -> bool:
        """Whether `values` works: a value is predicted from the state alone, or there is a root value head."""
        return self.net.root_value is not None or self.paradigm == "s-v"

    @property
    def imagines_states(self) -> bool:
        """Whether a state follows its first move."""
        return self.layout.segment("a", 0) is not None and self.layout.segment("s", 1) is not None

    @property
    def foresees(self) -> bool:
        """Whether `unfold` works: states are imagined in one call, and valued."""
        return self.imagines_states and self.net.root_value is not None and isinstance(self.process, Absorbing)

    @property
    def usual_order(self) -> str:
        """In which order agents decode, unless they are told: turn by turn where the model imagines states."""
        return "turns" if self.imagines_states else "plies"

    @property
    def _nearest(self) -> Layout:
        """The shortest layout that the model was trained on: enough to read the root's move or value."""
        return self.layout.truncated(self.recipe.nearest_horizon)

    def priors(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        """For each position the probabilities of its legal moves, in one network call (sum 1)."""
        return self._glance(boards)[0]

    def look(self, boards: Sequence[chess.Board]) -> tuple[list[dict[chess.Move, float]], npt.NDArray[np.float64]]:
        """`priors` and `values` in one network call, of a run that has both."""
        priors, values = self._glance(boards)
        return priors, np.array(values)

    def _glance(self, boards: Sequence[chess.Board]) -> tuple[list[dict[chess.Move, float]], list[float]]:
        """The shares of moves, and the values of the positions where the model has a root value."""
        out: list[dict[chess.Move, float]] = []
        values: list[float] = []
        for part in _parts(boards):
            roots = Roots.of(part, self.layout)
            sample = self._sample(roots, Decoding(steps=1), self._nearest, torch.Generator(), None)
            assert sample.move_log_probabilities is not None
            shares = sample.move_log_probabilities.exp().double().numpy()
            for row, own, tokens in zip(shares, roots.moves, roots.tokens, strict=True):
                legal = row[tokens]
                out.append(dict(zip(own, (legal / legal.sum()).tolist(), strict=True)))
            if sample.value_logits is not None:
                values += (sample.value_logits.softmax(-1) @ torch.from_numpy(BIN_VALUES)).tolist()
        return out, values

    @property
    def looks(self) -> bool:
        """Whether `look` works: moves and the root's value are read off the same call."""
        return self.net.root_value is not None and self.paradigm not in JUDGES

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float64]:
        """Win probability of the side to move in each position [n]; the positions need not have legal moves."""
        if not self.knows_values:
            raise UserError(f"the run {self.name!r} ({self.paradigm}) knows no values: use an s-v run")
        out = [np.zeros(0)]
        for part in _parts(boards):
            layout = self._nearest
            given = self.given(part, layout)
            with torch.inference_mode():
                if self.paradigm == "s-v":
                    hidden = self.net.hidden(masked(given, layout), layout)
                    logits = self.net.logits(hidden, layout)["value"][:, 0]
                elif self.net.prefix:  # the root does not see the future: it need not be there
                    logits = self.net.value_logits(self.net.read_root(given, layout).hidden, layout)
                else:
                    logits = self.net.value_logits(self.net.hidden(masked(given, layout), layout), layout)
            out.append((logits.float().softmax(-1) @ torch.from_numpy(BIN_VALUES)).double().numpy())
        return np.concatenate(out)

    def unfold(self, boards: Sequence[chess.Board], count: int, legal: Allowed | None = None) -> list[Unfolded]:
        """Of each position shares, value and the imagined states behind its `count` likeliest moves, in two calls.

        `legal` narrows the moves that may be played in each.
        """
        if not self.foresees:
            raise UserError(
                f"the run {self.name!r} ({self.paradigm}, {self.recipe.process.kind}) does not imagine and value "
                "states: use an s-asa run of absorbing diffusion, horizon 2 or more, with root_value = true"
            )
        out: list[Unfolded] = []
        for start in range(0, len(boards), BATCH):
            roots = Roots.of(boards[start : start + BATCH], self.layout)
            _refuse_over(roots)
            narrowed = None if legal is None else legal[start : start + BATCH]
            out += unfold(self.net, roots, self.given(roots.boards, self._nearest), self._nearest, count, narrowed)
        return out

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        """For each position the win probability of the mover after each legal move (sa-v)."""
        if self.paradigm != "sa-v":
            raise UserError(f"the run {self.name!r} is {self.paradigm}, not sa-v: it knows no values of actions")
        questions = [(board, move) for board in boards for move in board.legal_moves]
        answers: list[float] = []
        for start in range(0, len(questions), BATCH):
            part = questions[start : start + BATCH]
            given = self.given([board for board, _ in part], self.layout)
            action = self.layout.segment("a", 0)
            assert action is not None
            asked = tokens_of([board for board, _ in part], [[move] for _, move in part], self.layout)
            given[:, action.start] = torch.tensor(asked)[:, 0]
            with torch.inference_mode():
                logits = self.net(masked(given, self.layout), self.layout)["value"][:, 0]
            answers.extend((logits.float().softmax(-1) @ torch.from_numpy(BIN_VALUES)).tolist())
        out: list[dict[chess.Move, float]] = [{} for _ in boards]
        owner = [index for index, board in enumerate(boards) for _ in board.legal_moves]
        for index, (_, move), value in zip(owner, questions, answers, strict=True):
            out[index][move] = value
        return out

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding = Decoding(),
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        """Denoise the next move of each position together with its future.

        `legal` narrows the moves that may be played at each root; `horizon` imagines less far than the model can (or
        farther, turn by turn).
        """
        generator = generator or torch.Generator().manual_seed(0)
        if decoding.order == "turns":
            if not self.imagines_states:
                raise UserError(
                    f"order 'turns' needs a model that imagines states, and the run {self.name!r} is {self.paradigm} "
                    f"of horizon {self.horizon}: choose order 'plies'"
                )

            def near(some: Sequence[chess.Board], step: Decoding, own: Allowed | None, far: int) -> list[Imagination]:
                return self.imagine(some, step, generator, own, far)

            return by_turns(near, boards, decoding, legal, horizon or self.horizon)
        layout = self.layout.truncated(min(horizon or self.horizon, self.horizon))
        out: list[Imagination] = []
        size = max(1, BATCH // decoding.imaginations)
        for start in range(0, len(boards), size):
            part = boards[start : start + size]
            narrowed = None if legal is None else legal[start : start + size]
            roots = Roots.of(part, layout)
            enough, reached = self._enough(decoding, layout)
            sample = self._sample(roots, enough, reached, generator, narrowed)
            out.extend(read_sample(sample, roots, reached, decoding))
        return out

    def _enough(self, decoding: Decoding, layout: Layout) -> tuple[Decoding, Layout]:
        """As little as gives the same move, its shares and the root's value, where the line is not wanted.

        In these orders the first network call fixes the first move; the others only add the future to it.
        """
        action = next(segment for segment in layout.segments if not segment.given)
        settled = (
            isinstance(self.process, Absorbing)
            and decoding.order in ("plies", "left-to-right")
            and (action.kind, action.ply) == ("a", 0)
            and all(segment.given for segment in layout.segments if segment.kind == "v")
            and decoding.temperature == 0.0
            and not (decoding.remask or decoding.move_last or decoding.film)
        )
        if decoding.line or not settled:
            return decoding, layout
        alone = action.start + 1 - layout.given_variables  # ply by ply the move has a call of its own
        return replace(decoding, steps=1, imaginations=1), reach(layout, decoding, alone)

    def _sample(
        self,
        roots: Roots,
        decoding: Decoding,
        layout: Layout,
        generator: torch.Generator,
        narrowed: Allowed | None,
    ) -> Sample:
        if self.paradigm in JUDGES:
            raise UserError(f"the run {self.name!r} is {self.paradigm} and predicts no move: use an s-a or s-asa run")
        _refuse_over(roots)
        given = self.given(roots.boards, layout)
        allowed = roots.mask() if narrowed is None else self.allowed(roots.boards, narrowed)
        times = decoding.imaginations
        if times > 1:
            given, allowed = given.repeat_interleave(times, 0), allowed.repeat_interleave(times, 0)
        return self.process.sample(self.net, given, layout, decoding, generator, allowed)

    def given(self, boards: Sequence[chess.Board], layout: Layout) -> Tensor:
        """The given variables [n, given variables] of positions."""
        count = len(boards)
        arrays: dict[str, npt.NDArray[Any]] = {
            "states": np.stack([states.board_row(board, board.turn) for board in boards])[:, None],
            "moves": np.zeros((count, 1), dtype=np.uint16),
            "values": np.full((count, 1), UNKNOWN, dtype=np.uint8),
            "known": np.zeros(count, dtype=np.uint8),
            "black": np.array([not board.turn for board in boards]),
            "number": np.array([board.fullmove_number for board in boards], dtype=np.int64),
            "legal": np.zeros((count, LEGAL_BYTES), dtype=np.uint8),
        }
        return tokenise(arrays, layout.truncated(1)).tokens[:, : layout.given_variables]

    def allowed(self, boards: Sequence[chess.Board], narrowed: Allowed | None) -> Tensor:
        """The moves that may be played at each root [n, moves] bool, in the layout's frame."""
        if narrowed is None:
            return Roots.of(boards, self.layout).mask()
        return token_mask(tokens_of(boards, narrowed, self.layout))


def _refuse_over(roots: Roots) -> None:
    for board, own in zip(roots.boards, roots.moves, strict=True):
        if not own:
            raise UserError(f"no legal move in {board.fen()!r}: the game is over")


def _parts(boards: Sequence[chess.Board]) -> list[Sequence[chess.Board]]:
    return [boards[start : start + BATCH] for start in range(0, len(boards), BATCH)]
