"""Verb: train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command()(train)


def train(
    recipe: Annotated[Path, typer.Argument(help="a TOML recipe, or the name of one in recipes/")],
    out: Annotated[Path | None, typer.Option(help="run folder (default: runs/NAME)")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="override: dotted.key=value")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the run folder's checkpoint")] = False,
) -> None:
    """Train a model; kill it at any time and go on with --resume."""
    from rich.console import Console

    from diffusearch.training.loop import train as run
    from diffusearch.training.recipe import load_recipe
    from diffusearch.training.shelf import find_recipe

    console = Console()
    resolved = load_recipe(find_recipe(recipe), tuple(set_ or ()))
    folder = out or Path("runs") / resolved.name
    run(resolved, folder, resume=resume, report=lambda line: console.print(line, highlight=False, soft_wrap=True))
    console.print(f"weights: {folder / 'weights.safetensors'}")
