"""The denoiser as an ONNX file, for other runtimes and languages: tokens in, logits of every variable out.

One call of the file is one denoising step; the loop around it (which variables are fixed when) stays with the caller.
What a caller must know is written into the file's metadata as JSON under `diffusearch`: the type of each variable, its
vocabulary (whose size is also its mask token), how many variables are given, and the order of the outputs.
"""

from __future__ import annotations

import json
import logging
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.files import write_whole
from diffusearch.inference.roots import given_variables
from diffusearch.inference.run import Run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.recipe import recipe_text

TOLERANCE = 1e-3  # of logits; both sides compute in float32


class DenoisingStep(nn.Module):
    """Tokens [batch, variables] -> logits [batch, variables of a type, vocabulary], one output for each type."""

    def __init__(self, net: Denoiser) -> None:
        super().__init__()
        self.net = net

    def forward(self, tokens: Tensor) -> tuple[Tensor, ...]:
        layout = self.net.layout
        # By way of the variables' vectors: sums of gathered rows are plain operators everywhere, bags are not.
        hidden = self.net.hidden_of_vectors(self.net.embedding.vectors(tokens, layout), layout, tokens)
        out = tuple(self.net.logits(hidden, layout, tokens=tokens).values())
        return out if self.net.root_value is None else (*out, self.net.value_logits(hidden, layout))


def output_names(net: Denoiser) -> list[str]:
    """The types in the order of the outputs; `root_value` last where the model has that head."""
    names = [group.type.replace(" ", "_") for group in net.layout.groups]
    return names if net.root_value is None else [*names, "root_value"]


def about(run: Run) -> dict[str, Any]:
    """What the caller of the file must know."""
    layout = run.layout
    return {
        "recipe": recipe_text(run.recipe),
        "paradigm": layout.paradigm,
        "horizon": layout.horizon,
        "encoding": layout.encoding.name,
        "turned": layout.encoding.turned,  # whether the board is seen from the root's mover
        "timesteps": run.recipe.process.timesteps,
        "given": layout.given_variables,
        "types": list(layout.types),
        "masks": layout.sizes.tolist(),
        "outputs": {
            name: group.variables.tolist() for name, group in zip(output_names(run.net), layout.groups, strict=False)
        },
    }


def export_onnx(run: Run, path: Path) -> None:
    """Write the denoiser of a run; the number of records in a batch is left open."""
    try:
        import onnx
        import onnxscript  # noqa: F401 (torch's exporter needs it)
    except ImportError as error:
        raise UserError(f"{error.name} is not installed: pip install 'diffusearch[export]'") from error
    example = (records(run, 3, seed=0),)
    shapes = {"tokens": {0: torch.export.Dim("batch")}}
    with _hushed(), torch.no_grad():
        program = torch.onnx.export(
            DenoisingStep(run.net).eval(),
            example,
            input_names=["tokens"],
            output_names=output_names(run.net),
            dynamic_shapes=shapes,
            dynamo=True,
            verbose=False,
        )
    if program is None:
        raise RuntimeError("torch.onnx.export gave no program")
    model = program.model_proto
    onnx.helper.set_model_props(model, {"diffusearch": json.dumps(about(run))})
    write_whole(path, model.SerializeToString())


@contextmanager
def _hushed() -> Iterator[None]:
    """Without three remarks of torch's exporter on its own insides, which nobody here can act on."""

    def wanted(record: logging.LogRecord) -> bool:
        return "torchvision is not installed" not in record.msg  # no operator of it is in our networks

    operators = logging.getLogger("torch.onnx._internal.exporter._registration")
    operators.addFilter(wanted)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Attempted to insert a get_attr Node", UserWarning)
            warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)` is deprecated", FutureWarning)
            yield
    finally:
        operators.removeFilter(wanted)


def records(run: Run, count: int, seed: int) -> Tensor:
    """Records [count, variables] of positions from random games, each noised to a different degree.

    What is visible of their futures is drawn from the vocabularies: arithmetic is compared here, not chess.
    """
    lots, numbers = random.Random(seed), np.random.default_rng(seed)
    layout = run.layout
    given = given_variables([_position(lots) for _ in range(count)], layout).numpy()
    sizes = layout.sizes[given.shape[1] :]
    visible = numbers.random((count, len(sizes))) < np.linspace(0, 1, count)[:, None]  # the first is fully noised
    future = np.where(visible, numbers.integers(0, sizes, (count, len(sizes))), sizes)
    return torch.from_numpy(np.concatenate([given, future], axis=1))


def _position(lots: random.Random) -> chess.Board:
    board = chess.Board()
    for _ in range(lots.randrange(80)):
        board.push(lots.choice(list(board.legal_moves)))
        if not any(board.legal_moves):
            board.pop()
            break
    return board


@dataclass(frozen=True)
class Agreement:
    """How far the file and torch agree."""

    positions: int
    difference: float  # the largest one between two logits
    same: float  # share of variables whose likeliest token is the same

    @property
    def good(self) -> bool:
        return self.difference <= TOLERANCE


def check_onnx(run: Run, path: Path, positions: int = 100, seed: int = 1) -> Agreement:
    """Compare the file in onnxruntime with torch, in batches of different sizes."""
    try:
        import onnxruntime
    except ImportError as error:
        raise UserError(f"{error.name} is not installed: pip install 'diffusearch[export]'") from error
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tokens = records(run, positions, seed)
    difference, same, total = 0.0, 0, 0
    for part in torch.split(tokens, [1, *_sizes(positions - 1, 32)]):
        found: list[npt.NDArray[np.float32]] = session.run(None, {"tokens": part.numpy()})
        with torch.inference_mode():
            wanted = DenoisingStep(run.net)(part)
        for theirs, ours in zip(found, wanted, strict=True):
            difference = max(difference, float(np.abs(theirs - ours.numpy()).max()))
            same += int((theirs.argmax(-1) == ours.numpy().argmax(-1)).sum())
            total += int(np.prod(theirs.shape[:-1]))
    return Agreement(positions, difference, same / total)


def _sizes(count: int, at_most: int) -> list[int]:
    return [min(at_most, count - start) for start in range(0, count, at_most)]
