"""`reproduce all`: labels, trains, measures, plays, draws and writes the page; killed at any moment, it goes on.

OUT/labels/SET           labelled sets (labels.py)
OUT/runs/NAME            trained runs
OUT/rows                 answers of every agent to every test position
OUT/initial/NAME         networks with initial weights, to be timed (timed.py)
OUT/tournament           games of the main table, a folder for the weights that play
DOCS/reproduction.md     the page, and its figures in DOCS/img
DOCS/reproduction/       results (kept.py), tournament and ledger: with this folder the command goes on elsewhere

DOCS is OUT unless --docs says otherwise. What DOCS has is not measured again, and a run is trained only if something
that is missing needs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from diffusearch.errors import UserError
from diffusearch.files import locked
from diffusearch.reproduce import cases, match, workers
from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.data_tables import keep_counts, kept_counts
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.inputs import check_games, check_inputs
from diffusearch.reproduce.jobs import Measurement, TrainJob, measure_jobs, ordered_runs, seed_of
from diffusearch.reproduce.labels import LabelSet, complete, label_missing, label_sets
from diffusearch.reproduce.plan import Setting, resolved
from diffusearch.reproduce.work import Ledger, processor_seconds

LEFT_OUT = ("flagship",)  # exhibits of the package's own weights
PAGE_EVERY = 600.0  # seconds between pages while runs are trained

Say = Callable[[str], None]


@dataclass(frozen=True)
class Whole:
    """What `reproduce all` is told."""

    setting: Setting  # runs, labels and out lie below one folder
    engine: str | None = None
    processes: int = 1
    ray: bool = False
    only: tuple[str, ...] = ()  # the metrics that are measured, without games and pictures; empty: everything

    @property
    def exhibits(self) -> dict[str, Exhibit]:
        """The exhibits of the scale that need no other weights than its own."""
        return {name: one for name, one in exhibits_of(self.setting.scale).items() if name not in LEFT_OUT}

    @property
    def measurements(self) -> list[Measurement]:
        """What is to be measured."""
        every = measure_jobs(self.exhibits, self.setting)
        return [job for job in every if not self.only or job.metric in self.only]

    @property
    def sets(self) -> tuple[LabelSet, ...]:
        return label_sets(self.setting.scale, self.setting.own_test)


def planned(setting: Setting, engine: str | None = None, processes: int = 1, ray: bool = False) -> Whole:
    """The whole with the defaults of its scale filled in."""
    scale, out = setting.scale, setting.out
    filled = replace(
        setting,
        runs=out / "runs",
        labels=out / "labels",
        actions=setting.actions or out / "labels" / "test",
        limit=setting.limit or scale.test_actions,
        puzzle_limit=setting.puzzle_limit or scale.test_puzzles,
        train=True,
    )
    return Whole(filled, engine, processes, ray)


def check_asked(whole: Whole) -> None:
    """Refuse what the page and the plan would be wrong with: scale, files, settings, base recipe."""
    from diffusearch.reproduce.checks import check_base, check_settings

    setting, exhibits = whole.setting, whole.exhibits.values()
    if not setting.scale.own_labels:
        raise UserError(
            f"`reproduce all` trains at the scale laptop; for {setting.scale.name} give --plan, which prints its cost, "
            "and train the runs of each exhibit where you have the machines."
        )
    check_inputs(setting)
    if any(one.partition("=")[0] == "seed" for one in setting.settings):
        raise UserError("--set seed would override seed, which rows with several seeds set: leave it out.")
    for exhibit in exhibits:
        check_settings(exhibit, setting)
    for exhibit in exhibits:  # a key that some rows set is refused as such before it makes the base unfit for others
        check_base(exhibit, setting)


def check_whole(whole: Whole) -> None:
    """Refuse what would fail later: also engine, too few games, pictures, disk."""
    from diffusearch.data.uci_process import find_engine
    from diffusearch.evaluation.figures import require_matplotlib
    from diffusearch.evaluation.record import check_place

    check_asked(whole)
    setting = whole.setting
    find_engine(whole.engine)
    require_matplotlib()
    _check_games(whole)
    check_place(setting.out)
    check_place(setting.results)
    _check_disk(whole)


def _check_disk(whole: Whole) -> None:
    """Labels, records and runs that are still to be made must fit."""
    from diffusearch.reproduce.space import ROW_BYTES, check_disk, run_bytes

    setting = whole.setting
    rows = sum(75 * one.games for one in whole.sets if complete(one, setting.labels) is None)
    runs = sum(run_bytes(resolved(job.run, setting)) for job in missing_runs(whole))
    check_disk([(setting.out, ROW_BYTES * rows + runs)], "--out")


def _check_games(whole: Whole) -> None:
    """The games must be enough for the sets that are still to be labelled."""
    setting = whole.setting
    assert setting.pgn is not None  # check_asked
    check_games(setting.pgn, [one for one in needed_sets_of(whole) if complete(one, setting.labels) is None])


def make_all(whole: Whole, say: Say = lambda line: None) -> Path:
    """Do all that is missing; returns the page."""
    from diffusearch.reproduce.report import write_report

    check_whole(whole)
    setting = whole.setting
    busy = f"another `reproduce all` is working in {setting.out}: wait for it, or choose another --out"
    with locked(setting.out / ".lock", busy):
        ledger = Ledger(setting.results)
        _label(whole, ledger, say)
        _train_and_measure(whole, ledger, say)
        if not whole.only:
            play(whole, ledger, say)
            draw(whole)
        return write_report(whole)


def _label(whole: Whole, ledger: Ledger, say: Say) -> None:
    """Label what is missing; a machine that goes on with kept results labels only what missing runs are trained on."""
    setting, before = whole.setting, processor_seconds()
    for one in needed_sets_of(whole):
        label_missing((one,), setting, whole.engine, max(1, whole.processes), say)
        before = _noted("labels", before, ledger)  # a kill in the next set does not lose it
    if kept_counts(setting) is None:
        keep_counts(setting)
    _noted("labels", before, ledger)


def _noted(kind: str, before: float, ledger: Ledger) -> float:
    """Note the processor time since `before`, if it is worth a line; gives where the next note begins."""
    now = processor_seconds()
    if now - before <= 1.0:
        return before
    ledger.note(kind, now - before)
    return now


def needed_sets_of(whole: Whole) -> tuple[LabelSet, ...]:
    """The labelled sets that missing results need."""
    setting = whole.setting
    if kept_counts(setting) is None:
        return whole.sets
    recipes = [resolved(job.run, setting) for job in missing_runs(whole)]
    names = {Path(source.path).name for recipe in recipes for source in recipe.data.sources}
    names |= {one.without for one in whole.sets if one.name in names}
    left = recipes or not all(job.done() for job in whole.measurements)
    return tuple(one for one in whole.sets if one.name in names or (one.test and left))


def missing_runs(whole: Whole) -> list[TrainJob]:
    """The runs that something still needs and that are not trained here, most important first."""
    setting, exhibits = whole.setting, whole.exhibits
    wanted = {run for job in whole.measurements if not job.done() for run in job.runs}
    if not whole.only and match.kept(exhibits, setting) is None:
        wanted |= {run for job in match.players(exhibits, setting) for run in job.row.runs}
    if not whole.only and cases.kept(exhibits["cases"], setting) is None:
        wanted |= {run for row in exhibits["cases"].rows for run in row.runs}
    jobs = [TrainJob(run, setting) for run in ordered_runs(exhibits) if run in wanted]
    return [job for job in jobs if not job.done()]


def _train_and_measure(whole: Whole, ledger: Ledger, say: Say) -> None:
    """Train the missing runs, most important first; whatever a run makes possible is measured before the next run."""
    from diffusearch.reproduce.report import write_report

    # verdicts rest on actions
    measurements = sorted(whole.measurements, key=lambda job: job.metric != "actions")
    training = missing_runs(whole)
    over: set[str] = set()  # keys of jobs that were handed out

    def take() -> Measurement | TrainJob | None:
        every = [job for job in measurements if job.key not in over and job.possible()]
        times = [job for job in every if job.metric == "latency"]
        possible = [job for job in every if job.metric != "latency"]
        own = [job for job in possible if any(not run.packaged for run in job.runs)]
        first = [job for job in training if not seed_of(job.run)]
        # engines and packaged weights come when every row has a run, before further seeds; times come last, when
        # all that is trained here is trained
        jobs: list[Measurement | TrainJob] = [*own, *first, *possible, *training, *times]
        for job in jobs:
            if job.key not in over:
                over.add(job.key)
                if not job.done():
                    return job
        return None

    written = time.monotonic()
    for done in workers.run(take, whole.processes, whole.ray):
        say(done.words)
        ledger.note(done.kind, done.processor_seconds)
        if time.monotonic() - written > PAGE_EVERY:
            say(f"written so far: {write_report(whole)}")
            written = time.monotonic()


def play(whole: Whole, ledger: Ledger, say: Say) -> None:
    """The tournament of the main table's rows."""
    exhibits, setting = whole.exhibits, whole.setting
    if match.kept(exhibits, setting) is None:
        say(f"playing {setting.games} games of each pairing of {len(match.players(exhibits, setting))} agents")
        before = processor_seconds()
        match.play(exhibits, setting, whole.processes, whole.ray)
        ledger.note("games", processor_seconds() - before)


def draw(whole: Whole) -> None:
    """The pictures of hard puzzles."""
    if cases.kept(whole.exhibits["cases"], whole.setting) is None:
        cases.draw(whole.exhibits["cases"], whole.setting)
