"""What the page of `reproduce all` says of its size: the paper's record-passes, resolution, seeds, processor time."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from diffusearch.evaluation.paper import paper_figure
from diffusearch.evaluation.report import percent
from diffusearch.reproduce.claims import claims_of
from diffusearch.reproduce.cost import paper_passes
from diffusearch.reproduce.exhibits import Row
from diffusearch.reproduce.gathered import Gathered
from diffusearch.reproduce.jobs import ordered_runs
from diffusearch.reproduce.plan import Setting, resolved
from diffusearch.reproduce.work import Call, read_calls
from diffusearch.training.recipe import Recipe

if TYPE_CHECKING:
    from diffusearch.reproduce.whole import Whole


def usual_recipe(whole: Whole) -> Recipe:
    """The recipe that all runs are changes of: that of DiffuSearch in the main table."""
    return resolved(next(run for run in ordered_runs(whole.exhibits) if run.name == "s-asa"), whole.setting)


def share_of_passes(whole: Whole) -> str:
    """What part of the paper's record-passes a usual run has, in words."""
    usual = usual_recipe(whole).optimiser
    share = usual.steps * usual.batch / paper_passes(whole.setting.scale)
    return f"{100 * share:.2g} % of the paper's record-passes"


def limits(whole: Whole, found: Gathered) -> str:
    """What the scale leaves open, as far as it is measured."""
    scale = whole.setting.scale
    parts = [
        f"**Training.** A usual run has {share_of_passes(whole)} on {scale.words} games. Orders, and differences "
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


def spread(found: Gathered) -> str:
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


def time_spent(setting: Setting) -> str:
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
        f"Finished jobs took {sum(spent.values()) / 3600:.1f} core-hours ({parts}), in {len(calls)} "
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
