"""Verbs that measure: eval actions|puzzles|futures|latency, tournament, report, reproduce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from diffusearch.errors import UserError

AgentText = Annotated[str, typer.Option("--agent", help="Who is measured, e.g. diffusearch or s-a:RUN.")]
Data = Annotated[Path, typer.Option("--data", help="The test file or folder.")]
Limit = Annotated[int | None, typer.Option("--limit", help="Measure only so many rows (the first ones, see --seed).")]
Seed = Annotated[int | None, typer.Option("--seed", help="Draw the --limit rows at random with this seed.")]
Skip = Annotated[int, typer.Option("--skip", min=0, help="Pass over so many rows first, e.g. those of earlier looks.")]
Split = Annotated[str | None, typer.Option("--split", help="Only the games of this split: train, validation, test.")]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Positions decided together.")]
Out = Annotated[Path, typer.Option("--out", help="Where the result goes: a .json file or a folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]

RESULTS = Path("runs/results")  # where results go unless told otherwise; not kept in the repository
TOURNAMENT = Path("runs/tournament")
JUDGE = "stockfish:nodes=20000"

evals = typer.Typer(no_args_is_help=True, help="Measure an agent; each verb writes one JSON.")


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.add_typer(evals, name="eval")
    app.command()(openings)
    app.command()(tournament)
    app.command()(report)
    app.command()(reproduce)


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


def _raw_legality(result: dict[str, Any]) -> list[str]:
    """What the legality mask hides, for agents that have one."""
    raw = result["legality"]["raw"] if result["legality"] else None
    return [f"  first move legal without the mask: {_share(raw)}"] if raw else []


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
    as_json: Json = False,
) -> None:
    """How often the agent plays the oracle's move on labelled positions (Parquet)."""
    from diffusearch.agents.build import agent as build
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.actions import action_accuracy
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    files = labelled_files(data)
    positions = read_positions(data, limit, seed, split, skip)
    with build(agent) as player, progress_bar("actions", len(positions)) as progress:
        figures = action_accuracy(player, positions, batch=batch, progress=progress)
        recipes = {agent: recipe_of(player)}
        result, path = finish(
            "actions", figures, recipes=recipes, files=files, seed=seed, skip=skip, split=split, out=out
        )
    lines = [f"{agent}: {_share(result)} positions as the oracle"]
    lines += [f"  {name}: {_share(share)}" for name, share in result["by_phase"].items()]
    if result["within_centipawns"] is None:
        lines.append("  centipawn losses: the file has no value for every action, so they are left out")
    else:
        lines += [f"  within {cp} cp: {_share(share)}" for cp, share in result["within_centipawns"].items()]
    lines += _raw_legality(result)
    _tell(result, path, lines, as_json)


@evals.command()
def puzzles(
    agent: AgentText,
    data: Data,
    limit: Limit = None,
    seed: Seed = None,
    skip: Skip = 0,
    batch: Batch = 256,
    out: Out = RESULTS,
    as_json: Json = False,
) -> None:
    """How many lichess puzzles (CSV or CSV.zst) the agent solves."""
    from diffusearch.agents.build import agent as build
    from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    rows = read_puzzles(data, limit, seed, skip)
    with build(agent) as player, progress_bar("puzzles", len(rows)) as progress:
        figures = puzzle_accuracy(player, rows, batch=batch, progress=progress)
        recipes = {agent: recipe_of(player)}
        result, path = finish("puzzles", figures, recipes=recipes, files=[data], seed=seed, skip=skip, out=out)
    rating = result["rating"]
    tolerant = {**result, "accuracy": result["accuracy_mate_tolerant"], "interval": result["interval_mate_tolerant"]}
    lines = [f"{agent}: {_share(result)} puzzles, strict", f"  mate-tolerant: {_share(tolerant)}"]
    lines += [f"  {name}: {_share(share)}" for name, share in result["by_rating"].items()]
    if rating["estimate"] is not None:
        low, high = rating["interval"]
        lines.append(f"  puzzle rating: {rating['estimate']:.0f} [{low:.0f}, {high:.0f}]")
    _tell(result, path, lines, as_json)


