"""A trained run in use: positions in; priors and values, or states after moves, out. Futures: joint.py.

A run folder holds recipe.toml and weights.safetensors. This is the border between chess and tensors: callers speak
python-chess, the network speaks token ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import chess
import numpy as np

from diffusearch.diffusion.decoding import Floats
from diffusearch.errors import UserError
from diffusearch.files import sha256
from diffusearch.inference.backend import Backend, RootContext
from diffusearch.inference.backends import open_backend
from diffusearch.inference.evaluation import Allowed, Evaluation, PredictedState
from diffusearch.inference.reading import Reader
from diffusearch.inference.roots import Roots, given_variables, move_tokens, refuse_finished
from diffusearch.tokens.layout import JUDGES, Layout
from diffusearch.tokens.states import InvalidState
from diffusearch.tokens.values import BIN_VALUES
from diffusearch.training.recipe import Recipe, load_recipe
from diffusearch.weights import version_of

if TYPE_CHECKING:
    from diffusearch.inference.torch_backend import TorchBackend
    from diffusearch.model.denoiser import Denoiser


@dataclass(frozen=True)
class EvaluationContext:
    """One evaluated position among the roots of a network call, reused to predict its next states."""

    run: Run
    roots: RootContext
    row: int


def check_run_folder(folder: Path) -> None:
    """Refuse a folder that lacks what `diffusearch train` writes."""
    if not (folder / "recipe.toml").is_file():
        raise UserError(f"{folder} is no run folder: give the folder that `diffusearch train` wrote")
    if not (folder / "weights.safetensors").is_file():
        raise UserError(f"{folder / 'weights.safetensors'} is not there: train first with `diffusearch train`")


class Run:
    """A network with its recipe."""

    def __init__(
        self, recipe: Recipe, backend: Backend, fingerprint: str | None = None, version: str | None = None
    ) -> None:
        self.recipe, self.backend = recipe, backend
        self.fingerprint = fingerprint  # sha256 of the weights' file
        self.version = version  # of packaged weights
        self.layout = recipe.model.layout

    @property
    def net(self) -> Denoiser:
        """The network of the torch back end."""
        if self.backend.name != "torch":
            raise UserError(f"the run {self.name!r} is computed by {self.backend.name}: choose backend=torch")
        return cast("TorchBackend", self.backend).net

    @classmethod
    def load(cls, path: str | Path, backend: str = "auto") -> Run:
        """Open a run folder; damaged or foreign files are refused with the reason. `backend`: auto, onnx or torch."""
        folder = Path(path)
        check_run_folder(folder)
        recipe = load_recipe(folder / "recipe.toml")
        fingerprint = sha256(folder / "weights.safetensors")
        return cls(recipe, open_backend(backend, folder, recipe, fingerprint), fingerprint, version_of(folder))

    def quantised(self) -> Run:
        """The same run with 8-bit weights in its trunk: faster on a CPU, not exact."""
        return Run(self.recipe, self.backend.quantised(), self.fingerprint, self.version)

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
        return self.recipe.model.root_value or self.paradigm == "s-v"

    @property
    def reads_drafts(self) -> bool:
        """Whether the network revises its move by drafts."""
        return self.recipe.model.draft_reader

    @property
    def predicts_states(self) -> bool:
        """Whether `predict` works: a state follows the first move, and a move can be held fixed (a mask exists)."""
        segments = self.layout.segment("a", 0), self.layout.segment("s", 1)
        return None not in segments and self.recipe.process.kind in ("absorbing", "direct")

    def evaluate(
        self, boards: Sequence[chess.Board], legal: Allowed | None = None, *, priors: bool = True
    ) -> list[Evaluation]:
        """Priors and value of each position, in network calls of as many as the back end likes.

        `legal` narrows the moves of each position. Without `priors` only values are computed, and positions need no
        legal moves.
        """
        if priors and not self.has_policy:
            raise UserError(f"the run {self.name!r} is {self.paradigm} and predicts no move: use an s-a or s-asa run")
        if not priors and not self.has_value:
            raise UserError(f"the run {self.name!r} ({self.paradigm}) has no value head: use an s-v run")
        out: list[Evaluation] = []
        layout = self.recipe.trained_layout()
        for start in range(0, len(boards), self.backend.batch):
            part = boards[start : start + self.backend.batch]
            given = given_variables(part, layout)
            look = self.backend.look(given, layout, moves=priors)
            values = [None] * len(part) if look.value_logits is None else _expected(look.value_logits)
            contexts = [EvaluationContext(self, look.context, row) for row in range(len(part))]
            if not priors:
                out += [Evaluation({}, value, context=one) for value, one in zip(values, contexts, strict=True)]
                continue
            roots = Roots.of(part, self.layout)
            refuse_finished(roots)
            assert look.move_logits is not None
            logits = look.move_logits.astype(np.float64)
            raw = np.exp(logits - logits.max(1, keepdims=True))
            totals = raw.sum(1)
            for row in range(len(part)):
                own, ids = roots.moves[row], roots.tokens[row]
                on_legal = raw[row, ids]
                mass, best = on_legal.sum() / totals[row], on_legal.max() == 1.0
                if legal is not None:
                    own = list(legal[start + row])
                    ids = move_tokens(part[row : row + 1], [own], self.layout)[0]
                scores = logits[row, ids]
                powers = np.exp(scores - scores.max())
                shares = dict(zip(own, (powers / powers.sum()).tolist(), strict=True))
                out.append(Evaluation(shares, values[row], float(mass), bool(best), contexts[row]))
        return out

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        """The state after one move of each position, in network calls of as many as the back end likes.

        Cached evaluations avoid recomputing the root. No chess rules are used.
        """
        if not self.predicts_states:
            raise UserError(
                f"the run {self.name!r} ({self.paradigm}, {self.recipe.process.kind}) predicts no state after a move: "
                "use an s-asa run of absorbing diffusion, horizon 2 or more"
            )
        layout = self.recipe.trained_layout(2)
        contexts = self._contexts(boards, evaluations, layout)
        out: list[PredictedState | None] = [None] * len(boards)
        for rows in _by_batch(contexts, self.backend.batch):
            index = np.array([contexts[row].row for row in rows])
            tokens = move_tokens([boards[row] for row in rows], [[moves[row]] for row in rows], layout)
            played = np.array(tokens, dtype=np.int64)[:, 0]
            x, likelihood = self.backend.next_states(contexts[rows[0]].roots, index, played, layout)
            for row, record, one in zip(rows, x, likelihood.tolist(), strict=True):
                reader = Reader(layout, boards[row])
                try:
                    out[row] = PredictedState(reader.board(record, 1), log_probability=one)
                except InvalidState as error:
                    out[row] = PredictedState(None, str(error), reader.squares(record, 1), one)
        return [one for one in out if one is not None]

    def _contexts(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], layout: Layout
    ) -> list[EvaluationContext]:
        """The context of each position: from its evaluation if this run made it, else computed here."""
        kept = [one.context if one else None for one in evaluations]
        out: list[EvaluationContext | None] = [
            one if isinstance(one, EvaluationContext) and one.run is self else None for one in kept
        ]
        new = [row for row, context in enumerate(out) if context is None]
        for start in range(0, len(new), self.backend.batch):
            rows = new[start : start + self.backend.batch]
            given = given_variables([boards[row] for row in rows], layout)
            roots = self.backend.read_roots(given, layout)
            for place, row in enumerate(rows):
                out[row] = EvaluationContext(self, roots, place)
        return [context for context in out if context is not None]

    def action_values(self, boards: Sequence[chess.Board]) -> list[dict[chess.Move, float]]:
        """For each position the win probability of the mover after each legal move (sa-v)."""
        if self.paradigm != "sa-v":
            raise UserError(f"the run {self.name!r} is {self.paradigm}, not sa-v: it has no values of actions")
        action = self.layout.segment("a", 0)
        assert action is not None
        questions = [(row, board, move) for row, board in enumerate(boards) for move in board.legal_moves]
        out: list[dict[chess.Move, float]] = [{} for _ in boards]
        for start in range(0, len(questions), self.backend.batch):
            part = questions[start : start + self.backend.batch]
            given = given_variables([board for _, board, _ in part], self.layout)
            asked = move_tokens([board for _, board, _ in part], [[move] for _, _, move in part], self.layout)
            given[:, action.start] = np.array(asked)[:, 0]
            logits = self.backend.action_values(given, self.layout)
            for (row, _, move), value in zip(part, _expected(logits), strict=True):
                out[row][move] = value
        return out


def torch_run(recipe: Recipe, net: Denoiser) -> Run:
    """A run whose network is at hand, not in a file."""
    from diffusearch.inference.torch_backend import TorchBackend

    return Run(recipe, TorchBackend(net, recipe.process))


def _expected(logits: Floats) -> list[float]:
    """Win probabilities from logits [n, 128] of the value's bins."""
    powers = np.exp(logits - logits.max(1, keepdims=True)).astype(np.float32)
    found: list[float] = (powers @ BIN_VALUES / powers.sum(1)).astype(np.float64).tolist()
    return found


def _by_batch(contexts: Sequence[EvaluationContext], size: int) -> Iterator[list[int]]:
    """The rows that were evaluated in the same batch, at most `size` at a time."""
    groups: dict[int, list[int]] = {}
    for row, context in enumerate(contexts):
        groups.setdefault(id(context.roots), []).append(row)
    for rows in groups.values():
        yield from (rows[start : start + size] for start in range(0, len(rows), size))
