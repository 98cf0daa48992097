"""Makes an exhibit: checks the input, trains missing runs if asked to, measures every row."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from diffusearch.reproduce.checks import check
from diffusearch.reproduce.drafting import make_drafts
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.measure import Made, draw_cases, measure_row, time_rows, tournament
from diffusearch.reproduce.plan import (
    PlannedRun,
    Setting,
    Stage,
    commands,
    folder_of,
    missing_start,
    stage_of,
    train_command,
)
from diffusearch.reproduce.trained import train_planned

Say = Callable[[str], None]


def make(exhibit: Exhibit, setting: Setting, say: Say = lambda line: None) -> Made:
    """Check, train (if asked to), measure, play and draw what rows share."""
    check(exhibit, setting)
    made = Made()
    ready: dict[str, str] = {}  # label -> agent's text
    alone: dict[str, tuple[str, ...]] = {}  # label -> metrics
    for one in exhibit.rows:
        label = setting.shown(one.label)
        if setting.train:
            for run in one.runs:
                _train(run, setting, say)
        folders = {run.name: folder_of(run, setting) for run in one.runs}
        lacking = [run for run in one.runs if folders[run.name] is None]
        if lacking:
            made.missing[label] = [shlex.join(words) for run in lacking for words in commands(run, setting)]
        else:
            alone[label] = exhibit.alone(one)
            ready[label] = one.text({name: str(folder) for name, folder in folders.items()})
    for label, text in ready.items():
        say(f"{label}: {text}")
        measure_row(alone[label], label, text, setting, made)
    if "latency" in exhibit.metrics and ready:
        time_rows(exhibit, ready, setting, made)
    if "elo" in exhibit.metrics and len(ready) > 1:
        tournament(ready, setting, made, setting.out / "tournament")
    if "cases" in exhibit.metrics and ready:
        draw_cases(ready, setting, made)
    return made


def next_step(exhibit: Exhibit, setting: Setting, made: Made) -> str:
    """What to type where rows are missing; empty where none is."""
    if not made.missing:
        return ""
    return (
        f"{len(made.missing)} rows have no trained run: add --train to train them with this command, --plan to see "
        "what that costs; the page lists the command for each run."
    )


def _train(run: PlannedRun, setting: Setting, say: Say) -> None:
    if stage_of(run, setting) is Stage.FINISHED:
        return
    first = missing_start(run, setting)
    if first is not None:
        _train(first, setting, say)
    make_drafts(run, setting, say)
    say(shlex.join(train_command(run, setting)))
    train_planned(run, setting, True, say)
