"""The page of `reproduce all`: verdicts, every table and figure beside the paper's, data, compute.

Everything on it is made from the results below OUT; rows that are not measured yet are shown as such.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffusearch.evaluation import charts
from diffusearch.evaluation.paper import paper_figure
from diffusearch.evaluation.report import futures_table, percent, table
from diffusearch.files import write_whole
from diffusearch.reproduce import cases
from diffusearch.reproduce.claims import Claim, Verdict, claims_of
from diffusearch.reproduce.contrasts import Estimate
from diffusearch.reproduce.data_tables import counts_table, examples_table
from diffusearch.reproduce.exhibits import Exhibit, Row
from diffusearch.reproduce.gathered import Gathered, gather
from diffusearch.reproduce.jobs import MeasureJob, TrainJob, ordered_runs
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved
from diffusearch.reproduce.trained import about, effort
from diffusearch.reproduce.work import read_calls

if TYPE_CHECKING:
    from diffusearch.reproduce.whole import Whole

NOT_YET = "not yet"
ONE_SEED = ", with one seed so far"


def write_report(whole: Whole) -> Path:
    """Write DOCS/reproduction.md and the pictures in DOCS/img."""
    setting, exhibits = whole.setting, whole.exhibits
    found = gather(exhibits, setting)
    parts = [_head(whole, found), _verdicts(found, setting)]
    parts += ["## Data", counts_table(setting)]
    for exhibit in exhibits.values():
        parts += _exhibit(exhibit, found, setting)
    parts += ["## A record in each paradigm (appendix)", examples_table(setting), _runs(whole, found)]
    page = setting.pages / "reproduction.md"
    write_whole(page, "\n\n".join(part for part in parts if part) + "\n")
    return page


def _head(whole: Whole, found: Gathered) -> str:
    setting, scale = whole.setting, whole.setting.scale
    runs = ordered_runs(whole.exhibits)
    trained = [run for run in runs if _known(run, found, setting)]
    recipe = resolved(runs[0], setting)
    trunk, passes = recipe.model.trunk, resolved(runs[-1], setting).optimiser
    return "\n\n".join(
        (
            f"# The paper's experiments at the scale `{scale.name}`",
            "Every table and figure of *Implicit Search via Discrete Diffusion: A Study on Chess* (Ye et al., ICLR "
            f"2025), measured by one command, `diffusearch reproduce all --scale {scale.name}` ([how it works and goes "
            "on](evaluation.md#all-of-it)), with a verdict on each claim.",
            f"**{len(trained)} of {len(runs)} runs are trained, {found.measured} of {found.wanted} measurements are "
            f"made, the tournament is {'played' if found.ratings else NOT_YET + ' played'}.** {_effort(setting)} What "
            f"is missing says *{NOT_YET}*.",
            f"**What differs from the paper.** The methods are the paper's, the size is not: {scale.words} training "
            f"games instead of {scale.paper}, a plain transformer of {trunk.layers} layers of width {trunk.width} with "
            f"the compact encoding, trained with {passes.kind.capitalize()}, "
            f"{passes.steps * passes.batch:,} record-passes a run (the paper: 132 million), "
            f"labels of {scale.nodes:,} nodes a search. DiffuSearch decodes as in the paper: 20 steps, easy first, the "
            "whole horizon, no search; only the first move is masked to the legal ones, and rows without that mask "
            "stand beside. Baselines are causal and stop when their validation stops improving. Orders, and "
            f"differences inside one table, can be compared with the paper's; digits cannot. {scale.chosen}".rstrip(),
            f"**How to read it.** {_tested(setting)} Intervals are 95 %. A row with several seeds is their mean, each "
            f"of them in parentheses; {_spread(found)}",
        )
    )


def _tested(setting: Setting) -> str:
    actions, puzzles = (path.name if path else "-" for path in (setting.actions, setting.puzzles))
    return (
        f"Accuracy is measured on {setting.limit or 'all'} positions of `{actions}` behind row "
        f"{setting.skip_actions:,} and on {setting.puzzle_limit or 'all'} puzzles of `{puzzles}` behind row "
        f"{setting.skip_puzzles:,}."
    )


def _spread(found: Gathered) -> str:
    if not found.spread:
        return "no row has a second seed yet, so that intervals of differences between runs are too narrow."
    return (
        f"the standard deviation of a run's accuracy over seeds is {100 * found.spread:.1f} points, and the interval "
        "of every difference between runs includes it."
    )


def _effort(setting: Setting) -> str:
    """Processor time of all calls."""
    calls = read_calls(setting.results)
    spent: dict[str, float] = {}
    for call in calls:
        for kind, seconds in call.processor_seconds.items():
            spent[kind] = spent.get(kind, 0.0) + seconds
    if not spent:
        return ""
    parts = ", ".join(f"{kind} {seconds / 3600:.1f}" for kind, seconds in spent.items())
    wall = sum(call.wall_seconds for call in calls) / 3600
    return (
        f"So far {sum(spent.values()) / 3600:.1f} core-hours ({parts}) went into it in {len(calls)} "
        f"call{'' if len(calls) == 1 else 's'} of the command, {wall:.1f} hours by the clock."
    )


def _known(run: PlannedRun, found: Gathered, setting: Setting) -> dict[str, Any] | None:
    """What is known of a trained run: from its folder, or from the results that it gave; None if it is not trained."""
    if TrainJob(run, setting).done():
        return about(run, setting)
    return found.runs.get(run.name)


def _verdicts(found: Gathered, setting: Setting) -> str:
    claims = claims_of(setting.scale)
    each = [(claim, claim.verdict(found.outcomes, found.spread)) for claim in claims]
    early = {} if found.spread else {Verdict.HOLDS: ONE_SEED, Verdict.FAILS: ONE_SEED, Verdict.OPEN: ONE_SEED}
    rows = [[f"{one.number}. {one.words}", verdict.value + early.get(verdict, "")] for one, verdict in each]
    rule = (
        "A rule decides, not an opinion. Each claim has tests: differences in percentage points of action accuracy, on "
        "the same positions. A test of a gain holds if its interval lies above zero, and fails if the interval ends "
        "below one point. A test of no gain holds if the interval ends below two points, and fails if it lies above "
        "zero. A curve is straight if the interval of its curvature lies within one point of zero, and is not if the "
        "interval excludes zero. Otherwise a test cannot be told. A claim holds if all of its tests hold, and fails if "
        "one fails. Differences without a verdict are there to be read."
    )
    details = [_claim(claim, found) for claim in claims]
    return "\n\n".join(["## Verdicts", table(["claim", "verdict"], rows), rule, *details])


def _claim(claim: Claim, found: Gathered) -> str:
    lines = [f"**{claim.number}. {claim.words}**: {claim.verdict(found.outcomes, found.spread).value}."]
    if claim.remark:
        lines[0] += f" {claim.remark}"
    for test in claim.tests:
        estimate = test.estimate(found.outcomes, found.spread)
        paper = "" if test.paper is None else f"; paper {test.paper:+.1f}"
        expected = "" if test.expected in ("gain", "") else f" (claimed: {test.expected})"
        if estimate is None:
            lines.append(f"- {test.words}{expected}: {Verdict.MISSING.value}{paper}")
        else:
            verdict = f"; {test.verdict(estimate).value}" if test.expected else ""
            lines.append(f"- {test.words}{expected}: {estimate.points()}{paper}{verdict}")
    return "\n".join(lines)


def _exhibit(exhibit: Exhibit, found: Gathered, setting: Setting) -> list[str]:
    place = f"{'In the paper: ' if exhibit.place[0].isupper() else ''}{exhibit.place}"
    parts = [f"## {exhibit.title}", f"{place[0].upper()}{place[1:]}. {exhibit.remark}".strip()]
    if exhibit.metrics == ("cases",):
        pictures = [f"![{file.stem}](img/{file.name})" for file in cases.drawn(setting)]
        return [*parts, *(pictures or [f"{NOT_YET} drawn."])]
    columns = [metric for metric in exhibit.metrics if metric != "futures"]
    if columns:
        searches = any(not row.series for row in exhibit.rows) and "latency" in columns
        head = ["row", *(_heading(metric) for metric in columns), *(["mean depth"] if searches else [])]
        head += ["evaluations", "processor ms a move"] if exhibit.spent else []
        head += [f"paper: {_heading(metric)}" for metric in columns if metric != "latency" and not exhibit.spent]
        parts.append(table(head, [_line(row, exhibit, columns, found, setting, searches) for row in exhibit.rows]))
    for row in exhibit.rows:
        result = found.figures[exhibit.name, setting.shown(row.label)].get("futures")
        if "futures" in exhibit.metrics:
            parts.append(futures_table(result) if result else f"{setting.shown(row.label)}: {NOT_YET} measured.")
    return [*parts, *_pictures(exhibit, found, setting)]


def _heading(metric: str) -> str:
    return {"actions": "actions %", "puzzles": "puzzles %", "elo": "Elo", "latency": "processor ms a move"}[metric]


def _line(
    row: Row, exhibit: Exhibit, columns: list[str], found: Gathered, setting: Setting, searches: bool
) -> list[str]:
    label = setting.shown(row.label)
    figures = found.figures[exhibit.name, label]
    cells = [label]
    for metric in columns:
        cells.append(_cell(metric, row, exhibit, label, found, setting))
    if searches:
        depth = figures.get("latency", {}).get("mean_depth")
        cells.append("-" if depth is None else f"{depth:.1f}")
    if exhibit.spent:
        cells += _spent(figures.get("actions"))
    for metric in columns:
        if metric != "latency" and not exhibit.spent:
            paper = paper_figure(exhibit.paper or exhibit.name, setting.in_paper(row.label), metric)
            cells.append("-" if paper is None else f"{paper:g}")
    return cells


def _spent(result: dict[str, Any] | None) -> list[str]:
    """Evaluations of a decision, and its processor time in large batches."""
    if result is None:
        return ["-", "-"]
    decided = result["n"] - result["resumed"]
    each = f"{1000 * result['processor_seconds'] / decided:.0f}" if decided else "-"
    return [f"{result['evaluations']:.0f}", each]


def _cell(metric: str, row: Row, exhibit: Exhibit, label: str, found: Gathered, setting: Setting) -> str:
    figures = found.figures[exhibit.name, label]
    if metric == "actions":
        estimate = found.accuracy(exhibit.name, label)
        if estimate is None:
            return NOT_YET
        seeds = found.outcomes[exhibit.name, label].accuracies
        each = f" ({', '.join(f'{100 * one:.1f}' for one in seeds)})" if len(seeds) > 1 else ""
        return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]{each}"
    if metric == "elo":
        rated = found.ratings.get(MeasureJob(row, "elo", setting).agent)
        return (
            NOT_YET if rated is None else f"{rated['elo']:.0f} [{rated['interval'][0]:.0f}, {rated['interval'][1]:.0f}]"
        )
    result = figures.get(metric)
    if result is None:
        return NOT_YET
    return f"{result['processor_milliseconds']['median']:.0f}" if metric == "latency" else percent(result)


def _share(estimate: Estimate) -> dict[str, Any]:
    return {"accuracy": estimate.value, "interval": [estimate.low, estimate.high]}


def _pictures(exhibit: Exhibit, found: Gathered, setting: Setting) -> list[str]:
    rows = {setting.shown(row.label): row for row in exhibit.rows}
    shown = {label: _share(one) for label in rows if (one := found.accuracy(exhibit.name, label)) is not None}
    drawn: dict[str, bytes] = {}
    if shown:
        papers = {
            label: paper_figure(exhibit.paper or exhibit.name, setting.in_paper(row.label), "actions")
            for label, row in rows.items()
        }
        points = {label: (row.series, row.x) for label, row in rows.items() if row.series}
        points |= _searches(exhibit, rows, found)
        if points:
            drawn[exhibit.name] = charts.curves(shown, points, papers, exhibit.axis)
        else:
            drawn[exhibit.name] = charts.compare_bars(list(shown.items()), papers)
        timed = [
            {**shown[label], "agent": label.replace(", ", "?", 1), "milliseconds": result["processor_milliseconds"]}
            for label in shown
            if (result := found.figures[exhibit.name, label].get("latency"))
        ]
        if timed:
            drawn[f"{exhibit.name}-latency"] = charts.latency_points({"rows": timed})
    for label in rows:
        if futures := found.figures[exhibit.name, label].get("futures"):
            drawn[exhibit.name] = charts.futures_lines(futures)
    for name, content in drawn.items():
        write_whole(setting.pages / "img" / f"reproduction-{name}.png", content)
    return [f"![{exhibit.title}](img/reproduction-{name}.png)" for name in drawn]


def _searches(exhibit: Exhibit, rows: dict[str, Row], found: Gathered) -> dict[str, tuple[str, float]]:
    """Searches as points of a curve: their x is the depth that was measured."""
    if not exhibit.axis:
        return {}
    out = {}
    for label, row in rows.items():
        depth = found.figures[exhibit.name, label].get("latency", {}).get("mean_depth")
        if not row.series and depth is not None:
            out[label] = (row.agent.partition(":")[0], round(float(depth), 1))
    return out


def _runs(whole: Whole, found: Gathered) -> str:
    setting = whole.setting
    lines = []
    for run in ordered_runs(whole.exhibits):
        recipe, known = resolved(run, setting), _known(run, found, setting)
        most = f"{'at most ' if recipe.watch.patience else ''}{recipe.optimiser.steps * recipe.optimiser.batch:,}"
        begun = effort(setting.runs / run.name)
        lines.append(
            [
                run.name,
                NOT_YET if known is None and begun is None else "begun" if known is None else "trained",
                most if known is None else f"{known['record_passes']:,}",
                "-" if known is None else f"{known['processor_seconds'] / 60:.1f}",
                "-" if known is None else str(known["calls"]),
                str(recipe.seed),
                "-" if known is None else f"`{known['recipe'][:8]}`",
            ]
        )
    head = ["run", "state", "record-passes", "processor-minutes", "calls", "seed", "digest of the recipe"]
    return "## Runs\n\n" + table(head, lines)
