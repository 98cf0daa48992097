"""A folder of results becomes one Markdown page with charts, pairwise comparisons and the paper's figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diffusearch.errors import UserError
from diffusearch.evaluation import charts, crosstable
from diffusearch.evaluation.compare import compare_folder
from diffusearch.evaluation.paper import paper_figure, paper_name
from diffusearch.evaluation.record import apart_from, weights_of
from diffusearch.files import write_whole

PAPER_GAMES = ("10k games", "100k games")
KINDS = ("actions", "puzzles", "futures", "latency", "tournament")
Results = dict[str, list[dict[str, Any]]]


def load_results(folder: Path) -> Results:
    """All results below a folder by kind; of the same agents, weights and data the largest, then the latest."""
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}: give the folder that eval verbs wrote their results to.")
    best: dict[tuple[str, ...], dict[str, Any]] = {}
    for path in sorted(folder.rglob("*.json")):
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise UserError(f"{path} is not readable JSON ({error}): delete or mend it.") from error
        if not isinstance(result, dict) or result.get("kind") not in KINDS:
            continue  # another kind of JSON, such as a tournament's conditions
        result["file"] = str(path.relative_to(folder))
        key = (result["kind"], json.dumps(result["agent"]), str(result["data_hash"]), apart_from(result))
        old = best.get(key)
        if old is None or (result["n"], result["date"]) > (old["n"], old["date"]):
            best[key] = result
    if not best:
        raise UserError(f"{folder} holds no result: run `diffusearch eval ... --out {folder}` first.")
    found: Results = {kind: [] for kind in KINDS}
    for result in best.values():
        found[result["kind"]].append(result)
    return found


def report(folder: Path, out: Path | None = None) -> list[Path]:
    """Write report.md and its pictures; gives the files, the page first."""
    results = load_results(folder)
    out = out or folder
    drawn: dict[str, bytes] = {}
    parts = ["# Results", main_table(results)]
    if results["actions"] or results["puzzles"]:
        drawn["report-main.png"] = charts.main_bars(results["actions"], results["puzzles"])
        parts.append("![accuracy](report-main.png)")
    parts += [_phases(results["actions"]), _bands(results["puzzles"])]
    parts.append(pairs_table(compare_folder(folder), "Agents pairwise, on the same rows"))
    for number, one in enumerate(results["futures"], start=1):
        drawn[f"report-futures-{number}.png"] = charts.futures_lines(one)
        parts += [futures_table(one), f"![futures](report-futures-{number}.png)"]
    for number, one in enumerate(results["latency"], start=1):
        drawn[f"report-latency-{number}.png"] = charts.latency_points(one)
        parts += [latency_table(one), f"![latency](report-latency-{number}.png)"]
    for number, one in enumerate(results["tournament"], start=1):
        drawn[f"report-tournament-{number}.png"] = crosstable.png(one)
        parts += ["## Tournament", crosstable.markdown(one), f"![tournament](report-tournament-{number}.png)"]
    parts.append(_provenance(results))
    page = out / "report.md"
    for name, content in drawn.items():
        write_whole(out / name, content)
    write_whole(page, "\n\n".join(part for part in parts if part) + "\n")
    return [page, *(out / name for name in drawn)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first columns to the left, the others to the right."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    lines = [head, rule, *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def percent(share: dict[str, Any] | None, key: str = "accuracy") -> str:
    """`12.3 [11.0, 13.6]`, in percent; a dash where there is nothing."""
    if share is None or share[key] is None:
        return "-"
    low, high = share["interval" + key.removeprefix("accuracy")]
    return f"{100 * share[key]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def main_table(results: Results) -> str:
    """Elo, puzzles and actions of every agent, with the paper's rows for 10k and 100k games.

    Other weights or other rows of the data are another row of the table; where two files of actions are left for a
    row, the larger one is shown.
    """
    agents: dict[tuple[str, str], dict[str, Any]] = {}  # by what sets them apart, and agent
    for kind in ("actions", "puzzles"):
        for one in sorted(results[kind], key=lambda one: int(one["n"])):
            agents.setdefault((apart_from(one), one["agent"]), {})[kind] = one
    for one in results["tournament"]:
        for row in one["ratings"]:
            recipe = (one["recipe"] or {}).get(row["agent"])
            agents.setdefault((weights_of(recipe), row["agent"]), {})["elo"] = row
    if not agents:
        return ""
    head = ["agent", "Elo", "puzzles %", "mate-tolerant %", "puzzle rating", "actions %", "n (puzzles, actions)"]
    head += ["paper 10k: Elo / puzzles / actions", "paper 100k: Elo / puzzles / actions"]
    rows = []
    for (apart, agent), have in sorted(agents.items(), key=lambda item: item[0]):
        elo, puzzles, actions = have.get("elo"), have.get("puzzles"), have.get("actions")
        rows.append(
            [
                _named(agent, apart),
                f"{round(elo['elo'])} [{round(elo['interval'][0])}, {round(elo['interval'][1])}]" if elo else "-",
                percent(puzzles),
                percent(puzzles, "accuracy_mate_tolerant"),
                _puzzle_rating(puzzles),
                percent(actions),
                f"{puzzles['n'] if puzzles else '-'}, {actions['n'] if actions else '-'}",
                *(_paper_row(agent, (actions or puzzles or {}).get("recipe"), games) for games in PAPER_GAMES),
            ]
        )
    notes = (
        "In brackets 95 % intervals. Puzzles are strict (the whole solution) unless said. Each tournament has its own "
        "scale of Elo (below), also the paper's, whose puzzles and states are other files: compare orders, not digits."
    )
    return f"## Agents\n\n{table(head, rows)}\n\n{notes}"


def _named(agent: str, apart: str) -> str:
    return f"`{agent}`" + (f" ({apart})" if apart else "")


def _puzzle_rating(puzzles: dict[str, Any] | None) -> str:
    rating = puzzles["rating"] if puzzles else None
    if not rating or rating["estimate"] is None:
        return "-"
    return f"{rating['estimate']:.0f} [{rating['interval'][0]:.0f}, {rating['interval'][1]:.0f}]"


def _paper_row(agent: str, recipe: dict[str, Any] | None, games: str) -> str:
    name = paper_name(agent, recipe)
    figures = [paper_figure("main", f"{name}, {games}", metric) for metric in ("elo", "puzzles", "actions")]
    return " / ".join("-" if figure is None else f"{figure:g}" for figure in figures) if name else "-"


def _phases(results: Sequence[dict[str, Any]]) -> str:
    if not results:
        return ""
    names = ("opening", "middlegame", "endgame")
    rows = [
        [_named(one["agent"], apart_from(one)), *(percent(one["by_phase"].get(name)) for name in names)]
        for one in results
    ]
    return f"## Actions by phase, %\n\n{table(['agent', *names], rows)}"


def _bands(results: Sequence[dict[str, Any]]) -> str:
    if not results:
        return ""
    bands = sorted({band for one in results for band in one["by_rating"]})
    rows = [[_unpadded(band), *(percent(one["by_rating"].get(band)) for one in results)] for band in bands]
    head = ["rating", *(_named(one["agent"], apart_from(one)) for one in results)]
    return f"## Puzzles by rating, strict %\n\n{table(head, rows)}"


def _unpadded(band: str) -> str:
    return "-".join(str(int(end)) for end in band.split("-"))


def futures_table(result: dict[str, Any], title: str | None = None) -> str:
    """The paper's table of imagined futures; beside the figures of agent `diffusearch` stand those of the paper.

    `title` is the heading, with the number of positions unless another one is given.
    """
    columns = ("valid_action", "best", "valid_state", "match")
    head = ["step", "valid a_i", "best a_i", "valid s_i", "match a_(i-1)-s_i", "paper 10k", "paper 100k"]
    rows = []
    denoised = paper_name(result["agent"], result.get("recipe")) == "DiffuSearch"
    for row in result["steps"]:
        papers = [] if denoised else ["-", "-"]
        for games in PAPER_GAMES if denoised else ():
            figures = [paper_figure("futures", f"{games}, step {row['step']}", column) for column in columns]
            papers.append(" / ".join("-" if figure is None else f"{figure:.1f}" for figure in figures))
        rows.append([str(row["step"]), *(percent(row[column]) for column in columns), *papers])
    raw = result["legality"]["raw"] if result["legality"] else None
    note = (
        f"\n\nBefore the legality mask of the call that fixes the first move, the network's first choice among all "
        f"moves is legal in {percent(raw)} %."
        if raw
        else ""
    )
    if denoised:
        note = f"\n\nA cell of the paper has its figures of the four columns, in their order.{note}"
    heading = (
        f"## Futures of {_named(result['agent'], apart_from(result))}, % of {result['n']}" if title is None else title
    )
    return f"{heading}\n\n{table(head, rows)}{note}"


def pairs_table(results: Sequence[dict[str, Any]], title: str) -> str:
    """Paired comparisons (compare.py): second minus first."""
    if not results:
        return ""
    head = ["first", "second", "metric", "n", "second - first, points", "gained", "lost", "McNemar p"]
    rows = []
    for one in results:
        low, high = (100 * end for end in one["interval"])
        change = f"{100 * one['difference']:+.1f} [{low:+.1f}, {high:+.1f}]"
        counts = [str(one["only_second_right"]), str(one["only_first_right"])]
        rows.append([*one["agents"], one["metric"], str(one["n"]), change, *counts, f"{one['mcnemar']:.2g}"])
    return f"## {title}\n\n{table(head, rows)}"


def latency_table(result: dict[str, Any]) -> str:
    """Milliseconds a move beside accuracy."""
    head = ["agent", "ms a move (median)", "p90", "nodes or calls", "actions %"]
    rows = [
        [
            f"`{row['agent']}`",
            f"{row['milliseconds']['median']:.1f}",
            f"{row['milliseconds']['p90']:.1f}",
            f"{row['nodes']:.0f}",
            percent(row),
        ]
        for row in result["rows"]
    ]
    return f"## Latency, batch 1, {result['n']} positions\n\n{table(head, rows)}"


def _provenance(results: Results) -> str:
    head = ["result", "n", "data", "sha256", "commit", "seed", "command"]
    rows = [
        [
            one["file"],
            str(one["n"]),
            ", ".join(one["data"]) or "-",
            (one["data_hash"] or "-")[:12],
            (one["commit"] or "-")[:12],
            "-" if one["seed"] is None else str(one["seed"]),
            f"`{one['command']}`",
        ]
        for kind in KINDS
        for one in results[kind]
    ]
    return f"## Where it comes from\n\n{table(head, rows)}"
