"""The verdicts on the page: what they are about, and the processor time behind a comparison at equal time."""

from __future__ import annotations

import numpy as np
import pytest

from diffusearch.reproduce.claims import RULE_OF, Verdict
from diffusearch.reproduce.contrasts import RowOutcomes, Spread
from diffusearch.reproduce.cost import paper_passes
from diffusearch.reproduce.gathered import Gathered
from diffusearch.reproduce.row_labels import LONG, LONG_S_A
from diffusearch.reproduce.scales import LAPTOP
from diffusearch.reproduce.verdicts import verdicts

ROWS = {("compute", "DiffuSearch"): "s-asa", ("compute", LONG_S_A): "s-a-long", ("compute", LONG): "s-asa-long"}


def gathered(minutes: dict[str, float]) -> Gathered:
    found = Gathered()
    for key, run in ROWS.items():
        if run in minutes:
            found.outcomes[key] = RowOutcomes((np.array([True, False]),), (run,))
            found.training[key] = [60 * minutes[run] - 6, 60 * minutes[run] + 6]  # of two seeds
    return found


def test_the_scale_is_told_above_the_table() -> None:
    page = verdicts(Gathered(), LAPTOP, "0.16 % of the paper's record-passes")
    head, _, rest = page.partition("| claim | verdict |")
    table = rest.partition("**The rule.**")[0]
    assert "**A usual run here has 0.16 % of the paper's record-passes.** So every verdict is about this scale." in head
    assert table.count("| **not measured yet** |") == 12


def test_the_table_tells_which_test_decides() -> None:
    found, games = Gathered(seeds=Spread(0.001, (2, 3))), f"{LAPTOP.words} games"
    right, wrong = (np.array([value] * 400) for value in (True, False))
    found.outcomes["main", f"DiffuSearch, {games}"] = RowOutcomes((right,), ("s-asa",))
    found.outcomes["main", f"S-A, {games}"] = RowOutcomes((wrong,), ("s-a",))
    page = verdicts(found, LAPTOP, "")
    (line,) = [line for line in page.splitlines() if line.startswith("| 1. ")]
    assert "| **holds here** | DiffuSearch, 600 games minus S-A, 600 games | +100.0 [" in line
    assert line.endswith("| +19.2 |")
    assert f"**1. Futures beat one step at equal data**: {Verdict.HOLDS.value}." in page


def test_each_rule_is_stated_once() -> None:
    page = verdicts(Gathered(), LAPTOP, "")
    for words in RULE_OF.values():
        assert page.count(words) == 1


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (
            {"s-asa": 7.5, "s-asa-long": 26.7, "s-a-long": 14.12},
            f"DiffuSearch: 7.5 minutes; S-A, long run: 14.1 minutes; {LONG}: 26.7 minutes.\n",
        ),
        (
            {"s-asa": 7.5, "s-asa-long": 26.7, "s-a-long": 7.2},
            f"S-A, long run: 7.2 minutes; DiffuSearch: 7.5 minutes; {LONG}: 26.7 minutes.\n",
        ),
        ({"s-asa": 7.5, "s-a-long": 7.2}, "Processor time of training: not measured yet.\n"),
    ],
)
def test_claim_2_tells_the_processor_time_of_its_runs(minutes: dict[str, float], words: str) -> None:
    page = verdicts(gathered(minutes), LAPTOP, "")
    claim = page.partition("**2. ")[2].partition("**3. ")[0]
    assert words in claim


def test_the_papers_record_passes_are_those_of_its_recipe() -> None:
    """200 epochs of 659,576 records (Table 1), in whole batches of 1,024."""
    assert 0 <= 200 * 659_576 - paper_passes(LAPTOP) < 200 * 1024
