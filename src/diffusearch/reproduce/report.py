"""The page of `reproduce all`: what was done, what the scale limits, verdicts, tables and figures beside the paper's.

Everything on it is made from the results below OUT; rows that are not measured yet are shown as such.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from diffusearch.evaluation.paper import paper_figure
from diffusearch.evaluation.report import futures_table, percent, table
from diffusearch.files import write_whole
from diffusearch.reproduce import cases, match
from diffusearch.reproduce.catalogue import UNMASKED
from diffusearch.reproduce.claims import claims_of
from diffusearch.reproduce.cost import paper_passes
from diffusearch.reproduce.data_tables import counts_table, examples_table
from diffusearch.reproduce.exhibits import COUNTS, EXAMPLES, Exhibit, Row
from diffusearch.reproduce.gathered import Gathered, gather
from diffusearch.reproduce.jobs import TrainJob, ordered_runs
from diffusearch.reproduce.kept import networks
from diffusearch.reproduce.pictures import Shown, pictures
from diffusearch.reproduce.plan import PlannedRun, Setting, resolved
from diffusearch.reproduce.tables import NOT_YET, exhibit_table, times_note
from diffusearch.reproduce.trained import about, effort
from diffusearch.reproduce.verdicts import verdicts
from diffusearch.reproduce.work import Call, read_calls
from diffusearch.training.recipe import Recipe

if TYPE_CHECKING:
    from diffusearch.reproduce.whole import Whole


def write_report(whole: Whole) -> Path:
    """Write DOCS/reproduction.md and the pictures in DOCS/img."""
    setting, exhibits = whole.setting, whole.exhibits
    found = gather(exhibits, setting)
    parts = [_head(whole, found), _done(whole, found), _limits(whole, found)]
    parts += [verdicts(found, setting.scale, _share_of_passes(whole)), _heading(*COUNTS), counts_table(setting)]
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
    return "\n\n".join(
        (
            f"# The paper's experiments at the scale `{scale.name}`",
            "Every table and figure of *Implicit Search via Discrete Diffusion: A Study on Chess* (Ye et al., ICLR "
            f"2025), measured by one command, `diffusearch reproduce all --scale {scale.name}` ([how it works and goes "
            "on](evaluation.md#all-of-it)), with a verdict on each claim.",
            f"**{len(trained)} of {len(runs)} runs are trained, {found.measured} of {found.wanted} measurements are "
            f"made, the tournament is {'played' if found.ratings else NOT_YET + ' played'}.** {_effort(setting)} What "
            f"is missing says *{NOT_YET}*.",
        )
    )


def _done(whole: Whole, found: Gathered) -> str:
    """What was done, and how to read it."""
    scale, usual = whole.setting.scale, _usual(whole)
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
        "**Intervals** are 95 %. A row with several seeds is their mean, each of them in parentheses. "
        f"{_spread(found)}",
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


def _limits(whole: Whole, found: Gathered) -> str:
    """What the scale leaves open, as far as it is measured."""
    scale = whole.setting.scale
    parts = [
        f"**Training.** A usual run has {_share_of_passes(whole)} on {scale.words} games. Orders, and differences "
        "inside one table, can be compared with the paper's; digits cannot.",
        *_coherence(whole, found),
        *_resolution(whole, found),
    ]
    return "\n".join(("## What the scale limits", "", *(f"- {part}" for part in parts)))


def _coherence(whole: Whole, found: Gathered) -> list[str]:
    """Whether the futures that most claims are about are futures at all."""
    first, kept = (_first_match(row, whole, found) for row in whole.exhibits["futures"].rows)
    paper = paper_figure("futures", f"{whole.setting.scale.paper} games, step 1", "match")
    if first is None or paper is None:
        return []
    words = (
        f"The first imagined state is what the first move makes of the board in {percent(first)} % (paper {paper:g})."
    )
    if kept:
        words += (
            f" It is in {percent(kept)} % where what is fixed stays. The paper's rule predicts visible targets anew, "
            "which this network does badly: *Other rules of decoding* has the rows that are free of that."
        )
    if 100 * first["interval"][1] < paper / 2:
        words += (
            " So the claims about imagined futures are tested on a model whose futures do not follow the rules yet; "
            "where they do not hold here, this comes first as an explanation."
        )
    return [f"**Futures.** {words}"]


def _first_match(row: Row, whole: Whole, found: Gathered) -> dict[str, Any] | None:
    """How often the first imagined state of a row follows from its move."""
    result = found.figures.get(("futures", whole.setting.shown(row.label)), {}).get("futures")
    return next((step["match"] for step in result["steps"] if step["step"] == 1), None) if result else None


def _resolution(whole: Whole, found: Gathered) -> list[str]:
    """How small a difference can be seen."""
    tests = [test for claim in claims_of(whole.setting.scale) for test in claim.tests if test.paper is not None]
    known = [(one, test) for test in tests if (one := test.estimate(found.outcomes, found.spread)) is not None]
    if not known:
        return []
    half = 100 * median((one.high - one.low) / 2 for one, _ in known)
    small = [test.words for one, test in known if abs(test.paper or 0.0) < 100 * (one.high - one.low) / 2]
    words = (
        f"**Resolution.** The interval of a difference reaches {half:.1f} points to each side (the median of the "
        f"{len(known)} tests that have a figure of the paper and are measured). "
    )
    if small:
        return [
            f"{words}The paper's own difference is smaller than the reach of its interval here in: {'; '.join(small)}."
        ]
    return [f"{words}All of the paper's differences are larger than that."]


def _usual(whole: Whole) -> Recipe:
    """The recipe that all runs are changes of: that of DiffuSearch in the main table."""
    return resolved(next(run for run in ordered_runs(whole.exhibits) if run.name == "s-asa"), whole.setting)


def _share_of_passes(whole: Whole) -> str:
    """What part of the paper's record-passes a usual run has, in words."""
    usual = _usual(whole).optimiser
    share = usual.steps * usual.batch / paper_passes(whole.setting.scale)
    return f"{100 * share:.2g} % of the paper's record-passes"


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


