"""Every table and figure of the paper that can be repeated, as data: rows, the runs behind them, metrics.

A run is a change of the base recipe (paper-10k unless told otherwise). DiffuSearch rows are `diffusearch:RUN`, decoded
as the run's [decoding] says: by default as in the paper (easy first, 20 steps, the whole horizon), and without search.
"""

from __future__ import annotations

from dataclasses import dataclass

from diffusearch.errors import UserError
from diffusearch.reproduce.plan import PlannedRun

# What a row can be measured by. `cases` draws pictures instead.
METRICS = ("elo", "puzzles", "actions", "futures", "latency", "cases")


@dataclass(frozen=True)
class Row:
    """One agent of an exhibit."""

    label: str  # as in the paper's table (evaluation/paper.toml); {scale} is 10k or 100k
    agent: str  # the agent's text; {NAME} is the folder of the run NAME
    runs: tuple[PlannedRun, ...] = ()
    series: str = ""  # the curve that the row is a point of; empty: the row is a bar
    x: float = 0.0  # its place on the curve


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

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs of all rows and those that they start from, each once, in the order of training."""
        found: dict[PlannedRun, None] = {}
        for row in self.rows:
            for run in row.runs:
                found |= dict.fromkeys([run.after, run] if run.after else [run])
        return tuple(found)


def row(label: str, word: str, run: PlannedRun, options: str = "", series: str = "", x: float = 0.0) -> Row:
    """A row whose agent is a word and one run."""
    return Row(label, f"{word}:{{{run.name}}}{'?' + options if options else ''}", (run,), series, x)


# --- the runs that several exhibits share -------------------------------------------------------------------------

# Baselines train until their validation no longer improves (paper, section 4.1).
CONVERGE = ("watch.patience=5",)
DIFFUSION = PlannedRun("s-asa")


def baseline(name: str, paradigm: str, *settings: str) -> PlannedRun:
    """S-A, S-V, SA-V: a causal transformer, one forward pass, no future."""
    own = (f"model.paradigm={paradigm}", "process.kind=direct", "model.trunk.attention=causal", *CONVERGE)
    return PlannedRun(name, (*own, *settings))


def autoregressive(paradigm: str) -> PlannedRun:
    """The record of a future paradigm, token by token with causal attention."""
    own = (f"model.paradigm={paradigm}", "process.kind=autoregressive", "model.trunk.attention=causal", *CONVERGE)
    return PlannedRun(f"{paradigm}-autoregressive", own)


def diffusion(name: str, *settings: str) -> PlannedRun:
    """The paper's run with changes."""
    return PlannedRun(name, settings)


def labels(name: str) -> str:
    """The setting that trains on another labelled set."""
    return f"data.sources=[{{path='{{labels}}/{name}'}}]"


S_A, S_V, SA_V = baseline("s-a", "s-a"), baseline("s-v", "s-v"), baseline("sa-v", "sa-v")
NETS = f"{{{S_A.name}}},{{{S_V.name}}}"
OURS = "DiffuSearch, {scale} games"

# --- tables -------------------------------------------------------------------------------------------------------

MAIN = Exhibit(
    name="main",
    place="Table 2",
    title="Prediction and playing strength",
    metrics=("elo", "puzzles", "actions"),
    rows=(
        row("S-A, {scale} games", "s-a", S_A),
        row("S-V, {scale} games", "s-v", S_V),
        row("SA-V, {scale} games", "sa-v", SA_V),
        Row("MCTS (100 simulations), {scale} games", f"mcts-as-published:{NETS}?simulations=100", (S_A, S_V)),
        Row("fair MCTS, the paper's settings", f"mcts:{NETS}?simulations=100&preset=paper", (S_A, S_V)),
        Row("fair MCTS, tuned", f"mcts:{NETS}?simulations=100", (S_A, S_V)),
        row(OURS, "diffusearch", DIFFUSION),
        Row("Stockfish, 100,000 nodes (oracle)", "stockfish:nodes=100000"),
    ),
    remark="The paper's search is taken to be the authors' published code; the two fair ones use the same networks. "
    "The paper's oracle has 0.05 s for each legal move, ours a fixed number of nodes.",
    reference=OURS,
)

