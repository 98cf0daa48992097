"""Many clients play the page's default agent at once: does each finish its game?

    python benchmarks/many_players.py --clients 50 [--agent TEXT] [--plies 60]

Starts `diffusearch play` on a free port. Every client plays random moves against the first opponent of the list, to the
end of the game or for so many plies. A "busy" answer is tried again after its Retry-After. Prints finished games, how
they ended, moves and the mean and longest wait for a move; the exit code is 1 if a client did not finish.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import httpx


class Client:
    """One player with a game of its own."""

    def __init__(self, http: httpx.AsyncClient, seed: int, agent: str, plies: int) -> None:
        self.http, self.lots, self.agent, self.plies = http, random.Random(seed), agent, plies
        self.waits: list[float] = []
        self.busy = 0

    async def ask(self, path: str, **body: Any) -> Any:
        while True:
            answer = await self.http.post(f"/api/{path}", json=body)
            if answer.status_code != 503:
                answer.raise_for_status()
                return answer.json()
            self.busy += 1
            await asyncio.sleep(float(answer.headers["retry-after"]))

    async def play(self) -> str:
        moves: list[str] = []
        while len(moves) < self.plies:
            position = await self.ask("position", moves=moves)
            if position["result"] is not None:
                return str(position["result"]["reason"])
            if len(moves) % 2 == 0:
                moves.append(self.lots.choice(position["legal"])["uci"])
                continue
            began = time.monotonic()
            thought = await self.ask("think", moves=moves, agent=self.agent)
            self.waits.append(time.monotonic() - began)
            moves.append(thought["move"])
        return "length"


async def match(address: str, clients: int, plies: int) -> dict[str, Any]:
    """What happened: finished games, moves of the agent, busy answers, waits."""
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=address, timeout=None, limits=limits) as http:
        agent = (await http.get("/api/agents")).json()[0]["id"]
        players = [Client(http, seed, agent, plies) for seed in range(clients)]
        ends = await asyncio.gather(*(player.play() for player in players), return_exceptions=True)
    waits = [wait for player in players for wait in player.waits]
    finished = [end for end in ends if isinstance(end, str)]
    told = {"agent": agent, "clients": clients, "finished": len(finished), "moves": len(waits)}
    told |= {"busy": sum(player.busy for player in players), "mean s": round(sum(waits) / max(1, len(waits)), 2)}
    return {**told, "longest s": round(max(waits, default=0.0), 2), "ends": dict(Counter(finished))}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--plies", type=int, default=60)
    parser.add_argument("--agent", help="the default agent of the page if it is not given")
    given = parser.parse_args()
    command = [sys.executable, "-m", "diffusearch", "play", "--no-open", "--port", "0"]
    command += ["--agent", given.agent] if given.agent else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split(" at ")[1].split(" ")[0]
            told = asyncio.run(match(address, given.clients, given.plies))
        finally:
            server.terminate()
    print(json.dumps(told))
    sys.exit(0 if told["finished"] == given.clients else 1)


if __name__ == "__main__":
    main()
