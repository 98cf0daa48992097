"""Measures the rows of an exhibit: metrics of one agent; times, tournament and pictures of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffusearch.agents.base import Agent
from diffusearch.evaluation.record import slug
from diffusearch.evaluation.row_log import RowLog, agent_digest
from diffusearch.evaluation.session import finish, progress_bar, recipe_of, recipes_of
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.plan import Setting

if TYPE_CHECKING:
    from diffusearch.evaluation.labelled_positions import LabelledPosition

LATENCY_ROWS = 100  # positions that are decided one at a time: for times, and for the depth of trees


@dataclass
class Made:
    """What came out: results by row label and metric, and what could not be measured."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)  # label -> commands that would train its runs
    rows: dict[str, Path] = field(default_factory=dict)  # label -> the file of its action rows
    files: list[Path] = field(default_factory=list)


def measure_row(metrics: Sequence[str], label: str, text: str, setting: Setting, made: Made) -> None:
    """The metrics of one agent; each is written as a result of its own too. Others are of all rows together."""
    from diffusearch.agents.build import agent as build

    made.results[label] = {}
    with build(text) as player:
        for metric in metrics:
            log = _log(metric, label, player, setting)
            figures, files = metric_figures(metric, player, setting, log)
            made.results[label][metric], _ = finish(
                metric,
                figures,
                recipes={text: recipe_of(player)},
                files=files,
                seed=None,
                skip=setting.skip_puzzles if metric == "puzzles" else setting.skip_actions,
                out=setting.out / "results",
            )
            if log and metric == "actions":
                made.rows[label] = log.file.path


def _log(metric: str, label: str, player: Agent, setting: Setting) -> RowLog | None:
    """The file of a row's positions. Other weights or other rows of the test file make another file."""
    if metric not in ("actions", "puzzles"):
        return None
    skip = setting.skip_puzzles if metric == "puzzles" else setting.skip_actions
    name = f"{metric}-{slug(label)}-{agent_digest(player)}-skip{skip}.jsonl"
    return RowLog(setting.out / "rows" / name, metric, player)


def metric_figures(
    metric: str, player: Agent, setting: Setting, log: RowLog | None, fewer: int | None = None
) -> tuple[dict[str, Any], list[Path]]:
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.actions import action_accuracy
    from diffusearch.evaluation.future_quality import future_quality
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.puzzles import puzzle_accuracy, read_puzzles
    from diffusearch.reproduce.tree_depth import tree_depth

    if metric == "puzzles":
        assert setting.puzzles is not None  # checks.py
        puzzles = read_puzzles(setting.puzzles, setting.puzzle_limit or setting.limit, skip=setting.skip_puzzles)
        with progress_bar(metric, len(puzzles)) as progress:
            return puzzle_accuracy(player, puzzles, progress=progress, log=log), [setting.puzzles]
    assert setting.actions is not None
    if metric == "tree-depth":
        positions = timed_positions(setting)
    else:
        positions = read_positions(setting.actions, fewer or setting.limit, skip=setting.skip_actions)
    with progress_bar(metric, len(positions)) as progress:
        if metric == "tree-depth":
            figures = tree_depth(player, positions, progress=progress)
        elif metric == "futures":
            figures = future_quality(player, positions, progress=progress)
        else:
            figures = action_accuracy(player, positions, progress=progress, log=log)
    return figures, labelled_files(setting.actions)


def timed_positions(setting: Setting) -> list[LabelledPosition]:
    """The positions that are decided one at a time."""
    from diffusearch.evaluation.labelled_positions import read_positions

    assert setting.actions is not None
    return read_positions(setting.actions, timed_count(setting), skip=setting.skip_actions)


def timed_count(setting: Setting) -> int:
    """How many there are at most."""
    return min(LATENCY_ROWS, setting.limit or LATENCY_ROWS)


def time_rows(exhibit: Exhibit, ready: dict[str, str], setting: Setting, made: Made) -> None:
    """Time all rows in turns; `ready` has the agents' texts by label."""
    from diffusearch.agents.build import agent as build
    from diffusearch.data.labelled import labelled_files
    from diffusearch.evaluation.latency import in_turns

    assert setting.actions is not None
    positions = timed_positions(setting)
    with ExitStack() as opened, progress_bar("latency", len(ready) * len(positions)) as progress:
        players = {text: opened.enter_context(build(text)) for text in ready.values()}
        found = dict(zip(players, in_turns(list(players.values()), positions, progress=progress), strict=True))
        recipes = {text: recipe_of(player) for text, player in players.items()}
    rows = [{"agent": text, **row} for text, row in found.items()]
    finish(
        "latency",
        {**{name: rows[0][name] for name in ("n", "accuracy", "interval")}, "rows": rows},
        recipes=recipes,
        files=labelled_files(setting.actions),
        seed=None,
        skip=setting.skip_actions,
        out=setting.out / "results" / f"latency-{exhibit.name}.json",
    )
    for label, text in ready.items():
        made.results[label]["latency"] = found[text]


def tournament(
    ready: dict[str, str], setting: Setting, made: Made, folder: Path, *, processes: int = 1, ray: bool = False
) -> None:
    """Rate the rows by games of each against each; `ready` has the agents' texts by label."""
    from diffusearch.evaluation import crosstable
    from diffusearch.evaluation import tournament as event
    from diffusearch.evaluation.games import GameRules
    from diffusearch.evaluation.openings import read_book
    from diffusearch.files import write_whole

    names, book, rules = list(ready.values()), read_book(), GameRules()
    recipes = recipes_of(names)
    fixtures = event.schedule(event.pairings(names), setting.games, len(book))
    with progress_bar("games", len(fixtures)) as progress:
        played = event.play_tournament(
            fixtures,
            book,
            rules,
            folder,
            together=setting.games,  # a pairing is one batch: a search evaluates a position of each game in a call
            processes=processes,
            ray=ray,
            recipes=recipes,
            progress=progress,
        )
    _, figures = event.figures(played, names, rules)
    files = [folder / "games.pgn"]
    result, path = finish("tournament", figures, recipes=recipes, files=files, seed=0, out=folder / "tournament.json")
    write_whole(folder / "crosstable.md", crosstable.markdown(result))
    made.files += [path, folder / "crosstable.md"]
    rated = {row["agent"]: row for row in result["ratings"]}
    for label, text in ready.items():
        made.results[label]["elo"] = rated[text]


def draw_cases(ready: dict[str, str], setting: Setting, made: Made) -> None:
    """Pictures of hard puzzles with every row's move and line."""
    from diffusearch.evaluation.puzzles import read_puzzles
    from diffusearch.reproduce.cases import draw_boards

    assert setting.puzzles is not None
    puzzles = read_puzzles(setting.puzzles, setting.puzzle_limit or setting.limit, skip=setting.skip_puzzles)
    hard = [puzzle for puzzle in puzzles if puzzle.rating > 1800][: setting.cases]
    boards = [
        (one.board(), f"lichess {one.id}, rated {one.rating}; solution {' '.join(one.moves[1:])}") for one in hard
    ]
    files = [setting.out / f"case-{puzzle.id}.svg" for puzzle in hard]
    draw_boards(ready, boards, files)
    made.files += files
