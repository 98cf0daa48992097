"""The times of an exhibit's rows as one job of `reproduce all`: all rows decide in turns, so that load meets all alike.

The time of joint denoising depends on a network's shape, not on its numbers. So a run that is not trained here is timed
with the initial weights of its recipe (initial.py). The tree of a search grows as the numbers say: its runs must be
trained. The result is one file with an entry for each row; its weights are no evidence of a run's newest network.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from diffusearch.errors import UserError
from diffusearch.files import sha256
from diffusearch.reproduce import trained
from diffusearch.reproduce.digests import SHORT, digest, recipe_digest, test_digest
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.initial import write_initial
from diffusearch.reproduce.kept import Kept, read_kept, write_kept
from diffusearch.reproduce.plan import PlannedRun, Setting
from diffusearch.reproduce.work import processor_seconds
from diffusearch.reproduce.workers import Done

METHOD = "processor time in turns, one thread"  # another way to measure is another experiment
INITIAL = "initial"  # what an entry says of weights that are not trained
FIGURES = ("n", "milliseconds", "processor_milliseconds", "nodes")  # accuracy is measured elsewhere, on more positions


@dataclass(frozen=True)
class TimeJob:
    """Time the rows of an exhibit, each with the runs of its first seed."""

    exhibit: Exhibit
    setting: Setting
    metric: ClassVar[str] = "latency"

    @property
    def key(self) -> str:
        """A name for files."""
        return f"{self.metric}-{self.exhibit.name}"

    @property
    def result(self) -> Path:
        return self.setting.results / f"{self.key}.json"

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs that must be trained: those of the searches."""
        return tuple(dict.fromkeys(run for row in self.exhibit.rows if row.searches for run in row.runs))

    def possible(self) -> bool:
        return all(trained.ready(run, self.setting) for run in self.runs)

    def digest(self) -> str:
        """What is timed: the method, the agents, the recipes of their runs, and on which test rows."""
        rows = [
            [trained.agent_of(row), [recipe_digest(run, self.setting) for run in row.runs]] for row in self.exhibit.rows
        ]
        file = self.setting.actions
        return digest([METHOD, rows, test_digest(file, self.setting) if file else "", self._wanted()])

    def done(self) -> bool:
        return self.figures() is not None

    def figures(self) -> Kept | None:
        """The result, if there is one of this experiment; networks may have been trained again since."""
        kept = read_kept(self.result)
        return kept if kept is not None and kept["digest"] == self.digest() else None

    def entries(self) -> dict[str, dict[str, Any]]:
        """The entry of each row by its agent; empty if nothing is timed yet."""
        kept = self.figures()
        return {entry["agent"]: entry for entry in kept["rows"]} if kept else {}

    def _wanted(self) -> list[int]:
        """The test rows: how many are left out first, and how many are decided."""
        from diffusearch.reproduce.measure import timed_count

        return [self.setting.skip_actions, timed_count(self.setting)]

    def __call__(self) -> Done:
        from diffusearch.agents.build import agent as build
        from diffusearch.data.labelled import labelled_files
        from diffusearch.evaluation.latency import in_turns
        from diffusearch.evaluation.session import progress_bar
        from diffusearch.inference.threads import one_thread
        from diffusearch.reproduce.measure import timed_positions

        if self.done():
            return Done(f"{self.key}: measured", "measuring", 0.0)
        if not self.possible():
            names = ", ".join(run.name for run in self.runs)
            raise UserError(f"{self.key} times searches, whose trees need trained networks: train {names} first.")
        assert self.setting.actions is not None
        rows, positions, began = self.exhibit.rows, timed_positions(self.setting), processor_seconds()
        folders = {run.name: self._folder(run) for row in rows for run in row.runs}
        with one_thread(), ExitStack() as opened:
            players = [opened.enter_context(build(row.text(folders))) for row in rows]
            with progress_bar(self.key, len(rows) * len(positions)) as progress:
                found = in_turns(players, positions, progress=progress)
        spent = processor_seconds() - began
        entries = [
            {
                "agent": trained.agent_of(row),
                **{name: one[name] for name in FIGURES},
                "weights": self._weights(row, folders),
            }
            for row, one in zip(rows, found, strict=True)
        ]
        about = {"agent": [entry["agent"] for entry in entries], "digest": self.digest(), "wanted": self._wanted()}
        figures = {"processor_seconds": spent, "method": METHOD, "n": len(positions), "rows": entries}
        write_kept(self.result, self.metric, figures, labelled_files(self.setting.actions), about)
        words = f"{self.key}: {len(rows)} rows timed on {len(positions)} positions in {spent:.0f} processor-seconds"
        return Done(words, "measuring", spent)

    def _folder(self, run: PlannedRun) -> str:
        """The folder of a run's weights: trained, or initial."""
        if trained.ready(run, self.setting):
            return trained.place(run, self.setting)
        return str(write_initial(run, self.setting).absolute())

    def _weights(self, row: Row, folders: dict[str, str]) -> dict[str, str]:
        """What each run of a row was timed with: the digest of trained or packaged weights, or `initial`."""
        found = {}
        for run in row.runs:
            if run.packaged:
                found[trained.named(run)] = recipe_digest(run, self.setting)
            elif folders[run.name] == trained.place(run, self.setting):
                found[run.name] = sha256(Path(folders[run.name]) / "weights.safetensors")[:SHORT]
            else:
                found[run.name] = INITIAL
        return found
