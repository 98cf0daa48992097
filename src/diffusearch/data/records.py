"""Records on disk: oracle lines, replayed once into memory-mapped arrays that serve every paradigm and encoding.

A record is a root position and the line that the oracle plays from it. Its states, moves and values are stored as
rows (see tokens/states.py) in the frame of the root's mover; the tokens of a layout are a vectorised map of them
(see tokens/batch.py). Rows are shuffled when they are written, so reading in order gives records in random order.

    states [n, h, 68] uint8   s_0 .. s_{h-1}; after the end of the game the final state is repeated
    moves  [n, h] uint16      a_0 .. a_{h-1}; NONE after the end of the game
    values [n, h] uint8       bin of v_i, the win probability of the side to move in s_i; 255 = unknown
    known  [n] uint8          actions 0..known-1 and states 0..known are known (h if the game ended)
    black  [n] bool           whether the root's mover is Black
    number [n] uint16         the root's full-move number
    legal  [n, 247] uint8     the root's legal moves, packed bits over the move vocabulary

Folders made from labels with scored actions (`label --multipv` or `--actions`) have two more, with K = `scored`:

    scored_moves [n, K] uint16   moves of the root, the oracle's action first; NONE fills up
    scored_wins  [n, K] float32  win probability of the mover after each of them; 0 fills up
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from diffusearch.errors import UserError
from diffusearch.tokens import moves, states
from diffusearch.tokens.moves import LEGAL_BYTES
from diffusearch.tokens.values import UNKNOWN
from diffusearch.worker_pool import worker_pool

FORMAT = 1
_CHUNK = 2000  # lines replayed by one worker at a time


@dataclass(frozen=True)
class Line:
    """A root position and the moves of the oracle."""

    fen: str
    moves: Sequence[str]  # UCI; the first is the oracle's action
    values: Sequence[int | None] = ()  # value bins of s_0, s_1, ... for their sides to move
    states: Sequence[str] = ()  # FENs of s_1, s_2, ... where the moves do not lead there (a random world)
    scored: Sequence[tuple[str, float]] = ()  # moves of the root and the mover's win probability after each, best first


def _fields(horizon: int, scored: int) -> dict[str, tuple[tuple[int, ...], str]]:
    fields: dict[str, tuple[tuple[int, ...], str]] = {
        "states": ((horizon, states.WIDTH), "uint8"),
        "moves": ((horizon,), "uint16"),
        "values": ((horizon,), "uint8"),
        "known": ((), "uint8"),
        "black": ((), "bool"),
        "number": ((), "uint16"),
        "legal": ((LEGAL_BYTES,), "uint8"),
    }
    if scored:
        fields |= {"scored_moves": ((scored,), "uint16"), "scored_wins": ((scored,), "float32")}
    return fields


def _empty(count: int, horizon: int, scored: int) -> dict[str, npt.NDArray[Any]]:
    return {name: np.zeros((count, *shape), dtype) for name, (shape, dtype) in _fields(horizon, scored).items()}


def legal_bits(board: chess.Board, mover: chess.Color) -> npt.NDArray[np.uint8]:
    """The legal moves of a position as packed bits [247] in the frame of `mover`; NONE where the game is over."""
    mask = np.zeros(LEGAL_BYTES * 8, dtype=np.uint8)
    mask[moves.move_ids(board.legal_moves, turned=not mover) or moves.NONE] = 1
    return np.packbits(mask, bitorder="little")


def replay(lines: Sequence[Line], horizon: int, scored: int = 0) -> dict[str, npt.NDArray[Any]]:
    """The arrays above for the lines, of at most `scored` scored moves each. An illegal line is a UserError."""
    out = _empty(len(lines), horizon, scored)
    out["values"][:] = UNKNOWN
    if scored:
        out["scored_moves"][:] = moves.NONE
    for index, line in enumerate(lines):
        board = played(line, 0)
        mover = board.turn
        out["black"][index] = not mover
        out["number"][index] = min(board.fullmove_number, 65535)
        out["legal"][index] = legal_bits(board, mover)
        for ply, value in enumerate(line.values[:horizon]):
            if value is not None:
                out["values"][index, ply] = value
        for rank, (uci, win) in enumerate(line.scored[:scored]):
            out["scored_moves"][index, rank] = _legal_token(uci, line, out["legal"][index], mover)
            out["scored_wins"][index, rank] = win
        row = states.board_row(board, mover)
        known = horizon
        for ply in range(horizon):
            out["states"][index, ply] = row
            if ply < len(line.moves) and line.states:
                if (told := moves.MOVE_ID.get(line.moves[ply])) is None:
                    raise _illegal(line)
                out["moves"][index, ply] = told if mover else moves.TURN[told]
                if ply < len(line.states):
                    row = states.board_row(_board(line.states[ply]), mover)
            elif ply < len(line.moves):
                try:
                    token = moves.MOVE_ID[board.push_uci(line.moves[ply]).uci()]
                except (ValueError, KeyError):  # the null move is no action
                    raise _illegal(line) from None
                out["moves"][index, ply] = token if mover else moves.TURN[token]
                row = states.board_row(board, mover)
            elif any(board.generate_legal_moves()):
                out["moves"][index, ply] = moves.NONE
                known = min(known, ply)
            else:
                out["moves"][index, ply] = moves.NONE
        out["known"][index] = known
    return out


def played(line: Line, plies: int) -> chess.Board:
    """The board after the first plies of a line; one that cannot be played is a UserError."""
    board = _board(line.fen)
    for move in line.moves[:plies]:
        try:
            board.push_uci(move)
        except ValueError:
            raise _illegal(line) from None
    return board


def _board(fen: str) -> chess.Board:
    try:
        return chess.Board(fen)
    except ValueError as error:
        raise UserError(f"{fen!r} is no FEN ({error}): run `diffusearch data check`") from None


def _illegal(line: Line) -> UserError:
    return UserError(f"the line {' '.join(line.moves)!r} is not legal from {line.fen!r}: run `diffusearch data check`")


def _legal_token(uci: str, line: Line, legal: npt.NDArray[np.uint8], mover: chess.Color) -> int:
    """The token of a root move in the mover's frame; one that is not legal is a UserError."""
    token = moves.MOVE_ID.get(uci, moves.NONE)
    token = token if mover else int(moves.TURN[token])
    if token == moves.NONE or not legal[token >> 3] >> (token & 7) & 1:
        raise UserError(f"the scored move {uci!r} is not legal in {line.fen!r}: run `diffusearch data check`")
    return token


