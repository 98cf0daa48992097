"""A run with the initial weights of its recipe: enough to time what depends on a network's shape alone."""

from __future__ import annotations

from pathlib import Path

from diffusearch.files import write_whole
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved


def write_initial(run: PlannedRun, setting: Setting) -> Path:
    """Write the run's network before its first training step, as a run folder below OUT/initial; gives the folder."""
    import torch

    from diffusearch.model.denoiser import Denoiser
    from diffusearch.training.checkpoint import save_tensors
    from diffusearch.training.recipe import recipe_text

    recipe, folder = resolved(run, setting), setting.out / "initial" / run.name
    with torch.random.fork_rng():  # as training begins, without a trace in the generator of this process
        torch.manual_seed(recipe.seed)
        net = Denoiser(recipe.model)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "recipe.toml", recipe_text(recipe))
    save_tensors(folder / "weights.safetensors", dict(net.named_parameters()), {"step": 0})
    return folder
