"""The page of an exhibit: our figures beside the paper's, and what is missing with the command that makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diffusearch.evaluation import charts
from diffusearch.evaluation.paper import paper_figure, paper_tables
from diffusearch.evaluation.report import futures_table, percent, table
from diffusearch.files import write_whole
from diffusearch.reproduce.driver import Made, Setting
from diffusearch.reproduce.exhibit import Exhibit


def write_page(exhibit: Exhibit, made: Made, setting: Setting) -> Path:
    """Write OUT/NAME.md and its picture."""
    name = exhibit.paper or exhibit.name
    there = paper_tables().get(name)
    parts = [f"# {exhibit.title}", f"The paper's {there.place}." if there else "", exhibit.remark]
    columns = [metric for metric in exhibit.metrics if metric not in ("futures", "cases")]
    if columns:
        head = ["agent", *(f"{metric}{' %' if metric in ('actions', 'puzzles') else ''}" for metric in columns)]
        head += [f"paper: {metric}" for metric in columns if metric != "latency"]
        parts.append(
            table(head, [_line(row.label.format(scale=setting.scale), columns, made, name) for row in exhibit.rows])
        )
    for label, results in made.results.items():
        if "futures" in results:
            parts += [f"{label}:", futures_table(results["futures"])]
    if "actions" in columns and made.results:
        picture = setting.out / f"{exhibit.name}.png"
        shown = [(label, results["actions"]) for label, results in made.results.items()]
        write_whole(
            picture, charts.compare_bars(shown, {label: paper_figure(name, label, "actions") for label, _ in shown})
        )
        parts.append(f"![{exhibit.title}]({picture.name})")
    parts += [f"[{file.name}]({file.relative_to(setting.out)})" for file in made.files]
    if made.missing:
        parts.append("## Not measured: these runs do not exist yet")
        commands = dict.fromkeys(command for commands in made.missing.values() for command in commands)
        parts.append("```\n" + "\n".join(commands) + "\n```")
    page = setting.out / f"{exhibit.name}.md"
    write_whole(page, "\n\n".join(part for part in parts if part) + "\n")
    return page


def _line(label: str, columns: list[str], made: Made, name: str) -> list[str]:
    results = made.results.get(label, {})
    ours = [_cell(metric, results.get(metric)) for metric in columns]
    papers = [paper_figure(name, label, metric) for metric in columns if metric != "latency"]
    return [label, *ours, *("-" if figure is None else f"{figure:g}" for figure in papers)]


def _cell(metric: str, result: dict[str, Any] | None) -> str:
    if result is None:
        return "-"
    if metric == "elo":
        return f"{round(result['elo'])} [{round(result['interval'][0])}, {round(result['interval'][1])}]"
    if metric == "latency":
        return f"{result['milliseconds']['median']:.1f} ms"
    return percent(result)
