from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.evaluation import charts, crosstable
from diffusearch.evaluation.games import GameRules
from diffusearch.evaluation.intervals import Share
from diffusearch.evaluation.paper import paper_figure, paper_name, paper_tables
from diffusearch.evaluation.report import futures_table, load_results, report
from diffusearch.evaluation.tournament import Played, figures


def stamp(kind: str, agent: str, **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "kind": kind,
        "agent": agent,
        "command": f"diffusearch eval {kind}",
        "recipe": None,
        "data": ["t.parquet"],
    }
    return {
        **base,
        "data_hash": "ab" * 32,
        "commit": "c" * 40,
        "version": "0",
        "date": "2026-01-01",
        "seed": None,
        **more,
    }


def share(hits: int, n: int) -> dict[str, Any]:
    return Share(hits, n).to_json()


def actions(agent: str, hits: int, n: int, **more: Any) -> dict[str, Any]:
    return stamp("actions", agent, **share(hits, n), by_phase={"opening": share(1, 2)}, **more)


def puzzles(agent: str) -> dict[str, Any]:
    tolerant = {"accuracy_mate_tolerant": 0.6, "interval_mate_tolerant": [0.5, 0.7]}
    rating = {"estimate": 1234.4, "interval": [1200.0, 1260.0]}
    return stamp("puzzles", agent, **share(50, 100), **tolerant, rating=rating, by_rating={"0400-0599": share(5, 10)})


def futures() -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {"step": 0, "valid_action": share(10, 10), "best": share(4, 10), "valid_state": None, "match": None},
        {
            "step": 1,
            "valid_action": share(8, 10),
            "best": share(2, 10),
            "valid_state": share(9, 10),
            "match": share(7, 10),
        },
    ]
    steps[1] |= {"valid_state": share(9, 10), "match": share(7, 10)}
    legality = {"raw": share(9, 10), "mean_legal_mass": 0.9}
    return stamp("futures", "diffusearch:x", **share(4, 10), steps=steps, legality=legality)


def latency() -> dict[str, Any]:
    row = {"agent": "s-a", **share(4, 10), "milliseconds": {"median": 3.0, "p90": 4.0}, "nodes": 1.0}
    return stamp("latency", "s-a", **share(4, 10), rows=[row, {**row, "agent": "mcts"}])


def tournament() -> dict[str, Any]:
    played = [
        Played(white, black, opening, 0, ("e2e4", str(opening)), result, "checkmate")
        for opening, result in enumerate(["1-0", "1/2-1/2", "0-1", "1-0"])
        for white, black in (("a|b", "s-v"), ("s-v", "a|b"))
    ]
    _, numbers = figures(played, ["a|b", "s-v"], GameRules(), replicas=20, anchors={"s-v": 1000})
    return stamp("tournament", "a|b", **numbers)


def write(folder: Path, *results: dict[str, Any]) -> None:
    for number, result in enumerate(results):
        (folder / f"{number}.json").write_text(json.dumps(result))


@pytest.mark.slow
def test_a_page_with_everything_next_to_the_paper(tmp_path: Path) -> None:
    write(tmp_path, actions("diffusearch:x", 41, 100), puzzles("diffusearch:x"), futures(), latency(), tournament())
    (tmp_path / "conditions.json").write_text("{}")
    page, *pictures = report(tmp_path)
    text = page.read_text()
    assert "41.0 [31.9, 50.8]" in text
    assert "1728 / 39.49 / 41.31" in text  # the paper's row for 10k games
    assert "60.0 [50.0, 70.0]" in text
    assert "1234 [1200, 1260]" in text
    assert "79.3 / 20.7 / 97.3 / 37.2" in text or "79.3 / 20.7 / 97.4 / 37.2" in text
    assert "legal in 90.0" in text
    assert "| 400-599 |" in text
    assert "a\\|b" in text
    assert "s-v = 1000" in text
    assert "cccccccccccc" in text
    assert len(pictures) == 4
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert f"({picture.name})" in text


def test_the_papers_futures_stand_beside_denoised_ones_only() -> None:
    assert "79.3 / 20.7" in futures_table(futures())
    assert "79.3 / 20.7" not in futures_table(futures() | {"agent": "search"})


def test_the_larger_then_later_result_of_an_agent_counts(tmp_path: Path) -> None:
    write(tmp_path, actions("s-a", 1, 10), actions("s-a", 50, 100), actions("s-a", 60, 100, date="2026-02-01"))
    (only,) = load_results(tmp_path)["actions"]
    assert only["accuracy"] == 0.6


def test_other_rows_are_told_apart(tmp_path: Path) -> None:
    results = [
        actions("s-a", 40, 100),
        actions("s-a", 60, 200, skip=100),
        actions("s-a", 50, 100, seed=3, split="test"),
    ]
    write(tmp_path, *results)
    page = report(tmp_path)[0].read_text()
    for name, figure in (
        ("`s-a`", "40.0"),
        ("`s-a` (behind row 100)", "30.0"),
        ("`s-a` (split test, drawn by seed 3)", "50.0"),
    ):
        (row,) = [line for line in page.split("## Actions by phase")[0].splitlines() if line.startswith(f"| {name} |")]
        assert f"| {figure} [" in row
        assert page.count(f"| {name} |") == 2  # in the table by phase too


