"""`diffusearch play` from the outside, and the agents that it offers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chess
import pytest

from diffusearch.agents.build import KINDS
from diffusearch.agents.build import agent as build
from diffusearch.agents.options import read
from diffusearch.agents.spec import AgentSpec
from diffusearch.errors import UserError
from diffusearch.play import server
from diffusearch.play.opponents import PACKAGED, Level, Opponent, Opponents, opponents

pytestmark = pytest.mark.slow


def test_play_serves_until_it_is_interrupted(page_server: object) -> None:  # the fixture skips where no page is built
    command = [sys.executable, "-m", "diffusearch", "play", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split(" ")[0]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert b"DiffuSearch" in answer.read()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 0
            assert "Traceback" not in errors
        finally:
            process.kill()


def test_ctrl_c_at_any_time_after_the_address_ends_it_quietly(page_server: object) -> None:
    """The first one comes before the server runs, the others at every moment until the program is gone."""
    command = [sys.executable, "-m", "diffusearch", "play", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            for _ in range(60_000):
                if process.poll() is not None:
                    break
                process.send_signal(signal.SIGINT)
                time.sleep(0.001)
            _, errors = process.communicate(timeout=60)
            assert (process.returncode, errors) == (0, "")
        finally:
            process.kill()


# A UCI engine that says by a file that it thinks, and never answers.
THINKER = """
import pathlib, sys
for line in sys.stdin:
    if line.startswith("uci\\n"):
        print("uciok", flush=True)
    elif line.startswith("isready"):
        print("readyok", flush=True)
    elif line.startswith("go"):
        pathlib.Path(sys.argv[1]).touch()
    elif line.startswith("quit"):
        break
"""


def test_ctrl_c_ends_it_quietly_while_an_agent_thinks(
    page_server: object, program: Callable[..., str], tmp_path: Path
) -> None:
    """The agent thinks for longer than the server waits for it."""
    thinks, script = tmp_path / "thinks", tmp_path / "thinker.py"
    script.write_text(THINKER, encoding="utf-8")
    agent = f"uci:{program(tmp_path / 'thinker', script, thinks)}"
    command = [sys.executable, "-m", "diffusearch", "play", "--no-open", "--port", "0", "--agent", agent]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        ThreadPoolExecutor() as client,
    ):
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split(" at ")[1].split(" ")[0]
            with urllib.request.urlopen(address + "api/agents", timeout=60) as answer:
                asked = json.dumps({"agent": json.load(answer)[0]["id"]}).encode()
            request = urllib.request.Request(address + "api/think", asked, {"content-type": "application/json"})
            answer_to = client.submit(urllib.request.urlopen, request, timeout=120)
            while not thinks.exists():
                assert process.poll() is None
                assert not answer_to.done()
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            assert (process.returncode, errors) == (0, "")
            assert answer_to.exception() is not None
        finally:
            process.kill()


def test_an_unbuilt_page_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(server, "files", lambda _: tmp_path)
    with pytest.raises(UserError, match="npm"):
        server.assets()


@pytest.mark.parametrize("opponent", PACKAGED, ids=lambda opponent: opponent.id)
def test_every_level_is_a_text_that_agents_understand(opponent: Opponent) -> None:
    for level in opponent.levels:
        spec = AgentSpec.parse(level.text)
        read(KINDS[spec.word].options, spec.options, level.text)  # raises on unknown options and values


def test_own_agents_come_first_and_are_filmed() -> None:
    first, second, *rest = opponents(["diffusearch:runs/mine?steps=5", "stockfish:nodes=5"])
    assert first.levels == (Level("as given", "diffusearch:runs/mine?steps=5", filmed=True),)
    assert second.levels == (Level("as given", "stockfish?nodes=5"),)
    assert tuple(rest) == PACKAGED
    offered = opponents(["diffusearch", "diffusearch?order=margin&steps=2"])
    served = Opponents(offered, build)
    drafting, joint = (served.decide(one.id, chess.Board(), None).imagination for one in offered[:2])
    assert drafting is not None
    assert joint is not None
    assert (len(drafting.drafts), len(drafting.film)) == (6, 0)
    assert (len(joint.drafts), len(joint.film)) == (0, 3)
