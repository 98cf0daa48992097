"""What the verbs that measure share: their options, and how results are printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

AgentText = Annotated[str, typer.Option("--agent", help="The agent to measure, e.g. diffusearch or s-a:RUN.")]
Data = Annotated[Path, typer.Option("--data", help="The test file or folder.")]
Limit = Annotated[int | None, typer.Option("--limit", help="Measure this many rows: the first ones, or see --seed.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Draw the --limit rows at random with this seed.")]
Skip = Annotated[int, typer.Option("--skip", min=0, help="Leave out this many rows first, e.g. rows used before.")]
Split = Annotated[str | None, typer.Option("--split", help="Only games of this split: train, validation or test.")]
Batch = Annotated[int, typer.Option("--batch", min=1, help="Positions decided in one call of the agent.")]
Out = Annotated[Path, typer.Option("--out", help="Where the result is written: a .json file or a folder.")]
RowsOut = Annotated[
    Path | None,
    typer.Option("--rows-out", help="Also write one line a position to this .jsonl file; an existing file is resumed."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]

RESULTS = Path("runs/results")  # the default folder of results; not kept in the repository


def tell(result: dict[str, Any], path: Path | None, lines: list[str], as_json: bool) -> None:
    """Print the object alone, or a few lines for people."""
    if as_json:
        print(json.dumps(result, indent=2))
        return
    for line in lines:
        print(line)
    if path:
        print(f"written to {path}")


def share_text(share: dict[str, Any]) -> str:
    """A share with its interval."""
    low, high = share["interval"]
    return f"{100 * share['accuracy']:.2f} % [{100 * low:.2f}, {100 * high:.2f}] of {share['n']}"
