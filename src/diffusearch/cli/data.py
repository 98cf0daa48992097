"""Commands for data: `label` games, and `data show`, `data check`, `data selfplay`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from diffusearch.errors import UserError
from diffusearch.tokens.drafts import DEPTH

data_app = typer.Typer(help="Show and check labelled data, make games by self-play.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command("label")(label)
    app.command("draft")(draft)
    app.add_typer(data_app, name="data")


def label(
    games: Annotated[list[str], typer.Argument(help="PGN, puzzle CSV, Parquet, or - for standard input.")],
    out: Annotated[Path, typer.Option(help="Folder for the labels; the same command again continues.")],
    nodes: Annotated[int | None, typer.Option(help="Nodes of a search (10,000).")] = None,
    depth: Annotated[int | None, typer.Option(help="Depth of a search, instead of nodes.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds of a search; labels then differ between runs.")] = None,
    extend_nodes: Annotated[int | None, typer.Option(help="Nodes of a search that extends a short pv.")] = None,
    actions: Annotated[bool, typer.Option(help="Score every legal action; the budget is for each of them.")] = False,
    multipv: Annotated[int, typer.Option(help="Score the best K actions (1 to 64) in one search.")] = 1,
    per_game: Annotated[int | None, typer.Option(help="Positions of a game, drawn at random; all if left out.")] = None,
    skip_plies: Annotated[int, typer.Option(help="Leave out positions before this ply.")] = 0,
    horizon: Annotated[int, typer.Option(help="Moves of the line, the oracle's action included.")] = 4,
    future: Annotated[str | None, typer.Option(help="relabel, pv, random, random-world or played.")] = None,
    workers: Annotated[int, typer.Option(help="Engine processes.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="Address of a Ray cluster, or `local`.")] = None,
    limit_games: Annotated[int | None, typer.Option(help="Stop after so many games that pass the filters.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Labelled set whose positions are left out.")] = None,
    engine: Annotated[str | None, typer.Option(help="Path of a UCI engine; Stockfish if left out.")] = None,
    hash_mb: Annotated[int, typer.Option("--hash", help="Hash table of the engine in MB.")] = 16,
    timeout: Annotated[
        float, typer.Option(help="Seconds after which a search counts as hung (beyond --seconds).")
    ] = 60.0,
    min_rating: Annotated[int | None, typer.Option(help="Lowest rating of both players, or of the puzzle.")] = None,
    max_rating: Annotated[int | None, typer.Option(help="Highest rating of both players, or of the puzzle.")] = None,
    speed: Annotated[list[str] | None, typer.Option(help="ultrabullet, bullet, blitz, rapid or classical.")] = None,
    since: Annotated[str | None, typer.Option(help="First date, YYYY[.MM[.DD]].")] = None,
    until: Annotated[str | None, typer.Option(help="Last date, YYYY[.MM[.DD]].")] = None,
    termination: Annotated[list[str] | None, typer.Option(help="Termination header to keep, e.g. Normal.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawn plies and random futures.")] = 0,
    shard: Annotated[int, typer.Option(help="Positions of a shard.")] = 2048,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Label positions of games with the oracle's action and line (the paper's section 3.2)."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from diffusearch.data.filters import HeaderFilter
    from diffusearch.data.label_run import LabelRun, label_games
    from diffusearch.data.labelling import LabelSettings
    from diffusearch.data.oracle import OracleSettings
    from diffusearch.data.plan import Choice
    from diffusearch.data.source_games import is_puzzles
    from diffusearch.data.uci_process import SearchBudget, find_engine

    if future is None:  # the solution of a puzzle is its label; the moves of a human game are not
        future = "played" if all(map(is_puzzles, games)) else "relabel"
    oracle = None
    if future != "played":
        if nodes is None and depth is None and seconds is None:
            nodes = 10_000
        budget = SearchBudget(nodes, depth, seconds)
        if extend_nodes is not None and extend_nodes < 1:
            raise UserError(f"--extend-nodes {extend_nodes} is too small; give 1 or more")
        if extend_nodes is not None or budget.nodes is not None:
            extend = SearchBudget(nodes=extend_nodes or max(1, (budget.nodes or 0) // 5))
        else:
            extend = budget
        oracle = OracleSettings(find_engine(engine), budget, extend, hash_mb, timeout)
    wanted = HeaderFilter(min_rating, max_rating, tuple(speed or ()), since, until, tuple(termination or ()))
    run = LabelRun(
        sources=tuple(games),
        out=out,
        choice=Choice(wanted, per_game, skip_plies, limit_games, horizon, future == "played", seed, shard),
        settings=LabelSettings(future, horizon, actions, seed, oracle, multipv),
        exclude=tuple(exclude or ()),
        workers=workers,
        cluster=cluster,
    )
    texts = TextColumn("{task.completed:.0f} {task.description}"), TextColumn("{task.fields[rate]}")
    with Progress(SpinnerColumn(), *texts, TimeElapsedColumn(), console=Console(stderr=True)) as bars:
        bar = bars.add_task("positions", total=None, rate="")

        def progress(count: int) -> None:
            bars.advance(bar, count)
            pace = bars.tasks[0].speed
            bars.update(bar, rate=f"{pace:.1f}/s" if pace else "")

        manifest = label_games(run, progress)
    if as_json:
        typer.echo(json.dumps({"out": str(out), **manifest.counts}))
    else:
        typer.echo(f"{out}: {manifest.counts.get('positions', 0)} positions, shards: {len(manifest.shards)}")
        for name, count in sorted(manifest.counts.items()):
            typer.echo(f"  {count:>10}  {name}")
    if manifest.counts.get("positions", 0) == 0:
        book = (
            " (with --future played, 16 plies without a header BookPlies count as book)" if future == "played" else ""
        )
        raise UserError(f"{', '.join(games)} gave no position; loosen the filters or give other games{book}")


def draft(
    run: Annotated[str, typer.Argument(help="Run that drafts: a folder, or packaged weights by name (diffusearch).")],
    labels: Annotated[Path, typer.Argument(help="Labelled positions that the run was not trained on.")],
    out: Annotated[Path, typer.Option(help="Folder for the drafts; the same command again continues.")],
    drafts: Annotated[int, typer.Option(min=1, max=64, help="First moves that are drafted in each position.")] = 6,
    depth: Annotated[int, typer.Option(min=1, max=DEPTH, help="Plies of a draft.")] = DEPTH,
    limit: Annotated[int | None, typer.Option(min=1, help="Positions, drawn at random; all if left out.")] = None,
    exclude: Annotated[list[Path] | None, typer.Option(help="Labels whose games (file, number) are left out.")] = None,
    dynamics: Annotated[str, typer.Option(help="Who makes the drafted positions: imagined or rules.")] = "imagined",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of positions.")] = 0,
) -> None:
    """Let a run draft futures of labelled positions: records for training its draft reader."""
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from diffusearch.agents.runs import run as open_run
    from diffusearch.drafts.recording import Recording, record

    if dynamics not in ("imagined", "rules"):
        raise UserError(f"--dynamics is {dynamics!r}: give imagined or rules")
    wanted = Recording(labels, out, drafts, depth, limit, seed, tuple(exclude or ()), dynamics)
    with Progress(TextColumn("positions drafted"), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("drafts", total=None)
        count = record(
            open_run(run, "diffusearch"), wanted, lambda done, total: bar.update(task, completed=done, total=total)
        )
    typer.echo(f"{out}: {count:,} positions with drafts")


@data_app.command("selfplay")
def selfplay(
    out: Annotated[Path, typer.Option(help="PGN file to write.")],
    games: Annotated[int, typer.Option(help="Number of games.")] = 100,
    nodes: Annotated[int, typer.Option(help="Nodes of a move; fewer nodes play weaker.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the openings and moves.")] = 0,
    engine: Annotated[str | None, typer.Option(help="Path of a UCI engine; Stockfish if left out.")] = None,
) -> None:
    """Make games to label: an engine plays against itself at low strength, reproducible by the seed."""
    from rich.console import Console
    from rich.progress import track

    from diffusearch.data.selfplay import play_games
    from diffusearch.data.uci_process import find_engine
    from diffusearch.files import make_folder, write_whole

    if games < 1 or nodes < 1:
        raise UserError(f"--games {games} and --nodes {nodes} must be 1 or more")
    if out.is_dir():
        raise UserError(f"{out} is a folder: give the PGN file to write as --out")
    make_folder(out.parent)
    played = track(play_games(find_engine(engine), games, nodes, seed), "games", games, console=Console(stderr=True))
    write_whole(out, "".join(f"{game}\n\n" for game in played).encode())
    typer.echo(f"{out}: {games} games")


@data_app.command("show")
def show(
    path: Annotated[Path, typer.Argument(help="A labelled folder or Parquet file.")],
    boards: Annotated[int, typer.Option(help="Number of positions to draw.")] = 3,
    svg: Annotated[Path | None, typer.Option(help="Folder for SVG pictures of these positions.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Show counts, histograms of rating, phase and value, duplicates, scored actions, and a few boards."""
    from diffusearch.data.manifest import read_manifest
    from diffusearch.data.show import board_svg, board_text, summarise
    from diffusearch.files import make_folder, write_whole

    summary = summarise(path, boards)
    manifest = read_manifest(path) if path.is_dir() else None
    if svg is not None:
        make_folder(svg, "--svg")
        for number, row in enumerate(summary.examples):
            write_whole(svg / f"position-{number}.svg", board_svg(row).encode())
    if as_json:
        source = {"counts": manifest.counts, "engine": manifest.engine} if manifest else {}
        typer.echo(json.dumps({**vars(summary), **source}))
        return
    typer.echo(f"{path}: {summary.records} records of {summary.games} games, {summary.failed} failed")
    if manifest is not None:
        found = manifest.counts.get("positions", 0) + manifest.counts.get("duplicate positions", 0)
        typer.echo(f"engine: {manifest.engine['name'] if manifest.engine else 'none'}; options: {manifest.options}")
        if found:
            rate = manifest.counts.get("duplicate positions", 0) / found
            typer.echo(f"duplicates left out while labelling: {rate:.1%} of {found} positions")
    typer.echo(f"duplicates in the set: {summary.duplicates / max(summary.records, 1):.2%}")
    typer.echo(f"game over after the line: {summary.ended}")
    if summary.with_actions:
        mean = summary.scored_actions / summary.with_actions
        typer.echo(
            f"scored actions: {summary.with_actions} records, {mean:.1f} actions each on average "
            f"({summary.fewest_scored} to {summary.most_scored})"
        )
    _histogram("pool", dict(summary.pools))
    _histogram("split", dict(summary.splits))
    _histogram("future", dict(summary.futures))
    _histogram("moves of the line", dict(sorted(summary.lengths.items())))
    _histogram("phase", {name: summary.phases[name] for name in ("opening", "middlegame", "endgame")})
    _histogram("rating", {f"{low}-{low + 199}": count for low, count in sorted(summary.ratings.items())})
    _histogram("win probability", {f"{band / 10:.1f}": count for band, count in sorted(summary.values.items())})
    for row in summary.examples:
        typer.echo("\n" + board_text(row))


