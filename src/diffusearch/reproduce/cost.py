"""What an exhibit contains and costs: its rows, its runs, and their training time on this machine in core-hours.

The time comes from a calibration: each kind of model takes a few training steps on random games, for about a second of
processor time, in batches as large as the recipe's where that takes no longer. The number of operations says so.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.plan import PlannedRun, Setting, Stage, folder_of, resolved, stage_of
from diffusearch.reproduce.scales import SCALES, Scale

if TYPE_CHECKING:
    from diffusearch.training.recipe import Recipe

PAPER_RECORDS = {10_000: 659_576, 100_000: 6_564_661}  # by games, the paper's Table 1
ACTIONS = 26  # sa-v: records of a position (the paper's Table 1, 17,448,268 / 659,576)
LEAST = 8  # records of a calibration step, and more if a step has room:
STEP = 3.5e10  # floating-point operations, half a second or less
GAMES = 64  # random positions that are trained on


@dataclass(frozen=True)
class Cost:
    """The training that a run still needs."""

    passes: int  # records seen, with repetitions
    rate: float  # records a processor second on this machine
    guessed: bool  # whether the number of records is that of as many games of the paper, as the labels are missing

    @property
    def core_hours(self) -> float:
        return self.passes / self.rate / 3600


def hours_of(hours: float) -> str:
    """Hours as people say them: 0.04, 4.2, 1,230."""
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.1f}" if hours >= 10 else f"{hours:.2f}"


def counted(number: int, word: str) -> str:
    """1 run, 2 runs."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def starts_only(there: set[PlannedRun], exhibit: Exhibit) -> set[PlannedRun]:
    """The runs that only start runs which need no training, as their weights are there."""
    own = {run for row in exhibit.rows for run in row.runs}
    idle: set[PlannedRun] = set()
    for run in reversed(exhibit.runs):  # what starts from a run comes after it
        if run not in own and all(one in there or one in idle for one in exhibit.runs if one.after == run):
            idle.add(run)
    return idle


def plan_lines(exhibit: Exhibit, setting: Setting, seconds: float = 1.0) -> Iterator[str]:
    """The plan for people, as it is calibrated; `seconds` is the calibration time of each kind of model."""
    yield from content_lines(exhibit, setting)
    yield f"{counted(len(exhibit.runs), 'run')} below {setting.runs}:"
    idle = starts_only({run for run in exhibit.runs if run.packaged and folder_of(run, setting) is not None}, exhibit)
    rates: dict[tuple[object, ...], Speed] = {}
    total, guessed = 0.0, False
    for run in exhibit.runs:
        recipe = resolved(run, setting)
        stage = stage_of(run, setting)
        if stage is Stage.FINISHED:
            yield f"  {run.name}: {stage.value}"
            continue
        if folder_of(run, setting) is not None:
            yield f"  {run.name}: weights of the package (--train trains anew)"
            continue
        if run in idle:
            yield f"  {run.name}: not needed (--train begins with it)"
            continue
        if run.drafts:  # the calibration trains whole networks
            count, passes = sum(one.limit for one in run.drafts), recipe.optimiser.steps * recipe.optimiser.batch
            yield f"  {run.name}: {stage.value}; {count:,} positions to draft, {passes:,} record-passes; not in the sum"
            continue
        key = (recipe.model, recipe.process)
        if key not in rates:
            rates[key] = speed_of(recipe, seconds)
        cost = cost_of(run, recipe, rates[key].training, setting)
        total, guessed = total + cost.core_hours, guessed or cost.guessed
        most = "at most " if recipe.watch.patience else ""
        yield (
            f"  {run.name}: {stage.value}; {most}{cost.passes:,} record-passes at {cost.rate:.3g} a second = "
            f"{hours_of(cost.core_hours)} core-hours"
        )
    yield f"training on this machine: {hours_of(total)} core-hours in all"
    if guessed:
        yield "Some labelled sets do not exist yet: their records are taken to be those of as many games of the paper."


def content_lines(exhibit: Exhibit, setting: Setting) -> list[str]:
    """What an exhibit contains: its place in the paper, metrics and rows."""
    remark = [exhibit.remark] if exhibit.remark else []
    return [
        f"{exhibit.name}: {exhibit.title} ({exhibit.place})",
        *remark,
        f"measures {', '.join(exhibit.metrics)}; {len(exhibit.rows)} rows:",
        *(f"  {setting.shown(row.label)}: {row.agent}" for row in exhibit.rows),
    ]


def paper_passes(scale: Scale) -> int:
    """Record-passes of a run of the paper, at the size that a scale is compared with."""
    from diffusearch.training.named_recipes import find_recipe
    from diffusearch.training.recipe import load_recipe
    from diffusearch.training.state import total_steps

    optimiser = load_recipe(find_recipe(SCALES[scale.paper].recipe)).optimiser
    return total_steps(optimiser, paper_records(SCALES[scale.paper].games)) * optimiser.batch