def _chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    stream = iter(lines)
    while chunk := list(islice(stream, _CHUNK)):
        yield chunk


def write_records(
    lines: Iterable[Line],
    out: Path,
    horizon: int,
    *,
    scored: int = 0,
    seed: int = 0,
    workers: int = 1,
    source: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Write the records of lines to a folder, shuffled by `seed`; an unfinished folder has another name."""
    if out.exists():
        raise UserError(f"{out} exists already: remove it or choose another folder")
    temporary = out.with_name(out.name + ".partial")
    temporary.mkdir(parents=True, exist_ok=True)
    fields = _fields(horizon, scored)
    raw = {name: (temporary / f"{name}.raw").open("wb") for name in fields}
    count = 0
    with worker_pool(workers) if workers > 1 else _Inline() as pool:
        pending: list[Any] = []
        for chunk in _chunks(lines):
            pending.append(pool.submit(replay, chunk, horizon, scored))
            while len(pending) > 2 * workers:
                count += _append(pending.pop(0).result(), raw)
                progress(count)
        for future in pending:
            count += _append(future.result(), raw)
            progress(count)
    order = np.random.default_rng(seed).permutation(count)
    for name, (shape, dtype) in fields.items():
        raw[name].close()
        path = temporary / f"{name}.raw"
        read = np.memmap(path, dtype=dtype, mode="r", shape=(count, *shape)) if count else np.zeros((0, *shape), dtype)
        write = np.lib.format.open_memmap(temporary / f"{name}.npy", "w+", np.dtype(dtype), (count, *shape))
        for start in range(0, count, 65536):
            write[start : start + 65536] = read[order[start : start + 65536]]
        write.flush()  # msync: on disk before the folder is renamed
        del read, write
        path.unlink()
    meta = {"format": FORMAT, "horizon": horizon, "records": count, "seed": seed, "source": source, "scored": scored}
    with (temporary / "records.json").open("w", encoding="utf-8") as file:
        file.write(json.dumps(meta, indent=1))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, out)
    return count


def _append(part: dict[str, npt.NDArray[Any]], raw: dict[str, Any]) -> int:
    for name, array in part.items():
        raw[name].write(array.tobytes())
    return len(part["known"])


class _Done:
    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self) -> Any:
        return self._value


class _Inline:
    """Runs each task at once in this process."""

    def __enter__(self) -> _Inline:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, call: Callable[..., Any], *args: Any) -> _Done:
        return _Done(call(*args))


class Records:
    """A folder of arrays, memory-mapped for reading."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._kept: npt.NDArray[np.int64] | None = None  # rows in use; None: all
        try:
            meta = json.loads((self.folder / "records.json").read_text(encoding="utf-8"))
            if meta["format"] != FORMAT:
                words = f"{self.folder} has record format {meta['format']}, this version reads {FORMAT}"
                raise UserError(f"{words}: make it again")
            self.horizon: int = meta["horizon"]
            self.scored: int = meta.get("scored", 0)  # older folders have no scored moves
            self.arrays: dict[str, npt.NDArray[Any]] = {}
            for name, (shape, _) in _fields(self.horizon, self.scored).items():
                array = np.load(self.folder / f"{name}.npy", mmap_mode="r")
                if array.shape != (meta["records"], *shape):
                    raise ValueError(f"{name}.npy has shape {array.shape}")
                self.arrays[name] = array
        except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise UserError(f"{self.folder} holds no records ({error}): make them with `diffusearch label`") from None

    def without(self, rows: npt.NDArray[np.bool_]) -> Records:
        """The same folder without some rows of its arrays."""
        rest = Records(self.folder)
        rest._kept = np.flatnonzero(~rows)
        return rest

    def __len__(self) -> int:
        return len(self.arrays["known"] if self._kept is None else self._kept)

    def take(self, rows: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the given rows."""
        chosen = rows if self._kept is None else self._kept[rows]
        return {name: array[chosen] for name, array in self.arrays.items()}
