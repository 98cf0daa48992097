"""Pictures of exhibits: what is drawn where, ours and the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diffusearch.evaluation import charts
from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.pictures import Shown, pictures
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import LAPTOP

EXHIBITS = exhibits_of(LAPTOP)
SHARE = {"accuracy": 0.2, "interval": [0.1, 0.3]}


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path / "runs", tmp_path, scale=LAPTOP, recipe=LAPTOP.recipe)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments of each kind of chart."""
    seen: dict[str, Any] = {}
    for name in ("curves", "times", "compare_bars"):
        monkeypatch.setattr(charts, name, lambda *given, name=name: seen.update({name: given}) or b"png")
    return seen


def test_a_searchs_place_is_its_measured_depth(setting: Setting, drawn: dict[str, Any]) -> None:
    label, model = "mcts-as-published, 25 simulations", "future steps 3, single model"
    times = {"median": 50.0, "p10": 46.0, "p90": 53.0}
    shown = Shown(
        actions={label: SHARE, model: SHARE},
        latency={label: {"processor_milliseconds": times}, model: {"processor_milliseconds": times}},
        depths={label: {"mean_depth": 1.13}},
    )
    both = pictures(EXHIBITS["depth"], shown, setting, "processor_milliseconds")
    assert [one.name for one in both] == ["depth", "depth-latency"]
    assert len({one.words for one in both}) == 2
    _, points, papers, _, notes = drawn["curves"]
    assert points[label] == ("MCTS, as published (simulations)", 1.13)
    assert notes == {label: "25"}
    assert points[model] == ("single model", 3)
    assert papers["separate models"][7] == (7, 41.69)
    milliseconds, _, same, _, clock, _ = drawn["times"]
    assert milliseconds == {label: times, model: times}
    assert same == points
    assert clock == "processor ms"


def test_a_search_without_a_measured_depth_has_no_place(setting: Setting, drawn: dict[str, Any]) -> None:
    pictures(EXHIBITS["depth"], Shown(actions={"mcts, 10 simulations": SHARE}), setting)
    assert not [label for label in drawn["curves"][1] if label.startswith("mcts")]


@pytest.mark.parametrize(
    ("name", "label", "theirs"),
    [
        ("data-size", "S-A, 75 games", [(10_000, 22.1), (100_000, 36.58)]),
        ("layers", "S-A, 1 layer, 600 games", [(1, 21.92), (2, 23.28), (4, 23.05), (8, 22.1), (16, 21.55)]),
    ],
)
def test_the_papers_points_without_a_row_of_ours_are_drawn(
    setting: Setting, drawn: dict[str, Any], name: str, label: str, theirs: list[tuple[float, float]]
) -> None:
    pictures(EXHIBITS[name], Shown(actions={label: SHARE}), setting)
    assert drawn["curves"][2]["S-A"] == theirs


def test_bars_have_a_panel_for_each_metric(setting: Setting, drawn: dict[str, Any]) -> None:
    label, oracle = "SA-V, 600 games", "Stockfish, 100,000 nodes (oracle)"
    drawn_of = pictures(EXHIBITS["main"], Shown(actions={label: SHARE}, puzzles={label: SHARE, oracle: SHARE}), setting)
    assert [one.name for one in drawn_of] == ["main"]
    labels, panels = drawn["compare_bars"]
    assert labels == [label, oracle]
    assert [panel.metric for panel in panels] == ["actions", "puzzles"]
    assert [panel.papers[label] for panel in panels] == [31.5, 12.74]


def test_every_row_of_futures_has_its_picture_and_words(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []
    monkeypatch.setattr(charts, "futures_lines", lambda result, title: titles.append(title) or title.encode())
    shown = Shown(futures={"the rule": {}, "kept": {}})
    title = EXHIBITS["futures"].title
    assert pictures(EXHIBITS["futures"], shown, setting) == [
        ("futures", f"{title}: the rule", b"the rule"),
        ("futures-2", f"{title}: kept", b"kept"),
    ]
