"""Verbs for playing: `uci` for chess GUIs, `play` for the page, `export` for other runtimes."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from diffusearch.agents.spec import DEFAULT_AGENT


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command()(uci)
    app.command()(play)
    app.command()(export)


def uci(
    agent: Annotated[str, typer.Option(help="The agent, as in the UCI option Agent.")] = DEFAULT_AGENT,
    weights: Annotated[str, typer.Option(help="A run folder; empty means the weights inside the package.")] = "",
    steps: Annotated[int, typer.Option(help="Network calls at most; 0 means as the run says.")] = 0,
) -> None:
    """Speak UCI on standard input and output, for chess GUIs, xboard and lichess-bot."""
    from diffusearch.play.uci import serve
    from diffusearch.play.uci_options import UciOptions

    options = UciOptions(Agent=agent, Weights=weights, Steps=steps)
    if agent != DEFAULT_AGENT:
        from diffusearch.agents.build import check

        check(options.spec())  # whoever typed it sees the reason now; the networks are loaded later
    if not serve(options):
        os._exit(0)  # a computation is still running and cannot be interrupted


def uci_program() -> None:
    """`diffusearch-uci`: the verb as a program of its own, for those that start an engine by its path alone."""
    from diffusearch.cli import main

    sys.argv.insert(1, "uci")
    main()


def play(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port on this machine; 0 takes a free one.")] = 8000,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
    agent: Annotated[list[str] | None, typer.Option(help="An agent to offer first; may be repeated.")] = None,
    static: Annotated[bool, typer.Option("--static", help="Serve the page that `make static` built instead.")] = False,
) -> None:
    """Play against the agents on a page in the browser."""
    if static:
        _serve_static(port, agent or [], show=show)
        return
    from diffusearch.agents.build import agent as build
    from diffusearch.play.api import Service
    from diffusearch.play.opponents import Opponents, opponents
    from diffusearch.play.server import assets, create_app, listen, serve

    page = assets()
    for text in agent or []:  # a wrong text is refused before the page is there
        build(text).close()
    listed = Opponents(opponents(agent or []), build)
    with listen(port) as listener:
        serve(create_app(Service(listed), page), listener, show)
    if listed.loading or threading.active_count() > 1:
        os._exit(0)  # a library that is imported in a thread while Python ends would abort; nobody waits for a thought


def _serve_static(port: int, agents: list[str], *, show: bool) -> None:
    """The page whose engine runs in the browser: only its files are served."""
    from diffusearch.errors import UserError
    from diffusearch.play.server import listen, serve
    from diffusearch.play.static_page import static_app, static_folder

    if agents:
        raise UserError(f"The static page has its own agents; leave out --agent {agents[0]!r} or --static.")
    folder = static_folder()
    with listen(port) as listener:
        serve(static_app(folder), listener, show)


def export(
    onnx: Annotated[Path | None, typer.Option(help="Write the denoiser as one ONNX file, for other programs.")] = None,
    graphs: Annotated[bool, typer.Option("--graphs", help="Write the graphs for play beside the weights.")] = False,
    weights: Annotated[str, typer.Option(help="A run folder; empty means the weights inside the package.")] = "",
    positions: Annotated[int, typer.Option(min=1, help="Positions on which it is compared with torch.")] = 100,
) -> None:
    """Write the network for play without torch or for other programs, and check it there against torch."""
    from diffusearch.errors import UserError
    from diffusearch.weights import NAMES, packaged

    if graphs == (onnx is not None):
        raise UserError("export writes one of two things: give --graphs, or --onnx FILE")
    typer.echo("export: reading the weights")
    folders = [packaged(name) for name in NAMES] if graphs and not weights else [Path(weights or packaged(NAMES[0]))]
    agreed = [_export(folder, onnx, positions) for folder in folders]
    if not all(agreed):
        typer.echo("The file does not agree with torch.", err=True)
        raise typer.Exit(1)


def _export(folder: Path, onnx: Path | None, positions: int) -> bool:
    """One run as a file, or as graphs for play; whether it agrees with torch."""
    from diffusearch.inference.run import Run
    from diffusearch.play.export import check_graphs, check_onnx, export_graphs, export_onnx

    if onnx is None:
        for path in export_graphs(folder):
            typer.echo(f"{path}: {path.stat().st_size / 1000:.0f} kB")
        typer.echo(f"comparing with torch on {positions} positions")
        found, small = check_graphs(folder, positions)
        typer.echo(f"{folder}, 8 bits: {small}")
    else:
        run = Run.load(folder, "torch")
        export_onnx(run, folder / "weights.safetensors", onnx)
        typer.echo(f"{onnx}: {onnx.stat().st_size / 1e6:.1f} MB; comparing with torch on {positions} positions")
        found = check_onnx(run, onnx, positions)
    typer.echo(f"{onnx or folder}: {found}")
    return found.good
