"""Tournaments: who meets whom from which opening, played with resume, rated at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from diffusearch.errors import UserError
from diffusearch.evaluation.game_workers import Task, run
from diffusearch.evaluation.gamelog import GameLog
from diffusearch.evaluation.games import Fixture, GameRules, Played
from diffusearch.evaluation.intervals import percentile_interval
from diffusearch.evaluation.openings import Opening
from diffusearch.evaluation.ratings import RatedGame, Ratings, rate
from diffusearch.evaluation.record import digest
from diffusearch.files import locked, make_folder, remove_leftovers, write_whole


def pairings(agents: Sequence[str], gauntlet: bool = False) -> list[tuple[str, str]]:
    """Everybody against everybody, or (gauntlet) the first against each of the others."""
    if len(agents) < 2:
        raise UserError(f"A tournament needs at least two agents, not {len(agents)}: name more with --agents.")
    twice = {name for name in agents if agents.count(name) > 1}
    if twice:
        raise UserError(f"The agent {sorted(twice)[0]!r} is named twice: give each once (options make texts differ).")
    return [(agents[0], other) for other in agents[1:]] if gauntlet else list(combinations(agents, 2))


def schedule(pairs: Sequence[tuple[str, str]], games: int, book_size: int) -> list[Fixture]:
    """`games` games for each pairing: every opening twice, with colours changed; the same openings for all pairings."""
    if games < 2 or games % 2:
        raise UserError(f"--games {games} cannot be played with both colours of each opening: give an even number.")
    if games // 2 > book_size:
        raise UserError(
            f"--games {games} needs {games // 2} openings, the book has {book_size}: "
            "play fewer games or make a larger book with `diffusearch openings`."
        )
    return [
        fixture
        for first, second in pairs
        for opening in range(games // 2)
        for fixture in (Fixture(first, second, opening), Fixture(second, first, opening))
    ]


def play_tournament(
    fixtures: Sequence[Fixture],
    book: Sequence[Opening],
    rules: GameRules,
    folder: Path,
    *,
    together: int = 16,
    processes: int = 1,
    ray: bool = False,
    recipes: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Played]:
    """Play what the folder's log does not have yet; gives all games of the fixtures, in their order.

    `recipes` says who agents and referee are (session.recipe_of): games of earlier weights do not count for later ones.
    """
    make_folder(folder)
    with locked(folder / ".lock", f"another tournament is using {folder}: wait for it or choose another --out."):
        remove_leftovers(folder)
        _same_conditions(folder / "conditions.json", book, rules, recipes or {})
        log = GameLog(folder / "games.jsonl")
        have = {game.fixture: game for game in log.read()}
        progress(sum(fixture in have for fixture in fixtures))
        missing = [fixture for fixture in fixtures if fixture not in have]
        for games in run(_tasks(missing, tuple(book), rules, together), processes, ray):
            log.append(games)
            have.update({game.fixture: game for game in games})
            progress(len(games))
        played = [have[fixture] for fixture in fixtures]
        write_whole(folder / "games.pgn", "\n\n".join(game.pgn() for game in played) + "\n")
    return played


def _tasks(missing: Sequence[Fixture], book: tuple[Opening, ...], rules: GameRules, together: int) -> list[Task]:
    groups: dict[frozenset[str], list[Fixture]] = {}
    for fixture in missing:
        groups.setdefault(frozenset((fixture.white, fixture.black)), []).append(fixture)
    return [
        Task(tuple(group[start : start + together]), book, rules)
        for group in groups.values()
        for start in range(0, len(group), together)
    ]


def _same_conditions(path: Path, book: Sequence[Opening], rules: GameRules, recipes: Mapping[str, Any]) -> None:
    """Games of one folder share their rules, openings and players; more agents and more games may join later."""
    ours: dict[str, Any] = {"rules": asdict(rules), "openings": [" ".join(opening) for opening in book]}
    theirs = _read_conditions(path) if path.exists() else ours
    for name in ours:
        if theirs.get(name) != ours[name]:
            raise UserError(f"{path.parent} holds games with other {name}: give another --out or the same {name}.")
    players = {name: digest(recipe) for name, recipe in recipes.items()}
    known = theirs.get("players", {})
    if changed := [name for name, found in players.items() if known.get(name, found) != found]:
        raise UserError(f"{path.parent} holds games of other weights of {changed[0]!r}: give another --out.")
    write_whole(path, json.dumps(ours | {"players": known | players}, indent=1) + "\n")


def _read_conditions(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # no JSON, or bytes that are no text
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("players", {}), dict):
        raise UserError(
            f"{path} is damaged, so that nobody knows the rules, openings and weights of the games beside it: "
            "give another --out, or delete it if they are those of this command."
        )
    return found


def figures(
    played: Sequence[Played],
    agents: Sequence[str],
    rules: GameRules,
    *,
    prior: float = 2.0,
    replicas: int = 1000,
    seed: int = 0,
    anchors: Mapping[str, float] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Ratings, dict[str, Any]]:
    """The rating list and the result's figures; `accuracy` is the first agent's share of its points."""
    results = [RatedGame(game.white, game.black, game.points, game.opening) for game in played]
    ratings = rate(results, agents, prior=prior, replicas=replicas, seed=seed, anchors=anchors, progress=progress)
    reasons: dict[str, int] = {}
    for game in played:
        key = "illegal move" if game.reason.startswith("illegal move") else game.reason
        reasons[key] = reasons.get(key, 0) + 1
    share = float(ratings.points[0] / ratings.games[0])
    return ratings, {
        "n": len(played),
        "accuracy": share,
        "interval": _score_interval(results, agents[0], replicas, seed),
        **ratings.to_json(),
        "anchors": dict(anchors or {}),
        "prior": prior,
        "rules": asdict(rules),
        "endings": dict(sorted(reasons.items())),
        "identical_games": len(played) - len({(game.moves, game.white, game.black) for game in played}),
    }


def _score_interval(results: Sequence[RatedGame], agent: str, replicas: int, seed: int) -> list[float]:
    """95 % interval of an agent's share of points, by bootstrap over its opening pairs."""
    pairs: dict[tuple[str, int], list[float]] = {}
    for game in results:
        if agent in (game.white, game.black):
            other = game.black if game.white == agent else game.white
            points = game.points if game.white == agent else 1 - game.points
            pairs.setdefault((other, game.opening), []).append(points)
    table = np.array([(sum(one), len(one)) for one in pairs.values()], dtype=float)
    rows = np.random.default_rng(seed).integers(0, len(table), size=(replicas, len(table)))
    drawn = table[rows].sum(axis=1)
    return list(percentile_interval(drawn[:, 0] / drawn[:, 1]))
