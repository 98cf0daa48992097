"""Scales: how large the paper's experiments are made, as data. `10k` and `100k` are the paper's own."""

from __future__ import annotations

from dataclasses import dataclass

from diffusearch.errors import UserError


@dataclass(frozen=True)
class Scale:
    """Sizes of data, models and tests; methods are the same at every scale."""

    name: str  # what `--scale` takes
    recipe: str  # the base recipe of every run
    paper: str  # the rows of the paper to compare with: 10k or 100k
    games: int  # training games of every run that does not say otherwise; validation games come on top
    sizes: tuple[int, ...]  # training games of the data figure
    layers: tuple[int, ...]  # of the layers figure
    usual_layers: int  # of the base recipe
    depths: int  # future steps 0 .. depths - 1 of the depth figure
    single: int  # the longest horizon that the single model is trained on
    simulations: tuple[int, ...]  # of the depth figure's searches
    mcts: int  # simulations of the search in the main table
    steps: tuple[int, ...]  # denoising steps of the steps figure
    oracle_nodes: int  # of the engine that stands for the oracle in the main table; 0: no such row
    # what `reproduce all` labels and measures
    nodes: int  # of a search
    action_nodes: int  # of a search, for each legal move, where all are scored
    hash_mb: int = 16
    per_game: int | None = None  # labelled positions of a game; None: all plies (the paper)
    seeds: int = 1  # runs of the rows on which most verdicts rest
    baseline: tuple[str, ...] = ()  # further settings of one-step baselines: how long they train
    same_compute: tuple[str, ...] = ()  # settings that give a one-step model about the processor time of DiffuSearch
    longer: tuple[str, ...] = ()  # settings of a DiffuSearch run that is trained for longer than the others
    test_actions: int | None = None  # test rows; None: all
    test_puzzles: int | None = None
    planner_rows: int | None = None  # test rows of the exhibit `planners`; None: as many as of the others
    match_games: int = 400  # of each pairing
    match_rows: int = 6  # rows of the main table that play: the paper's first
    chosen: str = ""  # words for the page: what a pilot at this scale decided,
    noted: str = ""  # and how its runs came about

    @property
    def words(self) -> str:
        """The number of games as labels have it."""
        return f"{self.games // 1000}k" if self.games % 1000 == 0 else str(self.games)

    @property
    def own_labels(self) -> bool:
        """Whether `reproduce all` makes the labelled sets and runs name them; else the base recipe names its own."""
        return self.name not in ("10k", "100k")

    def source(self, future: str = "oracle", games: int | None = None) -> tuple[str, ...]:
        """The setting with the data of a run: the sets of a future policy, and how many games of them."""
        wanted = self.games if games is None else games
        if not self.own_labels:
            return self._conventional(future, games)
        first = min(wanted, self.games)
        sources = [f"{{path='{{labels}}/{future}', games={first}}}"]
        if wanted > first:
            sources.append(f"{{path='{{labels}}/more', games={wanted - first}}}")
        return (f"data.sources=[{', '.join(sources)}]",)

    def _conventional(self, future: str, games: int | None) -> tuple[str, ...]:
        """The folders that the paper's recipes name: labels/10k, labels/10k-random, labels/5k."""
        size = f"{games // 1000}k" if games else self.words
        name = {"random": f"{size}-random", "random-world": f"{size}-random-world"}.get(future, size)
        usual = games is None and name == size
        return () if usual else (f"data.sources=[{{path='{{labels}}/{name}'}}]",)


def _paper(name: str, games: int) -> Scale:
    return Scale(
        name=name,
        recipe=f"paper-{name}",
        paper=name,
        games=games,
        sizes=(5_000, 10_000, 20_000, 50_000, 100_000),
        layers=(1, 2, 4, 8, 16),
        usual_layers=8,
        depths=8,
        single=4,
        simulations=(10, 25, 50, 100, 200),
        mcts=100,
        steps=(1, 2, 5, 10, 15, 20),
        oracle_nodes=100_000,
        nodes=100_000,  # about 0.05 s
        action_nodes=100_000,
    )


LAPTOP = Scale(
    name="laptop",
    recipe="paper-laptop",
    paper="10k",
    games=600,
    sizes=(75, 150, 300, 600, 1_200),
    layers=(1, 2, 4, 8),
    usual_layers=4,
    depths=8,
    single=4,
    simulations=(10, 25, 50, 100, 200),
    mcts=100,
    steps=(1, 2, 5, 10, 20),
    oracle_nodes=100_000,
    nodes=3_000,
    action_nodes=200,
    hash_mb=1,
    seeds=3,
    baseline=("watch.validate_every=200",),
    same_compute=("optimiser.steps=10400", "watch.validate_every=400"),  # a record of S-A costs a 3rd to a 6th
    longer=("optimiser.steps=6400", "watch.validate_every=800"),  # four times
    test_actions=2_000,
    test_puzzles=1_000,
    match_games=40,
    chosen="The transformer is plain, as the paper's. A trunk with residual state and prefix attention was tried "
    "beside it on validation positions ([LOG.md](LOG.md)): the one-step policy converges in both, and a jointly "
    "denoised future coheres in neither: the first imagined state follows from its move in 0.8 % with the plain trunk "
    "and in 7.4 % with the other. The plain one finds more moves with 20 joint steps (16.2 and 13.2 %) and as many by "
    "one look (18.6 and 18.5 %). One run has four times as many record-passes (claim 2).",
    noted="Runs first measured before 2026-11-19 were trained by code that computes Muon's products in float32, the "
    "others in bf16. Two trainings of one recipe that differ in this differ as much as two seeds ([LOG.md](LOG.md)).",
)

TINY = Scale(
    name="tiny",
    recipe="paper-tiny",
    paper="10k",
    games=6,
    sizes=(3, 6, 9),
    layers=(1, 2),
    usual_layers=1,
    depths=3,
    single=2,
    simulations=(2, 4),
    mcts=4,
    steps=(1, 3),
    oracle_nodes=0,
    nodes=50,
    action_nodes=5,
    hash_mb=1,
    per_game=6,
    seeds=2,
    test_actions=8,
    test_puzzles=2,
    planner_rows=1,
    match_games=2,
    match_rows=2,
)

SCALES: dict[str, Scale] = {one.name: one for one in (LAPTOP, TINY, _paper("10k", 10_000), _paper("100k", 100_000))}
NAMES = {"paper": "10k"}  # other words for a scale


def scale_named(name: str) -> Scale:
    """The scale of that name."""
    found = SCALES.get(NAMES.get(name, name))
    if found is None:
        raise UserError(f"--scale {name!r} is unknown: give laptop, or the paper's 10k or 100k.")
    return found
