"""What `reproduce all` has measured so far: figures and outcomes of every row of every exhibit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffusearch.reproduce import match
from diffusearch.reproduce.contrasts import Estimate, RowOutcomes, Spread, accuracy_of, seed_spread
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.jobs import MeasureJob, measure_jobs
from diffusearch.reproduce.kept import Kept
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.timed import TimeJob
from diffusearch.reproduce.trained import agent_of


@dataclass
class Gathered:
    """Rows by (exhibit, label) with {scale} filled in."""

    outcomes: dict[tuple[str, str], RowOutcomes] = field(default_factory=dict)  # of actions
    figures: dict[tuple[str, str], dict[str, dict[str, Any]]] = field(default_factory=dict)  # by metric, of seed 0
    training: dict[tuple[str, str], list[float]] = field(default_factory=dict)  # processor seconds of each seed's runs
    ratings: dict[str, dict[str, Any]] = field(default_factory=dict)  # agent -> rating, of the tournament
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> what results tell of the run
    measured: int = 0  # agents and metrics that have a result,
    wanted: int = 0  # of so many
    seeds: Spread = field(default_factory=Spread)  # of a run's accuracy

    @property
    def spread(self) -> float:
        """Of a run's accuracy over seeds, as contrasts take it."""
        return self.seeds.wide

    def accuracy(self, exhibit: str, label: str) -> Estimate | None:
        """A row's action accuracy."""
        row = self.outcomes.get((exhibit, label))
        return None if row is None else accuracy_of(row, self.spread)


def gather(exhibits: dict[str, Exhibit], setting: Setting) -> Gathered:
    """Read the results that exist."""
    found, jobs = Gathered(), measure_jobs(exhibits, setting)
    kept = [(job, result) for job in jobs if (result := job.figures()) is not None]
    found.measured, found.wanted = len(kept), len(jobs)
    own = [result for job, result in kept if isinstance(job, MeasureJob)]
    for result in sorted(own, key=lambda one: str(one["date"])):
        found.runs |= result["runs"]  # the newest result tells of the newest training
    for exhibit in exhibits.values():
        timed = TimeJob(exhibit, setting).entries() if "latency" in exhibit.metrics else {}
        for row in exhibit.rows:
            key = exhibit.name, setting.shown(row.label)
            each = {metric: MeasureJob(row, metric, setting).figures() for metric in exhibit.alone(row)}
            each["latency"] = timed.get(agent_of(row))
            found.figures[key] = {metric: result for metric, result in each.items() if result is not None}
            results = _each_seed(row, setting) if "actions" in exhibit.metrics else []
            if results:
                outcomes = tuple(np.array([one == "1" for one in result["outcomes"]]) for result in results)
                found.outcomes[key] = RowOutcomes(outcomes, _trained(row))
                found.training[key] = [_training(result, found.runs) for result in results]
    found.seeds = seed_spread(found.outcomes.values())
    played = match.kept(exhibits, setting)
    found.ratings = {one["agent"]: one for one in played["ratings"]} if played else {}
    return found


def _trained(row: Row) -> tuple[str, ...]:
    """The runs of a row that are trained at this scale."""
    return tuple(run.name for run in row.runs if not run.packaged)


def _each_seed(row: Row, setting: Setting) -> list[Kept]:
    """The results of each seed that is measured, the first ones without a gap."""
    out = []
    for seed in range(row.seeds):
        result = MeasureJob(row.seeded(seed), "actions", setting).figures()
        if result is None:
            break
        out.append(result)
    return out


def _training(result: Kept, newest: dict[str, dict[str, Any]]) -> float:
    """Processor seconds in which the runs behind a result were trained.

    A run that was trained several times to the same weights has one figure everywhere: that of its newest training.
    """
    return sum(float(newest[name].get("processor_seconds", 0.0)) for name in result["runs"])