@evals.command()
def futures(
    agent: AgentText,
    data: Annotated[Path | None, typer.Option("--data", help="Labelled positions; leave out with --random.")] = None,
    random: Annotated[int | None, typer.Option("--random", min=1, help="Use so many random positions.")] = None,
    limit: Limit = None,
    seed: Seed = None,
    skip: Skip = 0,
    split: Split = None,
    batch: Batch = 256,
    out: Out = RESULTS,
    as_json: Json = False,
) -> None:
    """How true the imagined future is: valid and best moves, valid states, transitions, step by step."""
    from diffusearch.agents.build import agent as build
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.future_quality import future_quality, random_positions
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

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
    _tell(result, path, lines, as_json)


@evals.command(name="latency")
def latency_verb(
    agent: Annotated[list[str], typer.Option("--agent", help="Who is measured; give it again for more rows.")],
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
    from diffusearch.evaluation.session import finish, progress_bar, recipe_of

    files = labelled_files(data)
    positions = read_positions(data, limit, seed, split, skip)
    texts = [text for one in agent for text in latency.sweep(one, sweep or [])]
    rows, recipes = [], {}
    with progress_bar("latency", len(texts) * len(positions)) as progress:
        for text in texts:
            with build(text) as player:
                rows.append({"agent": text, **latency.latency(player, positions, progress=progress)})
                recipes[text] = recipe_of(player)
    figures = {**{name: rows[0][name] for name in ("n", "accuracy", "interval")}, "rows": rows}
    result, path = finish("latency", figures, recipes=recipes, files=files, seed=seed, skip=skip, split=split, out=out)
    lines = ["ms a move (median, p90)  actions                            agent"]
    for row in rows:
        ms = row["milliseconds"]
        lines.append(f"{ms['median']:>9.1f} {ms['p90']:>9.1f}      {_share(row):<34} {row['agent']}")
    _tell(result, path, lines, as_json)


def openings(
    out: Annotated[Path, typer.Option("--out", help="The book to write.")],
    count: Annotated[int, typer.Option("--count", min=1, help="How many openings.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="Draws the random moves.")] = 0,
    plies: Annotated[int, typer.Option("--plies", min=1, help="Random moves an opening.")] = 8,
    judge: Annotated[str, typer.Option("--judge", help="The agent whose value must be near one half.")] = JUDGE,
    margin: Annotated[float, typer.Option("--margin", help="Largest distance from a win probability of 0.5.")] = 0.05,
) -> None:
    """Make a book of level random openings for tournaments."""
    import chess

    from diffusearch.agents.build import agent as build
    from diffusearch.evaluation.openings import book_text, make_openings
    from diffusearch.evaluation.session import progress_bar
    from diffusearch.files import write_whole

    with build(judge) as player, progress_bar("openings", count) as progress:

        def value(board: chess.Board) -> float:
            player.new_game()
            judged = player.play(board).value
            if judged is None:
                raise UserError(f"The agent {judge!r} knows no values: choose another --judge, such as {JUDGE}.")
            return judged

        book = make_openings(count, seed, value, plies, margin, progress=progress)
    made = f"{count} openings of {plies} random plies, seed {seed}; {judge} finds each within {margin} of one half"
    write_whole(out, book_text(book, [made]))
    print(f"{count} openings written to {out}")


def tournament(
    agents: Annotated[list[str], typer.Option("--agents", help="Who plays; several, separated by blanks.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="[AGENT]...", help="More agents.")] = None,
    games: Annotated[int, typer.Option("--games", help="Games for each pairing (even: both colours).")] = 400,
    gauntlet: Annotated[bool, typer.Option("--gauntlet", help="Only the first agent against each other.")] = False,
    book: Annotated[Path | None, typer.Option("--book", help="Openings; the package's own without it.")] = None,
    max_plies: Annotated[int, typer.Option("--max-plies", min=1, help="Then a game is drawn.")] = 300,
    referee: Annotated[str | None, typer.Option("--referee", help="Agent whose value ends won games.")] = None,
    together: Annotated[int, typer.Option("--together", min=1, help="Games side by side in a process.")] = 16,
    processes: Annotated[int, typer.Option("--processes", min=1, help="Processes that play.")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="Play on a Ray cluster instead.")] = False,
    anchor: Annotated[str | None, typer.Option("--anchor", help="AGENT@ELO fixes the scale.")] = None,
    prior: Annotated[float, typer.Option("--prior", min=0.0, help="Virtual games a player; 0 = none.")] = 2.0,
    replicas: Annotated[int, typer.Option("--replicas", min=10, help="Bootstrap replicas.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap.")] = 0,
    out: Annotated[Path, typer.Option("--out", help="Folder of the tournament; the same one resumes.")] = TOURNAMENT,
    as_json: Json = False,
) -> None:
    """Play agents against each other from paired openings and rate them; may be stopped and run again."""
    from rich.console import Console

    from diffusearch.evaluation import crosstable
    from diffusearch.evaluation import tournament as event
    from diffusearch.evaluation.games import Rules
    from diffusearch.evaluation.openings import read_book
    from diffusearch.evaluation.session import finish, progress_bar, recipes_of
    from diffusearch.files import write_whole

    names = [name for text in (*agents, *(more or ())) for name in text.split()]
    held = _anchor(anchor, names)
    lines = read_book(book)
    fixtures = event.schedule(event.pairings(names, gauntlet), games, len(lines))
    recipes = recipes_of(names)  # a wrong text is refused before the first game
    rules = Rules(max_plies=max_plies, referee=referee)
    with progress_bar("games", len(fixtures)) as progress:
        played = event.play_tournament(
            fixtures,
            lines,
            rules,
            out,
            together=together,
            processes=processes,
            ray=ray,
            recipes=recipes,
            progress=progress,
        )
    with progress_bar("bootstrap", replicas) as progress:
        _, figures = event.figures(
            played, names, rules, prior=prior, replicas=replicas, seed=seed, anchor=held, progress=progress
        )
    figures["games_per_pairing"] = games
    files = [out / "games.pgn"]
    result, path = finish("tournament", figures, recipes=recipes, files=files, seed=seed, out=out / "tournament.json")
    write_whole(out / "crosstable.md", crosstable.markdown(result))
    write_whole(out / "crosstable.png", crosstable.png(result))
    if not as_json:
        Console().print(crosstable.terminal(result))
    _tell(result, path, [], as_json)


def _anchor(text: str | None, names: list[str]) -> tuple[str, float] | None:
    """AGENT@ELO, where the agent plays."""
    if text is None:
        return None
    name, _, elo = text.rpartition("@")
    try:
        value = float(elo)
    except ValueError:
        value = float("nan")
    if name not in names or value != value:
        raise UserError(f"--anchor {text!r} is not AGENT@ELO with an agent that plays: try {names[0]}@1500.")
    return name, value


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with results of eval and tournament.")],
    out: Annotated[Path | None, typer.Option("--out", help="Where the page goes; DIR without it.")] = None,
) -> None:
    """Turn a folder of results into a Markdown page with pictures, next to the paper's figures."""
    from diffusearch.evaluation.report import report as write

    for path in write(folder, out):
        print(path)


def reproduce(
    name: Annotated[str, typer.Argument(help="Which one; `list` names all.")],
    actions: Annotated[Path | None, typer.Option("--actions", help="Labelled test positions.")] = None,
    puzzles: Annotated[Path | None, typer.Option("--puzzles", help="Test puzzles.")] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder of the trained runs.")] = Path("runs/paper"),
    out: Annotated[Path | None, typer.Option("--out", help="Where the page goes (runs/reproduce/NAME).")] = None,
    scale: Annotated[str, typer.Option("--scale", help="Compare with the paper's 10k or 100k games.")] = "10k",
    recipe: Annotated[Path | None, typer.Option("--recipe", help="Base recipe (paper-SCALE).")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change every run: dotted.key=value.")] = None,
    limit: Limit = None,
    games: Annotated[int, typer.Option("--games", help="Games for each pairing.")] = 400,
    train: Annotated[bool, typer.Option("--train", help="Train the runs that are missing first.")] = False,
) -> None:
    """Repeat a table or figure of the paper at the scale that the machine allows, next to the paper's figures."""
    from diffusearch.reproduce.driver import Setting, make
    from diffusearch.reproduce.page import write_page
    from diffusearch.reproduce.registry import EXHIBITS, exhibit

    if name == "list":
        for one in EXHIBITS.values():
            print(f"{one.name:<16}{one.title}")
        return
    wanted = exhibit(name)
    if scale not in ("10k", "100k"):
        raise UserError(f"--scale {scale!r} is not one of the paper's: give 10k or 100k.")
    setting = Setting(
        runs=runs,
        out=out or Path("runs/reproduce") / name,
        scale=scale,
        recipe=recipe or f"paper-{scale}",
        settings=tuple(settings or ()),
        actions=actions,
        puzzles=puzzles,
        limit=limit,
        games=games,
        train=train,
    )
    made = make(wanted, setting, say=print)
    page = write_page(wanted, made, setting)
    print(f"{len(made.results)} of {len(wanted.rows)} rows measured; written to {page}")
