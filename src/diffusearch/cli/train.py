"""The verb `train`: trains a recipe, on one process or many, and resumes a run."""

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
    """Train a model.

    Ctrl-C (exit code 130) and SIGTERM (143) finish the step at hand and write a checkpoint. --resume goes on from it,
    also after a crash.
    """
    from diffusearch.training.loop import train as run
    from diffusearch.training.named_recipes import find_recipe
    from diffusearch.training.recipe import load_recipe

    resolved = load_recipe(find_recipe(recipe), tuple(set_ or ()))
    folder = out or Path("runs") / resolved.name
    trained = run(
        resolved, folder, resume=resume, report=typer.echo
    )  # echo writes each line out at once, also to a file
    if trained.world.rank == 0:  # of the processes of torchrun one speaks
        typer.echo(f"weights: {folder / 'weights.safetensors'}")
