"""Who plays in a soak: every word of the grammar, with budgets so small that a thousand games are affordable."""

from __future__ import annotations

from pathlib import Path

from diffusearch.agents.spec import AgentSpec
from diffusearch.data.uci_process import find_engine

# Words whose run the package does not have get an untrained one: it plays badly, but by every step of a trained one.
UNTRAINED = {
    "direct": {"model": {"horizon": 4}, "process": {"kind": "direct"}},
    "autoregressive": {"model": {"horizon": 2}, "process": {"kind": "autoregressive"}},
    "sa-v": {"model": {"paradigm": "sa-v", "horizon": 1}},
}
PACKAGED = (
    "search?widths=3x2",
    "search?planner=mcts&simulations=8",
    "search?planner=rollout&depth=2",
    "search?dynamics=rules&widths=3x2",
    "search?planner=mcts&dynamics=rules&simulations=8",
    "search?widths=3x2&strength=30",
    "diffusearch?steps=3&horizon=2",
    "diffusearch?steps=2&horizon=2&k=2&temperature=1&cache=on",
    "s-a",
    "s-a?temperature=1&seed=3",
    "s-v",
    "mcts?simulations=8",
    "mcts-as-published?simulations=8",
    "stockfish?nodes=50",
    "stockfish?depth=1&skill=0",
    "random",
    "greedy-material",
)


def texts(work: Path) -> list[str]:
    """The agents' texts; makes the untrained runs if they are not there."""
    own = [str(AgentSpec(word, str(_untrained(word, work)))) for word in UNTRAINED]
    engine = str(AgentSpec("uci", find_engine(None)).with_options(nodes="20"))
    return [*PACKAGED, *own, engine]


def _untrained(name: str, work: Path) -> Path:
    import torch

    from diffusearch.model.denoiser import Denoiser
    from diffusearch.training.checkpoint import save_tensors
    from diffusearch.training.recipe import recipe_from_dict, recipe_text

    folder = work / "runs" / name
    if not (folder / "weights.safetensors").is_file():
        attention = "causal" if name == "autoregressive" else "prefix"
        trunk = {"layers": 1, "width": 32, "heads": 2, "attention": attention}
        tables = UNTRAINED[name]
        model = {"encoding": "compact", "patch": 8, "head": "squares", "trunk": trunk} | tables["model"]
        recipe = recipe_from_dict({"name": name} | tables | {"model": model})
        torch.manual_seed(0)
        net = Denoiser(recipe.model)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recipe.toml").write_text(recipe_text(recipe))
        save_tensors(folder / "weights.safetensors", dict(net.named_parameters()), {})
    return folder
