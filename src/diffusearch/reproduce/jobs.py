"""The jobs behind `reproduce all`: train a run, measure an agent. Each knows whether it is done already."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffusearch.evaluation.json_lines import JsonLines
from diffusearch.evaluation.record import slug
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.plan import PlannedRun, Setting, Stage, resolved, stage_of

SECONDS = "seconds.jsonl"  # below a run's folder: processor time of each call that trained it

# The runs on which most verdicts rest, in the order of training; all others follow by exhibit.
FIRST = (
    "s-a",
    "s-asa",
    "s-asa-autoregressive",
    "random-policy",
    "direct",
    "random-world",
    "s-a-long",
    "s-asa-single",
    "s-aa",
    "s-v",
    "s-asa-seed1",
    "s-a-seed1",
    "s-a-seed2",
)
THEN = (
    "depth",
    "layers",
    "data-size",
    "training",
    "paradigms",
    "main",
    "compute",
    "future-quality",
    "steps",
    "futures",
)


def seeded_rows(exhibit: Exhibit) -> Iterator[tuple[Row, Row]]:
    """Every row of an exhibit with each of its seeds: (the row, the row with the runs of that seed)."""
    for row in exhibit.rows:
        for seed in range(row.seeds):
            yield row, row.seeded(seed)


def ordered_runs(exhibits: dict[str, Exhibit]) -> tuple[PlannedRun, ...]:
    """The runs of all exhibits by importance, each once; the runs of the package are not among them."""
    every: dict[str, PlannedRun] = {}
    for name in THEN:
        if name in exhibits:
            for _, row in seeded_rows(exhibits[name]):
                every |= {run.name: run for run in row.runs if not run.packaged and run.name not in every}
    first = [every[name] for name in FIRST if name in every]
    rest = [run for name, run in every.items() if name not in FIRST]
    rest.sort(key=lambda run: run.name.endswith("seed2"))  # stable: the third seed comes last
    return (*first, *rest)


@dataclass(frozen=True)
class TrainJob:
    """Train a run to its end, or go on with it."""

    run: PlannedRun
    setting: Setting

    @property
    def folder(self) -> Path:
        return self.setting.runs / self.run.name

    def done(self) -> bool:
        return stage_of(self.run, self.setting) is Stage.FINISHED

    def __call__(self) -> str:
        from diffusearch.training.loop import train

        stage = stage_of(self.run, self.setting)
        if stage is Stage.FINISHED:
            return f"{self.run.name}: {stage.value}"
        self.folder.mkdir(parents=True, exist_ok=True)
        began, wall = time.process_time(), time.monotonic()
        with (self.folder / "training.txt").open("a") as file:

            def report(line: str) -> None:
                print(line, file=file, flush=True)

            try:
                train(resolved(self.run, self.setting), self.folder, resume=stage is Stage.BEGUN, report=report)
            finally:
                spent = {"processor": time.process_time() - began, "wall": time.monotonic() - wall}
                JsonLines(self.folder / SECONDS, "call").append([spent])
        return f"{self.run.name}: trained in {spent['processor'] / 60:.1f} processor-minutes"


def processor_seconds(folder: Path) -> float | None:
    """The processor time that went into a run; None where nothing was noted."""
    path = folder / SECONDS
    if not path.exists():
        return None
    return sum(float(line["processor"]) for line in JsonLines(path, "call").read())


@dataclass(frozen=True)
class MeasureJob:
    """Measure an agent by one metric; the figures go to OUT/results, the rows to OUT/rows."""

    row: Row  # of one seed
    metric: str
    setting: Setting

    @property
    def key(self) -> str:
        """The agent's text with run names instead of folders, and the metric: a name for files."""
        return f"{self.metric}-{slug(self.row.agent.replace('{', '').replace('}', ''))}"

    @property
    def result(self) -> Path:
        return self.setting.out / "results" / f"{self.key}.json"

    @property
    def rows(self) -> Path:
        return self.setting.out / "rows" / f"{self.key}.jsonl"

    def text(self) -> str:
        """The agent's text with the folders of its runs."""
        text = self.row.agent
        for run in self.row.runs:
            text = text.replace(f"{{{run.name}}}", os.path.relpath(self.setting.runs / run.name))
        return text

    def possible(self) -> bool:
        return all(stage_of(run, self.setting) is Stage.FINISHED for run in self.row.runs)

    def done(self) -> bool:
        """Whether there is a result of the weights of today on as many rows as are wanted."""
        if not self.result.exists():
            return False
        weights = [self.setting.runs / run.name / "weights.safetensors" for run in self.row.runs]
        if any(one.stat().st_mtime > self.result.stat().st_mtime for one in weights if one.exists()):
            return False
        found = json.loads(self.result.read_text())
        return bool(found.get("wanted") == self._wanted())

    def figures(self) -> dict[str, Any] | None:
        """The result, if there is one."""
        return json.loads(self.result.read_text()) if self.done() else None

    def _wanted(self) -> list[Any]:
        setting = self.setting
        if self.metric == "puzzles":
            return [setting.skip_puzzles, setting.puzzle_limit or setting.limit]
        return [setting.skip_actions, setting.limit]

    def __call__(self) -> str:
        from diffusearch.agents.build import agent as build
        from diffusearch.evaluation.row_log import RowLog
        from diffusearch.evaluation.session import finish, recipe_of
        from diffusearch.reproduce.measure import metric_figures

        if self.done():
            return f"{self.key}: measured"
        began = time.process_time()
        with build(self.text()) as player:
            log = RowLog(self.rows, self.metric, player) if self.metric in ("actions", "puzzles") else None
            if log and self.rows.exists() and self._stale():
                self.rows.unlink()  # rows of earlier weights
            figures, files = metric_figures(self.metric, player, self.setting, log)
            figures |= {"wanted": self._wanted(), "processor_seconds": time.process_time() - began}
            finish(
                self.metric,
                figures,
                recipes={self.row.agent: recipe_of(player)},
                files=files,
                seed=None,
                skip=self._wanted()[0],
                out=self.result,
            )
        share = f" {100 * figures['accuracy']:.1f} %" if "accuracy" in figures else ""
        return f"{self.key}:{share} measured in {figures['processor_seconds']:.0f} processor-seconds"

    def _stale(self) -> bool:
        weights = [self.setting.runs / run.name / "weights.safetensors" for run in self.row.runs]
        return any(one.stat().st_mtime > self.rows.stat().st_mtime for one in weights if one.exists())


def measure_jobs(exhibits: dict[str, Exhibit], setting: Setting) -> list[MeasureJob]:
    """What is to be measured for some exhibits, each agent and metric once; games and pictures are not among it."""
    found: dict[str, MeasureJob] = {}
    for exhibit in exhibits.values():
        for row, one in seeded_rows(exhibit):
            for metric in exhibit.metrics:
                if metric in ("puzzles", "futures", "latency") and one.agent != row.agent:
                    continue  # one seed is enough
                if metric in ("actions", "puzzles", "futures", "latency"):
                    job = MeasureJob(one, metric, setting)
                    found.setdefault(job.key, job)
    return list(found.values())
