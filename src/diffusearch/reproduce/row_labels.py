"""Labels of rows that exhibits, claims and the page of `reproduce all` share."""

from __future__ import annotations

OURS = "DiffuSearch, {scale} games"
LONG_S_A, LONG = "S-A, long run", "DiffuSearch, four times the record-passes"
UNMASKED = "DiffuSearch, no legality mask"
KEEP = "what is fixed stays"  # a visible target is not predicted anew


def single(steps: int) -> str:
    """The label of the single model's row."""
    return f"future steps {steps}, single model"


def single_kept(steps: int) -> str:
    """The label of its row that keeps what is fixed."""
    return f"{single(steps)}, {KEEP}"


def in_steps(order: str, steps: int) -> str:
    """The row of a run that is decoded in some order and number of steps."""
    return f"{order}, {steps} step" + "s" * (steps > 1)
