"""The verbs `eval actions|puzzles|futures|latency`: measure an agent on a test set."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from diffusearch.cli.measuring import (
    RESULTS,
    AgentText,
    Batch,
    Data,
    Json,
    Limit,
    Out,
    RowsOut,
    Seed,
    Skip,
    Split,
    share_text,
    tell,
)
from diffusearch.errors import UserError

evals = typer.Typer(no_args_is_help=True, help="Measure an agent; each verb writes one JSON result.")


def register(app: typer.Typer) -> None:
    """Add the verbs to the program."""
    app.add_typer(evals, name="eval")


def _raw_legality(result: dict[str, Any]) -> list[str]:
    """How often the first move is legal without the legality mask, for agents that have one."""
    raw = result["legality"]["raw"] if result["legality"] else None
    return [f"  first move legal without the mask: {share_text(raw)}"] if raw else []


@evals.command()
def actions(
    agent: AgentText,
    data: Data,
    limit: Limit = None,
    seed: Seed = None,
    skip: Skip = 0,
    split: Split = None,
    batch: Batch = 256,
    out: Out = RESULTS,
    rows_out: RowsOut = None,
    as_json: Json = False,
) -> None:
    """How often the agent plays the oracle's move on labelled positions (Parquet)."""
    from diffusearch.agents.build import agent as build
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.actions import action_accuracy
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.record import check_place
    from diffusearch.evaluation.row_log import RowLog
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    check_place(out)
    files = labelled_files(data)
    positions = read_positions(data, limit, seed, split, skip)
    with build(agent) as player, progress_bar("actions", len(positions)) as progress:
        log = RowLog(rows_out, "actions", player) if rows_out else None
        figures = action_accuracy(player, positions, batch=batch, progress=progress, log=log)
        recipes = {agent: recipe_of(player)}
        result, path = finish(
            "actions", figures, recipes=recipes, files=files, seed=seed, skip=skip, split=split, out=out
        )
    lines = [f"{agent}: the oracle's move in {share_text(result)} positions"]
    lines += [f"  {name}: {share_text(share)}" for name, share in result["by_phase"].items()]
    if result["within_centipawns"] is None:
        lines.append("  centipawn losses: the file has no value for every action, so they are left out")
    else:
        lines += [f"  within {cp} cp: {share_text(share)}" for cp, share in result["within_centipawns"].items()]
    lines += _raw_legality(result)
    tell(result, path, lines, as_json)


@evals.command()
def puzzles(
    agent: AgentText,
    data: Data,
    limit: Limit = None,
    seed: Seed = None,
    skip: Skip = 0,
    batch: Batch = 256,
    out: Out = RESULTS,
    rows_out: RowsOut = None,
    as_json: Json = False,
) -> None:
    """How many lichess puzzles (CSV or CSV.zst) the agent solves."""
    from diffusearch.agents.build import agent as build
    from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles
    from diffusearch.evaluation.record import check_place
    from diffusearch.evaluation.row_log import RowLog
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    check_place(out)
    rows = read_puzzles(data, limit, seed, skip)
    with build(agent) as player, progress_bar("puzzles", len(rows)) as progress:
        log = RowLog(rows_out, "puzzles", player) if rows_out else None
        figures = puzzle_accuracy(player, rows, batch=batch, progress=progress, log=log)
        recipes = {agent: recipe_of(player)}
        result, path = finish("puzzles", figures, recipes=recipes, files=[data], seed=seed, skip=skip, out=out)
    rating = result["rating"]
    tolerant = {**result, "accuracy": result["accuracy_mate_tolerant"], "interval": result["interval_mate_tolerant"]}
    lines = [f"{agent}: {share_text(result)} puzzles, strict", f"  mate-tolerant: {share_text(tolerant)}"]
    lines += [f"  {name}: {share_text(share)}" for name, share in result["by_rating"].items()]
    if rating["estimate"] is not None:
        low, high = rating["interval"]
        lines.append(f"  puzzle rating: {rating['estimate']:.0f} [{low:.0f}, {high:.0f}]")
    tell(result, path, lines, as_json)


