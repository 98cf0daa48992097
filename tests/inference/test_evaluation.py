"""Evaluations: the order of their moves, in which drafts are made and recorded."""

from __future__ import annotations

import chess

from diffusearch.inference.evaluation import Evaluation


def test_moves_are_ranked_by_priors_and_equal_ones_keep_their_order() -> None:
    some = [chess.Move.from_uci(uci) for uci in ("a2a3", "e2e4", "d2d4", "b2b3", "c2c3")]
    priors = dict(zip(some, (0.125, 0.25, 0.375, 0.125, 0.125), strict=True))
    assert [move.uci() for move in Evaluation(priors, None).ranked()] == ["d2d4", "e2e4", "a2a3", "b2b3", "c2c3"]
    assert Evaluation({}, 0.5).ranked() == []
