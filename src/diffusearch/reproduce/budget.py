"""What `reproduce all` still costs: labels, runs, measurements and games, in core-hours of this machine.

The speeds come from a calibration of about ten seconds. At the paper's own scales, which no calibration reaches, the
cost is counted in floating-point operations and given in hours of a V100.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import chess

from diffusearch.reproduce import match
from diffusearch.reproduce.catalogue import exhibit, exhibits_of
from diffusearch.reproduce.cost import (
    Speed,
    content_lines,
    cost_of,
    counted,
    hours_of,
    operations,
    speed_of,
    starts_only,
)
from diffusearch.reproduce.exhibits import Row
from diffusearch.reproduce.jobs import Measurement, ordered_runs
from diffusearch.reproduce.labels import LabelSet, complete, label_run
from diffusearch.reproduce.measure import timed_count
from diffusearch.reproduce.plan import PlannedRun, Setting, Stage, resolved, stage_of
from diffusearch.reproduce.scales import SCALES, Scale
from diffusearch.reproduce.timed import TimeJob
from diffusearch.reproduce.whole import LEFT_OUT, Whole, missing_runs, needed_sets_of
from diffusearch.training.recipe import Recipe

PLIES = 70  # positions of a game that are labelled, on average
GAME_MOVES = 80  # moves of a played game
SHARED = 0.65  # searches that are left of a relabelled future: the others were made for another record
DECISION = 0.001  # seconds of a decision outside the network
SIMULATION = 0.0002  # seconds of a simulation outside the networks
TREE = 84  # evaluations of the packaged minimax
ENGINE = 0.1  # seconds of the oracle's decision
ALONE = 4.0  # a network call for one position costs so many times its share of a large batch
FEW = 1.5  # the same for the few games that are played side by side
NOT_NEEDED = "not needed, its results are kept"
V100 = 30e12  # floating-point operations a second that training sustains on a V100 (peak: 125e12)


Kind = tuple[str, str, bool]


@dataclass
class Rates:
    """Speeds of this machine, measured once for each kind of run; sizes differ by their number of operations."""

    seconds: float  # of calibration for each kind
    kinds: dict[Kind, tuple[Speed, float]] = field(default_factory=dict)  # with the operations of a record
    searches: dict[int, float] = field(default_factory=dict)

    def of(self, recipe: Recipe) -> Speed:
        """Records a processor second."""
        kind = kind_of(recipe)
        if kind not in self.kinds:
            self.kinds[kind] = speed_of(recipe, self.seconds), operations(recipe)
        speed, known = self.kinds[kind]
        ratio = known / operations(recipe)
        return Speed(speed.training * ratio, speed.forward * ratio)


def kind_of(recipe: Recipe) -> Kind:
    """Runs of a kind differ in size, not in what is computed."""
    return recipe.process.kind, recipe.model.trunk.attention, recipe.model.paradigm in ("s-a", "s-v", "sa-v")


def whole_plan(whole: Whole, seconds: float = 10.0) -> Iterator[str]:
    """The plan for people, line by line as the calibration goes on. What no missing result needs costs nothing."""
    setting = whole.setting
    if not setting.scale.own_labels:
        yield from paper_plan(setting)
        return
    yield f"reproduce all at the scale {setting.scale.name}, below {setting.out}; calibrating"
    runs = ordered_runs(whole.exhibits)
    needed_sets, needed_runs = needed_sets_of(whole), {job.run for job in missing_runs(whole)}
    kinds = {kind_of(resolved(run, setting)) for run in needed_runs}
    rates, total = Rates(seconds / (2 * len(kinds) + 2)), 0.0
    yield "labels:"
    for one in whole.sets:
        if complete(one, setting.labels):
            yield f"  {one.name}: labelled"
        elif one not in needed_sets:
            yield f"  {one.name}: {NOT_NEEDED}"
        else:
            hours = _label_hours(one, whole, rates)
            yield f"  {one.name}: {hours:.2f} core-hours"
            total += hours
    yield "runs, in the order of training:"
    for run in runs:
        stage = stage_of(run, setting)
        if stage is Stage.FINISHED:
            yield f"  {run.name}: {stage.value}"
        elif run not in needed_runs:
            yield f"  {run.name}: {NOT_NEEDED}"
        else:
            recipe = resolved(run, setting)
            cost = cost_of(run, recipe, rates.of(recipe).training, setting)
            most = "at most " if recipe.watch.patience else ""
            yield f"  {run.name}: {stage.value}; {most}{cost.passes:,} record-passes = {cost.core_hours:.2f} core-hours"
            total += cost.core_hours
    jobs = whole.measurements
    left = [job for job in jobs if not job.done()]
    hours = sum(_measure_hours(job, rates) for job in left)
    yield f"measurements: {len(jobs) - len(left)} of {len(jobs)} done; about {hours:.2f} core-hours"
    total += hours
    if not whole.only:
        games = _game_hours(whole, rates)
        yield f"tournament: about {games:.2f} core-hours"
        total += games
    yield f"left to do on this machine: about {total:.1f} core-hours; --processes N shares them among N cores"


def _label_hours(one: LabelSet, whole: Whole, rates: Rates) -> float:
    """From searches of positions of random games."""
    from diffusearch.data.oracle import Oracle

    run = label_run(one, whole.setting, whole.engine, 1)
    assert run.settings.oracle is not None
    nodes = one.nodes * (30 if one.actions else 1)
    if nodes not in rates.searches:
        generator, board, made = random.Random(0), chess.Board(), 0
        with Oracle(run.settings.oracle) as oracle:
            oracle.ask(board, run.settings.oracle.budget)
            began = time.perf_counter()
            while made == 0 or time.perf_counter() - began < rates.seconds:
                board.push(generator.choice(list(board.legal_moves)))
                if not any(board.legal_moves) or board.is_game_over():
                    board = chess.Board()
                if one.actions:
                    oracle.ask_all(board, run.settings.oracle.budget)
                else:
                    oracle.ask(board, run.settings.oracle.budget)
                made += 1
        rates.searches[nodes] = made / (time.perf_counter() - began)
    searched = SHARED * one.horizon if one.future == "relabel" and one.horizon > 1 else 1.0
    new = one.games // 2 if one.without else one.games
    return new * (whole.setting.scale.per_game or PLIES) * searched / rates.searches[nodes] / 3600


def _seconds(row: Row, setting: Setting, rates: Rates) -> tuple[float, float]:
    """Processor time of a decision: inside the networks, in large batches, and outside."""
    agent = row.agent
    if not row.runs:
        return 0.0, ENGINE
    recipe = resolved(row.runs[0], setting)
    call = 1 / rates.of(recipe).forward
    if "simulations=" in agent:
        simulations = float(agent.partition("simulations=")[2].partition("&")[0])
        return 2 * simulations * call, DECISION + simulations * SIMULATION  # a policy and a value
    if agent.startswith(("s-v", "sa-v")):
        return 30 * call, 2 * DECISION  # every legal move
    if agent.startswith("search"):
        return TREE * call, 5 * DECISION
    if agent.startswith("diffusearch"):
        asked = agent.partition("steps=")[2].partition("&")[0]
        return float(asked or recipe.decoding.steps) * call, DECISION
    return 1.5 * call, DECISION


def _measure_hours(job: Measurement, rates: Rates) -> float:
    setting = job.setting
    if isinstance(job, TimeJob) or job.metric == "tree-depth":
        rows = job.exhibit.rows if isinstance(job, TimeJob) else (job.row,)
        each = [_seconds(row, setting, rates) for row in rows]
        return timed_count(setting) * sum(ALONE * inside + outside for inside, outside in each) / 3600
    wanted = 2 * (setting.puzzle_limit or 1000) if job.metric == "puzzles" else setting.limit or 2000
    inside, outside = _seconds(job.row, setting, rates)
    return wanted * (inside + outside) / 3600


def _game_hours(whole: Whole, rates: Rates) -> float:
    setting = whole.setting
    if match.kept(whole.exhibits, setting):
        return 0.0
    players = match.players(whole.exhibits, setting)
    moves = setting.games * GAME_MOVES / 2 * (len(players) - 1)
    each = (_seconds(job.row, setting, rates) for job in players)
    return sum(moves * (FEW * inside + outside) for inside, outside in each) / 3600


def paper_plan(setting: Setting) -> list[str]:
    """The paper's own runs in hours of a V100."""
    exhibits = {name: one for name, one in exhibits_of(setting.scale).items() if name not in LEFT_OUT}
    lines, total = (
        [f"the paper's runs at {setting.scale.words} games, on V100s that sustain {V100 / 1e12:.0f} TFLOP/s:"],
        0.0,
    )
    for run in ordered_runs(exhibits):
        hours = _gpu_hours(run, setting)
        total += hours
        lines.append(f"  {run.name}: at most {hours:,.1f} GPU-hours")
    lines.append(
        f"training: at most {total:,.0f} GPU-hours in all; the paper has 8 V100s, so {total / 8 / 24:.0f} days"
    )
    lines.append(
        f"labels: {_label_core_hours(setting.scale):,.0f} core-hours of Stockfish with 0.05 s for each legal move"
    )
    return lines


