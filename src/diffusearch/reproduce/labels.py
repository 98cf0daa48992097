"""The labelled sets of `reproduce all`: what is labelled at a scale, and the labelling itself.

oracle        relabelled futures, as long as the deepest model needs: the paper's training set
more          further games for the data figure, futures of the usual horizon
random        the same games with random moves after the oracle's action (Table 4)
random-world  the same games with unrelated states (Table 4)
actions       the same games with every legal move scored, for SA-V
test          games of the test split, searched ten times as long; only where no test file is given
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diffusearch.data.label_run import LabelRun, label_games
from diffusearch.data.labelling import LabelSettings
from diffusearch.data.manifest import Manifest, read_manifest
from diffusearch.data.oracle import OracleSettings
from diffusearch.data.plan import Choice
from diffusearch.data.uci_process import SearchBudget, find_engine
from diffusearch.errors import UserError
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import Scale

USUAL = 4  # horizon of the paper's runs
PER_TEST_GAME = 4  # positions of a test game: the rows of a test should not all be of one game
DEEPER = 10  # nodes of a test label, relative to a training label

Say = Callable[[str], None]


@dataclass(frozen=True)
class LabelSet:
    """One labelled folder."""

    name: str
    games: int  # labelled in all: training games, and what the splits take of them
    horizon: int
    nodes: int
    future: str = "relabel"
    actions: bool = False
    without: str = ""  # the set whose positions are left out
    test: bool = False


def enough(training: int) -> int:
    """How many games to label so that `training` of them are in the training split (90 %), almost certainly."""
    return math.ceil(1.15 * training) + 5


def label_sets(scale: Scale, own_test: bool) -> tuple[LabelSet, ...]:
    """The sets of a scale in the order of labelling."""
    games, usual = enough(scale.games), min(USUAL, scale.depths)
    sets = [
        LabelSet("oracle", games, max(usual, scale.depths), scale.nodes),
        LabelSet("random", games, usual, scale.nodes, future="random"),
        LabelSet("actions", games, 1, scale.action_nodes, actions=True),
        LabelSet("random-world", games, usual, scale.nodes, future="random-world"),
    ]
    if max(scale.sizes) > scale.games:
        sets.append(LabelSet("more", enough(max(scale.sizes)), usual, scale.nodes, without="oracle"))
    if own_test:
        wanted = math.ceil((scale.test_actions or 62_561) / PER_TEST_GAME)
        sets.insert(0, LabelSet("test", wanted, usual, DEEPER * scale.nodes, test=True))
    return tuple(sets)


def label_run(one: LabelSet, setting: Setting, engine: str | None, workers: int) -> LabelRun:
    """The labelling of a set."""
    scale, folder = setting.scale, setting.labels
    budget = SearchBudget(nodes=one.nodes)
    oracle = OracleSettings(find_engine(engine), budget, SearchBudget(nodes=max(1, one.nodes // 5)), scale.hash_mb)
    per_game = PER_TEST_GAME if one.test else scale.per_game
    return LabelRun(
        sources=(str(setting.pgn),),
        out=folder / one.name,
        choice=Choice(
            per_game=per_game, limit_games=one.games, horizon=one.horizon, split="test" if one.test else None
        ),
        settings=LabelSettings(one.future, one.horizon, one.actions, oracle=oracle),
        exclude=(str(folder / one.without),) if one.without else (),
        workers=workers,
    )


def complete(one: LabelSet, folder: Path) -> Manifest | None:
    """The manifest of a set that is labelled to its end; a set of another size or depth is refused."""
    manifest = read_manifest(folder / one.name)
    if manifest is None or not manifest.complete:
        return None
    found = manifest.options
    theirs = (found["limit_games"], found["horizon"], found["budget"].get("nodes"), found["future"])
    if theirs != (one.games, one.horizon, one.nodes, one.future):
        raise UserError(
            f"{folder / one.name} has {theirs[0]} games, horizon {theirs[1]}, {theirs[2]} nodes and the future "
            f"{theirs[3]!r}, not {one.games}, {one.horizon}, {one.nodes} and {one.future!r}: choose another --out."
        )
    return manifest


def label_missing(sets: tuple[LabelSet, ...], setting: Setting, engine: str | None, workers: int, say: Say) -> None:
    """Label what is not labelled yet; a killed labelling goes on."""
    folder = setting.labels
    for one in sets:
        if complete(one, folder) is None:
            say(f"labelling {folder / one.name}: {one.games} games, {one.nodes:,} nodes a search")
            manifest = label_games(label_run(one, setting, engine, workers), lambda count: None)
            say(f"{folder / one.name}: {manifest.counts.get('positions', 0):,} positions")
