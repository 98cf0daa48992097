"""The verbs `report` and `compare`: results as a page, and two agents on the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from diffusearch.cli.measuring import Json, tell


def register(app: typer.Typer) -> None:
    """Add the verbs to the program."""
    app.command()(compare)
    app.command()(report)


def compare(
    first: Annotated[Path, typer.Argument(metavar="A.jsonl", help="Rows of one agent (eval ... --rows-out).")],
    second: Annotated[Path, typer.Argument(metavar="B.jsonl", help="Rows of another agent on the same positions.")],
    out: Annotated[Path | None, typer.Option("--out", help="Also write the result to this .json file.")] = None,
    as_json: Json = False,
) -> None:
    """The paired difference of two agents (B minus A) with its 95 % interval, and McNemar's exact test."""
    from diffusearch.evaluation.compare import compare_files, sentence
    from diffusearch.files import write_whole

    result = compare_files(first, second)
    if out:
        write_whole(out, json.dumps(result, indent=2) + "\n")
    tell(result, out, [sentence(result)], as_json)


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with results of eval and tournament.")],
    out: Annotated[Path | None, typer.Option("--out", help="Where the page goes; DIR without it.")] = None,
) -> None:
    """Turn a folder of results into a Markdown page with pictures, next to the paper's figures."""
    from diffusearch.evaluation.report import report as write

    for path in write(folder, out):
        print(path)
