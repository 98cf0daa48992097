"""The verb `doctor`: says what is installed, what is missing, and how to get it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
    app.command()(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check Python, back ends, Stockfish, weights and page; exit code 1 if something needed is missing."""
    from diffusearch.checkup import Finding, checkup

    findings: list[Finding] = []
    for finding in checkup():
        findings.append(finding)
        if not as_json:
            mark = "ok     " if finding.good else "MISSING" if finding.needed else "missing"
            typer.echo(f"{mark}  {finding.what:<20} {finding.found}")
            if finding.remedy:
                typer.echo(f"{'':<30} -> {finding.remedy}")
    sick = [finding.what for finding in findings if finding.needed and not finding.good]
    if as_json:
        typer.echo(json.dumps({"good": not sick, "findings": [asdict(finding) for finding in findings]}))
    elif sick == ["page"]:
        typer.echo("ready for the terminal and UCI; the page is not built")
    elif sick:
        typer.echo(f"not ready to play: {', '.join(sick)}")
    else:
        typer.echo("ready to play: diffusearch play")
    if sick:
        raise typer.Exit(1)
