"""The agents that the page offers, weakest level first; `diffusearch play --agent TEXT` adds others before them."""

from __future__ import annotations

from collections.abc import Sequence

from diffusearch.agents.base import Limits
from diffusearch.play.roster import Level, Offer

_DIALS = (20, 40, 60, 80)  # per cent of the strength dial: below 100 moves are drawn, not chosen

# `film=on` keeps every denoising step, which the page replays.
_DIFFUSEARCH = "diffusearch?film=on"

PACKAGED: tuple[Offer, ...] = (
    Offer(
        "diffusearch",
        "DiffuSearch",
        "Imagines futures together with its move, by discrete diffusion, and weighs a few of them.",
        (
            *(Level(f"{dial} % of its strength", f"{_DIFFUSEARCH}&strength={dial}") for dial in _DIALS),
            Level("full, 1 step", _DIFFUSEARCH, Limits(steps=1)),
            Level("full, 5 steps", _DIFFUSEARCH, Limits(steps=5)),
            Level("full, 20 steps", _DIFFUSEARCH, Limits(steps=20)),
        ),
        default=6,
    ),
    Offer(
        "s-a",
        "Policy (s-a)",
        "The same network without a future: one look, one move.",
        (*(Level(f"{dial} % of its strength", f"s-a?strength={dial}") for dial in _DIALS), Level("full", "s-a")),
    ),
    Offer(
        "mcts",
        "Tree search (MCTS)",
        "A policy and a value network joined by explicit search.",
        tuple(Level(f"{count} simulations", "mcts", Limits(nodes=count)) for count in (10, 30, 100, 300)),
        default=2,
    ),
    Offer(
        "stockfish",
        "Stockfish",
        "The oracle that labelled the training data.",
        tuple(
            Level("1 node" if count == 1 else f"{count:,} nodes", "stockfish", Limits(nodes=count))
            for count in (1, 30, 300, 3000, 30_000, 300_000)
        ),
        default=3,
        lines=4,
    ),
    Offer(
        "greedy-material",
        "Greedy",
        "Takes the most material it can, one move deep.",
        (Level("full", "greedy-material"),),
    ),
    Offer("random", "Random", "Any legal move.", (Level("full", "random"),)),
)


def offers(texts: Sequence[str]) -> tuple[Offer, ...]:
    """The user's own agents, named by their texts, then the packaged ones."""
    return tuple(_own(text) for text in texts) + PACKAGED


def _own(text: str) -> Offer:
    filmed = text
    if text.split(":")[0].split("?")[0] == "diffusearch" and "film=" not in text:
        filmed += "&film=on" if "?" in text else "?film=on"
    return Offer(text, text, "Your own agent.", (Level("as given", filmed),))