def _histogram(title: str, counts: Mapping[Any, int]) -> None:
    if not counts:
        return
    total = sum(counts.values())
    typer.echo(f"{title}:")
    for name, count in counts.items():
        typer.echo(f"  {name!s:<16} {count:>9} {count / max(total, 1):>6.1%} {'#' * round(40 * count / max(total, 1))}")


@data_app.command("check")
def check(
    path: Annotated[Path, typer.Argument(help="A labelled folder or Parquet file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
    most: Annotated[int, typer.Option(help="Number of problems to print.")] = 20,
) -> None:
    """Check that lines and scored actions are legal, scores in range and hashes right; exit code 1 if not."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from diffusearch.data.check import check as check_set

    counter = TextColumn("{task.completed:.0f} records")
    with Progress(SpinnerColumn(), counter, TimeElapsedColumn(), console=Console(stderr=True)) as bars:
        bar = bars.add_task("", total=None)
        problems = list(check_set(path, lambda rows: bars.advance(bar, rows)))
        records = round(bars.tasks[0].completed)
    if as_json:
        typer.echo(
            json.dumps({"records": records, "problems": list(map(str, problems[:most])), "count": len(problems)})
        )
    else:
        for problem in problems[:most]:
            typer.echo(str(problem))
        typer.echo(f"{path}: {records} records, {len(problems)} problems")
    if problems:
        raise typer.Exit(1)
