"""A trained run in use: positions in; priors and values, states after moves, or denoised futures out.

A run folder holds recipe.toml and weights.safetensors. This is the border between chess and tensors: callers speak
python-chess, the network speaks token ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
import torch
from torch import Tensor

from diffusearch.data.streams import sha256
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.autoregressive import Autoregressive
from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.process import make_process
from diffusearch.diffusion.sampling import Sample
from diffusearch.errors import UserError
from diffusearch.inference.evaluation import Evaluation, PredictedState
from diffusearch.inference.imagination import Imagination
from diffusearch.inference.reading import Reader, read_sample
from diffusearch.inference.roots import Allowed, Roots, given_variables, move_tokens, token_mask
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.model.int8 import int8
from diffusearch.tokens.batch import masked
from diffusearch.tokens.layout import JUDGES, Layout
from diffusearch.tokens.states import InvalidState
from diffusearch.tokens.values import BIN_VALUES
from diffusearch.training.checkpoint import load_denoiser
from diffusearch.training.recipe import Recipe, load_recipe
from diffusearch.weights import version_of

BATCH = 256  # positions, or states after their moves, in one network call


@dataclass(frozen=True)
class _Context:
    """Cached inputs of one evaluated position, reused to predict its next states."""

    run: Run
    given: Tensor  # [batch, given variables]
    root: Root | None  # under prefix attention: the root's hidden states, keys and values
    row: int


@dataclass(frozen=True)
class _Look:
    """One network call on a batch of roots."""

    move_logits: Tensor | None  # [batch, moves], unmasked
    value_logits: Tensor | None  # [batch, 128]
    root: Root | None


class Run:
    """A network with its recipe."""

    def __init__(
        self, recipe: Recipe, net: Denoiser, fingerprint: str | None = None, version: str | None = None
    ) -> None:
        self.recipe, self.net = recipe, net.eval()
        self.fingerprint = fingerprint  # sha256 of the weights' file
        self.version = version  # of packaged weights
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
        return cls(recipe, load_denoiser(recipe.model, file), sha256(file), version_of(folder))

    def quantised(self) -> Run:
        """The same run with 8-bit weights in its trunk: faster on a CPU, not exact."""
        return Run(self.recipe, int8(self.net), self.fingerprint, self.version)

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def paradigm(self) -> str:
        return self.recipe.model.paradigm

    @property
    def horizon(self) -> int:
        """Plies of a whole record."""
        return self.layout.horizon

    @property
    def provenance(self) -> dict[str, Any]:
        """The recipe, the sha256 of the weights (training changes them), and the version of packaged weights."""
        version = {} if self.version is None else {"weights_version": self.version}
        return asdict(self.recipe) | {"weights": self.fingerprint} | version

    @property
    def has_policy(self) -> bool:
        """Whether the network predicts moves."""
        return self.paradigm not in JUDGES

    @property
    def has_value(self) -> bool:
        """Whether the network values a position by itself."""
        return self.net.root_value is not None or self.paradigm == "s-v"

    @property
    def predicts_states(self) -> bool:
        """Whether `predict` works: a state follows the first move, and a move can be held fixed (a mask exists)."""
        segments = self.layout.segment("a", 0), self.layout.segment("s", 1)
        return None not in segments and isinstance(self.process, Absorbing)

    def trained_layout(self, at_least: int = 1) -> Layout:
        """The layout of the shortest trained horizon >= `at_least`."""
        found = [horizon for horizon in self.recipe.trained_horizons if horizon >= at_least]
        return self.layout.truncated(min(found, default=self.horizon))

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        """Priors and value of each position, in one network call for 256 of them.

        `legal` narrows the moves of each position. Without `priors` only values are computed, and positions need no
        legal moves.
        """
        if priors and not self.has_policy:
            raise UserError(f"the run {self.name!r} is {self.paradigm} and predicts no move: use an s-a or s-asa run")
        if not priors and not self.has_value:
            raise UserError(f"the run {self.name!r} ({self.paradigm}) has no value head: use an s-v run")
        out: list[Evaluation] = []
        layout = self.trained_layout()
        for start, part in _parts(boards):
            given = given_variables(part, layout)
            look = self._look(given, layout, priors)
            values = [None] * len(part) if look.value_logits is None else _expected(look.value_logits)
            if not priors:
                out += [Evaluation({}, value) for value in values]
                continue
            roots = Roots.of(part, self.layout)
            _refuse_finished(roots)
            assert look.move_logits is not None
            logits = look.move_logits.double().numpy()
            raw = np.exp(logits - logits.max(1, keepdims=True))
            for row in range(len(part)):
                own, ids = roots.moves[row], roots.tokens[row]
                mass, best = raw[row, ids].sum() / raw[row].sum(), raw[row, ids].max() == 1.0
                if legal is not None:
                    own = list(legal[start + row])
                    ids = move_tokens(part[row : row + 1], [own], self.layout)[0]
                powers = np.exp(logits[row, ids] - logits[row, ids].max())
                shares = dict(zip(own, (powers / powers.sum()).tolist(), strict=True))
                context = _Context(self, given, look.root, row)
                out.append(Evaluation(shares, values[row], float(mass), bool(best), context))
        return out

    @torch.inference_mode()
    def _look(self, given: Tensor, layout: Layout, moves: bool) -> _Look:
        """The first move's logits and the root's value, in one network call."""
        net = self.net
        if isinstance(self.process, Absorbing | Autoregressive):
            x, root = masked(given, layout), None
            if net.prefix:
                root = net.read_root(x, layout)
            if root is not None and not moves and net.root_value is not None:  # the root does not see the future
                hidden = root.hidden
            elif isinstance(self.process, Autoregressive):
                hidden = net.trunk(net.root_places(x, layout))[0]
            else:
                hidden = net.hidden(x, layout, root)
            value = net.value_logits(hidden, layout) if net.root_value is not None else None
            if self.paradigm == "s-v":
                value = net.logits(hidden, layout, tokens=x)["value"][:, 0]
            action = layout.segment("a", 0) if moves else None
            logits = None
            if action is not None:
                logits = net.logits(hidden, layout, layout.groups_at(action.place), tokens=x)["action"][:, 0]
            return _Look(logits, value, root)
        # These processes have no mask: their first step starts from pure noise.
        one = Decoding(steps=1, legal=False)
        sample = self.process.sample(net, given, layout, one, torch.Generator().manual_seed(0))
        return _Look(sample.raw_move_logits, sample.value_logits, None)

    @torch.inference_mode()
    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        """The state after one move of each position, in one network call for 256 of them.

        Cached evaluations avoid recomputing the root. No chess rules are used.
        """
        if not self.predicts_states:
            raise UserError(
                f"the run {self.name!r} ({self.paradigm}, {self.recipe.process.kind}) predicts no state after a move: "
                "use an s-asa run of absorbing diffusion, horizon 2 or more"
            )
        layout = self.trained_layout(2)
        contexts = self._contexts(boards, evaluations, layout)
        out: list[PredictedState | None] = [None] * len(boards)
        for rows in _by_batch(contexts):
            first = contexts[rows[0]]
            index = torch.tensor([contexts[row].row for row in rows])
            tokens = move_tokens([boards[row] for row in rows], [[moves[row]] for row in rows], layout)
            root = None if first.root is None else _picked(first.root, index)
            x, likelihood = self._next_states(first.given[index], torch.tensor(tokens)[:, 0], root, layout)
            for row, record, one in zip(rows, x.numpy(), likelihood.tolist(), strict=True):
                reader = Reader(layout, boards[row])
                try:
                    out[row] = PredictedState(reader.board(record, 1), log_probability=one)
                except InvalidState as error:
                    out[row] = PredictedState(None, str(error), reader.squares(record, 1), one)
        return [one for one in out if one is not None]

    def _next_states(self, given: Tensor, moves: Tensor, root: Root | None, layout: Layout) -> tuple[Tensor, Tensor]:
        """Given variables [n, given variables] and moves [n] -> records [n, variables] with the states after the
        moves, and the states' log-probabilities [n]."""
        action, state = layout.segment("a", 0), layout.segment("s", 1)
        assert action is not None
        assert state is not None
        x = masked(given, layout)
        x[:, action.start] = moves
        end = state.start + len(layout.encoding.slots)
        hidden = self.net.hidden(x, layout, root)
        likelihood = torch.zeros(len(x), dtype=torch.float64)
        groups = tuple(group for group in layout.groups if group.type not in ("action", "value"))
        for group, logits in zip(groups, self.net.logits(hidden, layout, groups, tokens=x).values(), strict=True):
            here = torch.from_numpy(group.variables) < end
            columns = torch.from_numpy(group.variables)[here]
            x[:, columns] = logits.argmax(-1)[:, here]
            likelihood += (logits.amax(-1) - logits.logsumexp(-1))[:, here].sum(-1)
        return x, likelihood

    def _contexts(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], layout: Layout
    ) -> list[_Context]:
        """The context of each position: from its evaluation if this run made it, else computed here."""
        kept = [one.context if one else None for one in evaluations]
        out: list[_Context | None] = [c if isinstance(c, _Context) and c.run is self else None for c in kept]
        new = [row for row, context in enumerate(out) if context is None]
        for start in range(0, len(new), BATCH):
            rows = new[start : start + BATCH]
            given = given_variables([boards[row] for row in rows], layout)
            root = self.net.read_root(given, layout) if self.net.prefix else None
            for place, row in enumerate(rows):
                out[row] = _Context(self, given, root, place)
        return [context for context in out if context is not None]

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        """For each position the win probability of the mover after each legal move (sa-v)."""
        if self.paradigm != "sa-v":
            raise UserError(f"the run {self.name!r} is {self.paradigm}, not sa-v: it has no values of actions")
        action = self.layout.segment("a", 0)
        assert action is not None
        questions = [(row, board, move) for row, board in enumerate(boards) for move in board.legal_moves]
        out: list[dict[chess.Move, float]] = [{} for _ in boards]
        for start in range(0, len(questions), BATCH):
            part = questions[start : start + BATCH]
            given = given_variables([board for _, board, _ in part], self.layout)
            asked = move_tokens([board for _, board, _ in part], [[move] for _, _, move in part], self.layout)
            given[:, action.start] = torch.tensor(asked)[:, 0]
            with torch.inference_mode():
                logits = self.net(masked(given, self.layout), self.layout)["value"][:, 0]
            for (row, _, move), value in zip(part, _expected(logits), strict=True):
                out[row][move] = value
        return out

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding | None = None,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
        *,
        film: bool = False,
    ) -> list[Imagination]:
        """Denoise the next move of each position together with its future.

        `decoding` is the run's own where it is left out; `legal` narrows the moves that may be played at each root;
        `horizon` asks for another length of the future than the model's; `film` records every step.
        """
        decoding = decoding or self.recipe.decoding
        generator = generator or torch.Generator().manual_seed(0)
        layout = self.asked_layout(decoding, horizon)
        out: list[Imagination] = []
        size = max(1, BATCH // decoding.imaginations)
        for start in range(0, len(boards), size):
            narrowed = None if legal is None else legal[start : start + size]
            roots = Roots.of(boards[start : start + size], layout)
            sample = self._sample(roots, decoding, layout, generator, narrowed, film)
            out += read_sample(sample, roots, layout)
        return out

    def asked_layout(self, decoding: Decoding, horizon: int | None = None) -> Layout:
        """The requested horizon; by default the whole one, or the shortest trained one when steps = 1.

        A horizon that is shorter than every trained one is refused.
        """
        trained = self.recipe.trained_horizons
        if horizon is None and decoding.steps == 1:
            return self.trained_layout()  # one look
        asked = self.horizon if horizon is None else horizon
        if asked < min(trained):
            raise UserError(
                f"the run {self.name!r} was trained on records of {_listed(trained)} plies, and horizon {asked} is "
                f"shorter: ask for {min(trained)} or more"
            )
        shorter = set(range(1, asked)) - set(trained)
        if decoding.order == "plies" and shorter and not isinstance(self.process, Autoregressive):
            raise UserError(
                f"order 'plies' denoises records of 1 to {asked} plies, and the run {self.name!r} was trained on "
                f"{_listed(trained)}: choose another order"
            )
        if asked > self.horizon and self.recipe.model.trunk.positions != "rope":
            raise UserError(
                f"the run {self.name!r} has learned positions for {self.horizon} plies, and horizon {asked} is longer: "
                "train with model.trunk.positions = 'rope'"
            )
        return self.layout.truncated(asked)

    def _sample(
        self,
        roots: Roots,
        decoding: Decoding,
        layout: Layout,
        generator: torch.Generator,
        narrowed: Allowed | None,
        film: bool,
    ) -> Sample:
        if not self.has_policy:
            raise UserError(f"the run {self.name!r} is {self.paradigm} and predicts no move: use an s-a or s-asa run")
        _refuse_finished(roots)
        given = given_variables(roots.boards, layout)
        allowed = token_mask(roots.tokens if narrowed is None else move_tokens(roots.boards, narrowed, layout))
        times = decoding.imaginations
        if times > 1:
            given, allowed = given.repeat_interleave(times, 0), allowed.repeat_interleave(times, 0)
        return self.process.sample(self.net, given, layout, decoding, generator, allowed, film)


def _expected(logits: Tensor) -> list[float]:
    """Win probabilities from logits [n, 128] of the value's bins."""
    found: list[float] = (logits.float().softmax(-1) @ torch.from_numpy(BIN_VALUES)).double().tolist()
    return found


def _picked(root: Root, rows: Tensor) -> Root:
    """Some rows of the roots, each as often as it is named."""
    rows = rows.to(root.hidden.device)
    return Root(root.hidden[rows], [(keys[rows], values[rows]) for keys, values in root.past])


def _by_batch(contexts: Sequence[_Context]) -> Iterator[list[int]]:
    """The rows that were evaluated in the same batch, 256 at a time."""
    groups: dict[int, list[int]] = {}
    for row, context in enumerate(contexts):
        groups.setdefault(id(context.given), []).append(row)
    for rows in groups.values():
        yield from (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def _refuse_finished(roots: Roots) -> None:
    for board, own in zip(roots.boards, roots.moves, strict=True):
        if not own:
            raise UserError(f"no legal move in {board.fen()!r}: the game is over")


def _parts(boards: Sequence[chess.Board]) -> Iterator[tuple[int, Sequence[chess.Board]]]:
    for start in range(0, len(boards), BATCH):
        yield start, boards[start : start + BATCH]


def _listed(horizons: Sequence[int]) -> str:
    return ", ".join(map(str, horizons))