def _spread(found: Gathered) -> str:
    if not found.spread:
        several = any(len(row.seeds) > 1 for row in found.outcomes.values())
        alike = "The few second seeds so far have the accuracy of the first"
        why = alike if several else "No row has a second seed yet"
        return f"{why}, so that intervals of rows and of differences between runs are too narrow."
    seeds = found.seeds
    return (
        f"The standard deviation of a run's accuracy over seeds is {100 * seeds.deviation:.1f} points, estimated from "
        f"{sum(seeds.seeds)} runs of {len(seeds.seeds)} recipes. The intervals of "
        "action accuracies and of differences between runs include it, with Student's t of "
        f"{seeds.freedom} degrees of freedom, for recipes without a second seed too. What seeds decide differently "
        "counts in this deviation and among the positions, which makes intervals wider. Intervals of puzzles and "
        "futures are about the one run. A difference between two ways to decode the same runs is about these runs."
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
        f"So far finished jobs took {sum(spent.values()) / 3600:.1f} core-hours ({parts}), in {len(calls)} "
        f"call{'' if len(calls) == 1 else 's'} of the command, {wall:.1f} hours by the clock.{_by_hand(calls)}"
    )


def _by_hand(calls: list[Call]) -> str:
    """The part of the processor time that was not counted by the call itself."""
    words = []
    for call in calls:
        if call.remark:
            hours = sum(call.processor_seconds.values()) / 3600
            words.append(
                f"{hours:.1f} core-hours of the call of {call.began[:10]} {call.began[11:16]} are {call.remark}"
            )
    return f" Not all of it was counted by the command: {'; '.join(words)}." if words else ""


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
