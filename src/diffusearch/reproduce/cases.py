"""Figure 5 and the appendix: agents side by side on hard puzzles (rated above 1800), drawn."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Exhibit
from diffusearch.reproduce.flagship import ROWS

EXHIBIT = Exhibit(
    name="cases",
    title="Hard puzzles, drawn",
    metrics=("cases",),
    rows=ROWS[:3],
    remark="The first puzzles of the file above 1800, not chosen by hand; with the package's weights unless --runs has "
    "others.",
)
