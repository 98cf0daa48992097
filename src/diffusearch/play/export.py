"""The network as ONNX: graphs for play beside the weights, or the denoiser as one file for other programs.

One call of the file is one denoising step; the loop around it (which variables are fixed when) stays with the caller.
What a caller must know is written into the file's metadata as JSON under `diffusearch`: the type of each variable, its
vocabulary (whose size is also its mask token), how many variables are given, and the order of the outputs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from diffusearch.errors import UserError
from diffusearch.extras import require
from diffusearch.files import write_whole
from diffusearch.inference.agreement import Agreement, agreement, noised_records, positions
from diffusearch.inference.roots import given_variables
from diffusearch.inference.run import Run, check_run_folder
from diffusearch.training.recipe import recipe_text

_BATCH = 32  # records in one call of the comparison


def export_graphs(folder: Path) -> list[Path]:
    """Write the graphs of a run folder beside its weights."""
    check_run_folder(folder)
    require("onnx", "export")
    from diffusearch.graphs.files import write_graphs

    return write_graphs(folder)


def check_graphs(folder: Path, count: int, seed: int = 1) -> tuple[Agreement, Agreement]:
    """Compare the graphs of a run folder with torch: the exact ones, and those with 8-bit weights."""
    from diffusearch.inference.onnx_backend import OnnxBackend

    run, graphs = Run.load(folder, "torch"), Run.load(folder, "onnx").backend
    assert isinstance(graphs, OnnxBackend)
    return agreement(run, graphs, count, seed), agreement(run, graphs.quantised(), count, seed)


def about(run: Run) -> dict[str, Any]:
    """What the caller of the file must know."""
    from diffusearch.graphs.network import output_name

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
        "outputs": {output_name(group): group.variables.tolist() for group in layout.groups},
    }


def export_onnx(run: Run, weights: Path, path: Path) -> None:
    """Write the denoiser of a run with its weights; the number of records in a batch is left open."""
    require("onnx", "export")
    import onnx

    from diffusearch.graphs.network import NetworkGraph
    from diffusearch.graphs.weights_file import tensor_places

    if run.recipe.process.kind == "gaussian":
        raise UserError(f"the run {run.name!r} denoises vectors, not tokens: only runs of tokens can be exported")
    model = NetworkGraph(run.recipe, tensor_places(weights), embedded=weights).step()
    onnx.helper.set_model_props(model, {"diffusearch": json.dumps(about(run))})
    write_whole(path, model.SerializeToString(deterministic=True))


def check_onnx(run: Run, path: Path, count: int = 100, seed: int = 1) -> Agreement:
    """Compare the file in onnxruntime with torch, in batches of different sizes."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    tokens = noised_records(given_variables(positions(count, seed), run.layout), run.layout, seed)
    difference, same, total = 0.0, 0, 0
    for part in np.split(tokens, [1, *range(1 + _BATCH, count, _BATCH)]):
        if not len(part):
            continue
        found = session.run(None, {"tokens": part})
        with torch.inference_mode():
            x = torch.from_numpy(part)
            hidden = run.net.hidden(x, run.layout)
            wanted = list(run.net.logits(hidden, run.layout, tokens=x).values())
            if run.net.root_value is not None:
                wanted.append(run.net.value_logits(hidden, run.layout))
        for theirs, ours in zip(found, wanted, strict=True):
            difference = max(difference, float(np.abs(theirs - ours.numpy()).max()))
            same += int((theirs.argmax(-1) == ours.numpy().argmax(-1)).sum())
            total += int(np.prod(theirs.shape[:-1]))
    return Agreement(count, difference, same / total)
