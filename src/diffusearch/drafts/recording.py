"""`diffusearch draft`: drafts of labelled positions, as records for training the draft reader.

The positions should be new to the network: its drafts of positions that it was trained on are too good, and a reader
that learns from them trusts drafts too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import chess
import numpy as np

from diffusearch.data import draft_records
from diffusearch.data.draft_records import MOVES, NO_MOVE, Arrays
from diffusearch.data.labelled import games_of, read_labelled
from diffusearch.data.manifest import describe_sources
from diffusearch.data.scores import action_wins
from diffusearch.drafts.drafting import Drafter
from diffusearch.drafts.revising import BATCH, Root, draft_arrays
from diffusearch.errors import UserError
from diffusearch.files import locked, make_folder, remove_leftovers
from diffusearch.inference.evaluation import Evaluation
from diffusearch.inference.run import Run
from diffusearch.search.dynamics import Imagined, Rules
from diffusearch.tokens.drafts import DEPTH

SHARD = 10 * BATCH  # positions
_HALF = ("root", "hidden")  # stored as float16


@dataclass(frozen=True)
class Recording:
    """What is drafted."""

    labels: Path
    out: Path
    drafts: int = 6
    depth: int = DEPTH
    limit: int | None = None  # positions; None: all
    seed: int = 0  # of the order of positions
    exclude: tuple[Path, ...] = ()  # labelled sets whose games are left out
    dynamics: str = "imagined"  # who makes the drafted positions: the network or the rules

    def facts(self, run: Run) -> dict[str, Any]:
        return {
            "run": run.name,
            "weights": run.fingerprint,
            "labels": describe_sources([str(self.labels)]),
            "exclude": describe_sources([str(path) for path in self.exclude]),
            "drafts": self.drafts,
            "depth": self.depth,
            "limit": self.limit,
            "seed": self.seed,
            "dynamics": self.dynamics,
        }


def record(run: Run, wanted: Recording, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Draft the positions that are not drafted yet; returns how many there are in all. Killed, it goes on."""
    _check(run, wanted)
    rows, out = _rows(wanted), wanted.out
    make_folder(out)
    with locked(out / ".lock", f"another `diffusearch draft` is writing to {out}: wait for it or use another --out"):
        draft_records.begin(out, wanted.facts(run), len(rows))
        remove_leftovers(out)
        drafter = Drafter(run, Rules() if wanted.dynamics == "rules" else Imagined(run))
        for number, start in enumerate(range(0, len(rows), SHARD)):
            part = rows[start : start + SHARD]
            if not draft_records.shard_folder(out, number).exists():
                pieces = [_arrays(run, drafter, piece, wanted) for piece in _batched(part, BATCH)]
                whole = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
                draft_records.write_shard(out, number, whole)
            progress(start + len(part), len(rows))
        draft_records.end(out, len(rows))
    return len(rows)


def _check(run: Run, wanted: Recording) -> None:
    """Refuse a run that cannot draft, with all that it lacks."""
    needed = {
        "a policy (it is s-v or sa-v)": run.has_policy,
        "values (model.root_value = true)": run.has_value,
        "hidden states that do not see the future (model.trunk.attention = 'prefix')": (
            run.recipe.model.trunk.attention == "prefix"
        ),
    }
    if wanted.dynamics != "rules":
        needed["predicted states (s-asa by absorbing diffusion; --dynamics rules needs none)"] = run.predicts_states
    if lacking := [what for what, there in needed.items() if not there]:
        raise UserError(f"the run {run.name!r} cannot draft: it lacks {' and '.join(lacking)}; give another run")


def _rows(wanted: Recording) -> list[dict[str, Any]]:
    """The labelled positions to be drafted, in random order."""
    left_out = {game for path in wanted.exclude for game in games_of(path)}
    rows = [row for row in read_labelled(wanted.labels) if (row["pool"], row["game"]) not in left_out and row["line"]]
    if not rows:
        raise UserError(f"{wanted.labels} has no position outside the games of --exclude: give other labels")
    order = np.random.default_rng(wanted.seed).permutation(len(rows))
    return [rows[at] for at in order[: wanted.limit]]


def _batched(rows: Sequence[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    stream = iter(rows)
    while part := list(islice(stream, size)):
        yield part


def _arrays(run: Run, drafter: Drafter, rows: Sequence[dict[str, Any]], wanted: Recording) -> Arrays:
    """The arrays of some positions. Every draft has its second line: training hides some."""
    boards = [chess.Board(row["fen"]) for row in rows]
    evaluations = run.evaluate(boards)
    drafts = drafter.first_lines(boards, evaluations, wanted.drafts, wanted.depth)
    drafter.second_lines([one for own in drafts for one in own if not one.has_second], wanted.depth)
    roots = [Root(*three) for three in zip(boards, evaluations, drafts, strict=True)]
    arrays: Arrays = draft_arrays(roots, wanted.drafts)._asdict()
    answers = [_answer(row, one) for row, one in zip(rows, evaluations, strict=True)]
    arrays |= {name: np.stack([answer[name] for answer in answers]) for name in answers[0]}
    return {name: array.astype(np.float16) if name in _HALF else array for name, array in arrays.items()}


def _answer(row: dict[str, Any], evaluation: Evaluation) -> Arrays:
    """Log priors of the likeliest moves, and what the oracle says of them."""
    likeliest = evaluation.ranked()[:MOVES]
    place = {move.uci(): at for at, move in enumerate(likeliest)}
    priors = np.full(MOVES, NO_MOVE, dtype=np.float32)
    priors[: len(likeliest)] = np.log(np.maximum([evaluation.priors[move] for move in likeliest], 1e-30))
    wins = np.full(MOVES, np.nan, dtype=np.float32)
    for uci, win in action_wins(row["actions"], MOVES):
        if uci in place:
            wins[place[uci]] = win
    return {
        "priors": priors,
        "target": np.array(place.get(row["line"].split()[0], -1), dtype=np.int16),
        "wins": wins,
        "train": np.array(row["split"] == "train"),
    }
