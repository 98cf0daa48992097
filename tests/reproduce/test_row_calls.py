"""Every row of the scale `laptop` asks untrained networks for what its name says; the packaged ones where it has them.

With the compact encoding and a rank of squares in each place, a state has 9 places, a move and a value have 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import chess
import pytest
import torch

from diffusearch.agents.build import agent as build
from diffusearch.model.denoiser import Denoiser
from diffusearch.reproduce import packaged
from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.exhibits import Row
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved
from diffusearch.reproduce.scales import LAPTOP
from diffusearch.training.checkpoint import save_tensors
from diffusearch.training.recipe import Recipe, recipe_text

pytestmark = pytest.mark.slow

EXHIBITS = {name: one for name, one in exhibits_of(LAPTOP).items() if name not in ("cases", "flagship")}
ROWS = {(name, row.label.format(scale=600)): row for name, one in EXHIBITS.items() for row in one.rows if row.runs}
BOARD = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5"
MOVES = 36  # that are legal there; none ends the game
STATE, PLY = 9, 10


@dataclass(frozen=True)
class Asked:
    """What a decision asks of its networks."""

    evaluations: int  # as its result tells them
    least: int | None = None  # where chance may leave some out
    records: int | None = None  # through all networks; as many as evaluations
    places: frozenset[int] | None = None  # of a record; None: packaged weights read a state once and go on from it
    layers: int = 4


def denoised(places: int, steps: int = 20, least: int | None = None, layers: int = 4) -> Asked:
    return Asked(steps, least, places=frozenset((places,)), layers=layers)


def at_once(places: int = PLY, records: int = 1, layers: int = 4) -> Asked:
    return Asked(records, places=frozenset((places,)), layers=layers)


def token_by_token(places: int) -> Asked:
    """The state is read at once, then each token but the last is fed back alone."""
    return Asked(places - STATE, places=frozenset((STATE, 1)))


def fair(n: int) -> Asked:
    """Each simulation looks at one position, with a policy and a value; the root comes on top."""
    return Asked(n + 1, n * 9 // 10, 2 * (n + 1), frozenset((PLY,)))


def published(n: int) -> Asked:
    return Asked(n, n * 9 // 10, 2 * n, frozenset((PLY,)))


WHOLE = denoised(4 * PLY)
LENGTHS = {"S-AA": STATE + 4, "S-ASA": 4 * PLY, "S-ASS": 4 * PLY - 3, "S-AVAV": STATE + 8, "S-AVSAV": 4 * (PLY + 1)}
BASELINES = {"S-A": at_once(), "S-V": at_once(records=MOVES), "SA-V": at_once(PLY + 1, MOVES)}
# A move alone has one target, which the first call fixes.
SINGLE = {n: denoised((n + 1) * PLY, steps=20 if n else 1) for n in range(8)}
MAIN = {
    **{f"{name}, 600 games": asked for name, asked in BASELINES.items()},
    "MCTS (100 simulations), 600 games": published(100),
    "fair MCTS, the paper's settings": fair(100),
    "fair MCTS, tuned": fair(100),
    "DiffuSearch, 600 games": WHOLE,
}
COMPUTE = {
    **dict.fromkeys(("S-A", "S-A, attention in both directions", "S-A, long run"), at_once()),
    **dict.fromkeys(("DiffuSearch", "DiffuSearch, four times the record-passes"), WHOLE),
}
DECODING = {
    "DiffuSearch": WHOLE,
    "DiffuSearch, no legality mask": WHOLE,
    "DiffuSearch, Gumbel noise in the ranking": WHOLE,
    "DiffuSearch, what is fixed stays": WHOLE,
    "future steps 0, single model": SINGLE[0],
    **{f"future steps {n}, single model, what is fixed stays": SINGLE[n] for n in (1, 2, 3)},
}
PARADIGMS = {
    **{f"{name}, Transformer": asked for name, asked in BASELINES.items()},
    **{f"{name}, Transformer": token_by_token(places) for name, places in LENGTHS.items()},
    # with fewer targets than steps the last calls may find nothing left to fix
    **{f"{name}, DiffuSearch": denoised(places, least=min(20, places - STATE)) for name, places in LENGTHS.items()},
}
FUTURE_QUALITY = {
    "Without future": at_once(),
    **dict.fromkeys(("Random world and policy", "Random policy", "Stockfish policy"), WHOLE),
}
TRAINING = {
    "Direct": at_once(4 * PLY),
    "Autoregressive": token_by_token(4 * PLY),
    **dict.fromkeys(("Gaussian", "Multinomial, linear weight"), WHOLE),
    **{f"Absorbing, {weight}": WHOLE for weight in ("constant weight", "weight 1/t", "linear weight")},
}
LAYERS = {f"S-A, {n} layer{'s' * (n > 1)}, 600 games": at_once(layers=n) for n in (1, 2, 4, 8)} | {
    f"DiffuSearch, {n} layer{'s' * (n > 1)}, 600 games": denoised(4 * PLY, layers=n) for n in (1, 2, 4, 8)
}
STEPS = {
    f"{order}, {n} step{'s' * (n > 1)}": denoised(4 * PLY, steps=n)
    for order in ("confidence", "random")
    for n in (1, 2, 5, 10, 20)
}
DEPTH = {
    **{f"future steps {n}, {kind} model": SINGLE[n] for n in range(8) for kind in ("separate", "single")},
    **{f"mcts, {n} simulations": fair(n) for n in (10, 25, 50, 100, 200)},
    **{f"mcts-as-published, {n} simulations": published(n) for n in (10, 25, 50, 100, 200)},
}
SIZES = (75, 150, 300, 600, 1200)
DATA_SIZE = {f"S-A, {n} games": at_once() for n in SIZES} | {f"DiffuSearch, {n} games": WHOLE for n in SIZES}


def packed(evaluations: int) -> Asked:
    return Asked(evaluations, evaluations * 9 // 10, layers=6)


TREE, WIDER = 1 + 4 + 8 + 16 + 16, 1 + 5 + 15 + 30 + 30  # positions of the trees 4x2x2x1 and 5x3x2x1
IMAGINED = 2 * TREE - 1  # all but the root are predicted too
PLANNERS = {
    "one look": packed(1),
    "joint denoising": packed(20),
    "joint denoising, 4 records": packed(4 * 20),
    "minimax, imagined": packed(IMAGINED),
    "minimax by the rules, the same tree": packed(TREE),
    "minimax by the rules, equal evaluations": packed(WIDER),
    "minimax by the rules, S-A and S-V, the same tree": packed(TREE),
    "MCTS, imagined": packed(2 * 43 + 1),
    "MCTS by the rules, equal time": packed(60 + 1),
    "MCTS by the rules, equal evaluations": packed(84 + 1),
    "MCTS by the rules, S-A and S-V, equal time": packed(46 + 1),
    "MCTS by the rules, S-A and S-V, equal evaluations": packed(84 + 1),
}
TABLES = {
    "main": MAIN,
    "compute": COMPUTE,
    "decoding": DECODING,
    "paradigms": PARADIGMS,
    "future-quality": FUTURE_QUALITY,
    "training": TRAINING,
    "futures": dict.fromkeys(("DiffuSearch, 600 games", "DiffuSearch, what is fixed stays"), WHOLE),
    "layers": LAYERS,
    "steps": STEPS,
    "depth": DEPTH,
    "data-size": DATA_SIZE,
    "planners": PLANNERS,
}
ASKED = {(name, label): asked for name, table in TABLES.items() for label, asked in table.items()}
SMALL = ("model.trunk.width=16", "model.trunk.heads=2", "model.head_width=8")
Text = Callable[[Row], str]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    folder = tmp_path_factory.mktemp("untrained")
    return Setting(folder / "runs", folder / "out", folder / "labels", LAPTOP, LAPTOP.recipe, SMALL)


@pytest.fixture(scope="module")
def text(setting: Setting) -> Text:
    """The text of a row's agent, whose runs are written with random weights."""

    def folder(run: PlannedRun) -> str:
        if run.packaged:
            return run.packaged
        path = setting.runs / run.name
        if not path.exists():
            path.mkdir(parents=True)
            torch.manual_seed(0)
            recipe = resolved(run, setting)
            (path / "recipe.toml").write_text(recipe_text(recipe))
            save_tensors(path / "weights.safetensors", dict(Denoiser(recipe.model).named_parameters()), {})
        return str(path)

    def written(row: Row) -> str:
        words = row.agent
        for run in row.runs:
            words = words.replace(f"{{{run.name}}}", folder(run))
        # the packaged graphs would be computed without the trunk whose calls are counted
        return f"{words}&backend=torch" if row.runs[0].packaged else words

    return written


