"""Records on disk: lines replayed right, folders whole or not at all, damage refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import chess
import numpy as np
import pytest

from diffusearch.data.records import Line, Records, legal_bits, replay, write_records
from diffusearch.errors import UserError
from diffusearch.files import locked
from diffusearch.tokens import moves, states
from diffusearch.tokens.moves import LEGAL_BYTES
from diffusearch.tokens.values import UNKNOWN

WHITE_MATES = Line("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4", ["f3f7"], [127])
BLACK_MATES = Line("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", ["d8h4"], [127])
STALEMATE = Line("7k/8/6K1/8/8/8/5Q2/8 w - - 0 60", ["f2f7"], [127])
LINES = [
    Line(chess.STARTING_FEN, ["e2e4", "c7c5", "g1f3", "d7d6"], [66, 62, 66, 60]),
    Line("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 30", ["e8g8", "e1c1", "a8a1"], [64]),
    WHITE_MATES,
    BLACK_MATES,
    STALEMATE,
    Line("8/P7/8/8/8/8/7k/K7 w - - 0 1", ["a7a8n"]),
    Line("8/8/8/8/3pP3/8/8/k1K5 b - e3 0 50", ["d4e3", "c1d1"], [None, 3]),
]


def test_lines_are_replayed_in_the_movers_frame() -> None:
    arrays = replay(LINES, 4)
    for index, line in enumerate(LINES):
        board = chess.Board(line.fen)
        mover = board.turn
        assert bool(arrays["black"][index]) is not mover
        assert arrays["number"][index] == board.fullmove_number
        for ply in range(4):
            row = arrays["states"][index, ply]
            assert states.row_board(row, mover, board.fullmove_number).fen() == board.fen()
            if ply < len(line.moves):
                token = moves.MOVE_ID[line.moves[ply]]
                assert arrays["moves"][index, ply] == (token if mover else moves.TURN[token])
                board.push_uci(line.moves[ply])
            else:
                assert arrays["moves"][index, ply] == moves.NONE


def test_what_is_known() -> None:
    arrays = replay(LINES, 4)
    # whole line; three moves and then nobody knows; three games that end; one move; two moves
    assert arrays["known"].tolist() == [4, 3, 4, 4, 4, 1, 2]
    assert arrays["values"][0].tolist() == [66, 62, 66, 60]
    assert arrays["values"][1].tolist() == [64, UNKNOWN, UNKNOWN, UNKNOWN]
    assert arrays["values"][6].tolist() == [UNKNOWN, 3, UNKNOWN, UNKNOWN]


@pytest.mark.parametrize("line", [WHITE_MATES, BLACK_MATES, STALEMATE])
def test_a_game_that_ends_stands_still(line: Line) -> None:
    arrays = replay([line], 4)
    final = arrays["states"][0, 1]
    board = states.row_board(final, chess.Board(line.fen).turn)
    assert board.is_game_over()
    assert all(np.array_equal(final, arrays["states"][0, ply]) for ply in (2, 3))
    assert arrays["known"][0] == 4


def test_a_random_world_is_taken_as_it_is_told() -> None:
    """Where a line brings its own states, these stand in the record, whether the moves lead there or not."""
    after = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"
    arrays = replay([Line(chess.STARTING_FEN, ["e2e4", "a7a6"], (), [after])], 2)
    assert states.row_board(arrays["states"][0, 1], chess.WHITE).fen() == after
    assert arrays["known"].tolist() == [2]


@pytest.mark.parametrize(
    ("move", "state", "named"),
    [
        ("e2e9", chess.STARTING_FEN, "e2e9"),
        ("0000", chess.STARTING_FEN, "0000"),
        ("e2e4", "hello", "'hello' is no FEN"),
    ],
)
def test_a_random_world_with_a_bad_move_or_state_is_refused(move: str, state: str, named: str) -> None:
    with pytest.raises(UserError, match=named):
        replay([Line(chess.STARTING_FEN, [move, "a7a6"], (), [state])], 2)


def test_legal_moves_are_packed_in_the_movers_frame() -> None:
    for line in LINES:
        board = chess.Board(line.fen)
        bits = np.unpackbits(legal_bits(board, board.turn), bitorder="little")
        assert len(bits) == LEGAL_BYTES * 8
        found = {moves.id_uci(int(i)) for i in np.flatnonzero(bits)}
        seen = board if board.turn else board.mirror()
        assert found == {move.uci() for move in seen.legal_moves}


def test_a_finished_root_has_the_one_answer_none() -> None:
    board = chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 10 100")
    bits = np.unpackbits(legal_bits(board, board.turn), bitorder="little")
    assert np.flatnonzero(bits).tolist() == [moves.NONE]
    assert replay([Line(board.fen(), [])], 2)["known"].tolist() == [2]


@pytest.mark.parametrize("line", [["e2e5"], ["e7e5"], ["e2e4", "e2e4"], ["0000"], ["nonsense"]])
def test_an_illegal_line_is_refused(line: list[str]) -> None:
    with pytest.raises(UserError, match=line[0]):
        replay([Line(chess.STARTING_FEN, line)], 2)


def test_a_bad_fen_is_refused() -> None:
    with pytest.raises(UserError, match="no FEN"):
        replay([Line("hello", [])], 1)


def test_written_records_are_the_lines_shuffled(tmp_path: Path) -> None:
    lines = LINES * 320  # two chunks
    seen: list[int] = []
    assert write_records(lines, tmp_path / "r", 3, seed=5, source="test", progress=seen.append) == len(lines)
    records = Records(tmp_path / "r")
    assert len(records) == len(lines)
    assert records.horizon == 3
    assert seen[-1] == len(lines)
    order = np.random.default_rng(5).permutation(len(lines))
    straight = replay(lines, 3)
    for name, array in records.take(np.arange(len(lines))).items():
        assert np.array_equal(array, straight[name][order]), name
    assert not list(tmp_path.glob("*.partial"))
    assert {path.suffix for path in (tmp_path / "r").iterdir()} == {".npy", ".json"}


def test_workers_write_the_same_bytes(tmp_path: Path) -> None:
    lines = LINES * 320
    write_records(lines, tmp_path / "one", 2)
    write_records(lines, tmp_path / "two", 2, workers=2)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


SCORED = [
    Line(chess.STARTING_FEN, ["e2e4"], [66], scored=[("e2e4", 0.53), ("d2d4", 0.52), ("g1f3", 0.51)]),
    Line("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 30", ["e8g8"], [64], scored=[("e8g8", 0.5), ("a8a1", 0.25)]),
    Line(chess.STARTING_FEN, ["d2d4"]),
]


def test_scored_moves_are_kept_in_the_movers_frame() -> None:
    arrays = replay(SCORED, 1, scored=2)
    black = [int(moves.TURN[moves.MOVE_ID[uci]]) for uci in ("e8g8", "a8a1")]
    assert arrays["scored_moves"].tolist() == [
        [moves.MOVE_ID["e2e4"], moves.MOVE_ID["d2d4"]],
        black,
        [moves.NONE, moves.NONE],
    ]
    assert arrays["scored_wins"] == pytest.approx(np.array([[0.53, 0.52], [0.5, 0.25], [0, 0]]), rel=1e-6)
    assert (arrays["scored_moves"][:2, 0] == arrays["moves"][:2, 0]).all()
    assert "scored_moves" not in replay(SCORED, 1)


@pytest.mark.parametrize("uci", ["e2e5", "e7e5", "0000", "nonsense"])
def test_an_illegal_scored_move_is_refused(uci: str) -> None:
    with pytest.raises(UserError, match=f"scored move {uci!r} is not legal"):
        replay([Line(chess.STARTING_FEN, ["e2e4"], scored=[("e2e4", 0.5), (uci, 0.5)])], 1, scored=2)


def test_scored_moves_are_written_and_older_folders_have_none(tmp_path: Path) -> None:
    write_records(SCORED, tmp_path / "new", 1, scored=3, seed=5)
    records = Records(tmp_path / "new")
    order, straight = np.random.default_rng(5).permutation(3), replay(SCORED, 1, scored=3)
    for name, array in records.take(np.arange(3)).items():
        assert np.array_equal(array, straight[name][order]), name
    assert records.scored == 3
    write_records(SCORED, tmp_path / "old", 1)
    meta = json.loads((tmp_path / "old" / "records.json").read_text())
    del meta["scored"]  # as it was written before there were scored moves
    (tmp_path / "old" / "records.json").write_text(json.dumps(meta))
    assert Records(tmp_path / "old").scored == 0
    assert "scored_moves" not in Records(tmp_path / "old").take(np.arange(3))


def test_no_lines_no_records(tmp_path: Path) -> None:
    assert write_records([], tmp_path / "r", 2) == 0
    assert len(Records(tmp_path / "r")) == 0


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    write_records(LINES, tmp_path / "r", 2)
    with pytest.raises(UserError, match="already"):
        write_records(LINES[:1], tmp_path / "r", 2)
    assert len(Records(tmp_path / "r")) == len(LINES)


KILLED = """
import sys, pathlib
from diffusearch.data.records import Line, write_records
def lines():
    for _ in range(5000):
        yield Line("7k/8/8/8/8/8/8/K7 w - - 0 1", ["a1a2"])
    print("half way", flush=True)
    sys.stdin.read()  # until we are killed
