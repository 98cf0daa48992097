"""Two agents on the same test rows: the paired difference of their accuracies and McNemar's test.

Most rows are right or wrong for both agents and say nothing about who is better. The paired interval and the test use
the rows on which exactly one of them is right; two separate intervals would throw that away.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.evaluation.intervals import mcnemar, paired_interval
from diffusearch.evaluation.row_log import PositionRow, read_rows


def compare_files(first: Path, second: Path) -> dict[str, Any]:
    """The comparison of two row files; `difference` is the second's accuracy minus the first's."""
    heads, sets = zip(*(_rows(path) for path in (first, second)), strict=True)
    kinds = [head["kind"] for head in heads]
    if kinds[0] != kinds[1]:
        raise UserError(f"{first} holds {kinds[0]} and {second} holds {kinds[1]}: compare files of one metric.")
    if _keys(sets[0]) != _keys(sets[1]):
        counts = " and ".join(str(len(rows)) for rows in sets)
        raise UserError(
            f"{first} and {second} hold different test rows ({counts}): measure both agents with the same --data, "
            "--limit, --seed, --skip and --split."
        )
    return {
        "kind": "compare",
        "metric": kinds[0],
        "agents": [head["agent"] for head in heads],
        "files": [str(first), str(second)],
        **paired([row.right for row in sets[0]], [row.right for row in sets[1]]),
    }


def _rows(path: Path) -> tuple[dict[str, str], list[PositionRow]]:
    """A file's rows, sorted so that files of the same rows in another order agree."""
    head, rows = read_rows(path)
    if not rows:
        raise UserError(f"{path} holds no row: run the `diffusearch eval` command that writes it to its end.")
    return head, sorted(rows, key=lambda row: (row.id, row.answer))


def _keys(rows: Sequence[PositionRow]) -> list[tuple[str, str]]:
    return [(row.id, row.answer) for row in rows]


def paired(first: Sequence[bool], second: Sequence[bool]) -> dict[str, Any]:
    """The four counts of paired outcomes, the difference (second minus first), its 95 % interval, McNemar's p."""
    pairs = list(zip(first, second, strict=True))
    both, only_first, only_second, neither = (
        pairs.count(one) for one in ((True, True), (True, False), (False, True), (False, False))
    )
    n = len(pairs)
    return {
        "n": n,
        "accuracy": [(both + only_first) / n, (both + only_second) / n],
        "both_right": both,
        "only_first_right": only_first,
        "only_second_right": only_second,
        "both_wrong": neither,
        "difference": (only_second - only_first) / n,
        "interval": list(paired_interval(both, only_first, only_second, neither)),
        "mcnemar": mcnemar(only_first, only_second),
    }


def sentence(result: dict[str, Any]) -> str:
    """A comparison in words."""
    low, high = result["interval"]
    first, second = result["agents"]
    return (
        f"{second} minus {first}: {100 * result['difference']:+.2f} points [{100 * low:+.2f}, {100 * high:+.2f}] of "
        f"{result['n']} {result['metric']}; {result['only_second_right']} rows gained, {result['only_first_right']} "
        f"lost; McNemar's exact p = {result['mcnemar']:.3g}"
    )


def compare_folder(folder: Path) -> list[dict[str, Any]]:
    """Every two row files below a folder that hold the same rows, compared; files of other rows stay apart."""
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[Path]] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        if path.name == "games.jsonl":
            continue  # a tournament's log
        head, rows = _rows(path)
        groups.setdefault((head["kind"], tuple(_keys(rows))), []).append(path)
    return [compare_files(*pair) for paths in groups.values() for pair in combinations(paths, 2)]
