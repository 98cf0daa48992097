"""What a run keeps on disk, always whole: a checkpoint to go on from, and weights to play with.

recipe.toml              the resolved recipe
checkpoint.safetensors   weights, average, optimiser state; step and seed (which fix RNG and data cursor)
weights.safetensors      the weights to use (the average where there is one)
log.csv                  one line for each report
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.files import put_in_place
from diffusearch.training.muon import Muon

FORMAT = "diffusearch-1"


def save_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, object]) -> None:
    """Tensors and a few plain facts as one safetensors file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    save_file(contiguous, temporary, metadata={"format": FORMAT, "about": json.dumps(about)})
    put_in_place(temporary, path)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, object]]:
    """Read such a file; anything else is refused with the reason."""
    with _opened(path) as (file, about):
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 (no mapping)


def load_facts(path: Path) -> dict[str, object]:
    """The plain facts of such a file alone."""
    with _opened(path) as (_, about):
        return about


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, dict[str, object]]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise UserError(f"{path} was not written by diffusearch (format {metadata.get('format')!r})")
            yield file, json.loads(metadata["about"])
    except FileNotFoundError:
        raise UserError(f"{path} is not there: train first with `diffusearch train`") from None
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged or no safetensors file ({error}): take it from its source again") from None


def check_fit(shapes: dict[str, torch.Size], tensors: dict[str, Tensor], path: Path) -> None:
    """Refuse tensors whose names or shapes are not exactly these."""
    missing, foreign = sorted(shapes.keys() - tensors.keys()), sorted(tensors.keys() - shapes.keys())
    if missing or foreign:
        raise UserError(
            f"{path} does not fit the recipe: "
            f"{len(missing)} weights missing {missing[:3]}, {len(foreign)} foreign {foreign[:3]}"
        )
    for name, shape in shapes.items():
        if shape != tensors[name].shape:
            raise UserError(f"{path} does not fit the recipe: {name} is {list(tensors[name].shape)}, not {list(shape)}")


def load_weights(net: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Put weights into a network; names and shapes must fit exactly, and all must be numbers."""
    own = dict(net.named_parameters())
    check_fit({name: parameter.shape for name, parameter in own.items()}, weights, path)
    if sick := next((name for name in own if not weights[name].isfinite().all()), None):
        raise UserError(
            f"{path}: {sick!r} holds what is no number (nan or inf): copy it again, or train at a lower rate"
        )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])


def optimiser_tensors(optimisers: list[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """The state of optimisers as named tensors (each state is a tensor for each parameter)."""
    out: dict[str, Tensor] = {}
    for number, optimiser in enumerate(optimisers):
        for index, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                out[f"optimiser.{number}.{index}.{key}"] = torch.as_tensor(value)
    return out


def restore_optimisers(optimisers: list[torch.optim.Optimizer], tensors: dict[str, Tensor], path: Path) -> None:
    """The inverse of optimiser_tensors; the optimisers must be those that were saved."""
    states: list[dict[int, dict[str, Tensor]]] = [{} for _ in optimisers]
    for name, value in tensors.items():
        _, owner, index, key = name.split(".", 3)
        if int(owner) >= len(optimisers):
            raise UserError(f"{path} was written with another optimiser: resume with the recipe of the run")
        states[int(owner)].setdefault(int(index), {})[key] = value
    for optimiser, state in zip(optimisers, states, strict=True):
        whole = optimiser.state_dict()
        parameters = [p for group in optimiser.param_groups for p in group["params"]]
        keys = {key for one in state.values() for key in one}
        expected = {"momentum"} if isinstance(optimiser, Muon) else {"step", "exp_avg", "exp_avg_sq"}
        if keys != expected or sorted(state) != list(range(len(parameters))):
            raise UserError(f"{path} was written with another optimiser: resume with the recipe of the run")
        optimiser.load_state_dict(whole | {"state": state})


def start_from(net: nn.Module, run: Path) -> str:
    """Begin with the weights of another run; says what was taken.

    Weights of the same name are taken whole, or their first rows where only the number of rows differs (a longer
    horizon has more places). What the other run lacks keeps its fresh values.
    """
    weights, _ = load_tensors(run / "weights.safetensors")
    taken = 0
    own = dict(net.named_parameters())
    with torch.no_grad():
        for name, parameter in own.items():
            other = weights.get(name)
            if other is None or other.shape[1:] != parameter.shape[1:]:
                continue
            rows = min(len(other), len(parameter))
            parameter[:rows] = other[:rows].to(parameter.dtype)
            taken += 1
    if not taken:
        raise UserError(f"{run} shares no weights with this recipe: check `start`")
    return f"started from {run}: {taken} of {len(own)} weights taken"
