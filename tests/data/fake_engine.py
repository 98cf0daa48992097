"""A UCI engine for tests: plays by a hash of the position, or misbehaves on purpose.

    fake_engine.py MODE [STATE_FILE]

Modes: `good`. `cut-off` ends its search in the middle of an iteration, on a bound for the best move. `crash-once`
crashes on the first search it is ever given and then behaves; STATE_FILE remembers. `mute` never says uciok; `dead`
exits at once. For positions whose FEN is listed in STATE_FILE (all positions without it): crash, hang, illegal, none,
empty, unscored, garbled.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import chess


def score(fen: str, move: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{fen} {move}".encode(), digest_size=2).digest()) % 2001 - 1000


def say(text: str) -> None:
    print(text, flush=True)


def search(fen: str, multipv: int, cut_off: bool = False) -> None:
    board = chess.Board(fen)
    ranked = sorted(board.legal_moves, key=lambda move: -score(fen, move.uci()))
    if cut_off:  # depth 1 has the ranks turned round, depth 2 gets to the first two moves
        for rank, move in enumerate(ranked[: multipv + 1][::-1], 1):
            say(f"info depth 1 multipv {rank} score cp {rank} nodes 5 pv {move.uci()}")
        for rank, move in enumerate(ranked[: min(2, multipv)], 1):
            say(f"info depth 2 multipv {rank} score cp {score(fen, move.uci())} nodes 7 pv {move.uci()}")
        say(f"info depth 3 multipv 1 score cp 1900 lowerbound nodes 9 pv {ranked[0].uci()}")
    else:
        for rank, move in enumerate(ranked[:multipv], 1):
            say(f"info depth 1 multipv {rank} score cp {score(fen, move.uci())} nodes 7 pv {move.uci()}")
    say(f"bestmove {ranked[0].uci()}")


def misbehave(mode: str, fen: str) -> None:
    if mode == "crash":
        os._exit(139)
    if mode == "hang":
        sys.stdin.read()  # until the pipe is closed
        os._exit(0)
    answers = {
        "illegal": ["info depth 1 score cp 0 pv a1a1", "bestmove a1h8"],
        "none": ["bestmove (none)"],
        "empty": ["bestmove"],
        "unscored": [f"bestmove {next(iter(chess.Board(fen).legal_moves)).uci()}"],
        "garbled": ["info depth 1 score cp many pv e2e4", "bestmove e2e4"],
        "no-score-none": ["info depth 1 score cp 0 pv e2e4", "bestmove (none)"],
    }
    for line in answers[mode]:
        say(line)


def main() -> None:
    mode, state = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if mode == "dead":
        return
    fen, multipv = chess.STARTING_FEN, 1
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"] and mode != "mute":
            say("id name Fake 1.0")
            for name in ("Threads", "Hash", "MultiPV"):
                say(f"option name {name} type spin default 1 min 1 max 500")
            say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:3] == ["setoption", "name", "MultiPV"]:
            multipv = int(words[-1])
        elif words[:2] == ["position", "fen"]:
            fen = " ".join(words[2:8])
        elif words[:1] == ["go"]:
            if mode == "crash-once" and state is not None and not state.exists():
                state.touch()
                os._exit(139)
            listed = state is None or mode == "crash-once" or fen in state.read_text().splitlines()
            if mode in ("good", "cut-off", "crash-once") or not listed:
                search(fen, multipv, mode == "cut-off")
            else:
                misbehave(mode, fen)


if __name__ == "__main__":
    main()
