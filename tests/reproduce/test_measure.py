"""Measuring rows: which searches go on with their tree in games."""

from __future__ import annotations

import pytest

from diffusearch.reproduce.catalogue import exhibits_of
from diffusearch.reproduce.measure import keeps_tree
from diffusearch.reproduce.scales import LAPTOP


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("mcts:s-a,s-v?simulations=100&preset=paper", True),
        ("mcts:s-a,s-v?preset=paper&reuse=off", False),
        ("mcts:s-a,s-v?simulations=100", False),
        ("mcts-as-published:s-a,s-v?simulations=100", False),
        ("diffusearch:runs/s-asa", False),
    ],
)
def test_the_papers_search_keeps_its_tree(text: str, kept: bool) -> None:
    assert keeps_tree(text) is kept


def test_one_player_of_the_main_table_keeps_its_tree() -> None:
    rows = exhibits_of(LAPTOP)["main"].rows[: LAPTOP.match_rows]
    assert [row.label for row in rows if keeps_tree(row.agent)] == ["fair MCTS, the paper's settings"]
