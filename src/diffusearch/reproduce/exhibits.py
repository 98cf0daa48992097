"""What a table or figure of the paper is here: rows, the runs behind them, metrics. catalogue.py has all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from diffusearch.reproduce.plan import PlannedRun

# What a row can be measured by. `cases` draws pictures instead; `tree-depth` is of rows that search.
METRICS = ("elo", "puzzles", "actions", "futures", "latency", "tree-depth", "cases")
TOGETHER = ("elo", "latency", "cases")  # of all rows at once
TREES = ("mcts", "mcts-as-published")  # agents whose tree grows as the networks' numbers say
# What only the page of `reproduce all` has, from its own labels (data_tables.py): place in the paper and title.
COUNTS, EXAMPLES = ("Table 1", "Data: records and games"), ("Appendix", "A record in each paradigm")


@dataclass(frozen=True)
class Row:
    """One agent of an exhibit."""

    label: str  # as in the paper's table (evaluation/paper.toml); {scale} is the number of training games
    agent: str  # the agent's text; {NAME} is the folder of the run NAME
    runs: tuple[PlannedRun, ...] = ()
    series: str = ""  # the curve that the row is a point of; empty: the row is a bar
    x: float = 0.0  # its place on the curve; 0 for a search: its measured depth
    seeds: int = 1  # how often its runs are trained, each time with another seed
    limit: int | None = None  # test positions, where it is measured on fewer than the others

    @property
    def searches(self) -> bool:
        """Whether its agent grows a tree whose depth can be measured."""
        return self.agent.partition(":")[0] in TREES

    def text(self, names: Mapping[str, str]) -> str:
        """The agent's text with names or folders for its runs."""
        text = self.agent
        for run in self.runs:
            text = text.replace(f"{{{run.name}}}", names[run.name])
        return text

    def seeded(self, seed: int) -> Row:
        """The same row with runs of another seed; seed 0 is the row itself."""
        if seed == 0:
            return self
        names = {run.name: f"{run.name}-seed{seed}" for run in self.runs}
        runs = tuple(replace(run, name=names[run.name], settings=(*run.settings, f"seed={seed}")) for run in self.runs)
        agent = self.agent
        for old, new in names.items():
            agent = agent.replace(f"{{{old}}}", f"{{{new}}}")
        return replace(self, agent=agent, runs=runs, seeds=1)


@dataclass(frozen=True)
class Exhibit:
    """A table or figure."""

    name: str  # what `diffusearch reproduce` is told
    place: str  # where it is in the paper
    title: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    remark: str = ""  # what differs from the paper
    paper: str = ""  # the table of paper.toml with the same labels; empty: the exhibit's own name
    reference: str = ""  # the label of the row with which the others are compared pairwise
    axis: str = ""  # what x means in curves
    beyond: tuple[tuple[str, float, str], ...] = ()  # (series, x, label in the paper) of its curves, also without a row
    spent: bool = False  # whether the page has columns for evaluations and processor time

    def alone(self, row: Row) -> tuple[str, ...]:
        """The metrics by which a row is measured apart from the others."""
        each = (metric for metric in self.metrics if metric not in TOGETHER)
        return tuple(metric for metric in each if metric != "tree-depth" or row.searches)

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs of all rows and those that they start from, each once, in the order of training."""
        found: dict[PlannedRun, None] = {}

        def add(run: PlannedRun) -> None:
            if run.after:
                add(run.after)
            found[run] = None

        for row in self.rows:
            for run in row.runs:
                add(run)
        return tuple(found)


def row(
    label: str, word: str, run: PlannedRun, options: str = "", series: str = "", x: float = 0.0, seeds: int = 1
) -> Row:
    """A row whose agent is a word and one run."""
    return Row(label, f"{word}:{{{run.name}}}{'?' + options if options else ''}", (run,), series, x, seeds)
