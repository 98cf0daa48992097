"""The training loop: records in, weights out. A run that is killed at any moment goes on with --resume, bit for bit.

A run folder is locked while a run uses it. Ctrl-C (SIGINT) and SIGTERM end a run after the step at hand, with a
checkpoint; the process then exits with 130 or 143.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sized
from contextlib import nullcontext
from pathlib import Path

import torch

from diffusearch.data.draft_records import is_drafts
from diffusearch.errors import UserError
from diffusearch.files import locked, make_folder, remove_leftovers, write_whole
from diffusearch.training import checkpoint
from diffusearch.training.allocator import keep_freed_memory
from diffusearch.training.draft_training import DraftTraining, open_drafts
from diffusearch.training.log import Log
from diffusearch.training.processes import World
from diffusearch.training.recipe import Recipe, differs, recipe_text
from diffusearch.training.sources import open_sources
from diffusearch.training.state import Training, out_of_patience, total_steps
from diffusearch.training.stopping import StopSignals

STALE = 300.0  # seconds of work that a killed run may lose at most

Say = Callable[[str], None]


def finished(recipe: Recipe, out: Path) -> bool:
    """Whether the run in a folder has come to the end of a recipe: nothing is left for --resume to do.

    Without a checkpoint the weights file is asked. If the recipe counts epochs and the file does not say how many
    records there are in one, the answer is no.
    """
    found = next((path for name in ("checkpoint", "weights") if (path := out / f"{name}.safetensors").is_file()), None)
    if found is None:
        return False
    about = checkpoint.load_facts(found)
    step, worse, records = (checkpoint.count(about, name, found) for name in ("step", "worse", "records"))
    known = bool(recipe.optimiser.steps or records)
    return out_of_patience(recipe, worse) or (known and step >= total_steps(recipe.optimiser, records))


def _refuse_another(recipe: Recipe, out: Path) -> None:
    """Refuse to go on with other data or another model: the run's recipe would no longer describe it."""
    if name := differs(recipe, out):
        words = f"{out} was begun with another {name}: resume with the recipe of the run"
        raise UserError(f"{words}, or begin a new one with start = {str(out)!r}")


def train(recipe: Recipe, out: Path, *, resume: bool = False, report: Say = lambda line: None) -> Training:
    """Run a recipe to its end (or its time limit) in the folder `out`.

    SIGINT and SIGTERM end it early: a checkpoint is written, `report` says how to go on, and SystemExit is raised.
    """
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    keep_freed_memory()
    world = World.join()
    report = report if world.rank == 0 else lambda line: None
    make_folder(out)
    busy = f"another `train` is using {out}: wait for it, or choose another --out"
    with nullcontext() if world.rank else locked(out / ".lock", busy):
        return _train(recipe, out, world, resume, report)


def _train(recipe: Recipe, out: Path, world: World, resume: bool, report: Say) -> Training:
    found = (out / "checkpoint.safetensors").exists()
    if found and not resume:
        raise UserError(f"{out} holds a run already: add --resume to go on, or choose another --out")
    if found:
        _refuse_another(recipe, out)
    if not world.rank:
        remove_leftovers(out)
    with world.one_by_one():  # the first process replays labelled sets, the others find them done
        training, validation = _opened(recipe, out, world, report)
    if resume and not found:
        report(f"{out} holds no checkpoint: the run begins with its first step")
    if validation is None:
        report("no record is left for validation: give data.validation, or label more games")
    if found:
        training.restore()
    elif recipe.start:
        report(training.start_from(Path(recipe.start)))
    if world.rank == 0:
        write_whole(out / "recipe.toml", recipe_text(recipe))
    log = Log(out, training.steps, training.step, report, writes=world.rank == 0)
    with StopSignals() as signals:
        stopped = _loop(training, validation, log, signals, report)
    log.close()
    if stopped:
        raise SystemExit(signals.exit_code)
    training.late_signal = None if signals.received is None else signals.exit_code
    return training


def _opened(recipe: Recipe, out: Path, world: World, report: Say) -> tuple[Training, Sized | None]:
    """The training at its first step, and the records for validation. Draft records train the draft reader alone."""
    if any(is_drafts(Path(source.path)) for source in recipe.data.sources):
        drafts, held_back = open_drafts(recipe)
        return DraftTraining(recipe, out, drafts, world), held_back
    records, validation = open_sources(recipe, report)
    return Training(recipe, out, records, world), validation


def _loop(training: Training, validation: Sized | None, log: Log, signals: StopSignals, report: Say) -> bool:
    """Steps, validations and checkpoints until the end, the time limit, the patience or a signal; whether by a signal
    before the end."""
    recipe, world, watch = training.recipe, training.world, training.recipe.watch
    over = asked = False
    began = saved = time.monotonic()
    while training.step < training.steps and not training.out_of_patience and not (over or asked):
        log.add(training.take_step(), training.step, recipe.optimiser.batch)
        if watch.minutes > 0:
            over = world.any(time.monotonic() - began > 60 * watch.minutes)
        due, last = training.step % watch.validate_every == 0, training.step == training.steps
        if validation is not None and (due or last or over):
            # a file that is given for validation is used whole
            limit = len(validation) if recipe.data.validation else watch.validate_records
            result = training.validate(validation, limit)
            log.validation(result, training.step)
            if (due or last) and training.judge(result.score):
                report(f"stopped at step {training.step}: no better for {training.worse} validations")
        asked = world.any(signals.received is not None)
        stale = time.monotonic() - saved > STALE  # when a checkpoint is written changes nothing of the run
        wanted = training.step % watch.checkpoint_every == 0 or training.out_of_patience
        if wanted or stale or last or over or asked:
            training.save()
            saved = time.monotonic()
    unfinished = training.step < training.steps and not training.out_of_patience
    if asked and unfinished:
        report(
            f"stopped by {signals.name} at step {training.step} of {training.steps}: the checkpoint is in "
            f"{training.out}, and the same command with --resume goes on"
        )
    elif over and unfinished:
        report(f"stopped at step {training.step} after {watch.minutes:g} minutes; --resume goes on")
    return asked and unfinished
