"""Ten thousand requests to `diffusearch play`, several clients at once; some vanish. Then many players, each a game."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryFile
from typing import IO

import httpx
import many_players

from soak.request_kinds import KINDS
from soak.units import Outcome, Stage, Unit, parts, resident, scaled

REQUESTS, PART, CLIENTS = 10_000, 1_000, 8
PLAYERS, PLIES = 50, 60
VANISHING = 0.02  # of the requests


@dataclass
class Server:
    """A running `diffusearch play`."""

    process: subprocess.Popen[str]
    address: str
    errors: IO[bytes]


@contextmanager
def serving() -> Iterator[Server]:
    """The server on a free port, with its networks loaded."""
    command = [sys.executable, "-m", "diffusearch", "play", "--no-open", "--port", "0"]
    with TemporaryFile() as errors, subprocess.Popen(command, stdout=-1, stderr=errors, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split(" ")[0]
            yield Server(process, address, errors)
        finally:
            process.terminate()


def stage(scale: float) -> Stage:
    counts = parts(scaled(REQUESTS, scale, 50), PART)
    units = [Unit(f"requests {n}", partial(requests, n, count)) for n, count in enumerate(counts)]
    players = scaled(PLAYERS, scale**0.5, 4)
    plies = scaled(PLIES, scale**0.5, 8)
    units.append(Unit(f"{players} players", partial(many, players, plies)))
    about = (
        f"{sum(counts):,} requests of {len(KINDS)} kinds by {CLIENTS} clients at once to `diffusearch play` with its "
        f"packaged agents ({', '.join(KINDS)}), {VANISHING:.0%} of the clients vanish before the answer; checked: the "
        "status is one that is right for the kind, a refusal is one sentence, and the server writes nothing to stderr. "
        f"Then {players} clients play the default agent at once, each to the end of its game or {plies} plies"
    )
    return Stage("http", about, units)


def requests(number: int, count: int) -> Outcome:
    """Requests to one server; its memory after a tenth of them and at the end."""
    with serving() as server:
        outcome = asyncio.run(_many_requests(server, number, count))
        server.process.terminate()
        server.process.wait()
        server.errors.seek(0)
        if errors := server.errors.read():
            outcome.faults.append(f"stderr: {errors[-500:]!r}")
    return outcome


async def _many_requests(server: Server, number: int, count: int) -> Outcome:
    outcome = Outcome()
    left, pid = iter(range(count)), server.process.pid
    warm: list[float] = []

    async def client(http: httpx.AsyncClient, seed: int) -> None:
        lots = random.Random(seed)
        for done in left:
            if done > count / 10 and not warm:
                warm.append(resident(pid))
            kind = lots.choice(tuple(KINDS))
            asked = KINDS[kind](lots)
            outcome.add("requests")
            vanish = lots.random() < VANISHING
            sent = http.request(asked.method, asked.path, content=asked.body, headers=asked.headers)
            try:
                answer = await asyncio.wait_for(sent, 0.002 if vanish else None)
            except TimeoutError:
                outcome.add("vanished clients")
                continue
            except httpx.TransportError as error:
                if 413 not in asked.good:  # the server answers before such a body has arrived, and closes
                    outcome.faults.append(f"{kind}: {type(error).__name__}")
                continue
            outcome.add(f"{answer.status_code // 100}xx")
            if answer.status_code not in (*asked.good, 503):
                outcome.faults.append(f"{kind}: {answer.status_code} {answer.text[:200]}")
            elif answer.status_code >= 400 and asked.path.startswith("/api") and asked.method != "HEAD":
                sentence = answer.json()["detail"] if "json" in answer.headers.get("content-type", "") else answer.text
                if not sentence or len(sentence) > 400:
                    outcome.faults.append(f"{kind}: refused with {len(sentence)} characters")

    limits = httpx.Limits(max_connections=4 * CLIENTS)
    async with httpx.AsyncClient(base_url=server.address, timeout=300, limits=limits) as http:
        await http.post("/api/think", json={"agent": "search", "level": 4})  # the networks are loaded
        await asyncio.gather(*(client(http, 1000 * number + seed) for seed in range(CLIENTS)))
        outcome.memory["play"] = (warm[0] if warm else 0.0, resident(pid))
    return outcome


def many(players: int, plies: int) -> Outcome:
    """Clients that play the default agent at once."""
    with serving() as server:
        httpx.post(f"{server.address}api/think", json={"agent": "search"}, timeout=300)  # the network is loaded
        before = resident(server.process.pid)
        told = asyncio.run(many_players.match(server.address, players, plies))
        after = resident(server.process.pid)
    outcome = Outcome({"players": players, "finished": told["finished"], "moves of the agent": told["moves"]})
    outcome.memory["play"] = (before, after)
    if told["finished"] < players:
        outcome.faults.append(f"{players - told['finished']} players did not finish")
    return outcome
