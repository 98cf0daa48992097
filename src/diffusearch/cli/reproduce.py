"""The verb `reproduce`: repeat a table or figure of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from diffusearch.cli.measuring import Limit
from diffusearch.errors import UserError

if TYPE_CHECKING:
    from diffusearch.reproduce.exhibits import Exhibit
    from diffusearch.reproduce.plan import Setting
    from diffusearch.reproduce.whole import Whole


def register(app: typer.Typer) -> None:
    """Add the verb to the program."""
    app.command(cls=_NamedHelp)(reproduce)


class _NamedHelp(TyperCommand):
    """`reproduce NAME --help` tells what the exhibit contains and costs, before the options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta["words"] = tuple(args)  # --help is handled before the name is parsed
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from diffusearch.reproduce.catalogue import EXHIBITS

        words = ctx.meta.get("words", ())
        if name := next((word for word in words if word in EXHIBITS), None):
            from diffusearch.reproduce.budget import exhibit_help
            from diffusearch.reproduce.scales import scale_named

            print("\n".join(exhibit_help(name, scale_named(_said(words, "--scale") or "10k"))))
        super().format_help(ctx, formatter)


def _said(words: Sequence[str], option: str) -> str:
    """The value of an option among words that are not parsed yet; empty if it is not there."""
    text = " ".join(words).replace("=", " ").split()
    return next((value for word, value in pairwise(text) if word == option), "")


def reproduce(
    name: Annotated[
        str, typer.Argument(help="An exhibit, or `all`; `list` names every exhibit with its place in the paper.")
    ],
    plan: Annotated[bool, typer.Option("--plan", help="Print rows, runs and their core-hours, then stop.")] = False,
    actions: Annotated[Path | None, typer.Option("--actions", help="Labelled test positions.")] = None,
    puzzles: Annotated[Path | None, typer.Option("--puzzles", help="Test puzzles.")] = None,
    games: Annotated[Path | None, typer.Option("--games", help="all: games to label and train on (PGN).")] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder of the trained runs (all: OUT/runs).")] = Path(
        "runs/paper"
    ),
    labels: Annotated[
        Path, typer.Option("--labels", help="Folder of the labelled sets that rows name (all: OUT/labels).")
    ] = Path("labels"),
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the page (runs/reproduce/NAME).")] = None,
    scale: Annotated[
        str, typer.Option("--scale", help="laptop, or the paper's 10k (also `paper`) or 100k games.")
    ] = "10k",
    recipe: Annotated[
        Path | None, typer.Option("--recipe", help="Base recipe, a name or a file (paper-SCALE).")
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change every run: dotted.key=value.")] = None,
    limit: Limit = None,
    limit_puzzles: Annotated[int | None, typer.Option("--limit-puzzles", help="Puzzles to measure (--limit).")] = None,
    skip_actions: Annotated[int, typer.Option("--skip-actions", min=0, help="Test positions left out first.")] = 0,
    skip_puzzles: Annotated[int, typer.Option("--skip-puzzles", min=0, help="Puzzles left out first.")] = 0,
    match_games: Annotated[int | None, typer.Option("--match-games", help="Games for each pairing (by scale).")] = None,
    train: Annotated[bool, typer.Option("--train", help="Train the runs that are missing first.")] = False,
    engine: Annotated[str | None, typer.Option("--engine", help="all: the oracle, Stockfish if left out.")] = None,
    processes: Annotated[int, typer.Option("--processes", min=1, help="all: runs trained at once.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="all: train and measure on a Ray cluster.")] = False,
    page: Annotated[bool, typer.Option("--page", help="all: only write the page from what is measured.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="all: measure this alone, e.g. latency; may be repeated.")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option("--docs", help="all: folder of the page, its figures and the results (OUT).")
    ] = None,
) -> None:
    """Repeat a table or figure of the paper and write a page with our figures beside the paper's.

    `all` repeats every one: it labels games, trains the missing runs, measures, plays, draws and writes one page with a
    verdict on each claim. Killed at any moment, the same command goes on; with the folder of --docs it goes on
    elsewhere too.
    """
    from diffusearch.reproduce.catalogue import EXHIBITS, exhibit
    from diffusearch.reproduce.exhibits import COUNTS, EXAMPLES
    from diffusearch.reproduce.plan import Setting
    from diffusearch.reproduce.scales import scale_named

    if name == "list":
        for one in EXHIBITS.values():
            print(f"{one.name:<16}{one.place:<36}{one.title}")
        for place, title in (COUNTS, EXAMPLES):
            print(f"{'(all)':<16}{place:<36}{title}")
        print("`diffusearch reproduce NAME --help` tells what one contains and costs; `all` makes every one.")
        return
    chosen = scale_named(scale)
    setting = Setting(
        runs=runs,
        out=out or Path("runs/reproduce") / name,
        labels=labels,
        scale=chosen,
        recipe=recipe or chosen.recipe,
        settings=tuple(settings or ()),
        actions=actions,
        puzzles=puzzles,
        limit=limit,
        puzzle_limit=limit_puzzles,
        skip_actions=skip_actions,
        skip_puzzles=skip_puzzles,
        games=match_games or chosen.match_games,
        train=train,
        pgn=games,
        docs=docs.absolute() if docs else None,
    )
    if name == "all":
        if games is None and chosen.own_labels:
            raise UserError(
                "`reproduce all` labels and trains on games: give a PGN, plain or compressed, with --games."
            )
        whole = _whole(setting, engine, processes, ray, tuple(only or ()))
        _all(whole, plan=plan, page=page)
    else:
        _one(exhibit(name, chosen), setting, plan=plan)


def _whole(setting: Setting, engine: str | None, processes: int, ray: bool, only: tuple[str, ...]) -> Whole:
    from dataclasses import replace

    from diffusearch.reproduce.whole import planned

    whole = planned(replace(setting, out=setting.out.absolute()), engine, processes, ray)
    known = sorted({metric for exhibit in whole.exhibits.values() for metric in exhibit.metrics} - {"elo", "cases"})
    for metric in only:
        if metric not in known:
            raise UserError(f"--only {metric!r} is no measurement of `reproduce all`: give one of {', '.join(known)}.")
    return replace(whole, only=only)


def _all(whole: Whole, *, plan: bool, page: bool) -> None:
    from diffusearch.reproduce.whole import check_asked, make_all

    if plan:
        from diffusearch.reproduce.budget import whole_plan

        if whole.setting.scale.own_labels:
            check_asked(whole)
        for line in whole_plan(whole):
            print(line, flush=True)
        return
    if page:
        from diffusearch.reproduce.report import write_report

        check_asked(whole)
        print(f"written to {write_report(whole)}")
        return
    print(f"written to {make_all(whole, say=print)}")


def _one(wanted: Exhibit, setting: Setting, *, plan: bool) -> None:
    if plan:
        from diffusearch.reproduce.checks import check_base, check_settings
        from diffusearch.reproduce.cost import plan_lines

        check_settings(wanted, setting)
        check_base(wanted, setting)
        for line in plan_lines(wanted, setting):
            print(line, flush=True)
        return
    from diffusearch.reproduce.driver import make, next_step
    from diffusearch.reproduce.page import write_page

    made = make(wanted, setting, say=print)
    page = write_page(wanted, made, setting)
    print(f"{len(made.results)} of {len(wanted.rows)} rows measured; written to {page}")
    if words := next_step(wanted, setting, made):
        print(words)
