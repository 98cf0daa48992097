"""How many positions of the test files are roots of training records: equal boards, rights and side, clocks aside.

python tools/overlap.py --records labels-train puzzles-train --actions actions-test.parquet --puzzles puzzles.csv.zst

A position counts as met if it, or the same position with colours and ranks exchanged, is a root. Of a puzzle every
position in which the solver is to move is looked up. `--unmet FILE` writes the rows of the labelled test file that are
in none of the records to a Parquet file, to measure on these alone.
"""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from diffusearch.data.held_out import Keys, row_keys
from diffusearch.data.records import Records
from diffusearch.evaluation.labelled_positions import read_positions
from diffusearch.evaluation.puzzles import LichessPuzzle, read_puzzles
from diffusearch.tokens.states import Rows, board_row


def solver_rows(puzzle: LichessPuzzle) -> list[Rows]:
    """The positions of a puzzle before the solver's moves."""
    board, out = puzzle.board(), []
    for move in islice(puzzle.moves, 1, None):
        if len(board.move_stack) % 2:
            out.append(board_row(board, board.turn))
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
    tests: dict[str, Keys] = {}
    if options.actions:
        positions = read_positions(Path(options.actions), options.limit)
        boards = [position.board() for position in positions]
        tests["actions"] = row_keys(np.stack([board_row(board, board.turn) for board in boards]))
    if options.puzzles:
        puzzles = read_puzzles(Path(options.puzzles), limit=options.limit)
        tests["puzzles"] = row_keys(np.stack([row for puzzle in puzzles for row in solver_rows(puzzle)]))
    everywhere = np.zeros(0, np.uint64)
    for folder in options.records:
        every = Records(folder).arrays["states"]
        roots = np.concatenate([row_keys(every[at : at + 65536, 0]) for at in range(0, len(every), 65536)])
        print(json.dumps({"records": folder, "n": len(every), **_counts(tests, roots)}), flush=True)
        everywhere = np.union1d(everywhere, roots)
    print(json.dumps({"records": "all", **_counts(tests, everywhere)}))
    if options.unmet:
        met = np.isin(tests["actions"], everywhere)
        unmet = [position.fen for position, one in zip(positions, met.tolist(), strict=True) if not one]
        table = pq.read_table(options.actions)
        table = table.filter(pc.is_in(table["fen"], pa.array(unmet)))
        pq.write_table(table, options.unmet)
        print(f"{options.unmet}: {len(table)} rows")


def _counts(tests: dict[str, Keys], roots: Keys) -> dict[str, dict[str, int]]:
    return {name: {"positions": len(keys), "met": int(np.isin(keys, roots).sum())} for name, keys in tests.items()}


if __name__ == "__main__":
    main()
