"""Plays groups of games in this process, in several processes, or on a Ray cluster, with the same results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass

from diffusearch.agents.base import Agent
from diffusearch.evaluation.games import Fixture, GameRules, Played, play_games
from diffusearch.evaluation.openings import Opening
from diffusearch.ray_cluster import ray_result, start_ray
from diffusearch.worker_pool import worker_pool


@dataclass(frozen=True)
class Task:
    """Games of one pairing that are played side by side."""

    fixtures: tuple[Fixture, ...]
    openings: tuple[Opening, ...]  # the book
    rules: GameRules


_agents: dict[str, Agent] = {}  # built once a process: their weights and engines serve all its games


def _agent(text: str) -> Agent:
    from diffusearch.agents.build import agent

    if text not in _agents:
        _agents[text] = agent(text)
    return _agents[text]


def dismiss() -> None:
    """Close this process's agents."""
    while _agents:
        _agents.popitem()[1].close()


def play(task: Task) -> list[Played]:
    """Do a task here."""
    names = {name for fixture in task.fixtures for name in (fixture.white, fixture.black)}
    referee = _agent(task.rules.referee) if task.rules.referee else None
    return play_games(task.fixtures, task.openings, {name: _agent(name) for name in names}, task.rules, referee)


def run(tasks: Sequence[Task], processes: int = 1, ray: bool = False) -> Iterator[list[Played]]:
    """The games of each task as soon as it is done, in any order."""
    if ray:
        return _on_ray(tasks)
    return _in_processes(tasks, processes) if processes > 1 else _here(tasks)


def _here(tasks: Sequence[Task]) -> Iterator[list[Played]]:
    try:
        yield from map(play, tasks)
    finally:
        dismiss()


def _in_processes(tasks: Sequence[Task], processes: int) -> Iterator[list[Played]]:
    with worker_pool(processes) as pool:
        waiting = {pool.submit(play, task) for task in tasks}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def _on_ray(tasks: Sequence[Task]) -> Iterator[list[Played]]:
    ray, _ = start_ray("--ray")
    remote = ray.remote(play)
    waiting = [remote.remote(task) for task in tasks]
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        yield from ray_result(ray, done)
