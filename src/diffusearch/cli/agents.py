"""The verb `agents`: the words of an agent's text, and the options of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from diffusearch.agents.build import AgentKind


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command()(agents)


def agents(name: Annotated[str | None, typer.Argument(help="One of the agents, such as search.")] = None) -> None:
    """List the agents that `--agent` takes or, with a name, the options of that agent."""
    from diffusearch.agents.build import KINDS, kind_of

    if name is None:
        width = max(len(_form(kind)) for kind in KINDS.values())
        for kind in KINDS.values():
            typer.echo(f"{_form(kind):<{width}}  {kind.help}")
        typer.echo("\nWithout :RUN the packaged weights play. diffusearch agents NAME lists the options of an agent.")
        return
    kind = kind_of(name)
    typer.echo(f"{_form(kind)}?NAME=VALUE&...  {kind.help}\n")
    width = max(len(option.name) for option in kind.options)
    for option in kind.options:
        default = "" if option.default is None else f"; default {_words(option.default)}"
        typer.echo(f"  {option.name:<{width}}  {option.help}")
        typer.echo(f"  {'':<{width}}  {option.kind.words}{default}")
    if any(option.default is None for option in kind.options):
        typer.echo("\nWithout a default, an option that is left out keeps the run's or the agent's own setting.")
    if kind.engine_options:
        typer.echo("option.NAME=VALUE sets an option of the engine itself.")


def _form(kind: AgentKind) -> str:
    """How its text begins; what may be left out is in brackets."""
    argument = f":{kind.argument}" if kind.argument else ""
    return kind.word + (argument if kind.needs_argument or not argument else f"[{argument}]")


def _words(default: Any) -> str:
    """A default as it is written in an agent's text."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"{default:g}" if isinstance(default, float) else str(default)