def paper_records(games: int) -> int:
    """Records of so many games: as the paper counts them, else by its records of a game."""
    return PAPER_RECORDS.get(games) or round(games * PAPER_RECORDS[10_000] / 10_000)


def cost_of(run: PlannedRun, recipe: Recipe, rate: float, setting: Setting) -> Cost:
    """Record-passes of a run from its recipe and labels."""
    from diffusearch.training.state import total_steps

    count, guessed = 0, False
    if not recipe.optimiser.steps:
        sources = recipe.data.sources
        guessed = not sources or not all(Path(source.path).exists() for source in sources)
        if guessed:
            count = paper_records(run.games or setting.scale.games)
        else:
            count = sum(rows_of(Path(source.path), source.games) for source in sources)
        count *= ACTIONS if recipe.model.paradigm == "sa-v" else 1
    return Cost(total_steps(recipe.optimiser, count) * recipe.optimiser.batch, rate, guessed)


def rows_of(path: Path, games: int = 0) -> int:
    """The rows of a labelled set, or of the first so many of its training games."""
    import pyarrow.parquet as pq

    from diffusearch.data.labelled import labelled_files
    from diffusearch.training.sources import first_games

    if games:
        return sum(1 for _ in first_games(path, "train", games))
    return sum(pq.ParquetFile(file).metadata.num_rows for file in labelled_files(path))


@dataclass(frozen=True)
class Speed:
    """Records a processor second."""

    training: float
    forward: float  # of a network call without gradients, as decoding makes them


def speed_of(recipe: Recipe, seconds: float) -> Speed:
    """The speed of a recipe here: steps on random games for so long, at least one, then calls for a third of that."""
    import torch

    from diffusearch.training.loop import train
    from diffusearch.training.recipe import load_recipe, recipe_text

    size = min(recipe.optimiser.batch, max(LEAST, int(STEP / operations(recipe))))
    with tempfile.TemporaryDirectory() as folder:
        games = Path(folder) / "games.parquet"
        _write_games(games, recipe.model.horizon)
        whole = Path(folder) / "recipe.toml"
        whole.write_text(recipe_text(recipe), encoding="utf-8")
        data = (f"data.sources=[{{path='{games}'}}]", "data.held_out=[]", "data.validation=''", "data.cache=''")
        small = (f"optimiser.batch={size}", "optimiser.micro_batches=1", "optimiser.steps=1", "start=''")
        training = train(load_recipe(whole, (*data, *small)), Path(folder) / "run")  # the first step warms up
        trained = size * _a_second(training.take_step, seconds)
        batch, net = training.batch(0, recipe.model.horizon), training.net.eval()
        layout = net.layout.truncated(recipe.model.horizon)
        with torch.inference_mode():
            return Speed(trained, size * _a_second(lambda: net(batch.tokens, layout), seconds / 3))


def _a_second(act: Callable[[], object], seconds: float) -> float:
    """How often something can be done in a processor second."""
    began, times = time.process_time(), 0
    while times == 0 or time.process_time() - began < seconds:
        act()
        times += 1
    return times / (time.process_time() - began)


def operations(recipe: Recipe) -> float:
    """Floating-point operations of one training record: forward and backward of trunk, attention and heads."""
    trunk, record = recipe.model.trunk, recipe.model.layout
    weights = trunk.layers * 12 * trunk.width**2
    heads = sum(len(group.variables) * group.size for group in record.groups) * trunk.width
    attention = trunk.layers * 2 * record.places**2 * trunk.width
    return 6.0 * (weights * record.places + heads + attention)


def _write_games(path: Path, horizon: int, count: int = GAMES) -> None:
    """Labelled positions of random games, all of the training split."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = random.Random(0)
    rows = []
    for number in range(count):
        board = chess.Board()
        for _ in range(generator.randint(4, 12)):
            moves = list(board.legal_moves)
            if moves:  # a random game may end in mate so soon
                board.push(generator.choice(moves))
        fen = board.fen()
        line: list[str] = []
        scored = " ".join(f"{move.uci()}:0" for move in board.legal_moves)
        while len(line) < horizon and any(board.legal_moves):
            line.append(generator.choice(list(board.legal_moves)).uci())
            board.push_uci(line[-1])
        known = {"fen": fen, "line": " ".join(line), "cp": 0, "nodes": 1, "pool": "random", "game": number, "ply": 0}
        rows.append(known | {"mate": None, "played": line[0], "split": "train", "actions": scored})
    table = pa.Table.from_pylist(rows)
    position = table.schema.get_field_index("mate")
    pq.write_table(table.set_column(position, "mate", pa.nulls(count, pa.int16())), path)
