"""The table of an exhibit on the page of `reproduce all`: our figures, intervals, seeds, training time; the paper's.

A column of the paper's is left out where the paper has no figure in it.
"""

from __future__ import annotations

from typing import Any

from diffusearch.evaluation.paper import paper_figure
from diffusearch.evaluation.report import percent, table
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.gathered import Gathered
from diffusearch.reproduce.jobs import MeasureJob
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.timed import INITIAL

NOT_YET = "not yet"
HEADINGS = {"actions": "actions %", "puzzles": "puzzles %", "elo": "Elo", "latency": "processor ms a move"}


def exhibit_table(exhibit: Exhibit, found: Gathered, setting: Setting) -> str:
    """All rows; empty for an exhibit that is no table."""
    columns = [metric for metric in exhibit.metrics if metric in HEADINGS]
    if not columns:
        return ""
    papers = {metric: there for metric in columns if any(there := _papers(metric, exhibit, setting))}
    searches = "tree-depth" in exhibit.metrics
    trains = any(not run.packaged for row in exhibit.rows for run in row.runs)
    head = ["row", *(HEADINGS[metric] for metric in columns), *(["mean depth"] if searches else [])]
    head += ["evaluations", "processor ms a move"] if exhibit.spent else []
    head += [f"paper: {HEADINGS[metric]}" for metric in papers]
    head += ["seeds", "training, minutes"] if trains else []
    lines = []
    for number, row in enumerate(exhibit.rows):
        key = exhibit.name, setting.shown(row.label)
        figures = found.figures[key]
        out = ["elo"] if number >= setting.scale.match_rows else []  # only the first rows play
        cells = [key[1], *("-" if metric in out else _cell(metric, row, key, found, setting) for metric in columns)]
        if searches:
            depth = figures.get("tree-depth", {}).get("mean_depth")
            cells.append(f"{depth:.1f}" if depth is not None else NOT_YET if row.searches else "-")
        cells += _spent(figures.get("actions")) if exhibit.spent else []
        cells += ["-" if there[number] is None else f"{there[number]:g}" for there in papers.values()]
        cells += _trained(row, key, found) if trains else []
        lines.append(cells)
    return table(head, lines)


def times_note(exhibit: Exhibit, found: Gathered, setting: Setting) -> str:
    """How the times of a table were measured; empty where nothing is timed."""
    timed = [
        entry for row in exhibit.rows if (entry := found.figures[exhibit.name, setting.shown(row.label)].get("latency"))
    ]
    if not timed:
        return ""
    weights = {name: value for entry in timed for name, value in entry["weights"].items()}
    initial = [f"`{name}`" for name, value in weights.items() if value == INITIAL]
    words = (
        f"The times are one measurement: for each of {timed[0]['n']} positions every row decides once, in turns, so "
        "that other work on the machine meets all rows alike."
    )
    if initial:
        words += (
            " The time of joint denoising depends on a network's shape, not on its numbers: with the initial weights "
            f"of their recipes are timed {', '.join(initial)}."
        )
    known = {name: run.get("weights") for name, run in found.runs.items()}
    again = [f"`{name}`" for name, value in weights.items() if value not in (INITIAL, known.get(name, value))]
    if again:
        words += (
            f" The times of {', '.join(again)} are those of another training than the accuracies and depths: same "
            "recipe and labels, other weights."
        )
    return words


def _papers(metric: str, exhibit: Exhibit, setting: Setting) -> list[float | None]:
    """The paper's figures of a column."""
    name = exhibit.paper or exhibit.name
    return [paper_figure(name, setting.in_paper(row.label), metric) for row in exhibit.rows]


def _spent(result: dict[str, Any] | None) -> list[str]:
    """Evaluations of a decision, and its processor time in large batches."""
    if result is None:
        return ["-", "-"]
    decided = result["n"] - result["resumed"]
    each = f"{1000 * result['processor_seconds'] / decided:.0f}" if decided else "-"
    return [f"{result['evaluations']:.0f}", each]


def _trained(row: Row, key: tuple[str, str], found: Gathered) -> list[str]:
    """How many seeds are measured of those that are wanted, and the processor time in which the runs were trained."""
    if not row.runs or row.runs[0].packaged:
        return ["-", "-"]
    seconds = found.training.get(key, [])
    done = str(len(seconds)) if len(seconds) == row.seeds else f"{len(seconds)} of {row.seeds}"
    return [done, f"{sum(seconds) / len(seconds) / 60:.1f}" if seconds else "-"]


def _cell(metric: str, row: Row, key: tuple[str, str], found: Gathered, setting: Setting) -> str:
    if metric == "actions":
        estimate = found.accuracy(*key)
        if estimate is None:
            return NOT_YET
        seeds = found.outcomes[key].accuracies
        each = f" ({', '.join(f'{100 * one:.1f}' for one in seeds)})" if len(seeds) > 1 else ""
        return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]{each}"
    if metric == "elo":
        rated = found.ratings.get(MeasureJob(row, "elo", setting).agent)
        return (
            NOT_YET
            if rated is None
            else f"{round(rated['elo'])} [{round(rated['interval'][0])}, {round(rated['interval'][1])}]"
        )
    result = found.figures[key].get(metric)
    if result is None:
        return NOT_YET
    if metric == "latency":
        times = result["processor_milliseconds"]
        return f"{times['median']:.0f} ({times['p10']:.0f} to {times['p90']:.0f})"
    return percent(result)
