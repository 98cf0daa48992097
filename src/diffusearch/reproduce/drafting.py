"""Drafts for the training of a draft reader: what `diffusearch draft` makes, by the run that the reader starts from."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffusearch.errors import UserError
from diffusearch.reproduce.plan import Drafts, PlannedRun, Setting, Stage, draft_commands, stage_of

DRAFT_BYTES = 110_000  # of a position with six drafts: hidden states of their nodes

Say = Callable[[str], None]


def make_drafts(run: PlannedRun, setting: Setting, say: Say) -> None:
    """Draft what a run is trained on; a killed drafting goes on, and drafts that are there are not made again."""
    from diffusearch.drafts.recording import Recording, record
    from diffusearch.inference.run import Run

    made = draft_commands(run, setting)
    if not made or run.after is None:
        return
    drafting = Run.load(setting.runs / run.after.name)
    for one, words in zip(run.drafts, made, strict=True):
        say(shlex.join(words))
        exclude = tuple(Path(path) for path in one.exclude)
        wanted = Recording(
            Path(one.labels), setting.runs / one.out, limit=one.limit, exclude=exclude, dynamics=one.dynamics
        )
        say(f"{wanted.out}: {record(drafting, wanted):,} positions with drafts")


def check_drafted(run: PlannedRun, setting: Setting) -> None:
    """The labelled positions that will be drafted must exist and have no test position."""
    if stage_of(run, setting) is not Stage.ABSENT:
        return
    for one in run.drafts:
        for path in (one.labels, *one.exclude):
            if not Path(path).exists():
                raise UserError(
                    f"Run {run.name} needs {path}, which does not exist: make it with `diffusearch label GAMES --out "
                    f"{path}` (the recipe {run.recipe} says of which positions)."
                )
        _check_unseen(one, setting)


def _check_unseen(one: Drafts, setting: Setting) -> None:
    """Training on drafts leaves out no held-out positions, so the labelled ones must be free of them."""
    from diffusearch.data.held_out import HeldOut, boards_in
    from diffusearch.tokens.states import board_row

    tests = [test for test in (setting.actions, setting.puzzles) if test is not None]
    if not tests:
        return
    rows = np.stack([board_row(board, board.turn) for board in boards_in(one.labels)])
    for test in tests:
        if met := int(HeldOut(boards_in(str(test))).met(rows).sum()):
            raise UserError(
                f"{one.labels} has {met} of the positions of {test}, on which a reader is measured: label other "
                "games, or leave them out with `diffusearch label --exclude`."
            )


def draft_bytes(run: PlannedRun, setting: Setting) -> int:
    """The space of the drafts that a run still needs."""
    begun = stage_of(run, setting) is not Stage.ABSENT
    return 0 if begun else sum(DRAFT_BYTES * one.limit for one in run.drafts)
