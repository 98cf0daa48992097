"""benchmarks/soak: it plays every agent there is, goes on where it was stopped, and its judges see bad results."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from soak import agents, game_stage, kill_stage, request_kinds, units
from soak.page import write_page
from soak.units import Outcome, Stage, Unit, run_stage

from diffusearch.agents.build import KINDS
from diffusearch.agents.spec import AgentSpec
from diffusearch.evaluation.games import Played
from diffusearch.weights import VERSION


def test_every_word_of_the_grammar_plays() -> None:
    words = {AgentSpec.parse(text).word for text in agents.PACKAGED} | set(agents.UNTRAINED) | {"uci"}
    assert words == set(KINDS)


def test_the_full_soak_has_the_counts_that_were_asked_for() -> None:
    assert sum(kill_stage.KILLS.values()) == 200
    assert set(kill_stage.KILLS) == set(kill_stage.VERBS) == {"label", "train", "tournament", "reproduce"}
    assert len(request_kinds.KINDS) >= 25
    assert units.parts(10, 4) == [4, 4, 2]
    assert units.scaled(1000, 0.0001, 4) == 4


def test_finished_units_are_not_done_again_and_an_exception_is_a_fault(tmp_path: Path) -> None:
    done: list[str] = []

    def good() -> Outcome:
        done.append("good")
        return Outcome({"things": 2}, memory={"it": (10.0, 12.0)})

    def bad() -> Outcome:
        raise ValueError("no thing")

    stage = Stage("uci", "things", [Unit("one", good), Unit("two", bad)])
    run_stage(stage, tmp_path)
    run_stage(replace(stage, units=[*stage.units, Unit("three", good)]), tmp_path)
    assert done == ["good", "good"]
    assert write_page(tmp_path / "soak.md", [stage], tmp_path, 1.0) == 1
    page = (tmp_path / "soak.md").read_text()
    assert "| UCI lines | 4 things | 1 |" in page
    assert "% of a full soak" not in page
    write_page(tmp_path / "part.md", [stage], tmp_path, 0.04)
    assert "This is 4 % of a full soak" in (tmp_path / "part.md").read_text()
    assert "- ValueError: no thing" in page
    assert re.search(rf"Code: \S+; weights: {re.escape(VERSION)}; date: 20\d\d-\d\d-\d\d\.", page)
    assert "| `it` | 2 | 10 | 12 | 10 | 12 | +2 |" in page


MATE = Played("a", "b", 0, 1, ("f2f3", "e7e5", "g2g4", "d8h4"), "0-1", "checkmate")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"result": "1-0"}, "python-chess says"),
        ({"reason": "stalemate"}, "python-chess says"),
        ({"moves": MATE.moves[:-1]}, "python-chess says None"),
        ({"moves": (*MATE.moves, "a2a3")}, "went on after"),
        ({"moves": ("f2f3", "e7e5", "g2g5")}, "illegal move g2g5"),
        ({"opening": 1}, "another opening"),
    ],
)
def test_the_judge_of_games_sees_what_is_wrong(change: dict[str, object], fault: str | None) -> None:
    found = game_stage.judged(replace(MATE, **change), [("f2f3",), ("e2e4",)])  # type: ignore[arg-type]
    assert (found is None) if fault is None else (fault in str(found))


def test_a_lost_or_doubled_game_is_seen(tmp_path: Path) -> None:
    (tmp_path / "tournament.json").write_text('{"ratings": []}')
    (tmp_path / "games.pgn").write_text("")
    digests = []
    for text in ("a\nb\n", "b\na\n", "a\n", "a\nb\nb\n"):
        (tmp_path / "games.jsonl").write_text(text)
        digests.append(kill_stage.VERBS["tournament"].digest(tmp_path))
    assert digests[0] == digests[1]
    assert digests[0] not in digests[2:]
