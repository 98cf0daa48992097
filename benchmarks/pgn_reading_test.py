"""PGN reading against plain python-chess: games that the header filter drops, and games that it keeps.

Ratios of processor time on the games of tests/fixtures, so other work on the machine does not matter much.

pytest -q -s benchmarks/pgn_reading_test.py
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import chess.pgn

from diffusearch.data import pgn
from diffusearch.data.filters import HeaderFilter

TEXT = (Path(__file__).parents[1] / "tests" / "fixtures" / "games.pgn").read_text()
ROUNDS = 3


def plain() -> int:
    handle, count = io.StringIO(TEXT), 0
    while chess.pgn.read_game(handle) is not None:
        count += 1
    return count


def filtered(wanted: HeaderFilter) -> int:
    """Games read, of which the unwanted are dropped by their headers and the others parsed."""
    count = 0
    for raw in pgn.split(io.StringIO(TEXT)):
        count += 1
        if wanted.why_dropped(raw.headers()) is None:
            pgn.main_line(raw)
    return count


def pace(read: Callable[[], int]) -> float:
    """Games a second of processor time, the best of some rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        count = read()
        best = max(best, count / (time.process_time() - start))
    return best


def test_dropped_and_kept_games_against_python_chess() -> None:
    base = pace(plain)
    dropped = pace(lambda: filtered(HeaderFilter(min_rating=2000))) / base
    kept = pace(lambda: filtered(HeaderFilter())) / base
    print(f"\ngames/s as multiples of chess.pgn.read_game: dropped {dropped:.0f}, kept {kept:.2f}")
    assert dropped >= 10
    assert kept >= 1
