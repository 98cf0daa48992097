"""The tournament of `reproduce all`: the first rows of the main table, each against each; its ratings are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diffusearch.reproduce import trained
from diffusearch.reproduce.digests import digest, recipe_digest
from diffusearch.reproduce.exhibits import Exhibit
from diffusearch.reproduce.jobs import MeasureJob
from diffusearch.reproduce.kept import Kept, read_kept, write_kept
from diffusearch.reproduce.plan import Setting


def players(exhibits: dict[str, Exhibit], setting: Setting) -> list[MeasureJob]:
    """The agents that play."""
    return [MeasureJob(row, "elo", setting) for row in exhibits["main"].rows[: setting.scale.match_rows]]


def kept(exhibits: dict[str, Exhibit], setting: Setting) -> Kept | None:
    """The tournament of these agents, if it was played."""
    found = read_kept(_file(setting))
    return found if found and found["digest"] == _digest(exhibits, setting) else None


def play(exhibits: dict[str, Exhibit], setting: Setting, processes: int, ray: bool) -> None:
    """Play what is missing below OUT/tournament, rate, and keep the ratings under the agents' names."""
    from diffusearch.reproduce.measure import Made, tournament

    jobs = players(exhibits, setting)
    names = {job.text(): job.agent for job in jobs}
    made = Made(results={job.agent: {} for job in jobs})
    runs = {run.name: trained.about(run, setting) for job in jobs for run in job.row.runs}
    folder = (
        setting.out / "tournament" / digest([one.get("weights") for one in runs.values()])
    )  # games of these weights
    tournament({job.agent: job.text() for job in jobs}, setting, made, folder, processes=processes, ray=ray)
    played = json.loads((folder / "tournament.json").read_text(encoding="utf-8"))
    wanted = ("n", "players", "ratings", "los", "wins_draws_losses", "rules", "endings", "prior", "advantage", "draw")
    figures = {name: _renamed(played[name], names) for name in wanted if name in played}
    about = {"agent": [job.agent for job in jobs], "digest": _digest(exhibits, setting), "games": setting.games}
    about["runs"] = runs
    write_kept(_file(setting), "tournament", figures, [], about)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """Plain values with the agents' names instead of their texts, which have this machine's folders."""
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def _digest(exhibits: dict[str, Exhibit], setting: Setting) -> str:
    each = [[job.agent, *(recipe_digest(run, setting) for run in job.row.runs)] for job in players(exhibits, setting)]
    return digest(["tournament", each, setting.games])


def _file(setting: Setting) -> Path:
    return setting.results / "tournament.json"
