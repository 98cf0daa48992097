"""The verb `reproduce`: repeat a table or figure of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diffusearch.cli.measuring import Limit
from diffusearch.errors import UserError


def register(app: typer.Typer) -> None:
    """Add the verb to the program."""
    app.command()(reproduce)


def reproduce(
    name: Annotated[str, typer.Argument(help="An exhibit; `list` names all with their place in the paper.")],
    plan: Annotated[bool, typer.Option("--plan", help="Print rows, runs and their core-hours, then stop.")] = False,
    actions: Annotated[Path | None, typer.Option("--actions", help="Labelled test positions.")] = None,
    puzzles: Annotated[Path | None, typer.Option("--puzzles", help="Test puzzles.")] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder of the trained runs.")] = Path("runs/paper"),
    labels: Annotated[Path, typer.Option("--labels", help="Folder of the labelled sets that rows name.")] = Path(
        "labels"
    ),
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the page (runs/reproduce/NAME).")] = None,
    scale: Annotated[str, typer.Option("--scale", help="Compare with the paper's 10k or 100k games.")] = "10k",
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Base recipe, a name or a file (paper-SCALE).")
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change every run: dotted.key=value.")] = None,
    limit: Limit = None,
    limit_puzzles: Annotated[int | None, typer.Option("--limit-puzzles", help="Puzzles to measure (--limit).")] = None,
    skip_actions: Annotated[int, typer.Option("--skip-actions", min=0, help="Test positions left out first.")] = 0,
    skip_puzzles: Annotated[int, typer.Option("--skip-puzzles", min=0, help="Puzzles left out first.")] = 0,
    games: Annotated[int, typer.Option("--games", help="Games for each pairing.")] = 400,
    train: Annotated[bool, typer.Option("--train", help="Train the runs that are missing first.")] = False,
) -> None:
    """Repeat a table or figure of the paper and write a page with our figures beside the paper's."""
    from diffusearch.reproduce.exhibits import EXHIBITS, exhibit
    from diffusearch.reproduce.plan import Setting

    if name == "list":
        for one in EXHIBITS.values():
            print(f"{one.name:<16}{one.place:<36}{one.title}")
        print("`diffusearch reproduce NAME --plan` tells what one contains and costs.")
        return
    wanted = exhibit(name)
    if scale not in ("10k", "100k"):
        raise UserError(f"--scale {scale!r} is not one of the paper's: give 10k or 100k.")
    setting = Setting(
        runs=runs,
        out=out or Path("runs/reproduce") / name,
        labels=labels,
        scale=scale,
        recipe=recipe or f"paper-{scale}",
        settings=tuple(settings or ()),
        actions=actions,
        puzzles=puzzles,
        limit=limit,
        puzzle_limit=limit_puzzles,
        skip_actions=skip_actions,
        skip_puzzles=skip_puzzles,
        games=games,
        train=train,
    )
    if plan:
        from diffusearch.reproduce.checks import check_base, check_settings
        from diffusearch.reproduce.cost import plan_lines

        check_settings(wanted, setting)
        check_base(wanted, setting)
        for line in plan_lines(wanted, setting):
            print(line)
        return
    from diffusearch.reproduce.driver import make, next_step
    from diffusearch.reproduce.page import write_page

    made = make(wanted, setting, say=print)
    page = write_page(wanted, made, setting)
    print(f"{len(made.results)} of {len(wanted.rows)} rows measured; written to {page}")
    if words := next_step(wanted, setting, made):
        print(words)
