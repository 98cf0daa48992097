"""What `reproduce all` has measured so far: figures and outcomes of every row of every exhibit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from diffusearch.evaluation.row_log import read_rows
from diffusearch.reproduce.contrasts import Estimate, Outcomes, RowOutcomes, accuracy_of, seed_spread
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.jobs import MeasureJob
from diffusearch.reproduce.plan import Setting


@dataclass
class Gathered:
    """Rows by (exhibit, label) with {scale} filled in."""

    outcomes: dict[tuple[str, str], RowOutcomes] = field(default_factory=dict)  # of actions
    figures: dict[tuple[str, str], dict[str, dict[str, Any]]] = field(default_factory=dict)  # by metric, of seed 0
    ratings: dict[str, dict[str, Any]] = field(default_factory=dict)  # agent -> rating, of the tournament
    spread: float = 0.0  # of a run's accuracy over seeds
    processor_seconds: float = 0.0  # of the measurements

    def accuracy(self, exhibit: str, label: str) -> Estimate | None:
        """A row's action accuracy."""
        row = self.outcomes.get((exhibit, label))
        return None if row is None else accuracy_of(row, self.spread)


def gather(exhibits: dict[str, Exhibit], setting: Setting) -> Gathered:
    """Read the results and rows that exist."""
    found, seen = Gathered(), set()
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
    for path in (setting.out / "results").glob("*.json"):
        seen.add(path)
        found.processor_seconds += json.loads(path.read_text()).get("processor_seconds", 0.0)
    different = {row.runs: row for row in found.outcomes.values()}  # a run counts once
    found.spread = seed_spread(list(different.values()))
    standings = setting.out / "tournament" / "tournament.json"
    if standings.exists():
        found.ratings = {one["agent"]: one for one in json.loads(standings.read_text())["ratings"]}
    return found


def _outcomes(row: Row, setting: Setting) -> tuple[Outcomes, ...]:
    """The outcomes of each seed that is measured, the first ones without a gap."""
    out = []
    for seed in range(row.seeds):
        job = MeasureJob(row.seeded(seed), "actions", setting)
        if not job.done():
            break
        out.append(_read(job.rows, job.rows.stat().st_mtime_ns))
    return tuple(out)


@cache
def _read(path: Path, changed: int) -> Outcomes:
    return np.array([row.right for row in read_rows(path)[1]], dtype=np.bool_)