def test_other_weights_are_told_apart(tmp_path: Path) -> None:
    packaged = {"name": "s-a", "weights": "a" * 64, "weights_version": "1.0"}
    later = packaged | {"weights": "b" * 64, "weights_version": "1.1"}
    own = {"name": "mine", "weights": "c" * 64}
    write(
        tmp_path,
        actions("s-a", 40, 100, recipe=packaged),
        actions("s-a", 50, 90, recipe=later),
        actions("mcts", 60, 100, recipe={"policy": later, "value": own}),
    )
    table = report(tmp_path)[0].read_text().split("## Actions by phase")[0]
    for name, figure in (
        ("`s-a` (weights 1.0)", "40.0"),
        ("`s-a` (weights 1.1)", "55.6"),
        ("`mcts` (weights 1.1 + cccccccc)", "60.0"),
    ):
        (row,) = [line for line in table.splitlines() if line.startswith(f"| {name} |")]
        assert f"| {figure} [" in row


def test_agents_are_compared_pairwise_where_their_rows_are_kept(tmp_path: Path) -> None:
    write(tmp_path, actions("s-a", 1, 4), actions("search", 3, 4))
    row = {"kind": "actions", "agent_hash": "x", "fen": "f", "answer": "e2e4", "move": "e2e4"}
    for agent, outcomes in (("s-a", "1000"), ("search", "1110")):
        rows = [row | {"agent": agent, "id": str(i), "right": one == "1"} for i, one in enumerate(outcomes)]
        (tmp_path / f"{agent}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    page = report(tmp_path)[0].read_text()
    assert "## Agents pairwise, on the same rows" in page
    (line,) = [line for line in page.splitlines() if line.startswith("| s-a | search |")]
    assert "| 4 | +50.0 [" in line
    assert line.endswith("| 2 | 0 | 0.5 |")


def test_curves_are_lines_with_intervals_in_the_order_of_x(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Any] = []
    monkeypatch.setattr(charts, "_line", lambda axis, xs, shares, colour, label: lines.append((label, xs, shares)))
    shares = {"b": share(2, 4), "a": share(1, 4), "z": share(3, 4)}
    points = {"b": ("one", 20.0), "a": ("one", 1.0), "absent": ("one", 5.0), "z": ("two", 1.0)}
    picture = charts.curves(shares, points, {"one": [(5.0, 41.31)]}, "steps")
    assert picture.startswith(b"\x89PNG")
    assert lines == [("one", [1.0, 20.0], [share(1, 4), share(2, 4)]), ("two", [1.0], [share(3, 4)])]


def test_folders_without_results_and_broken_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder"):
        load_results(tmp_path / "absent")
    with pytest.raises(UserError, match="holds no result"):
        load_results(tmp_path)
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(UserError, match=r"x\.json is not readable"):
        load_results(tmp_path)


def test_the_verb_prints_the_files(tmp_path: Path) -> None:
    write(tmp_path, actions("s-a", 1, 10))
    done = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "page")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page" / "report.md").is_file()


def test_the_papers_figures() -> None:
    assert paper_figure("main", "DiffuSearch, 10k games", "actions") == 41.31
    assert paper_figure("main", "nobody", "elo") is None
    assert paper_name("mcts:a,b?simulations=5") == "MCTS (100 simulations)"
    assert paper_name("stockfish:nodes=5") is None
    drafting, joint = {"decoding": {"drafts": 6, "order": "plies"}}, {"decoding": {"order": "confidence"}}
    assert paper_name("diffusearch", joint) == paper_name("diffusearch?order=confidence", drafting) == "DiffuSearch"
    for agent in ("diffusearch", "diffusearch?steps=1", "diffusearch?drafts=4", "diffusearch?order=plies"):
        assert paper_name(agent, drafting) is None
    for table in paper_tables().values():
        for row in table.rows.values():
            assert set(row) <= set(table.columns)


def test_a_clean_sweep_is_flagged_in_the_notes() -> None:
    played = [Played("a", "b", i, 0, (), result, "checkmate") for i in range(3) for result in ("1-0",)]
    played += [Played("b", "a", i, 0, (), "0-1", "checkmate") for i in range(3)]
    _, numbers = figures(played, ["a", "b"], GameRules(referee="r"), replicas=20)
    lines = crosstable.notes(numbers)
    assert "without width" in lines[0]
    assert "adjudicated by r" in lines[2]
    (scale, *_) = crosstable.notes({**numbers, "advantage": -0.3, "draw_margin": -0.0, "ratings": []})
    assert "first move worth 0 Elo, draw margin 0 Elo;" in scale


def test_the_committed_report_is_what_the_command_writes(tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "docs" / "results"
    page = report(results, tmp_path)[0]
    assert page.read_text(encoding="utf-8") == (results / "report.md").read_text(encoding="utf-8")
