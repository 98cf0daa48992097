"""Verbs that measure: eval actions|puzzles|futures|latency, tournament, report, reproduce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

AgentText = Annotated[str, typer.Option("--agent", help="Who is measured, e.g. diffusearch or s-a:RUN.")]
Data = Annotated[Path, typer.Option("--data", help="The test file or folder.")]
Limit = Annotated[int | None, typer.Option("--limit", help="Measure only so many rows (the first ones, see --seed).")]
Seed = Annotated[int | None, typer.Option("--seed", help="Draw the --limit rows at random with this seed.")]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Positions decided together.")]
Out = Annotated[Path, typer.Option("--out", help="Where the result goes: a .json file or a folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]

evals = typer.Typer(no_args_is_help=True, help="Measure an agent; each verb writes one JSON.")


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.add_typer(evals, name="eval")


def _tell(result: dict[str, Any], path: Path, lines: list[str], as_json: bool) -> None:
    """The object alone on stdout, or a few lines for people."""
    if as_json:
        print(json.dumps(result, indent=2))
        return
    for line in lines:
        print(line)
    print(f"written to {path}")


def _share(share: dict[str, Any]) -> str:
    low, high = share["interval"]
    return f"{100 * share['accuracy']:.2f} % [{100 * low:.2f}, {100 * high:.2f}] of {share['n']}"


@evals.command()
def actions(
    agent: AgentText,
    data: Data,
    limit: Limit = None,
    seed: Seed = None,
    batch: Batch = 256,
    out: Out = Path("runs/results"),
    as_json: Json = False,
) -> None:
    """How often the agent plays the oracle's move on labelled positions (Parquet)."""
    from diffusearch.agents.build import agent as build

    from diffusearch.evaluation.actions import action_accuracy
    from diffusearch.evaluation.positions import labelled_files, read_positions
    from diffusearch.evaluation.session import finish, progress_bar

    files = labelled_files(data)
    positions = read_positions(files, limit, seed)
    with build(agent) as player, progress_bar("actions", len(positions)) as progress:
        figures = action_accuracy(player, positions, batch=batch, progress=progress)
        result, path = finish("actions", figures, agents={agent: player}, files=files, seed=seed, out=out)
    lines = [f"{agent}: {_share(result)} positions as the oracle"]
    lines += [f"  {name}: {_share(share)}" for name, share in result["by_phase"].items()]
    if result["within_centipawns"] is None:
        lines.append("  centipawn losses: the file has no value for every action, so they are left out")
    else:
        lines += [f"  within {cp} cp: {_share(share)}" for cp, share in result["within_centipawns"].items()]
    _tell(result, path, lines, as_json)


@evals.command()
def puzzles(
    agent: AgentText,
    data: Data,
    limit: Limit = None,
    seed: Seed = None,
    batch: Batch = 256,
    out: Out = Path("runs/results"),
    as_json: Json = False,
) -> None:
    """How many lichess puzzles (CSV or CSV.zst) the agent solves."""
    from diffusearch.agents.build import agent as build

    from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles
    from diffusearch.evaluation.session import finish, progress_bar

    rows = read_puzzles(data, limit, seed)
    with build(agent) as player, progress_bar("puzzles", len(rows)) as progress:
        figures = puzzle_accuracy(player, rows, batch=batch, progress=progress)
        result, path = finish("puzzles", figures, agents={agent: player}, files=[data], seed=seed, out=out)
    rating = result["rating"]
    tolerant = {**result, "accuracy": result["accuracy_mate_tolerant"], "interval": result["interval_mate_tolerant"]}
    lines = [f"{agent}: {_share(result)} puzzles, strict", f"  mate-tolerant: {_share(tolerant)}"]
    lines += [f"  {name}: {_share(share)}" for name, share in result["by_rating"].items()]
    if rating["estimate"] is not None:
        low, high = rating["interval"]
        lines.append(f"  puzzle rating: {rating['estimate']:.0f} [{low:.0f}, {high:.0f}]")
    _tell(result, path, lines, as_json)