@evals.command()
def futures(
    agent: AgentText,
    data: Annotated[Path | None, typer.Option("--data", help="Labelled positions; leave out with --random.")] = None,
    random: Annotated[
        int | None, typer.Option("--random", min=1, help="Use this many positions of random games.")
    ] = None,
    limit: Limit = None,
    seed: Seed = None,
    skip: Skip = 0,
    split: Split = None,
    batch: Batch = 256,
    out: Out = RESULTS,
    as_json: Json = False,
) -> None:
    """Quality of the imagined future: valid and best moves, valid states, true transitions, step by step."""
    from diffusearch.agents.build import agent as build
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.future_quality import future_quality, random_positions
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.record import check_place
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    check_place(out)
    if (data is None) == (random is None):
        raise UserError("eval futures needs either --data FILE or --random N: give exactly one of them.")
    if random is not None:
        seed = seed or 0
        files, positions = [], random_positions(random, seed)
    elif data is not None:
        files = labelled_files(data)
        positions = read_positions(data, limit, seed, split, skip)
    with build(agent) as player, progress_bar("futures", len(positions)) as progress:
        figures = future_quality(player, positions, batch=batch, progress=progress)
        recipes = {agent: recipe_of(player)}
        result, path = finish(
            "futures", figures, recipes=recipes, files=files, seed=seed, skip=skip, split=split, out=out
        )
    lines = [f"{agent}, {result['n']} positions", "step  valid a_i  best a_i  valid s_i  match a_(i-1)-s_i"]
    for row in result["steps"]:
        cells = [row[name] for name in ("valid_action", "best", "valid_state", "match")]
        shown = ["-" if cell is None else f"{100 * cell['accuracy']:.2f}" for cell in cells]
        lines.append("{:<6}{:>9}{:>10}{:>11}{:>19}".format(row["step"], *shown))
    lines += _raw_legality(result)
    tell(result, path, lines, as_json)


@evals.command(name="latency")
def latency_verb(
    agent: Annotated[list[str], typer.Option("--agent", help="An agent to measure; repeat it for more rows.")],
    data: Data,
    sweep: Annotated[
        list[str] | None, typer.Option("--sweep", help="Vary an option: steps=1,5,20 or simulations=10,50,100.")
    ] = None,
    limit: Limit = 100,
    seed: Seed = None,
    skip: Skip = 0,
    split: Split = None,
    out: Out = RESULTS,
    as_json: Json = False,
) -> None:
    """Milliseconds a move at batch 1 and action accuracy, for agents and settings side by side."""
    from diffusearch.agents.build import agent as build
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation import latency
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.record import check_place
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    check_place(out)
    files = labelled_files(data)
    positions = read_positions(data, limit, seed, split, skip)
    texts = [text for one in agent for text in latency.sweep(one, sweep or [])]
    with ExitStack() as opened, progress_bar("latency", len(texts) * len(positions)) as progress:
        players = [opened.enter_context(build(text)) for text in texts]
        found = latency.in_turns(players, positions, progress=progress)
        recipes = {text: recipe_of(player) for text, player in zip(texts, players, strict=True)}
    rows = [{"agent": text, **row} for text, row in zip(texts, found, strict=True)]
    figures = {**{name: rows[0][name] for name in ("n", "accuracy", "interval")}, "rows": rows}
    result, path = finish("latency", figures, recipes=recipes, files=files, seed=seed, skip=skip, split=split, out=out)
    lines = ["ms a move (median, p90)  actions                            agent"]
    for row in rows:
        ms = row["milliseconds"]
        lines.append(f"{ms['median']:>9.1f} {ms['p90']:>9.1f}      {share_text(row):<34} {row['agent']}")
    tell(result, path, lines, as_json)
