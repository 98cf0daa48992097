"""The verbs `tournament` and `openings`: agents play each other from level openings and are rated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from diffusearch.cli.measuring import Json, tell
from diffusearch.errors import UserError

TOURNAMENT = Path("runs/tournament")
JUDGE = "stockfish:nodes=20000"


def register(app: typer.Typer) -> None:
    """Add the verbs to the program."""
    app.command()(openings)
    app.command()(tournament)


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
    anchor: Annotated[
        list[str] | None, typer.Option("--anchor", help="AGENT@ELO fixes the scale; several: on average.")
    ] = None,
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
    from diffusearch.evaluation.games import GameRules
    from diffusearch.evaluation.openings import read_book
    from diffusearch.evaluation.session import finish, progress_bar, recipes_of
    from diffusearch.extras import absent
    from diffusearch.files import write_whole

    if undrawn := absent("matplotlib", "crosstable.png"):
        typer.echo(f"A picture is left out: {undrawn}", err=True)
    names = [name for text in (*agents, *(more or ())) for name in text.split()]
    held = dict(_anchor(text, names) for text in anchor or ())
    lines = read_book(book)
    fixtures = event.schedule(event.pairings(names, gauntlet), games, len(lines))
    playing = [*names, *([referee] if referee else [])]
    recipes = recipes_of(playing)  # a wrong text is refused before the first game
    rules = GameRules(max_plies=max_plies, referee=referee)
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
            played, names, rules, prior=prior, replicas=replicas, seed=seed, anchors=held, progress=progress
        )
    figures["games_per_pairing"] = games
    files = [out / "games.pgn"]
    players = {name: recipes[name] for name in names}
    result, path = finish("tournament", figures, recipes=players, files=files, seed=seed, out=out / "tournament.json")
    write_whole(out / "crosstable.md", crosstable.markdown(result))
    if undrawn:
        (out / "crosstable.png").unlink(missing_ok=True)  # of fewer games
    else:
        write_whole(out / "crosstable.png", crosstable.png(result))
    if not as_json:
        Console().print(crosstable.terminal(result))
    tell(result, path, [], as_json)


def _anchor(text: str, names: list[str]) -> tuple[str, float]:
    """AGENT@ELO, where the agent plays."""
    name, _, elo = text.rpartition("@")
    try:
        value = float(elo)
    except ValueError:
        value = float("nan")
    if name not in names or not math.isfinite(value):
        raise UserError(f"--anchor {text!r} is not AGENT@ELO with an agent that plays: try {names[0]}@1500.")
    return name, value
