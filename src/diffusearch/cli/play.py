"""Verbs for playing: `uci` for chess GUIs, `play` for the page, `export` for other runtimes."""

from __future__ import annotations

import os
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command()(uci)


def uci(
    agent: Annotated[str, typer.Option(help="The player, as in the UCI option Agent.")] = "diffusearch",
    weights: Annotated[str, typer.Option(help="A run folder; empty means the weights inside the package.")] = "",
    steps: Annotated[int, typer.Option(help="Denoising steps at most.")] = 20,
) -> None:
    """Speak UCI on standard input and output, for chess GUIs, xboard and lichess-bot."""
    from diffusearch.play.uci import serve
    from diffusearch.play.uci_options import Options

    if not serve(Options(Agent=agent, Weights=weights, Steps=steps)):
        os._exit(0)  # a thought is still being computed; `quit` does not wait for it