write_records(lines(), pathlib.Path(sys.argv[1]), 2)
"""


def test_killed_while_writing(tmp_path: Path) -> None:
    out = tmp_path / "r"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half way\n"
        process.kill()
        process.wait()
    assert not out.exists()
    with pytest.raises(UserError, match="no records"):
        Records(out)
    assert write_records(LINES, out, 2) == len(LINES)  # the rest of the killed run is no obstacle
    assert len(Records(out)) == len(LINES)
    assert not list(tmp_path.glob("*.partial"))


def test_damaged_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        write_records(LINES, tmp_path / name, 2)
        return tmp_path / name

    cut = fresh("cut")
    (cut / "states.npy").write_bytes((cut / "states.npy").read_bytes()[:-50])
    other = fresh("other")
    np.save(other / "known.npy", np.zeros(3, np.uint8))
    old = fresh("old")
    meta = json.loads((old / "records.json").read_text())
    (old / "records.json").write_text(json.dumps(meta | {"format": 0}))
    text = fresh("text")
    (text / "records.json").write_text("hello")
    missing = fresh("missing")
    (missing / "legal.npy").unlink()
    for folder in (cut, other, old, text, missing, tmp_path / "nowhere"):
        with pytest.raises(UserError, match=folder.name):
            Records(folder)


LOCKED = """
import sys
from pathlib import Path
import chess
from diffusearch.data.records import Line, write_records
from diffusearch.files import locked

def lines():
    for number in range(100_000):
        if number == 8000:  # both workers have begun
            print("now", flush=True)
            sys.stdin.read()
        yield Line(chess.STARTING_FEN, ["e2e4"])

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with locked(folder / ".lock"):
        write_records(lines(), folder / "records", 1, workers=2)
"""


@pytest.mark.posix
def test_workers_of_a_killed_process_do_not_hold_its_lock(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(LOCKED)
    command = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        with pytest.raises(UserError, match="busy"), locked(tmp_path / ".lock", "busy"):
            pass
        process.kill()
        process.wait()
        with locked(tmp_path / ".lock", "the workers hold the lock"):
            pass
