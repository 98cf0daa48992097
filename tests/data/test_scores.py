from __future__ import annotations

import pytest

from diffusearch.data.scores import Score, parse_actions, parse_values


@pytest.mark.parametrize("text", ["34", "-250", "0", "#3", "#-2"])
def test_scores_survive_as_text(text: str) -> None:
    assert str(Score.parse(text)) == text


def test_a_variation_turns_the_score_at_each_ply() -> None:
    assert Score(cp=30).after_best_move() == Score(cp=-30)
    assert Score(mate=3).after_best_move() == Score(mate=-2)  # the winner has moved
    assert Score(mate=-2).after_best_move() == Score(mate=2)  # the loser has moved
    assert Score(mate=2).after_best_move() == Score(mate=-1)


def test_quick_mates_are_best_and_slow_losses_better_than_quick() -> None:
    texts = ["#1", "#5", "900", "0", "-900", "#-5", "#-1"]
    orders = [Score.parse(text).order() for text in texts]
    assert orders == sorted(orders, reverse=True)


def test_columns_are_lists_of_scores() -> None:
    assert parse_values("34 #-2") == [Score(cp=34), Score(mate=-2)]
    assert parse_actions("e2e4:34 a7a8q:#1") == {"e2e4": Score(cp=34), "a7a8q": Score(mate=1)}
    assert Score(cp=0).win() == 0.5
    assert Score(mate=-4).win() == 0.0
