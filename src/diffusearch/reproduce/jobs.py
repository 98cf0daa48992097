"""The jobs behind `reproduce all`: train a run, measure an agent (times: timed.py). Each knows whether it is done.

A measurement is done if there is a result of the same experiment (digests.py) and of the run's newest network
(kept.py), wherever it was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diffusearch.evaluation.record import slug
from diffusearch.reproduce import trained
from diffusearch.reproduce.digests import content_digest, digest, recipe_digest, test_digest
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.kept import METRICS, Kept, as_text, networks, read_kept, write_kept
from diffusearch.reproduce.plan import PlannedRun, Setting, Stage, stage_of
from diffusearch.reproduce.timed import TimeJob
from diffusearch.reproduce.work import processor_seconds
from diffusearch.reproduce.workers import Done

# The runs on which most verdicts rest, in the order of training; all others follow by exhibit.
FIRST = (
    "s-a",
    "s-asa",
    "s-asa-autoregressive",
    "random-policy",
    "direct",
    "random-world",
    "s-a-long",
    "s-asa-long",
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
    "decoding",
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
    return (*first, *sorted(rest, key=seed_of))  # every row has a run before any of the rest has a second


def seed_of(run: PlannedRun) -> int:
    """Which of its row's seeds a run has; 0 is the first."""
    settings = dict(setting.split("=", 1) for setting in run.settings)
    return int(settings.get("seed", 0))


@dataclass(frozen=True)
class TrainJob:
    """Train a run to its end, or go on with it."""

    run: PlannedRun
    setting: Setting

    @property
    def key(self) -> str:
        return f"train-{self.run.name}"

    @property
    def folder(self) -> Path:
        return self.setting.runs / self.run.name

    def done(self) -> bool:
        return trained.ready(self.run, self.setting)

    def __call__(self) -> Done:
        stage = stage_of(self.run, self.setting)
        if stage is Stage.FINISHED:
            return Done(f"{self.run.name}: {stage.value}", "training", 0.0)
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "training.txt").open("a", encoding="utf-8") as file, trained.clock(self.folder) as clock:

            def report(line: str) -> None:
                print(line, file=file, flush=True)
                clock.note()

            trained.train_planned(self.run, self.setting, stage is Stage.BEGUN, report)
        spent = clock.spent
        return Done(f"{self.run.name}: trained in {spent / 60:.1f} processor-minutes", "training", spent)


@dataclass(frozen=True)
class MeasureJob:
    """Measure an agent by one metric; the result goes to Setting.results, its rows to OUT/rows."""

    row: Row  # of one seed
    metric: str
    setting: Setting

    @property
    def agent(self) -> str:
        """The agent's text with run names instead of folders."""
        return trained.agent_of(self.row)

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs that it needs."""
        return self.row.runs

    @property
    def key(self) -> str:
        """A name for files."""
        return f"{self.metric}-{slug(self.agent)}"

    @property
    def result(self) -> Path:
        return self.setting.results / f"{self.key}.json"

    @property
    def rows(self) -> Path:
        """Its answers so far, apart from those on other test rows."""
        return self.setting.out / "rows" / f"{self.key}-{digest([self._test(), self._wanted()[0]])[:8]}.jsonl"

    def text(self) -> str:
        """The agent's text with the folders of its runs."""
        return self.row.text({run.name: trained.place(run, self.setting) for run in self.row.runs})

    def possible(self) -> bool:
        return all(trained.ready(run, self.setting) for run in self.row.runs)

    def digest(self) -> str:
        """What is measured: metric, agent, how its runs are trained, and on which test rows."""
        runs = [recipe_digest(run, self.setting) for run in self.row.runs]
        return digest([self.metric, self.agent, runs, self._test(), self._wanted()])

    def _test(self) -> str:
        """The digest of the test file."""
        file = self.setting.puzzles if self.metric == "puzzles" else self.setting.actions
        return test_digest(file, self.setting) if file else ""

    def done(self) -> bool:
        return self.figures() is not None

    def figures(self) -> Kept | None:
        """The result, if there is one of this experiment and of the runs' newest networks."""
        kept = read_kept(self.result)
        if kept is None or kept["digest"] != self.digest():
            return None
        newest = networks(self.setting.results)
        if any(newest[name, run["recipe"]] != run["weights"] for name, run in kept["runs"].items() if "weights" in run):
            return None
        # Labels that are here must be those behind the result: another engine labels otherwise.
        sets = {name: known for run in kept["runs"].values() for name, known in run.get("labels", {}).items()}
        here = {name: content_digest(self.setting.labels / name) for name in sets}
        return kept if all(here[name] in ("", known) for name, known in sets.items()) else None

    def _wanted(self) -> list[int | None]:
        """The test rows: how many are left out first, and how many are measured."""
        setting = self.setting
        if self.metric == "puzzles":
            return [setting.skip_puzzles, setting.puzzle_limit or setting.limit]
        return [setting.skip_actions, self.row.limit or setting.limit]

    def __call__(self) -> Done:
        from diffusearch.agents.build import agent as build
        from diffusearch.evaluation.row_log import RowLog, read_rows
        from diffusearch.reproduce.measure import metric_figures

        if self.done():
            return Done(f"{self.key}: measured", "measuring", 0.0)
        began = processor_seconds()
        with build(self.text()) as player:
            log = RowLog(self.rows, self.metric, player) if self.metric in ("actions", "puzzles") else None
            if log and self.rows.exists() and read_rows(self.rows)[0] not in ({}, log.head):
                self.rows.unlink()  # rows of earlier weights
            figures, files = metric_figures(self.metric, player, self.setting, log, self.row.limit)
        spent = processor_seconds() - began
        about = {"agent": self.agent, "digest": self.digest(), "wanted": self._wanted(), "processor_seconds": spent}
        about["runs"] = {trained.named(run): trained.about(run, self.setting) for run in self.row.runs}
        if log:
            figures["outcomes"] = as_text(read_rows(self.rows)[1][: figures["n"]])
        write_kept(self.result, self.metric, figures, files, about)
        share = f" {100 * figures['accuracy']:.1f} %" if "accuracy" in figures else ""
        return Done(f"{self.key}:{share} measured in {spent:.0f} processor-seconds", "measuring", spent)


Measurement = MeasureJob | TimeJob


def measure_jobs(exhibits: dict[str, Exhibit], setting: Setting) -> list[Measurement]:
    """What is to be measured for some exhibits, each agent and metric once; games and pictures are not among it."""
    found: dict[str, Measurement] = {}
    for exhibit in exhibits.values():
        for row, one in seeded_rows(exhibit):
            for metric in exhibit.alone(row):
                if metric != "actions" and one.agent != row.agent:
                    continue  # one seed is enough
                if metric in METRICS:
                    job = MeasureJob(one, metric, setting)
                    found.setdefault(job.key, job)
        if "latency" in exhibit.metrics:
            timed = TimeJob(exhibit, setting)
            found[timed.key] = timed
    return list(found.values())