def exhibit_help(name: str, scale: Scale = SCALES["10k"]) -> list[str]:
    """What one exhibit contains, and what its runs cost at a scale: for `reproduce NAME --help`."""
    setting = Setting(Path("runs/paper"), Path("runs/reproduce") / name, scale=scale, recipe=scale.recipe)
    one = exhibit(name, scale)
    packaged = {run for run in one.runs if run.packaged}
    needed = [run for run in one.runs if run not in packaged | starts_only(packaged, one)]
    cost = [f"{counted(len(packaged), 'run')} in the package: nothing needs to be trained for them"] if packaged else []
    if needed:
        others = sorted({run.games for run in needed if run.games})
        sizes = f"{scale.words} games" + (f" (some at {others[0]:,} to {others[-1]:,})" if others else "")
        cost.append(
            f"{counted(len(needed), 'run')} at {sizes}: at most {_in_all(needed, setting)} (--scale chooses the size)"
        )
    return [
        *content_lines(one, setting),
        *cost,
        f"`diffusearch reproduce {name} --plan` measures the cost here.",
    ]


def _in_all(runs: list[PlannedRun], setting: Setting) -> str:
    """The training of runs: in GPU-hours at the paper's sizes; small runs do not fill a GPU."""
    if setting.scale.own_labels:
        passes = sum(cost_of(run, resolved(run, setting), 1.0, setting).passes for run in runs)
        return f"{passes:,} record-passes"
    return f"{hours_of(sum(_gpu_hours(run, setting) for run in runs))} GPU-hours of a V100"


def _gpu_hours(run: PlannedRun, setting: Setting) -> float:
    recipe = resolved(run, setting)
    return cost_of(run, recipe, 1.0, setting).passes * operations(recipe) / V100 / 3600


def _label_core_hours(scale: Scale) -> float:
    return max(scale.games, max(scale.sizes)) * PLIES * scale.depths * SHARED * 31 * 0.05 / 3600
