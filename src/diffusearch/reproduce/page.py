"""The page of an exhibit: our figures beside the paper's, pairwise comparisons, and the commands for missing runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diffusearch.evaluation.compare import compare_files
from diffusearch.evaluation.paper import paper_figure
from diffusearch.evaluation.report import futures_table, pairs_table, percent, table
from diffusearch.files import write_whole
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.measure import Made
from diffusearch.reproduce.pictures import Shown, pictures
from diffusearch.reproduce.plan import Setting


def write_page(exhibit: Exhibit, made: Made, setting: Setting) -> Path:
    """Write OUT/NAME.md and its pictures."""
    name = exhibit.paper or exhibit.name
    parts = [f"# {exhibit.title}", f"In the paper: {exhibit.place}.", exhibit.remark]
    columns = [metric for metric in exhibit.metrics if metric not in ("futures", "tree-depth", "cases")]
    if columns:
        head = ["agent", *(f"{metric}{' %' if metric in ('actions', 'puzzles') else ''}" for metric in columns)]
        head += [f"paper: {metric}" for metric in columns if metric != "latency"]
        parts.append(table(head, [_line(row.label, columns, made, name, setting) for row in exhibit.rows]))
    for label, results in made.results.items():
        if "futures" in results:
            parts += [f"{label}:", futures_table(results["futures"])]
    parts += [_pairs(exhibit, made, setting), *_pictures(exhibit, made, setting)]
    parts += [f"[{file.name}]({file.relative_to(setting.out)})" for file in made.files]
    if made.missing:
        parts.append("## Not measured: these runs are not trained yet")
        commands = dict.fromkeys(command for commands in made.missing.values() for command in commands)
        parts.append("```\n" + "\n".join(commands) + "\n```")
    page = setting.out / f"{exhibit.name}.md"
    write_whole(page, "\n\n".join(part for part in parts if part) + "\n")
    return page


def _line(raw: str, columns: list[str], made: Made, name: str, setting: Setting) -> list[str]:
    label = setting.shown(raw)
    results = made.results.get(label, {})
    ours = [_cell(metric, results.get(metric)) for metric in columns]
    papers = [paper_figure(name, setting.in_paper(raw), metric) for metric in columns if metric != "latency"]
    return [label, *ours, *("-" if figure is None else f"{figure:g}" for figure in papers)]


def _cell(metric: str, result: dict[str, Any] | None) -> str:
    if result is None:
        return "-"
    if metric == "elo":
        return f"{round(result['elo'])} [{round(result['interval'][0])}, {round(result['interval'][1])}]"
    if metric == "latency":
        return f"{result['milliseconds']['median']:.1f} ms"
    return percent(result)


def _pairs(exhibit: Exhibit, made: Made, setting: Setting) -> str:
    """Each row against the reference on the same positions."""
    reference = setting.shown(exhibit.reference)
    if reference not in made.rows or len(made.rows) < 2:
        return ""
    results = []
    for label, path in made.rows.items():
        if label != reference:
            results.append(compare_files(path, made.rows[reference]) | {"agents": [label, reference]})
    return pairs_table(results, f"Actions, {reference} minus each other row")


def _pictures(exhibit: Exhibit, made: Made, setting: Setting) -> list[str]:
    def of(metric: str) -> dict[str, dict[str, Any]]:
        return {label: results[metric] for label, results in made.results.items() if metric in results}

    shown = Shown(*(of(metric) for metric in ("actions", "puzzles", "latency", "tree-depth", "futures")))
    drawn = pictures(exhibit, shown, setting)
    for one in drawn:
        write_whole(setting.out / f"{one.name}.png", one.content)
    return [f"![{one.words}]({one.name}.png)" for one in drawn]
