"""Verbs that decide one position: `move` for people and machines, `demo` in the terminal, `explain` as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diffusearch.agents.spec import DEFAULT_AGENT, AgentSpec
from diffusearch.diffusion.orders import ORDERS
from diffusearch.errors import UserError

if TYPE_CHECKING:
    import chess

    from diffusearch.agents.base import Decision
    from diffusearch.play.schemas import Thought

Fen = Annotated[str, typer.Argument(metavar="FEN", help="The position, or `startpos`.")]
AgentText = Annotated[str, typer.Option("--agent", help="Who decides, e.g. search, diffusearch, s-a, stockfish.")]
Weights = Annotated[Path | None, typer.Option("--weights", help="A run folder instead of the packaged weights.")]
Steps = Annotated[int | None, typer.Option("--steps", min=1, help="Denoising steps (agent diffusearch).")]
Order = Annotated[str | None, typer.Option("--order", help=f"{', '.join(ORDERS)} (agent diffusearch).")]
Imaginations = Annotated[
    int | None, typer.Option("--imaginations", min=1, help="Futures; the likeliest is played. Needs a temperature.")
]
Temperature = Annotated[float | None, typer.Option("--temperature", min=0, help="Of sampled tokens; 0 = arg-max.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Of the sampling.")]


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command()(move)
    app.command()(demo)
    app.command()(explain)


def spec_of(agent: str, weights: Path | None, **options: Any) -> AgentSpec:
    """An agent's spec with the options of the command line put in; None leaves the agent's own default."""
    from diffusearch.agents.build import KINDS

    spec = AgentSpec.parse(agent)
    spec = spec if weights is None else spec.with_run(str(weights))
    given = {name: value for name, value in options.items() if value is not None}
    known = {option.name for option in KINDS[spec.word].options} if spec.word in KINDS else given.keys()
    for name in given:
        if name not in known:
            verb_option = {"k": "imaginations"}.get(name, name)
            raise UserError(
                f"--{verb_option} is no option of agent '{spec.word}': add --agent diffusearch, or leave it out"
            )
    return spec.with_options(**given)


def move(
    fen: Fen,
    agent: AgentText = DEFAULT_AGENT,
    weights: Weights = None,
    steps: Steps = None,
    order: Order = None,
    imaginations: Imaginations = None,
    temperature: Temperature = None,
    seed: Seed = None,
    film: Annotated[bool, typer.Option("--film", help="With --json: every step of joint denoising as well.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Decide one position: the move, and the line after it."""
    from diffusearch.agents.build import agent as build
    from diffusearch.fen import board_of
    from diffusearch.play.terminal import summary
    from diffusearch.play.thoughts import thought_of

    board = board_of(fen)
    shown = "on" if film and as_json else None
    options = {"steps": steps, "order": order, "k": imaginations, "temperature": temperature, "seed": seed}
    spec = spec_of(agent, weights, **options, film=shown)
    with build(spec) as player:
        decision = player.play(board)
    if as_json:
        typer.echo(json.dumps(answer(board, decision)))
        return
    for line in summary(thought_of(str(spec), board, decision)):
        typer.echo(line)


def demo(
    agent: AgentText = "diffusearch",
    weights: Weights = None,
    puzzle: Annotated[int | None, typer.Option("--puzzle", help="Another puzzle, by its number from 1.")] = None,
    steps: Steps = None,
) -> None:
    """A puzzle in the terminal: the predicted boards, the move, and the drafts or the denoising steps behind it."""
    from rich.console import Console

    from diffusearch.agents.build import agent as build
    from diffusearch.agents.build import may_film
    from diffusearch.agents.imagining import keep_film
    from diffusearch.play.demo import FIRST, show

    spec = spec_of(agent, weights, steps=steps)
    with build(spec) as decider:
        if may_film(spec):
            keep_film(decider)
        show(decider, FIRST if puzzle is None else puzzle, Console(soft_wrap=True))


def explain(
    fen: Fen,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="Who explains; several stand side by side.")
    ] = None,
    weights: Weights = None,
    steps: Steps = None,
    out: Annotated[Path, typer.Option("--out", help="The picture; the imagined boards go beside it.")] = Path(
        "case.svg"
    ),
) -> None:
    """Draw a position with imagined lines as numbered arrows, and the strip of imagined boards."""
    from diffusearch.agents.build import agent as build
    from diffusearch.fen import board_of
    from diffusearch.files import write_whole
    from diffusearch.play.opponents import name_of
    from diffusearch.play.pictures import case_picture, strip_picture
    from diffusearch.play.thoughts import thought_of

    if out.suffix != ".svg":
        raise UserError(f"--out {out} is no .svg file: pictures are written as SVG")
    if not out.parent.is_dir():
        raise UserError(f"there is no folder {out.parent} for {out.name}: make it first")
    board = board_of(fen)
    thoughts: dict[str, Thought] = {}
    for text in agent or [DEFAULT_AGENT]:
        first = not thoughts  # --weights and --steps are for the first agent; the others say it in their text
        with build(spec_of(text, weights if first else None, steps=steps if first else None)) as player:
            thoughts[name_of(text)] = thought_of(text, board, player.play(board))
    write_whole(out, case_picture(board, thoughts).encode())
    typer.echo(str(out))
    if imagined := [thought for thought in thoughts.values() if thought.imagined]:
        strip = out.with_stem(f"{out.stem}-boards")
        write_whole(strip, strip_picture(imagined[0]).encode())
        typer.echo(str(strip))


def answer(board: chess.Board, decision: Decision) -> dict[str, Any]:
    """What `--json` prints. Agents that imagine nothing have a line of true moves and states."""
    if decision.imagination is not None:
        return decision.imagination.to_json()
    states, replay = [], board.copy(stack=False)
    line = decision.line or (decision.move,)
    for one in line:
        replay.push(one)
        states.append(replay.fen())
    return {
        "root": board.fen(),
        "move": decision.move.uci(),
        "line": [one.uci() for one in line],
        "states": states,
        "probabilities": {one.uci(): share for one, share in decision.probabilities.items()},
        "value": decision.value,
    }
