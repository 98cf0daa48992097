"""The one program, `diffusearch`: thin verbs that parse, call and print.

Each file here holds one family of verbs and imports its folder of the package only when a verb runs, so that
`diffusearch uci` answers within two seconds. A UserError becomes one sentence and exit code 2.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module, metadata
from typing import Annotated

import typer

from diffusearch.errors import UserError
from diffusearch.extras import missing
from diffusearch.weights import VERSION

app = typer.Typer(
    name="diffusearch",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"diffusearch {metadata.version('diffusearch')}, weights {VERSION}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="The versions of the program and its weights.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Chess with a discrete-diffusion transformer: by denoising, or by explicit search."""


# One family of verbs a file, in the order of the data's path.
FAMILIES = ("data", "train", "move", "evaluate", "tournament", "report", "reproduce", "play", "agents", "doctor")

for _family in FAMILIES:
    import_module(f"diffusearch.cli.{_family}").register(app)


def _speak_utf8() -> None:
    """Print in UTF-8 whatever the system's own encoding is: a pipe on Windows has no bars and no figurines."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not what a test puts in its place
            stream.reconfigure(encoding="utf-8", errors="replace")


def main() -> None:
    """Entry point: the program's exit codes are 0 (done), 1 (a check failed), 2 (bad input)."""
    _speak_utf8()
    try:
        if sys.argv[1:] == ["uci"]:  # what chess programs start: nothing to parse, so typer's parser is not loaded
            from diffusearch.cli.play import uci

            uci()
        else:
            app()
    except UserError as error:
        print(f"diffusearch: {error}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        told = missing(error.name or "", " ".join(["diffusearch", *sys.argv[1:2]]))
        if told is None:
            raise
        print(f"diffusearch: {told}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output went away, e.g. `| head`
        sys.exit(0)
