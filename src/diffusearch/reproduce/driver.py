"""Makes an exhibit: trains what is missing if asked to, measures every row, plays and draws what rows share."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffusearch.agents.base import Agent
from diffusearch.errors import UserError
from diffusearch.evaluation.session import finish, progress_bar, recipe_of, recipes_of
from diffusearch.reproduce.exhibit import Exhibit, Row, Training

if TYPE_CHECKING:
    from diffusearch.training.recipe import Recipe

NEEDS = {"actions": "actions", "latency": "actions", "futures": "actions", "puzzles": "puzzles", "cases": "puzzles"}
LATENCY_ROWS = 100  # positions timed one at a time


@dataclass(frozen=True)
class Setting:
    """What the user gives."""

    runs: Path
    out: Path
    scale: str = "10k"  # of the paper's rows to compare with
    recipe: str | Path = "paper-10k"  # the base that each run changes: a name or a file
    settings: tuple[str, ...] = ()  # more changes for every run, e.g. to make it small
    actions: Path | None = None  # labelled test positions
    puzzles: Path | None = None  # test puzzles
    limit: int | None = None
    games: int = 400  # of each pairing
    train: bool = False
    cases: int = 4  # pictures


@dataclass
class Made:
    """What came out: results by row label and metric, and what could not be measured."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)  # label -> commands that would train its runs
    files: list[Path] = field(default_factory=list)


class Stage(Enum):
    """How far the folder of a run has come with its recipe. What cannot be used does not count."""

    ABSENT = "nothing to go on from, at most weights from before the end: training begins with the first step"
    BEGUN = "a checkpoint to go on from"
    FINISHED = "weights of the recipe's end"


def stage_of(training: Training, setting: Setting) -> Stage:
    """How far a run has come."""
    from diffusearch.training.loop import finished
    from diffusearch.training.recipe import differs

    folder = setting.runs / training.name
    if name := differs(resolved(training, setting), folder):
        words = f"{folder} holds a run with another {name} than this table asks for"
        raise UserError(f"{words}: choose another --runs, or give the --set, --actions and --puzzles of that run")
    weights, checkpoint = ((folder / f"{name}.safetensors").is_file() for name in ("weights", "checkpoint"))
    if weights and finished(resolved(training, setting), folder):
        return Stage.FINISHED
    return Stage.BEGUN if checkpoint else Stage.ABSENT


def folder_of(training: Training, setting: Setting) -> Path | None:
    """Where the weights to measure are: the run's own at its end, or the package's if none is begun nor wanted."""
    found = stage_of(training, setting)
    if found is Stage.FINISHED:
        return setting.runs / training.name
    return _packaged(training.name) if training.packaged and found is Stage.ABSENT and not setting.train else None


def _packaged(name: str) -> Path:
    from diffusearch.weights import packaged

    return packaged(name)


def train_command(training: Training, setting: Setting) -> list[str]:
    """The command that makes a run."""
    out = setting.runs / training.name
    words = ["diffusearch", "train", _base(training, setting), "--out", str(out)]
    for one in _changes(training, setting):
        words += ["--set", one]
    return [*words, "--resume"] if stage_of(training, setting) is Stage.BEGUN else words


def _base(training: Training, setting: Setting) -> str:
    return training.recipe or str(setting.recipe)


def _changes(training: Training, setting: Setting) -> tuple[str, ...]:
    """What --set changes in the base."""
    from diffusearch.training.recipe import load_recipe
    from diffusearch.training.shelf import find_recipe

    start = () if training.after is None else (f"start={setting.runs / training.after.name}",)
    changes = (f"name={training.name}", *start, *training.settings, *setting.settings)
    held_out = load_recipe(find_recipe(_base(training, setting)), changes).data.held_out
    tests = [str(path) for path in (setting.actions, setting.puzzles) if path and str(path) not in held_out]
    # what is measured on must not be learnt from
    return (*changes, f"data.held_out={json.dumps([*held_out, *tests])}") if tests else changes


def resolved(training: Training, setting: Setting) -> Recipe:
    """The recipe of a run, with all changes."""
    from diffusearch.training.recipe import load_recipe
    from diffusearch.training.shelf import find_recipe

    return load_recipe(find_recipe(_base(training, setting)), _changes(training, setting))


def _first(training: Training, setting: Setting) -> Training | None:
    """The run that must be trained before this one: where it starts from, unless it has started or that is done."""
    before = training.after
    if before is None or stage_of(training, setting) is not Stage.ABSENT:
        return None
    return None if stage_of(before, setting) is Stage.FINISHED else before


def _commands(training: Training, setting: Setting) -> list[list[str]]:
    """The commands that make a run and, before it, the one that it starts from, if that is missing too."""
    first = _first(training, setting)
    return [*([] if first is None else _commands(first, setting)), train_command(training, setting)]


