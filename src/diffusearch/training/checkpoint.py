"""The files of a run folder, each written whole or not at all.

recipe.toml              the resolved recipe
checkpoint.safetensors   weights, average, optimiser state; step and seed, from which random numbers and data follow
weights.safetensors      the weights to use (the average where there is one)
log.csv                  one line for each figure of each report
.lock                    locked while a run uses the folder
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.files import put_in_place, temporary_for
from diffusearch.model.config import ModelConfig
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.muon import Muon

FORMAT = "diffusearch-1"


def save_tensors(path: Path, tensors: dict[str, Tensor], about: dict[str, object]) -> None:
    """Write tensors and a few plain facts as one safetensors file, whole or not at all."""
    temporary = temporary_for(path)
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    try:
        save_file(contiguous, temporary, metadata={"format": FORMAT, "about": json.dumps(about)})
        _sort_metadata(temporary)
        put_in_place(temporary, path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"{path} cannot be written ({reason}): free some space or choose another folder") from None


def _sort_metadata(path: Path) -> None:
    """The same tensors and facts give the same bytes: safetensors writes the metadata in an order of chance."""
    with path.open("r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode().ljust(size)
        if len(text) == size:  # the offsets of the tensors stay
            file.seek(8)
            file.write(text)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, object]]:
    """Read such a file; any other file is refused with the reason."""
    with _opened(path) as (file, about):
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 (no mapping)


def load_facts(path: Path) -> dict[str, object]:
    """The plain facts of such a file; its tensors are not read."""
    with _opened(path) as (_, about):
        return about


def load_shapes(path: Path) -> dict[str, torch.Size]:
    """The names and shapes of the tensors in the file's header; the tensors are not read."""
    with _opened(path) as (file, _):
        return {name: torch.Size(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def load_denoiser(config: ModelConfig, path: Path) -> Denoiser:
    """The network of a configuration with the weights of a file.

    Names and shapes are compared with the file's header before memory is used for any of them.
    """
    with torch.device("meta"):  # shapes without numbers
        expected = {name: parameter.shape for name, parameter in Denoiser(config).named_parameters()}
    check_fit(expected, load_shapes(path), path)
    net = Denoiser(config)
    load_weights(net, load_tensors(path)[0], path)
    return net


def count(about: dict[str, object], name: str, path: Path) -> int:
    """A whole number among the facts of a file, 0 where it is missing."""
    value = about.get(name) or 0
    if not isinstance(value, int) or value < 0:
        raise UserError(f"{path} is damaged ({name} is {str(value)[:40]!r}): take it from its source again")
    return value


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, dict[str, object]]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise UserError(f"{path} was not written by diffusearch (format {metadata.get('format')!r})")
            about = json.loads(metadata["about"])
            if not isinstance(about, dict):
                raise ValueError("its facts are no table")
            yield file, about
    except FileNotFoundError:
        raise UserError(f"{path} is not there: train first with `diffusearch train`") from None
    except (SafetensorError, OSError, KeyError, ValueError, RecursionError) as error:
        reason = str(error)[:200]
        raise UserError(f"{path} is damaged or no safetensors file ({reason}): take it from its source again") from None


def check_fit(expected: dict[str, torch.Size], found: dict[str, torch.Size], path: Path) -> None:
    """Refuse tensors whose names or shapes are not exactly the expected ones."""
    missing, foreign = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    if missing or foreign:
        raise UserError(
            f"{path} does not fit the recipe: "
            f"{len(missing)} weights missing {missing[:3]}, {len(foreign)} unknown {foreign[:3]}"
        )
    for name, shape in expected.items():
        if shape != found[name]:
            raise UserError(f"{path} does not fit the recipe: {name} is {list(found[name])}, not {list(shape)}")


def load_weights(net: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Put weights into a network; names and shapes must fit exactly, and all values must be finite."""
    own = dict(net.named_parameters())
    check_fit(shapes(own), shapes(weights), path)
    if sick := next((name for name in own if not weights[name].isfinite().all()), None):
        raise UserError(
            f"{path}: {sick!r} holds values that are no number (nan or inf): copy it again, or train at a lower rate"
        )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])


def shapes(tensors: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    """The shape of each tensor."""
    return {name: tensor.shape for name, tensor in tensors.items()}


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
        _, owner, index, key = (*name.split(".", 3), "", "", "")[:4]
        if not (owner.isdecimal() and index.isdecimal() and int(owner) < len(optimisers)):
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
    """Start with the weights of another run; says what was taken.

    Weights of the same name are taken whole, or their first rows where only the number of rows differs (a longer
    horizon has more places). Weights that the other run lacks keep their initial values.
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