@pytest.fixture(scope="module")
def evaluations(text: Text, calls: Any) -> Callable[[Row], int]:
    """The evaluations of a row's decision; an agent of several rows plays once."""
    known: dict[str, int] = {}

    def play(row: Row) -> int:
        if row.agent not in known:
            with build(text(row)) as player:
                calls.now = row.agent
                known[row.agent] = player.play(chess.Board(BOARD)).nodes
        return known[row.agent]

    return play


def test_the_table_has_every_row() -> None:
    assert set(ASKED) == set(ROWS)


@pytest.mark.parametrize("key", ASKED, ids=" - ".join)
def test_a_row_asks_what_its_name_says(key: tuple[str, str], evaluations: Callable[[Row], int], calls: Any) -> None:
    row, asked = ROWS[key], ASKED[key]
    found = evaluations(row)
    assert (asked.evaluations if asked.least is None else asked.least) <= found <= asked.evaluations
    assert calls.layers[row.agent] == {asked.layers}
    if asked.places is not None:
        seen = calls.seen[row.agent]
        assert {places for _, places in seen} == asked.places
        assert sum(records for records, _ in seen) == found * (asked.records or asked.evaluations) / asked.evaluations


def test_planners_of_equal_evaluations_have_about_as_many(evaluations: Callable[[Row], int]) -> None:
    reference = evaluations(ROWS["planners", packaged.IMAGINED])
    equal = [label for name, label in ROWS if name == "planners" and label.endswith("equal evaluations")]
    assert len(equal) == 3
    for label in (*equal, packaged.TREE_IMAGINED):
        assert evaluations(ROWS["planners", label]) == pytest.approx(reference, rel=0.1)


