"""What a table or figure of the paper needs: rows, the runs behind them, and the metrics that fill its columns."""

from __future__ import annotations

from dataclasses import dataclass

# What a row can be measured by. `cases` draws pictures instead.
METRICS = ("elo", "puzzles", "actions", "futures", "latency", "cases")


@dataclass(frozen=True)
class Training:
    """How a run comes about: the base recipe with some settings changed."""

    name: str  # folder below --runs
    settings: tuple[str, ...] = ()  # as `diffusearch train --set` takes them
    packaged: bool = False  # the package has weights of that name, which serve unless trained anew
    recipe: str = ""  # a named recipe of its own instead of the base
    after: Training | None = None  # the run that it starts from


@dataclass(frozen=True)
class Row:
    """One agent of a table."""

    label: str  # as in the paper's table (evaluation/paper.toml); {scale} stands for 10k or 100k
    agent: str  # its text; {NAME} stands for the folder of the run NAME
    runs: tuple[Training, ...] = ()


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper."""

    name: str  # what `diffusearch reproduce` is told
    title: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    remark: str = ""  # what differs from the paper
    paper: str = ""  # the table of paper.toml with the same labels; the exhibit's own name without it


def row(label: str, word: str, run: Training, options: str = "") -> Row:
    """A row whose agent is a word and one run."""
    return Row(label, f"{word}:{{{run.name}}}{'?' + options if options else ''}", (run,))
