"""The verdicts on the page of `reproduce all`: a line for each claim, the rule, and every claim with its tests."""

from __future__ import annotations

from diffusearch.evaluation.report import table
from diffusearch.reproduce.claims import RULE_OF, Claim, Test, Verdict, claims_of
from diffusearch.reproduce.gathered import Gathered
from diffusearch.reproduce.scales import Scale

FEW_SEEDS = ", with too few seeds so far"
RULE = " ".join(
    (
        "**The rule.** A rule decides, not an opinion. Each claim has tests: differences in percentage points of "
        "action accuracy on the same positions, with 95 % intervals.",
        *RULE_OF.values(),
        "A test that neither holds nor fails cannot be told. A claim fails if one of its tests fails; else it is not "
        "measured while a test is missing; else it cannot be told if a test cannot; else it holds. Differences without "
        "a verdict are there to be read.",
    )
)


def verdicts(found: Gathered, scale: Scale, size: str) -> str:
    """The section of the page; `size` says in words how much of the paper's training a run has."""
    claims = claims_of(scale)
    caution = (
        f"**A usual run here has {size}.** So every verdict is about this scale. *Does not hold here* does not say "
        "that the claim is wrong at the paper's size. The table has for each claim the test that decides it: what is "
        "measured here and the paper's own difference, in points of action accuracy."
    )
    head = ["claim", "verdict", "decided by", "here", "paper"]
    rows = [_row(claim, found) for claim in claims]
    details = [_claim(claim, found) for claim in claims]
    return "\n\n".join(["## Verdicts", caution, table(head, rows, left=3), RULE, "### Claim by claim", *details])


def _row(claim: Claim, found: Gathered) -> list[str]:
    """A claim in one line: its verdict and the test behind it."""
    test, verdict = claim.decided(found.outcomes, found.spread)
    estimate = test.estimate(found.outcomes, found.spread)
    early = "" if found.spread or verdict is Verdict.MISSING else FEW_SEEDS
    here = "-" if estimate is None else estimate.points()
    return [
        f"{claim.number}. {claim.words}",
        f"**{verdict.value}**{early}",
        _words(test),
        here,
        "-" if test.paper is None else f"{test.paper:+.1f}",
    ]


def _words(test: Test) -> str:
    """What a test compares, and what is claimed of it where that is no gain."""
    return test.words + ("" if test.expected in ("gain", "") else f" (claimed: {test.expected})")


def _claim(claim: Claim, found: Gathered) -> str:
    words = [f"**{claim.number}. {claim.words}**: {claim.verdict(found.outcomes, found.spread).value}."]
    words += [claim.remark] if claim.remark else []
    words += [_processor_time(claim, found)] if claim.timed else []
    lines = [" ".join(words)]
    for test in claim.tests:
        estimate = test.estimate(found.outcomes, found.spread)
        paper = "" if test.paper is None else f"; paper {test.paper:+.1f}"
        if estimate is None:
            lines.append(f"- {_words(test)}: {Verdict.MISSING.value}{paper}")
        else:
            verdict = f"; {test.verdict(estimate).value}" if test.expected else ""
            lines.append(f"- {_words(test)}: {estimate.points()}{paper}{verdict}")
    return "\n".join(lines)


def _processor_time(claim: Claim, found: Gathered) -> str:
    """How long the rows that a claim compares were trained, the mean over seeds, from the shortest to the longest."""
    each = {label: found.training.get((exhibit, label), []) for exhibit, label in claim.timed}
    if not all(each.values()):
        return f"Processor time of training: {Verdict.MISSING.value}."
    minutes = sorted((sum(spent) / len(spent) / 60, label) for label, spent in each.items())
    return f"Measured processor time of training: {'; '.join(f'{label}: {one:.1f} minutes' for one, label in minutes)}."
