"""The tournament table: for the terminal (Rich), as Markdown, and as a picture (PNG)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

HEAD = ("#", "agent", "Elo", "95 %", "games", "score", "draws", "LOS")
ACROSS = 4  # opponents side by side in the terminal: 80 columns have room for them, whatever the results


def cells(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Head and rows, strongest first: rating, interval, score, then the results against each of the others."""
    players: list[str] = result["players"]
    order = [players.index(row["agent"]) for row in result["ratings"]]
    head = [*HEAD, *(str(rank) for rank in range(1, len(order) + 1))]
    rows = []
    for rank, (player, row) in enumerate(zip(order, result["ratings"], strict=True), start=1):
        low, high = row["interval"]
        below = f"{100 * result['los'][player][order[rank]]:.1f} %" if rank < len(order) else ""
        rows.append(
            [
                str(rank),
                row["agent"],
                str(round(row["elo"])),
                f"{round(low)} to {round(high)}",
                str(row["games"]),
                f"{100 * row['score']:.1f} %" if row["score"] is not None else "",
                f"{100 * row['draws']:.1f} %",
                below,
                *(_score(result["wins_draws_losses"][player][other], player == other) for other in order),
            ]
        )
    return head, rows


def _score(counts: list[int], itself: bool) -> str:
    wins, draws, losses = counts
    if itself:
        return "x"
    return f"{wins}-{draws}-{losses}" if wins + draws + losses else ""


def notes(result: dict[str, Any]) -> list[str]:
    """The notes under the table."""
    rules = result["rules"]
    referee = (
        f"won games adjudicated by {rules['referee']} at {rules['sure']} for {rules['patience']} plies"
        if rules["referee"]
        else "no adjudication of won games"
    )
    anchors = result.get("anchors", {})
    held = ", ".join(f"{name} = {elo:.0f}" for name, elo in anchors.items()) or "mean = 0"
    scale = f"{held} on average" if len(anchors) > 1 else held
    alike = any(row["interval"][1] - row["interval"][0] < 1 for row in result["ratings"] if row["agent"] not in anchors)
    warning = (
        ["An interval without width: all pairs ended alike, and the prior alone sets the distance."] if alike else []
    )
    return [
        *warning,
        f"BayesElo model, {scale}, prior {result['prior']:g} games; first move worth {round(result['advantage'])} Elo, "
        f"draw margin {round(result['draw_margin'])} Elo; intervals by bootstrap over opening pairs; LOS: likelihood "
        "of being stronger than the next; crosstable: wins-draws-losses.",
        f"{result['n']} games, every opening with both colours; repetition, fifty moves, dead positions and "
        f"{rules['max_plies']} plies are draws; {referee}; an illegal move loses.",
        "Endings: " + ", ".join(f"{name} {count}" for name, count in result["endings"].items()) + ".",
    ]


def terminal(result: dict[str, Any]) -> Group:
    """For Rich, in 80 columns: the ratings, then the results against each other, a few opponents at a time."""
    head, rows = cells(result)
    first = len(HEAD)
    tables = [_table(head[:first], [row[:first] for row in rows])]
    for start in range(first, len(head), ACROSS):
        columns = range(start, min(start + ACROSS, len(head)))
        chosen = [[row[0], row[1], *(row[column] for column in columns)] for row in rows]
        tables.append(_table(["#", "against", *(head[column] for column in columns)], chosen))
    return Group(*tables, *(Text(note) for note in notes(result)))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Only the names of agents are broken where they are too long."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in head:
        agent = name in ("agent", "against")
        table.add_column(name, justify="left" if agent else "right", overflow="fold", no_wrap=not agent)
    for row in rows:
        table.add_row(*row)
    return table


def markdown(result: dict[str, Any]) -> str:
    """A Markdown table with its notes."""
    head, rows = cells(result)
    lines = [
        "| " + " | ".join(head) + " |",
        "|" + "|".join("---" if name == "agent" else "---:" for name in head) + "|",
    ]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{note}  " for note in notes(result))]) + "\n"


def png(result: dict[str, Any]) -> bytes:
    """Ratings with their intervals above the table."""
    from diffusearch.evaluation.figures import new_figure

    head, rows = cells(result)
    figure, (chart, sheet) = new_figure(2, 1, size=(3 + 0.75 * len(head), 1.6 + 0.75 * len(rows)))
    ratings = list(reversed(result["ratings"]))
    places = range(len(ratings))
    low = [row["elo"] - row["interval"][0] for row in ratings]
    high = [row["interval"][1] - row["elo"] for row in ratings]
    # a skewed bootstrap can leave the estimate outside its interval; bars have no negative length
    bars = [[max(0.0, one) for one in low], [max(0.0, one) for one in high]]
    chart.errorbar([row["elo"] for row in ratings], places, xerr=bars, fmt="o", capsize=4, color="#1f5fa8")
    chart.set_yticks(list(places), [row["agent"] for row in ratings])
    chart.set_xlabel("Elo")
    chart.grid(axis="x", alpha=0.3)
    sheet.axis("off")
    table = sheet.table(cellText=rows, colLabels=head, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.auto_set_column_width(list(range(len(head))))
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, bbox_inches="tight")
    return out.getvalue()
