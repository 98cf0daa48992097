"""How many positions of the test files are roots of training records: equal boards, rights and side, clocks aside.

python tools/overlap.py --records labels-train puzzles-train --actions actions-test.parquet --puzzles puzzles.csv.zst

A position counts as met if it, or the same position with colours and ranks exchanged, is a root. Of a puzzle every
position in which the solver is to move is looked up. `--unmet FILE` writes the rows of the labelled test file that are
in none of the records to a Parquet file, to measure on these alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import chess
import pyarrow.parquet as pq

from diffusearch.data.records import Records
from diffusearch.evaluation.positions import read_positions
from diffusearch.evaluation.puzzles import read_puzzles
from diffusearch.tokens.states import CLOCK, board_row


def row(board: chess.Board) -> bytes:
    """A position as its mover sees it, without the clock."""
    return board_row(board, board.turn)[:CLOCK].tobytes()


def solver_positions(fen: str, moves: Iterable[str]) -> list[bytes]:
    """The positions of a puzzle before the solver's moves; the first move is the opponent's."""
    board, out = chess.Board(fen), []
    for ply, move in enumerate(moves):
        if ply % 2:
            out.append(row(board))
        board.push_uci(move)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", nargs="+", required=True, help="folders of training records")
    parser.add_argument("--actions", help="a labelled test file")
    parser.add_argument("--puzzles", help="a test file of puzzles")
    parser.add_argument("--limit", type=int, help="only the first rows of each test file")
    parser.add_argument("--unmet", type=Path, help="where the labelled rows go that no record has")
    options = parser.parse_args()
    if options.unmet and not options.actions:
        parser.error("--unmet takes the rows of --actions: give both")
    tests: dict[str, list[bytes]] = {}
    if options.actions:
        tests["actions"] = [row(position.board()) for position in read_positions(Path(options.actions), options.limit)]
    if options.puzzles:
        puzzles = read_puzzles(Path(options.puzzles), limit=options.limit)
        tests["puzzles"] = [one for puzzle in puzzles for one in solver_positions(puzzle.fen, puzzle.moves)]
    wanted = {one for rows in tests.values() for one in rows}
    everywhere: set[bytes] = set()
    for folder in options.records:
        records = Records(folder)
        met: set[bytes] = set()
        for start in range(0, len(records), 65536):
            roots = records.arrays["states"][start : start + 65536, 0, :CLOCK]
            met.update(one for one in map(bytes, roots) if one in wanted)
        print(json.dumps({"records": folder, "n": len(records), **_counts(tests, met)}), flush=True)
        everywhere |= met
    print(json.dumps({"records": "all", **_counts(tests, everywhere)}))
    if options.unmet:
        table = pq.read_table(options.actions).slice(0, len(tests["actions"]))
        table = table.filter([one not in everywhere for one in tests["actions"]])
        pq.write_table(table, options.unmet)
        print(f"{options.unmet}: {len(table)} rows")


def _counts(tests: dict[str, list[bytes]], met: set[bytes]) -> dict[str, dict[str, int]]:
    return {name: {"positions": len(rows), "met": sum(one in met for one in rows)} for name, rows in tests.items()}


if __name__ == "__main__":
    main()
