"""The paper's figures, from the one file that holds them (paper.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from diffusearch.agents.make import asks_joint_denoising
from diffusearch.agents.spec import AgentSpec

# The first word of an agent's text -> the paper's name for such an agent.
PAPER_NAMES = {
    "diffusearch": "DiffuSearch",
    "s-a": "S-A",
    "s-v": "S-V",
    "sa-v": "SA-V",
    "mcts": "MCTS (100 simulations)",
    "mcts-as-published": "MCTS (100 simulations)",
}


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper."""

    place: str  # where it stands there
    title: str
    columns: dict[str, str]  # metric -> heading
    rows: dict[str, dict[str, float]]  # label -> metric -> figure (percent, or Elo)


@cache
def paper_tables() -> dict[str, PaperTable]:
    """All tables by name."""
    text = files(__package__).joinpath("paper.toml").read_text(encoding="utf-8")
    return {name: PaperTable(**table) for name, table in tomllib.loads(text).items()}


def paper_figure(table: str, row: str, metric: str) -> float | None:
    """One figure; None where the paper has none."""
    there = paper_tables().get(table)
    return there.rows.get(row, {}).get(metric) if there else None


def paper_name(agent: str, recipe: dict[str, Any] | None = None) -> str | None:
    """How the paper calls such an agent; `recipe` is its run's, as results keep it.

    Only joint denoising is the paper's DiffuSearch: one look, drafts and decoding ply by ply have no name there.
    """
    spec = AgentSpec.parse(agent)
    name = PAPER_NAMES.get(spec.word)
    return None if name == "DiffuSearch" and not _denoises_jointly(spec, recipe or {}) else name


def _denoises_jointly(spec: AgentSpec, recipe: dict[str, Any]) -> bool:
    """Whether several steps denoise move and future together, by the agent's options and else by its run's choices."""
    chosen = dict(recipe.get("decoding", {}))
    if asks_joint_denoising(spec):
        chosen["drafts"] = 0
    chosen |= spec.options
    several, drafts = int(chosen.get("steps", 20)) > 1, int(chosen.get("drafts", 0))
    return several and not drafts and chosen.get("order") != "plies"
