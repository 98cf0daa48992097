"""What all eval verbs share: progress on stderr, provenance, saving the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from diffusearch.agents.base import Agent
from diffusearch.evaluation.record import provenance, save


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A Rich bar on stderr (stdout stays clean for --json); gives a function to call with the number done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


def recipe_of(agent: Agent) -> dict[str, Any] | None:
    """The recipe of the run inside an agent, for JSON; None for agents without weights.

    The hash of the weights is part of it: the same recipe, trained for longer, is another player.
    """
    return agent.provenance or None


def recipes_of(texts: Iterable[str]) -> dict[str, Any]:
    """The same for agents by their texts; a wrong text is refused."""
    from diffusearch.agents.build import agent as build

    found = {}
    for text in texts:
        with build(text) as player:
            found[text] = recipe_of(player)
    return found


def finish(
    kind: str,
    figures: dict[str, Any],
    *,
    recipes: dict[str, Any],
    files: list[Path],
    seed: int | None,
    skip: int = 0,
    split: str | None = None,
    out: Path,
) -> tuple[dict[str, Any], Path]:
    """Put provenance on top of the figures and write the JSON; `recipes` has an entry for each agent's text."""
    result = {**provenance(kind, recipes=recipes, files=files, seed=seed, skip=skip, split=split), **figures}
    return result, save(result, out)
