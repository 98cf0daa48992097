"""A summary of a labelled set: counts, histograms of rating, phase and value, duplicates, and a few boards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.svg

from diffusearch.data.labelled import read_labelled
from diffusearch.data.labelling import Row
from diffusearch.data.root_positions import PositionSet, position_key
from diffusearch.data.scores import action_wins
from diffusearch.tokens.values import win_probability

RATING_BAND = 200
VALUE_BANDS = 10  # of win probability
OPENING_PLIES = 20
SHOWN_ACTIONS = 6  # scored actions below a board
ENDGAME_PIECES = 6  # majors and minors of both sides together


@dataclass
class Summary:
    """The numbers of a set."""

    records: int = 0
    failed: int = 0
    games: int = 0
    duplicates: int = 0  # positions that occur more than once
    pools: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    futures: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)  # moves of the line
    phases: Counter[str] = field(default_factory=Counter)
    ratings: Counter[int] = field(default_factory=Counter)  # lower bound of the band
    values: Counter[int] = field(default_factory=Counter)  # band of the root's win probability, 0..VALUE_BANDS-1
    ended: int = 0  # lines after which the game is over
    with_actions: int = 0  # records with scored actions
    scored_actions: int = 0  # scored actions of all records
    fewest_scored: int = 0  # actions scored in the record with the fewest, and with the most
    most_scored: int = 0
    examples: list[Row] = field(default_factory=list)


def summarise(path: str | Path, examples: int = 3) -> Summary:
    """One pass over the set; the examples are spread over it."""
    summary, seen, games = Summary(), PositionSet(), set()
    spacing = 1
    for row in read_labelled(path, failed=True):
        if row["failed"] is not None:
            summary.failed += 1
            continue
        if examples and summary.records % spacing == 0:
            summary.examples.append(row)
            if len(summary.examples) == 2 * examples:  # keep every other one, so that they stay spread out
                summary.examples, spacing = summary.examples[::2], spacing * 2
        _add(summary, row)
        games.add((row["pool"], row["game"]))
        summary.duplicates += not seen.add(position_key(row["fen"]))
    summary.games = len(games)
    summary.examples = summary.examples[:examples]
    return summary


def _add(summary: Summary, row: Row) -> None:
    summary.records += 1
    summary.pools[row["pool"]] += 1
    summary.splits[row["split"]] += 1
    summary.futures[row["future"] or "unnamed"] += 1
    summary.lengths[len(row["line"].split())] += 1
    summary.phases[phase(row["fen"], row["ply"])] += 1
    summary.ended += row["ended"]
    if row["actions"] is not None:
        scored = len(row["actions"].split())
        summary.fewest_scored = min(summary.fewest_scored, scored) if summary.with_actions else scored
        summary.most_scored = max(summary.most_scored, scored)
        summary.with_actions += 1
        summary.scored_actions += scored
    if row["rating"] is not None:
        summary.ratings[row["rating"] // RATING_BAND * RATING_BAND] += 1
    if row["cp"] is not None or row["mate"] is not None:
        value = win_probability(row["cp"], row["mate"])
        summary.values[min(int(value * VALUE_BANDS), VALUE_BANDS - 1)] += 1


def phase(fen: str, ply: int) -> str:
    """Endgame by the number of pieces, else opening by the ply, else middlegame."""
    pieces = sum(letter in "nbrqNBRQ" for letter in fen.split(" ", 1)[0])
    if pieces <= ENDGAME_PIECES:
        return "endgame"
    return "opening" if ply < OPENING_PLIES else "middlegame"


def board_text(row: Row) -> str:
    """A record as a diagram with its line in SAN."""
    board = chess.Board(row["fen"])
    line = row["line"].split()
    if row["states"]:  # the later moves belong to unrelated states
        line = line[:1]
    san = board.variation_san([chess.Move.from_uci(move) for move in line])
    score = f"#{row['mate']}" if row["mate"] is not None else "?" if row["cp"] is None else f"{row['cp']:+d}"
    where = f"{row['pool']} game {row['game']} ply {row['ply']}, played {row['played']}"
    scored = [
        f"{board.san(chess.Move.from_uci(move))} {100 * win:.0f} %"
        for move, win in action_wins(row["actions"], SHOWN_ACTIONS)
    ]
    more = f"\nwin probability: {', '.join(scored)}" if scored else ""
    return f"{board}\n{row['fen']}\noracle: {san} ({score}){more}\n{where}"


def board_svg(row: Row) -> str:
    """A record as a picture, the oracle's action as an arrow."""
    board = chess.Board(row["fen"])
    move = chess.Move.from_uci(row["line"].split()[0])
    arrow = chess.svg.Arrow(move.from_square, move.to_square)
    return chess.svg.board(board, orientation=board.turn, arrows=[arrow], size=360)