def make(exhibit: Exhibit, setting: Setting, say: Callable[[str], None] = lambda line: None) -> Made:
    """Train (if asked), measure, draw."""
    needs = {NEEDS[metric] for metric in exhibit.metrics if metric in NEEDS}
    wanted = [f"--{need}" for need in sorted(needs) if getattr(setting, need) is None]
    if wanted:
        words = f"measures {', '.join(exhibit.metrics)}: give its test data with {' and '.join(wanted)}"
        raise UserError(f"`reproduce {exhibit.name}` {words} (labelled positions, lichess puzzles).")
    made = Made()
    ready: dict[str, str] = {}  # label -> agent's text
    for one in exhibit.rows:
        label = one.label.format(scale=setting.scale)
        if setting.train:
            for training in one.runs:
                _train(training, setting, say)
        folders = {training.name: folder_of(training, setting) for training in one.runs}
        lacking = [training for training in one.runs if folders[training.name] is None]
        if lacking:
            made.missing[label] = [shlex.join(words) for training in lacking for words in _commands(training, setting)]
        else:
            ready[label] = _text(one, folders)
    for label, text in ready.items():
        say(f"{label}: {text}")
        made.results[label] = _measure(exhibit, text, setting)
    if "elo" in exhibit.metrics and len(ready) > 1:
        _tournament(ready, setting, made)
    if "cases" in exhibit.metrics and ready:
        made.files += _draw_cases(ready, setting)
    return made


def _text(one: Row, folders: dict[str, Path | None]) -> str:
    text = one.agent
    for name, folder in folders.items():
        text = text.replace(f"{{{name}}}", str(folder))
    return text


def _train(training: Training, setting: Setting, say: Callable[[str], None]) -> None:
    from diffusearch.training.loop import train

    if stage_of(training, setting) is Stage.FINISHED:
        return
    first = _first(training, setting)
    if first is not None:
        _train(first, setting, say)
    say(shlex.join(train_command(training, setting)))
    train(resolved(training, setting), setting.runs / training.name, resume=True, report=say)


def _measure(exhibit: Exhibit, text: str, setting: Setting) -> dict[str, Any]:
    """The metrics of one agent, each written as a result of its own too."""
    from diffusearch.agents.build import agent as build

    out: dict[str, Any] = {}
    with ExitStack() as stack:
        player = stack.enter_context(build(text))
        for metric in exhibit.metrics:
            if metric in ("elo", "cases"):
                continue  # measured together, below
            figures, files = _figures(metric, player, setting)
            where = setting.out / "results"
            out[metric], _ = finish(
                metric, figures, recipes={text: recipe_of(player)}, files=files, seed=None, out=where
            )
    return out


def _figures(metric: str, player: Agent, setting: Setting) -> tuple[dict[str, Any], list[Path]]:
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.actions import action_accuracy
    from diffusearch.evaluation.future_quality import future_quality
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.latency import latency
    from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles

    if metric == "puzzles":
        assert setting.puzzles is not None  # checked before the first measurement
        puzzles = read_puzzles(setting.puzzles, setting.limit)
        with progress_bar(metric, len(puzzles)) as progress:
            return puzzle_accuracy(player, puzzles, progress=progress), [setting.puzzles]
    assert setting.actions is not None
    limit = min(LATENCY_ROWS, setting.limit or LATENCY_ROWS) if metric == "latency" else setting.limit
    positions = read_positions(setting.actions, limit)
    with progress_bar(metric, len(positions)) as progress:
        if metric == "latency":
            figures = latency(player, positions, progress=progress)
            figures["rows"] = [{"agent": player.name, **figures}]
        elif metric == "futures":
            figures = future_quality(player, positions, progress=progress)
        else:
            figures = action_accuracy(player, positions, progress=progress)
    return figures, labelled_files(setting.actions)


def _tournament(ready: dict[str, str], setting: Setting, made: Made) -> None:
    from diffusearch.evaluation import crosstable
    from diffusearch.evaluation import tournament as event
    from diffusearch.evaluation.games import Rules
    from diffusearch.evaluation.openings import read_book
    from diffusearch.files import write_whole

    names, book, rules = list(ready.values()), read_book(), Rules()
    recipes = recipes_of(names)
    fixtures = event.schedule(event.pairings(names), setting.games, len(book))
    folder = setting.out / "tournament"
    with progress_bar("games", len(fixtures)) as progress:
        played = event.play_tournament(fixtures, book, rules, folder, recipes=recipes, progress=progress)
    _, figures = event.figures(played, names, rules)
    files = [folder / "games.pgn"]
    result, path = finish("tournament", figures, recipes=recipes, files=files, seed=0, out=folder / "tournament.json")
    write_whole(folder / "crosstable.md", crosstable.markdown(result))
    made.files += [path, folder / "crosstable.md"]
    rated = {row["agent"]: row for row in result["ratings"]}
    for label, text in ready.items():
        made.results[label]["elo"] = rated[text]


def _draw_cases(ready: dict[str, str], setting: Setting) -> list[Path]:
    from diffusearch.agents.build import agent as build
    from diffusearch.evaluation.puzzles import read_puzzles
    from diffusearch.files import write_whole
    from diffusearch.play.pictures import case_picture

    assert setting.puzzles is not None
    hard = [puzzle for puzzle in read_puzzles(setting.puzzles, setting.limit) if puzzle.rating > 1800]
    files = []
    with ExitStack() as stack:
        players = {label: stack.enter_context(build(text)) for label, text in ready.items()}
        for puzzle in hard[: setting.cases]:
            board = puzzle.board()
            decisions = {label: player.play(board) for label, player in players.items()}
            caption = f"lichess {puzzle.id}, rated {puzzle.rating}; solution {' '.join(puzzle.moves[1:])}"
            files.append(setting.out / f"case-{puzzle.id}.svg")
            write_whole(files[-1], case_picture(board, decisions, caption))
    return files
