from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add this family's verbs to the program."""
