"""The page of `reproduce all`: what was done, what the scale limits, verdicts, tables and figures beside the paper's.

Everything on it is made from the results below OUT; rows that are not measured yet are shown as such.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffusearch.evaluation.report import futures_table, percent, table
from diffusearch.files import write_whole
from diffusearch.reproduce import cases, match
from diffusearch.reproduce.cost import paper_passes
from diffusearch.reproduce.data_tables import counts_table, examples_table
from diffusearch.reproduce.exhibits import COUNTS, EXAMPLES, Exhibit
from diffusearch.reproduce.gathered import Gathered, gather
from diffusearch.reproduce.jobs import TrainJob, ordered_runs
from diffusearch.reproduce.kept import networks
from diffusearch.reproduce.limits_text import limits, share_of_passes, spread, time_spent, usual_recipe
from diffusearch.reproduce.pictures import Shown, pictures
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved
from diffusearch.reproduce.row_labels import UNMASKED
from diffusearch.reproduce.tables import NOT_YET, exhibit_table, times_note
from diffusearch.reproduce.trained import about, training_cost
from diffusearch.reproduce.verdicts import verdicts

if TYPE_CHECKING:
    from diffusearch.reproduce.whole import Whole


def write_report(whole: Whole) -> Path:
    """Write DOCS/reproduction.md and the pictures in DOCS/img."""
    setting, exhibits = whole.setting, whole.exhibits
    found = gather(exhibits, setting)
    parts = [_head(whole, found), _done(whole, found), limits(whole, found)]
    parts += [verdicts(found, setting.scale, share_of_passes(whole)), _heading(*COUNTS), counts_table(setting)]
    for exhibit in exhibits.values():
        parts += _exhibit(exhibit, found, setting)
    parts += [
        _heading(*EXAMPLES),
        examples_table(setting),
        _runs(whole, found),
    ]
    page = setting.pages / "reproduction.md"
    write_whole(page, "\n\n".join(part for part in parts if part) + "\n")
    return page


def _head(whole: Whole, found: Gathered) -> str:
    setting, scale = whole.setting, whole.setting.scale
    runs = ordered_runs(whole.exhibits)
    trained = [run for run in runs if _known(run, found, setting)]
    whole_page = len(trained) == len(runs) and found.measured == found.wanted and bool(found.ratings)
    missing = "" if whole_page else f" What is missing says *{NOT_YET}*."
    return "\n\n".join(
        (
            f"# The paper's experiments at the scale `{scale.name}`",
            "Every table and figure of *Implicit Search via Discrete Diffusion: A Study on Chess* (Ye et al., ICLR "
            f"2025), measured by one command, `diffusearch reproduce all --scale {scale.name}` ([how it works and goes "
            "on](evaluation.md#all-of-it)), with a verdict on each claim.",
            f"**{len(trained)} of {len(runs)} runs are trained, {found.measured} of {found.wanted} measurements are "
            f"made, the tournament is {'played' if found.ratings else NOT_YET + ' played'}.** {time_spent(setting)}"
            f"{missing}",
        )
    )


def _done(whole: Whole, found: Gathered) -> str:
    """What was done, and how to read it."""
    scale, usual = whole.setting.scale, usual_recipe(whole)
    trunk, passes = usual.model.trunk, usual.optimiser
    nodes = f"labels of {scale.nodes:,} nodes a search"
    parts = (
        "**Methods: the paper's.** DiffuSearch decodes the whole horizon jointly: 20 steps, easy first, no search, no "
        "values. Only the first move is masked to the legal ones; a row without that mask stands beside. "
        f"{_baselines(whole, found)}",
        f"**Size: not the paper's.** {scale.words} training games instead of {scale.paper}, {nodes}, a plain "
        f"transformer of {trunk.layers} layers of width {trunk.width} with the compact encoding, trained with "
        f"{passes.kind.capitalize()}, {passes.steps * passes.batch:,} record-passes in a usual run (the paper: at "
        f"most {paper_passes(scale) / 1e6:,.0f} million). {scale.chosen}".rstrip(),
        f"**Tests.** {_tested(whole, found)} Puzzles, futures, times and games are those of the first seed."
        f"{_again(whole)}",
        f"**Intervals** are 95 %. A row with several seeds is their mean, each of them in parentheses. {spread(found)}",
        "**Compute.** *Training, minutes* is the processor time in which the runs behind a row were trained, the mean "
        "over its seeds; of a run that was trained several times it is that of its newest training. Times of a "
        "decision are processor times with one thread, the median and in parentheses the 10th and 90th percentile; the "
        f"rows of a table are timed in turns. {scale.noted}".rstrip(),
    )
    return "\n".join(("## What was done", "", *(f"- {part}" for part in parts)))


def _baselines(whole: Whole, found: Gathered) -> str:
    """How long baselines were trained: they stop early where their validation stops improving."""
    patient, early = [], []
    for run in ordered_runs(whole.exhibits):
        recipe, known = resolved(run, whole.setting), found.runs.get(run.name)
        if recipe.watch.patience and known:
            patient.append(run.name)
            if known["record_passes"] < recipe.optimiser.steps * recipe.optimiser.batch:
                early.append(f"`{run.name}`")
    words = (
        "Baselines are causal. They keep the weights of their best validation (the other runs keep their last) and "
        "stop when their validation stops improving."
    )
    if not patient:
        return words
    stopped = f"Of {len(patient)} only {' and '.join(early)} stopped" if early else f"None of {len(patient)} stopped"
    return f"{words} {stopped} before the last step, so the others may not have converged."


def _again(whole: Whole) -> str:
    """Which games and pictures are of other networks than the accuracies: runs that were trained again."""
    setting, exhibits = whole.setting, whole.exhibits
    newest, words = networks(setting.results), []
    for what, made in (
        ("The games were played", match.kept(exhibits, setting)),
        ("The pictures were drawn", cases.kept(exhibits["cases"], setting)),
    ):
        runs = made["runs"].items() if made else ()
        others = [f"`{name}`" for name, run in runs if newest.get((name, run["recipe"]), "") != run.get("weights", "")]
        if others:
            words.append(f" {what} with {' and '.join(others)} trained again: same recipe and labels, other weights.")
    return "".join(words)


def _tested(whole: Whole, found: Gathered) -> str:
    setting = whole.setting
    actions, puzzles = (path.name if path else "-" for path in (setting.actions, setting.puzzles))
    return (
        f"Accuracy is measured on {_measured('actions', setting.limit, whole, found)} positions of `{actions}` behind "
        f"row {setting.skip_actions:,} and on {_measured('puzzles', setting.puzzle_limit, whole, found)} puzzles of "
        f"`{puzzles}` behind row {setting.skip_puzzles:,}."
    )


def _measured(metric: str, limit: int | None, whole: Whole, found: Gathered) -> str:
    """How many test rows the results have; before there is one, how many are wanted."""
    figures = found.figures
    keys = [
        (one.name, whole.setting.shown(row.label))
        for one in whole.exhibits.values()
        for row in one.rows
        if not row.limit
    ]
    counts = sorted({figures[key][metric]["n"] for key in keys if metric in figures.get(key, {})})
    if not counts:
        return "all" if limit is None else f"at most {limit:,}"
    return " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))


def _known(run: PlannedRun, found: Gathered, setting: Setting) -> dict[str, Any] | None:
    """What is known of a trained run: from the results that it gave, or from its folder; None if it is not trained.

    Results come first: a run that is trained again elsewhere has another processor time than the one behind them.
    """
    if known := found.runs.get(run.name):
        return known
    return about(run, setting) if TrainJob(run, setting).done() else None


def _heading(place: str, title: str) -> str:
    """A section is found by its place in the paper."""
    return f"## {place[0].upper()}{place[1:]}. {title}"


def _exhibit(exhibit: Exhibit, found: Gathered, setting: Setting) -> list[str]:
    remark = exhibit.remark
    if "elo" in exhibit.metrics:
        remark += " Elo has a mean of 0 over the players here: compare differences with the paper's."
    parts = [_heading(exhibit.place, exhibit.title), remark.strip()]
    if exhibit.metrics == ("cases",):
        drawn = cases.files(setting) if cases.kept(exhibit, setting) else []
        files = [f"![{file.stem}](img/{file.name})" for file in drawn]
        parts.append(
            "Arrow 1 is the agent's move, the others are the line that it imagines, numbered by plies: blue for the "
            "side to move, amber for the other, red where a move is illegal in the imagined position."
        )
        return [*parts, *(files or [f"{NOT_YET} drawn."])]
    parts += [exhibit_table(exhibit, found, setting), times_note(exhibit, found, setting)]
    for row in exhibit.rows if "futures" in exhibit.metrics else ():
        label = setting.shown(row.label)
        result = found.figures[exhibit.name, label].get("futures")
        title = f"{label}, % of the positions whose oracle line reaches the step"
        parts.append(futures_table(result, title) if result else f"{label}: {NOT_YET} measured.")
        parts.append(_without_mask(found) if row is exhibit.rows[0] else "")
    return [*parts, *_pictures(exhibit, found, setting)]


def _without_mask(found: Gathered) -> str:
    """The legality of first moves that were decoded without any mask: what the paper's valid a_0 is."""
    result = found.figures.get(("decoding", UNMASKED), {}).get("actions")
    raw = result["legality"]["raw"] if result and result["legality"] else None
    if not raw:
        return ""
    return f"Without the mask in any call, as in the paper, the first move of this run is legal in {percent(raw)} %."


