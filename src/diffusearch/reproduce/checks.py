"""Everything that can be wrong with an exhibit's input, refused in a sentence before any training or measurement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from diffusearch.errors import UserError
from diffusearch.evaluation.figures import require_matplotlib
from diffusearch.evaluation.record import check_place
from diffusearch.reproduce.cost import rows_of
from diffusearch.reproduce.drafting import check_drafted, draft_bytes
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.plan import PlannedRun, Setting, Stage, own_settings, resolved, stage_of
from diffusearch.reproduce.space import ROW_BYTES, check_disk, run_bytes

if TYPE_CHECKING:
    from diffusearch.training.recipe import Recipe

NEEDS = {"actions": "actions", "latency": "actions", "futures": "actions", "puzzles": "puzzles", "cases": "puzzles"}
DRAWN = ("actions", "futures", "latency")  # metrics of which the page has a picture
OURS = ("name", "start")  # keys that `reproduce` itself sets


def check(exhibit: Exhibit, setting: Setting) -> None:
    """Refuse what would fail later."""
    check_settings(exhibit, setting)
    check_base(exhibit, setting)
    _check_test_files(exhibit, setting)
    check_place(setting.out)
    if any(metric in DRAWN for metric in exhibit.metrics):
        require_matplotlib()
    _check_engines(exhibit)
    if setting.train:
        missing = [run for run in exhibit.runs if stage_of(run, setting) is not Stage.FINISHED]
        for run in missing:
            if run.drafts:
                check_drafted(run, setting)
            else:
                check_labels(run, resolved(run, setting))
        _check_disk(missing, setting)


def check_settings(exhibit: Exhibit, setting: Setting) -> None:
    """`--set` changes all rows alike: a key that sets rows apart would make them the same run."""
    for one in setting.settings:
        key = one.partition("=")[0]
        if key in OURS:
            raise UserError(f"--set {one} would change what `reproduce` sets for each run ({key}): leave it out.")
        for run in exhibit.runs:
            for theirs in (own.partition("=")[0] for own in own_settings(run, setting)):
                if key == theirs or theirs.startswith(f"{key}.") or key.startswith(f"{theirs}."):
                    raise UserError(
                        f"--set {one} would override {theirs}, which rows of `{exhibit.name}` set (run {run.name}): "
                        "leave it out, or give another --recipe."
                    )


def check_base(exhibit: Exhibit, setting: Setting) -> None:
    """Every run of the exhibit must be possible with the base recipe; if not, the recipes that fit are named."""
    from diffusearch.training.named_recipes import find_recipe, named_recipes

    find_recipe(setting.recipe)
    problem = _misfit(exhibit, setting)
    if problem is None:
        return
    fitting = [name for name in named_recipes() if _misfit(exhibit, replace(setting, recipe=name)) is None]
    advice = f"give --recipe {' or '.join(fitting)}" if fitting else "give a recipe of your own with --recipe"
    raise UserError(f"The base recipe {str(setting.recipe)!r} does not fit `{exhibit.name}` ({problem}): {advice}.")


def _misfit(exhibit: Exhibit, setting: Setting) -> str | None:
    """Which run is impossible with the base, and why; None if all that use the base are possible."""
    for run in exhibit.runs:
        if run.recipe:
            continue  # a recipe of its own
        try:
            resolved(run, setting)
        except UserError as error:
            return f"run {run.name}: {error}"
    return None


def _check_test_files(exhibit: Exhibit, setting: Setting) -> None:
    from diffusearch.evaluation.labelled_positions import read_positions
    from diffusearch.evaluation.puzzles import read_puzzles

    needs = {NEEDS[metric] for metric in exhibit.metrics if metric in NEEDS}
    wanted = [
        f"--{need}" for need in sorted(needs) if (setting.actions if need == "actions" else setting.puzzles) is None
    ]
    if wanted:
        words = f"measures {', '.join(exhibit.metrics)}: give its test data with {' and '.join(wanted)}"
        raise UserError(f"`reproduce {exhibit.name}` {words} (labelled positions, lichess puzzles).")
    if "actions" in needs and setting.actions:
        read_positions(setting.actions, 1, skip=setting.skip_actions)
    if "puzzles" in needs and setting.puzzles:
        read_puzzles(setting.puzzles, 1, skip=setting.skip_puzzles)


def _check_disk(missing: list[PlannedRun], setting: Setting) -> None:
    """The runs must fit, and the records of those that have not begun; a run that has begun has its records."""
    runs = {run: resolved(run, setting) for run in missing}
    fresh = [recipe for run, recipe in runs.items() if not run.drafts and stage_of(run, setting) is Stage.ABSENT]
    sources = {(Path(one.path), recipe.data.cache) for recipe in fresh for one in recipe.data.sources}
    sources = {(path, cache) for path, cache in sources if not (path / "records.json").exists()}
    records = [(Path(cache) if cache else path, ROW_BYTES * rows_of(path)) for path, cache in sources]
    drafts = sum(draft_bytes(run, setting) for run in missing)
    check_disk([(setting.runs, sum(map(run_bytes, runs.values())) + drafts), *records], "--runs")


def _check_engines(exhibit: Exhibit) -> None:
    """Agents without runs (engines) are built and closed: a missing program is found out now."""
    from diffusearch.agents.build import agent as build

    for one in exhibit.rows:
        if not one.runs:
            build(one.agent).close()


def check_labels(run: PlannedRun, recipe: Recipe) -> None:
    """The labelled sets of a recipe must exist and hold what its model learns."""
    if not recipe.data.sources:
        raise UserError(f"The recipe of run {run.name} names no data: give --set data.sources=[{{path='FOLDER'}}].")
    for source in recipe.data.sources:
        path, horizon = Path(source.path), recipe.model.horizon
        if not path.exists():
            raise UserError(
                f"Run {run.name} trains on {path}, which does not exist: make it with `diffusearch label GAMES --out "
                f"{path}`, or give the folder of the labelled sets with --labels."
            )
        if (path / "records.json").exists():
            continue  # replayed records: training compares their horizon itself, before its first step
        depth, has_actions = _depth(path)
        if depth < horizon + source.ply:
            raise UserError(
                f"Run {run.name} needs lines of {horizon + source.ply} plies, and the longest of {path} has {depth}: "
                f"label with `--horizon {horizon + source.ply}`."
            )
        if recipe.model.paradigm == "sa-v" and not has_actions:
            raise UserError(f"Run {run.name} learns action values, and {path} has none: label with `--actions`.")


def _depth(path: Path, rows: int = 5000) -> tuple[int, bool]:
    """The longest line among the first rows of a labelled set, and whether its actions are scored."""
    from itertools import islice

    from diffusearch.data.labelled import read_labelled

    found = list(islice(read_labelled(path), rows))
    if not found:
        raise UserError(f"{path} holds no labelled position: label some games first.")
    return max(len(row["line"].split()) for row in found), any(row["actions"] for row in found)
