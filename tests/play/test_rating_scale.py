"""The measured scale: its file says how it was made, it rises with the strength, and an Elo finds its strength."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from diffusearch.agents.build import agent as build
from diffusearch.agents.spec import DEFAULT_AGENT
from diffusearch.play.opponents import PACKAGED
from diffusearch.play.rating_scale import FILE, FLOOR, dial_ratings, elo_range, ratings, strength_of
from diffusearch.weights import VERSION


def test_the_file_says_how_it_was_made() -> None:
    scale = json.loads(FILE.read_text())
    assert scale["weights"] == VERSION, "the weights changed: measure again with benchmarks/elo_scale.py"
    assert "benchmarks/elo_scale.py" in scale["command"]
    assert "Stockfish" in scale["conditions"]
    assert all(row["low"] <= row["elo"] <= row["high"] and row["games"] > 0 for row in scale["ratings"])


@pytest.mark.parametrize("word", ["search", "s-a"])
def test_more_strength_is_more_elo(word: str) -> None:
    points = dial_ratings(word)
    assert len(points) >= 3
    assert points[0][1] >= FLOOR
    assert points[-1][0] == 100
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(points))
    for dial, elo in points:
        assert strength_of(word, elo) == dial


def test_an_elo_between_two_measured_ones_has_a_strength_between() -> None:
    for (dial, elo), (next_dial, next_elo) in pairwise(dial_ratings(DEFAULT_AGENT)):
        assert dial <= strength_of(DEFAULT_AGENT, (elo + next_elo) // 2) <= next_dial
    low, high = elo_range(DEFAULT_AGENT)
    assert strength_of(DEFAULT_AGENT, low - 500) == dial_ratings(DEFAULT_AGENT)[0][0]
    assert strength_of(DEFAULT_AGENT, high + 500) == 100


def test_an_agent_whose_strengths_were_not_measured_has_no_scale() -> None:
    assert dial_ratings("mcts") == ()
    assert dial_ratings("diffusearch") == ()  # only at full strength and at one look


def test_every_rated_agent_can_be_built_and_the_network_levels_of_the_page_are_rated() -> None:
    for text in ratings():
        if not text.startswith("stockfish"):
            build(text).close()
    for opponent in PACKAGED:
        if opponent.id in ("search", "s-a", "greedy-material", "random"):
            assert all(level.rating is not None for level in opponent.levels), opponent.id
            elos = [level.rating.elo for level in opponent.levels if level.rating is not None]
            assert elos == sorted(elos), f"the levels of {opponent.id} go from weak to strong"


def test_a_strength_of_the_page_without_a_rating_says_so() -> None:
    levels = [level for opponent in PACKAGED for level in opponent.levels if level.label.startswith("strength")]
    assert {level.rating is None for level in levels} == {True, False}  # `diffusearch` has strengths without games
    for level in levels:
        assert level.label.endswith(", not measured") == (level.rating is None), level.text


def test_the_manual_has_the_figures_of_the_scale() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "uci.md").read_text()
    for text, measured in ratings().items():
        assert f"| `{text}` | {measured.elo} | {measured.low} to {measured.high} |" in manual
    low, high = elo_range(DEFAULT_AGENT)
    assert f"| UCI_Elo | {high} | {low} to {high}:" in manual