def _pictures(exhibit: Exhibit, found: Gathered, setting: Setting) -> list[str]:
    shown = Shown()
    for row in exhibit.rows:
        label = setting.shown(row.label)
        figures, estimate = found.figures[exhibit.name, label], found.accuracy(exhibit.name, label)
        if estimate is not None:
            shown.actions[label] = {"accuracy": estimate.value, "interval": [estimate.low, estimate.high]}
        for metric, of in (
            ("puzzles", shown.puzzles),
            ("latency", shown.latency),
            ("tree-depth", shown.depths),
            ("futures", shown.futures),
        ):
            if metric in figures:
                of[label] = figures[metric]
    drawn = pictures(exhibit, shown, setting, "processor_milliseconds")
    for one in drawn:
        write_whole(setting.pages / "img" / f"reproduction-{one.name}.png", one.content)
    return [f"![{one.words}](img/reproduction-{one.name}.png)" for one in drawn]


def _runs(whole: Whole, found: Gathered) -> str:
    setting = whole.setting
    lines = []
    for run in ordered_runs(whole.exhibits):
        recipe, known = resolved(run, setting), _known(run, found, setting)
        most = f"{'at most ' if recipe.watch.patience else ''}{recipe.optimiser.steps * recipe.optimiser.batch:,}"
        begun = training_cost(setting.runs / run.name)
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