@pytest.mark.parametrize(
    ("label", "rule"),
    [
        ("DiffuSearch", ("predict", True)),
        ("DiffuSearch, no legality mask", ("predict", False)),
        ("DiffuSearch, Gumbel noise in the ranking", ("gumbel", True)),
        ("DiffuSearch, what is fixed stays", ("keep", True)),
        ("future steps 0, single model", ("predict", True)),
        ("future steps 2, single model, what is fixed stays", ("keep", True)),
    ],
)
def test_rows_of_decoding_differ_in_one_rule(text: Text, label: str, rule: tuple[str, bool]) -> None:
    with build(text(ROWS["decoding", label])) as player:
        decoding: Any = player.decoding  # type: ignore[attr-defined]
        assert (decoding.carry, decoding.legal) == rule
        assert (decoding.order, decoding.steps, decoding.imaginations) == ("confidence", 20, 1)


def recipe_of(exhibit: str, label: str, setting: Setting) -> Recipe:
    (run,) = ROWS[exhibit, label].runs
    return resolved(run, setting)


@pytest.mark.parametrize("kind", ["S-A", "DiffuSearch"])
@pytest.mark.parametrize("games", SIZES)
def test_rows_of_the_data_figure_train_on_their_games(setting: Setting, kind: str, games: int) -> None:
    recipe = recipe_of("data-size", f"{kind}, {games} games", setting)
    assert sum(source.games for source in recipe.data.sources) == games
    assert (recipe.optimiser.steps, recipe.model.trunk.layers) == (1600, 4)


def test_long_runs_differ_in_their_length_alone(setting: Setting) -> None:
    def passes(label: str) -> int:
        optimiser = recipe_of("compute", label, setting).optimiser
        return optimiser.steps * optimiser.batch

    assert passes("DiffuSearch, four times the record-passes") == 4 * passes("DiffuSearch")
    assert passes("S-A, long run") == pytest.approx(6.5 * passes("S-A"))  # a record of S-A costs a 6.5th
    for short, long in (("S-A", "S-A, long run"), ("DiffuSearch", "DiffuSearch, four times the record-passes")):
        one, other = (recipe_of("compute", label, setting) for label in (short, long))
        assert (one.model, one.process, one.loss, one.data) == (other.model, other.process, other.loss, other.data)
