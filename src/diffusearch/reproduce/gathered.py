"""What `reproduce all` has measured so far: figures and outcomes of every row of every exhibit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffusearch.reproduce import match
from diffusearch.reproduce.contrasts import Estimate, Outcomes, RowOutcomes, accuracy_of, seed_spread
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.jobs import MeasureJob, measure_jobs
from diffusearch.reproduce.plan import Setting


@dataclass
class Gathered:
    """Rows by (exhibit, label) with {scale} filled in."""

    outcomes: dict[tuple[str, str], RowOutcomes] = field(default_factory=dict)  # of actions
    figures: dict[tuple[str, str], dict[str, dict[str, Any]]] = field(default_factory=dict)  # by metric, of seed 0
    ratings: dict[str, dict[str, Any]] = field(default_factory=dict)  # agent -> rating, of the tournament
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> what results tell of the run
    measured: int = 0  # agents and metrics that have a result,
    wanted: int = 0  # of so many
    spread: float = 0.0  # of a run's accuracy over seeds

    def accuracy(self, exhibit: str, label: str) -> Estimate | None:
        """A row's action accuracy."""
        row = self.outcomes.get((exhibit, label))
        return None if row is None else accuracy_of(row, self.spread)


def gather(exhibits: dict[str, Exhibit], setting: Setting) -> Gathered:
    """Read the results that exist."""
    found, jobs = Gathered(), measure_jobs(exhibits, setting)
    for exhibit in exhibits.values():
        for row in exhibit.rows:
            key = exhibit.name, setting.shown(row.label)
            found.figures[key] = {}
            for metric in exhibit.metrics:
                result = MeasureJob(row, metric, setting).figures()
                if result is not None:
                    found.figures[key][metric] = result
            outcomes = _outcomes(row, setting) if "actions" in exhibit.metrics else ()
            if outcomes:
                found.outcomes[key] = RowOutcomes(outcomes, tuple(run.name for run in row.runs))
    kept = [result for job in jobs if (result := job.figures()) is not None]
    found.measured, found.wanted = len(kept), len(jobs)
    for result in kept:
        found.runs |= result["runs"]
    different = {row.runs: row for row in found.outcomes.values()}  # a run counts once
    found.spread = seed_spread(list(different.values()))
    played = match.kept(exhibits, setting)
    found.ratings = {one["agent"]: one for one in played["ratings"]} if played else {}
    return found


def _outcomes(row: Row, setting: Setting) -> tuple[Outcomes, ...]:
    """The outcomes of each seed that is measured, the first ones without a gap."""
    out = []
    for seed in range(row.seeds):
        result = MeasureJob(row.seeded(seed), "actions", setting).figures()
        if result is None:
            break
        out.append(np.array([one == "1" for one in result["outcomes"]], dtype=np.bool_))
    return tuple(out)