FUTURES = ("s-aa", "s-asa", "s-ass", "s-avav", "s-avsav")
PARADIGMS = Exhibit(
    name="paradigms",
    place="Table 3",
    title="Baselines and future paradigms",
    metrics=("actions",),
    rows=(
        row("S-A, Transformer", "s-a", S_A),
        row("S-V, Transformer", "s-v", S_V),
        row("SA-V, Transformer", "sa-v", SA_V),
        *(row(f"{name.upper()}, Transformer", "autoregressive", autoregressive(name)) for name in FUTURES),
        *(
            row(
                f"{name.upper()}, DiffuSearch",
                "diffusearch",
                DIFFUSION if name == "s-asa" else diffusion(name, f"model.paradigm={name}"),
            )
            for name in FUTURES
        ),
    ),
    reference="S-ASA, DiffuSearch",
)

FUTURE_QUALITY = Exhibit(
    name="future-quality",
    place="Table 4",
    title="Quality of the future that supervises S-ASA",
    metrics=("actions",),
    rows=(
        row("Without future", "s-a", S_A),
        row("Random world and policy", "diffusearch", diffusion("random-world", labels("10k-random-world"))),
        row("Random policy", "diffusearch", diffusion("random-policy", labels("10k-random"))),
        row("Stockfish policy", "diffusearch", DIFFUSION),
    ),
    remark="Label the same games three times: `diffusearch label GAMES --limit-games 10000 --future random-world "
    "--out labels/10k-random-world`, likewise `random`, and `relabel` into labels/10k.",
    reference="Stockfish policy",
)

TRAINING = Exhibit(
    name="training",
    place="Table 5",
    title="Training methods",
    metrics=("actions",),
    rows=(
        row("Direct", "direct", diffusion("direct", "process.kind=direct")),
        row("Autoregressive", "autoregressive", autoregressive("s-asa")),
        row("Gaussian", "diffusearch", diffusion("gaussian", "process.kind=gaussian")),
        row("Absorbing, constant weight", "diffusearch", diffusion("constant", "loss.time_weight=constant")),
        row("Absorbing, weight 1/t", "diffusearch", diffusion("reciprocal", "loss.time_weight=reciprocal")),
        row("Absorbing, linear weight", "diffusearch", DIFFUSION),
        row("Multinomial, linear weight", "diffusearch", diffusion("multinomial", "process.kind=multinomial")),
    ),
    reference="Absorbing, linear weight",
)

# --- figures ------------------------------------------------------------------------------------------------------

FUTURE = Exhibit(
    name="futures",
    place="Figure 3 (left) and Table 8",
    title="Quality of imagined futures, horizon 4",
    metrics=("futures",),
    rows=(row(OURS, "diffusearch", DIFFUSION),),
    remark="The first move is masked to the legal ones; its raw legality stands under the table.",
)


def _layers(kind: str, n: int) -> Row:
    label = f"{kind}, {n} layer{'' if n == 1 else 's'}, {{scale}} games"
    change = f"model.trunk.layers={n}"
    if kind == "S-A":
        return row(label, "s-a", S_A if n == 8 else baseline(f"s-a-{n}", "s-a", change), series=kind, x=n)
    return row(label, "diffusearch", DIFFUSION if n == 8 else diffusion(f"s-asa-{n}", change), series=kind, x=n)


LAYERS = Exhibit(
    name="layers",
    place="Figure 3 (middle) and Table 7",
    title="Action accuracy against layers",
    metrics=("actions",),
    rows=tuple(_layers(kind, n) for kind in ("S-A", "DiffuSearch") for n in (1, 2, 4, 8, 16)),
    reference="DiffuSearch, 8 layers, {scale} games",
    axis="layers",
)

STEPS = Exhibit(
    name="steps",
    place="Figure 3 (right)",
    title="Action accuracy against denoising steps",
    metrics=("actions",),
    rows=tuple(
        row(f"{order}, {n} steps", "diffusearch", DIFFUSION, f"steps={n}&order={order}", series=order, x=n)
        for order in ("confidence", "random")
        for n in (1, 2, 5, 10, 15, 20)
    ),
    remark="One run, decoded in many ways. The paper draws this figure without printing its numbers.",
    reference="confidence, 20 steps",
    axis="denoising steps",
)


def _separate(steps: int) -> Row:
    """A model of its own for each depth: `steps` future states are a horizon of steps + 1."""
    run = DIFFUSION if steps == 3 else diffusion(f"s-asa-h{steps + 1}", f"model.horizon={steps + 1}")
    return row(f"future steps {steps}, separate model", "diffusearch", run, series="separate models", x=steps)


