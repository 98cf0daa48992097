"""The runs behind an exhibit: the recipe of each, how far its folder has come, and the command that trains it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from diffusearch.errors import UserError
from diffusearch.reproduce.scales import SCALES, Scale

if TYPE_CHECKING:
    from diffusearch.training.recipe import Recipe


@dataclass(frozen=True)
class Drafts:
    """Positions in which the run that a draft reader starts from drafts: a source of the reader's recipe."""

    labels: str  # labelled positions that no run before was trained on
    out: str  # folder below --runs
    limit: int  # positions
    exclude: tuple[str, ...] = ()  # labelled sets whose games are left out
    dynamics: str = "rules"  # who makes the drafted positions


@dataclass(frozen=True)
class PlannedRun:
    """A run that a row needs: the base recipe with some settings changed."""

    name: str  # folder below --runs
    settings: tuple[str, ...] = ()  # as `diffusearch train --set` takes them; {labels} and {runs} are folders
    packaged: str = ""  # the package's weights of that name serve unless trained anew
    recipe: str = ""  # a named recipe of its own instead of the base
    after: PlannedRun | None = None  # the run whose weights it starts from
    games: int | None = None  # training games, where they are not those of the scale: what its epochs cost
    drafts: tuple[Drafts, ...] = ()  # made by the run that it starts from, before its training


@dataclass(frozen=True)
class Setting:
    """What the user chooses."""

    runs: Path
    out: Path
    labels: Path = Path("labels")  # folder of the labelled sets that rows name
    scale: Scale = SCALES["10k"]
    recipe: str | Path = "paper-10k"  # the base recipe: a name or a file
    settings: tuple[str, ...] = ()  # changes of every run, e.g. to make it small
    actions: Path | None = None  # labelled test positions
    puzzles: Path | None = None  # test puzzles
    limit: int | None = None  # rows of each test file
    puzzle_limit: int | None = None  # rows of the puzzle file, if not `limit`
    skip_actions: int = 0  # rows left out first
    skip_puzzles: int = 0
    games: int = 400  # of each pairing
    train: bool = False
    cases: int = 4  # pictures
    pgn: Path | None = None  # the games that `reproduce all` labels
    docs: Path | None = None  # where `reproduce all` writes its page, figures and results; None: to `out`

    @property
    def pages(self) -> Path:
        """The folder of the page, of its figures (img) and of the results (reproduction)."""
        return self.docs or self.out

    @property
    def results(self) -> Path:
        """The folder of the results: all that must be kept to go on elsewhere."""
        return self.pages / "reproduction"

    @property
    def own_test(self) -> bool:
        """Whether `reproduce all` labels the test positions itself, because no file was given."""
        return self.actions == self.labels / "test"

    def shown(self, label: str) -> str:
        """A row's label with the number of training games."""
        return label.format(scale=self.scale.words)

    def in_paper(self, label: str) -> str:
        """The same as the paper's table has it."""
        return label.format(scale=self.scale.paper)


class Stage(Enum):
    """How far the folder of a run has come with its recipe."""

    ABSENT = "not begun"  # at most weights from before the end, without a checkpoint: training begins at step 0
    BEGUN = "begun"  # there is a checkpoint to resume from
    FINISHED = "trained"  # weights of the recipe's last step


def resolved(run: PlannedRun, setting: Setting) -> Recipe:
    """The recipe of a run, with all changes."""
    from diffusearch.training.named_recipes import find_recipe
    from diffusearch.training.recipe import load_recipe

    return load_recipe(find_recipe(_base(run, setting)), _changes(run, setting))


def stage_of(run: PlannedRun, setting: Setting) -> Stage:
    """How far a run has come; a folder with another recipe's run is refused."""
    from diffusearch.training.loop import finished
    from diffusearch.training.recipe import differs

    folder, recipe = setting.runs / run.name, resolved(run, setting)
    if name := differs(recipe, folder):
        raise UserError(
            f"{folder} holds a run with another {name} than this exhibit needs: choose another --runs, or give the "
            "--set, --actions and --puzzles of that run"
        )
    weights, checkpoint = ((folder / f"{name}.safetensors").is_file() for name in ("weights", "checkpoint"))
    if weights and finished(recipe, folder):
        return Stage.FINISHED
    return Stage.BEGUN if checkpoint else Stage.ABSENT


def folder_of(run: PlannedRun, setting: Setting) -> Path | None:
    """The folder of the weights to measure: a finished run, or the package's if the run is neither begun nor wanted."""
    from diffusearch.weights import packaged

    stage = stage_of(run, setting)
    if stage is Stage.FINISHED:
        return setting.runs / run.name
    return packaged(run.packaged) if run.packaged and stage is Stage.ABSENT and not setting.train else None


def train_command(run: PlannedRun, setting: Setting) -> list[str]:
    """The command that trains a run, or resumes it."""
    words = ["diffusearch", "train", _base(run, setting), "--out", str(setting.runs / run.name)]
    for one in _changes(run, setting):
        words += ["--set", one]
    return [*words, "--resume"] if stage_of(run, setting) is Stage.BEGUN else words


def commands(run: PlannedRun, setting: Setting) -> list[list[str]]:
    """The commands that train a run and, if they are missing too, the run that it starts from and its drafts."""
    first = missing_start(run, setting)
    before = [] if first is None else commands(first, setting)
    return [*before, *draft_commands(run, setting), train_command(run, setting)]


def draft_commands(run: PlannedRun, setting: Setting) -> list[list[str]]:
    """The commands that make the drafts of a run, or go on with them; a run that has begun has its drafts."""
    if run.after is None or not run.drafts or stage_of(run, setting) is not Stage.ABSENT:
        return []
    drafting, found = str(setting.runs / run.after.name), []
    for one in run.drafts:
        left_out = [word for path in one.exclude for word in ("--exclude", path)]
        words = ["diffusearch", "draft", drafting, one.labels, *left_out, "--limit", str(one.limit)]
        found.append([*words, "--dynamics", one.dynamics, "--out", str(setting.runs / one.out)])
    return found


def missing_start(run: PlannedRun, setting: Setting) -> PlannedRun | None:
    """The run that must be trained before this one; None if this one has begun or that one is finished."""
    before = run.after
    if before is None or stage_of(run, setting) is not Stage.ABSENT:
        return None
    return None if stage_of(before, setting) is Stage.FINISHED else before


def own_settings(run: PlannedRun, setting: Setting) -> tuple[str, ...]:
    """What the exhibit sets for a run."""
    folders = {"{labels}": setting.labels, "{runs}": setting.runs}
    found = run.settings
    for word, folder in folders.items():
        found = tuple(one.replace(word, str(folder)) for one in found)
    return found


def _base(run: PlannedRun, setting: Setting) -> str:
    return run.recipe or str(setting.recipe)


def _changes(run: PlannedRun, setting: Setting) -> tuple[str, ...]:
    """All changes of the base recipe."""
    from diffusearch.training.named_recipes import find_recipe
    from diffusearch.training.recipe import load_recipe

    start = () if run.after is None else (f"start={setting.runs / run.after.name}",)
    changes = (f"name={run.name}", *start, *setting.settings, *own_settings(run, setting))
    if run.drafts:  # made already: drafting.py refuses test positions before they are drafted
        return changes
    held_out = load_recipe(find_recipe(_base(run, setting)), changes).data.held_out
    tests = [str(path) for path in (setting.actions, setting.puzzles) if path and str(path) not in held_out]
    # the test positions must not be trained on
    return (*changes, f"data.held_out={json.dumps([*held_out, *tests])}") if tests else changes
