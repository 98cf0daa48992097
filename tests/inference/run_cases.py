"""Positions, noise processes and types of fixtures that the tests of runs and of joint denoising share."""

from __future__ import annotations

from collections.abc import Callable

import chess

from diffusearch.inference.run import Run

MIDDLE = "r3k2r/ppp2ppp/2n1bn2/3qp3/3P4/2N1PN2/PPP2PPP/R2QK2R w KQkq - 0 9"
MATED = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
BOARDS = [chess.Board(), chess.Board(MIDDLE), chess.Board(MIDDLE).mirror()]
PROCESSES = ["absorbing", "multinomial", "gaussian", "autoregressive", "direct"]
MakeRun = Callable[..., Run]
Watched = Callable[[Run], list[tuple[str, int, int]]]
