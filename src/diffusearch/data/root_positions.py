"""The positions of a game to label, their split, and the set of positions that were seen before."""

from __future__ import annotations

import hashlib
import random
from array import array
from dataclasses import dataclass

import chess

from diffusearch.data.source_games import SourceGame

SPLITS = ("train", "validation", "test")
_SHARES = {"test": 5, "validation": 5}  # per cent of the games; the rest is for training


@dataclass(frozen=True)
class RootPosition:
    """A position to label, with the facts of its source."""

    fen: str
    pool: str
    game: int
    ply: int
    played: str | None  # the move of the game, UCI
    rating: int | None
    split: str
    continuation: tuple[str, ...] = ()  # the next moves of the game, UCI, at most a horizon of them
    ended: bool = False  # the game is over after the continuation


def split_of(key: str) -> str:
    """The split of a game: a hash of its key decides, the same in every version of this program."""
    bucket = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8, person=b"split").digest()) % 100
    for name, share in _SHARES.items():
        if bucket < share:
            return name
        bucket -= share
    return "train"


def position_key(fen: str) -> int:
    """A 64-bit hash of placement, side to move, castling rights and en passant square, without the clocks."""
    identity = " ".join(fen.split(" ", 4)[:4])
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=8).digest())


def choose(game: SourceGame, per_game: int | None, skip_plies: int, horizon: int, seed: int) -> list[RootPosition]:
    """The positions of a game to label, in the order of the game: all of them, or `per_game` drawn at random.

    The draw depends on the game and the seed alone, so it does not move when the file around the game does.
    """
    plies = [ply for ply in game.plies if ply + game.first_ply >= skip_plies]
    if per_game is not None and per_game < len(plies):
        digest = hashlib.blake2b(game.key.encode(), digest_size=8, salt=seed.to_bytes(8, "big")).digest()
        plies = sorted(random.Random(int.from_bytes(digest)).sample(plies, per_game))
    wanted = set(plies)
    split = game.split or split_of(game.key)
    board = game.start.copy(stack=False)
    chosen = []
    for ply, move in enumerate(game.moves):
        # Some games continue after a dead position (bare kings), where the game is over.
        if ply in wanted and not over(board):
            chosen.append(
                RootPosition(
                    fen=board.fen(),
                    pool=game.pool,
                    game=game.index,
                    ply=game.first_ply + ply,
                    played=game.played or move.uci(),
                    rating=game.rating,
                    split=split,
                    continuation=tuple(m.uci() for m in game.moves[ply : ply + horizon]),
                )
            )
        board.push(move)
    if over(board):
        reach = game.first_ply + len(game.moves)
        chosen = [_ending(p) if p.ply + len(p.continuation) == reach else p for p in chosen]
    return chosen


def over(board: chess.Board) -> bool:
    """Whether the game is over by the board alone: mate, stalemate, insufficient material or 75 moves."""
    return board.outcome() is not None


def _ending(position: RootPosition) -> RootPosition:
    return RootPosition(**{**position.__dict__, "ended": True})


class PositionSet:
    """A set of 64-bit keys with open addressing: 11 to 21 bytes a key, where a Python set needs 70."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 << 12))  # 0 marks a free slot
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: int) -> bool:
        """Add a key; True if it was not in the set."""
        if 4 * self._count >= 3 * len(self._slots):
            self._grow()
        key = key or 1
        slots, mask = self._slots, len(self._slots) - 1
        slot = key & mask
        while (held := slots[slot]) != 0:
            if held == key:
                return False
            slot = (slot + 1) & mask
        slots[slot] = key
        self._count += 1
        return True

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(16 * len(old)))
        self._count = 0
        for key in old:
            if key:
                self.add(key)