# One run for all depths: rotary positions, and a horizon from 1 to 4 drawn while it trains (paper, appendix).
SINGLE = PlannedRun("s-asa-single", ("model.trunk.positions=rope", "horizons=[1.0, 1.0, 1.0, 1.0]"))


def _single(steps: int) -> Row:
    label = f"future steps {steps}, single model"
    return row(label, "diffusearch", SINGLE, f"horizon={steps + 1}", series="single model", x=steps)


DEPTH = Exhibit(
    name="depth",
    place="Figure 4 (left, middle) and Table 6",
    title="Accuracy and latency against depth",
    metrics=("actions", "latency"),
    rows=(
        *(_separate(steps) for steps in range(8)),
        *(_single(steps) for steps in range(8)),
        *(
            Row(f"{word}, {n} simulations", f"{word}:{NETS}?simulations={n}", (S_A, S_V))
            for word in ("mcts", "mcts-as-published")
            for n in (10, 25, 50, 100, 200)
        ),
    ),
    remark="The labels need a horizon of 8 (`diffusearch label --horizon 8`). The single model trains on horizons up "
    "to 4 and is asked for more. The paper draws its search rows without printing their numbers.",
    reference="future steps 3, separate model",
    axis="future steps",
)


def _size(kind: str, thousands: int) -> Row:
    size = f"{thousands}k"
    word, run = ("s-a", baseline(f"s-a-{size}", "s-a", labels(size)))
    if kind == "DiffuSearch":
        word, run = ("diffusearch", diffusion(f"s-asa-{size}", labels(size)))
    return row(f"{kind}, {size} games", word, run, series=kind, x=1000 * thousands)


DATA_SIZE = Exhibit(
    name="data-size",
    place="Figure 4 (right)",
    title="Action accuracy against training games",
    metrics=("actions",),
    rows=tuple(_size(kind, size) for kind in ("S-A", "DiffuSearch") for size in (5, 10, 20, 50, 100)),
    paper="main",
    remark="The paper prints only the ends of these curves (Table 2).",
    reference="DiffuSearch, 10k games",
    axis="training games",
)

# --- the package's own weights ------------------------------------------------------------------------------------

POLICY = PlannedRun("policy", recipe="flagship/policy")
SHIPPED = {
    name: PlannedRun(name, packaged=True, recipe=f"flagship/{name}", after=POLICY)
    for name in ("diffusearch", "s-a", "s-v")
}
BOTH = (SHIPPED["s-a"], SHIPPED["s-v"])
FLAGSHIP_ROWS = (
    row("DiffuSearch", "diffusearch", SHIPPED["diffusearch"]),
    row("explicit search", "search", SHIPPED["diffusearch"]),
    row("S-A", "s-a", SHIPPED["s-a"]),
    Row("fair MCTS (100 simulations)", "mcts:{s-a},{s-v}?simulations=100", BOTH),
    Row("MCTS as published (100 simulations)", "mcts-as-published:{s-a},{s-v}?simulations=100", BOTH),
    row("S-V", "s-v", SHIPPED["s-v"]),
    Row("Stockfish, 100 nodes", "stockfish:nodes=100"),
)

FLAGSHIP = Exhibit(
    name="flagship",
    place="not in the paper",
    title="The package's own weights",
    metrics=("elo", "puzzles", "actions"),
    rows=FLAGSHIP_ROWS,
    remark="One policy run, then each network trained from it: recipes/flagship/.",
    reference="S-A",
)

CASES = Exhibit(
    name="cases",
    place="Figures 5 to 7",
    title="Hard puzzles, drawn",
    metrics=("cases",),
    rows=tuple(
        one for one in FLAGSHIP_ROWS if one.label in ("DiffuSearch", "S-A", "S-V", "fair MCTS (100 simulations)")
    ),
    remark="The first puzzles of the file rated above 1800, not chosen by hand; with the package's weights unless "
    "--runs has others.",
)

_ALL = (MAIN, PARADIGMS, FUTURE_QUALITY, TRAINING, FUTURE, LAYERS, STEPS, DEPTH, DATA_SIZE, CASES, FLAGSHIP)
EXHIBITS: dict[str, Exhibit] = {one.name: one for one in _ALL}


def exhibit(name: str) -> Exhibit:
    """The exhibit of that name."""
    if name not in EXHIBITS:
        raise UserError(f"There is no exhibit {name!r}: choose one of {', '.join(EXHIBITS)}.")
    return EXHIBITS[name]
