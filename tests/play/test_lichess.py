"""The lichess-bot config, played against a fake lichess on the loopback interface with a client we did not write."""

from __future__ import annotations

import json
import queue
import random
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import berserk
import chess
import chess.engine
import pytest
import yaml

from diffusearch.play.uci_options import TABLE

pytestmark = pytest.mark.slow

CONFIG = Path(__file__).parents[2] / "docs" / "lichess-bot.yml"
TOKEN = "lip_not_a_real_token"


class FakeLichess(ThreadingHTTPServer):
    """One account, one game against a random mover; the server knows the rules and keeps the bot's clock."""

    daemon_threads = True

    def __init__(self, bot_is_white: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.board = chess.Board()
        self.bot = chess.WHITE if bot_is_white else chess.BLACK
        self.lots = random.Random(7)
        self.clock = 60.0  # seconds, plus 1 for each move: the machine may be busy with other tests
        self.since = 0.0
        self.states: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.refused: list[str] = []
        self.accepted = threading.Event()
        if not bot_is_white:
            self.reply()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def reply(self) -> None:
        self.board.push(self.lots.choice(list(self.board.legal_moves)))

    def over(self) -> bool:
        return self.board.is_game_over(claim_draw=True) or self.board.ply() > 120

    def state(self) -> dict[str, Any]:
        left = round(self.clock * 1000)
        return {
            "type": "gameState",
            "moves": " ".join(move.uci() for move in self.board.move_stack),
            "wtime": left,
            "btime": left,
            "winc": 1000,
            "binc": 1000,
            "status": "started" if not self.over() else "draw",
        }

    def full(self) -> dict[str, Any]:
        sides = {"white": {"id": "somebody", "name": "Somebody"}, "black": {"id": "somebody", "name": "Somebody"}}
        sides["white" if self.bot else "black"] = {"id": "diffusearch", "name": "DiffuSearch"}
        self.since = time.monotonic()
        return {"type": "gameFull", "id": "game0001", "initialFen": "startpos", "state": self.state(), **sides}

    def move(self, uci: str) -> bool:
        """The bot's move; then the other side's. False = refused, as lichess does with status 400."""
        self.clock += 1.0 - (time.monotonic() - self.since)
        if self.board.turn != self.bot or chess.Move.from_uci(uci) not in self.board.legal_moves or self.clock < 0:
            self.refused.append(f"{uci} in {self.board.fen()} with {self.clock:.2f} s")
            self.states.put(None)
            return False
        self.board.push_uci(uci)
        self.states.put(self.state())
        if not self.over():
            self.reply()
            self.since = time.monotonic()
            self.states.put(self.state())
        if self.over():
            self.states.put(None)
        return True


class Handler(BaseHTTPRequestHandler):
    server: FakeLichess
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def answer(self, status: int, lines: Iterator[dict[str, Any]]) -> None:
        """One chunk for each line, as lichess does: a client sees a line when it is sent."""
        self.send_response(status)
        self.send_header("Content-Type", "application/x-ndjson" if "stream" in self.path else "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            body = json.dumps(line).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def allowed(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {TOKEN}":
            return True
        self.answer(401, iter([{"error": "No such token"}]))
        return False

    def do_GET(self) -> None:
        if not self.allowed():
            return
        if self.path == "/api/account":
            self.answer(200, iter([{"id": "diffusearch", "username": "DiffuSearch", "title": "BOT"}]))
        elif self.path == "/api/stream/event":
            self.answer(200, self.events())
        elif self.path == "/api/bot/game/stream/game0001":
            self.answer(200, self.game())
        else:
            self.answer(404, iter([{"error": "Not found"}]))

    def events(self) -> Iterator[dict[str, Any]]:
        yield {"type": "challenge", "challenge": {"id": "game0001", "variant": {"key": "standard"}, "speed": "bullet"}}
        if self.server.accepted.wait(30):
            yield {"type": "gameStart", "game": {"gameId": "game0001"}}

    def game(self) -> Iterator[dict[str, Any]]:
        yield self.server.full()
        while (state := self.server.states.get(timeout=30)) is not None:
            yield state

    def do_POST(self) -> None:
        if not self.allowed():
            return
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "challenge"] and parts[-1] == "accept":
            self.server.accepted.set()
            self.answer(200, iter([{"ok": True}]))
        elif parts[:3] == ["api", "bot", "game"] and parts[4] == "move":
            fine = self.server.move(parts[5])
            self.answer(200 if fine else 400, iter([{"ok": True} if fine else {"error": "Not a legal move"}]))
        else:
            self.answer(404, iter([{"error": "Not found"}]))


@pytest.fixture(params=[True, False], ids=["white", "black"])
def lichess(request: pytest.FixtureRequest) -> Iterator[FakeLichess]:
    server = FakeLichess(request.param)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def config() -> dict[str, Any]:
    loaded = yaml.safe_load(CONFIG.read_text())
    assert isinstance(loaded, dict)
    return loaded


def test_the_config_has_what_lichess_bot_demands(config: dict[str, Any]) -> None:
    assert isinstance(config["token"], str)
    assert config["token"].strip("x") == ""  # no real token ever
    assert config["url"] == "https://lichess.org/"
    engine = config["engine"]
    assert (engine["name"], engine["protocol"]) == ("diffusearch-uci", "uci")
    assert isinstance(engine["dir"], str)
    assert (Path(sys.executable).parent / engine["name"]).is_file()
    assert config["challenge"]["sort_by"] in ("best", "first")
    assert config["challenge"]["concurrency"] > 0
    assert set(config["challenge"]["variants"]) <= {"standard", "fromPosition"}


def test_every_engine_option_of_the_config_exists(config: dict[str, Any]) -> None:
    options = {option.name: option for option in TABLE}
    for name, value in config["engine"]["uci_options"].items():
        assert options[name].parse(str(value)) == value
        # python-chess sets Ponder, MultiPV and others itself; lichess-bot may not
        assert not chess.engine.Option(name, "", None, None, None, None).is_managed()


def play(server: FakeLichess, config: dict[str, Any]) -> None:
    """What lichess-bot does: wait for the game, start the engine of the config, answer each state with a move."""
    client = berserk.Client(berserk.TokenSession(TOKEN), base_url=server.url)
    assert client.account.get()["title"] == "BOT"
    path = Path(sys.executable).parent / config["engine"]["name"]
    for event in client.bots.stream_incoming_events():
        if event["type"] == "challenge":
            client.bots.accept_challenge(event["challenge"]["id"])
        elif event["type"] == "gameStart":
            break
    with chess.engine.SimpleEngine.popen_uci([str(path), "--agent", "greedy-material"], timeout=60) as engine:
        engine.configure(config["engine"]["uci_options"])
        engine.ping()
        white = True
        for event in client.bots.stream_game_state("game0001"):
            if event["type"] == "gameFull":
                white = event["white"]["id"] == "diffusearch"
                event = event["state"]
            board = chess.Board()
            for uci in event["moves"].split():
                board.push_uci(uci)
            if event["status"] != "started" or board.turn != white:
                continue
            time_left = event["wtime"]  # berserk makes times of states into timedeltas, but not in every message
            clock = time_left.total_seconds() if isinstance(time_left, timedelta) else int(time_left) / 1000
            limit = chess.engine.Limit(white_clock=clock, black_clock=clock, white_inc=1.0, black_inc=1.0)
            result = engine.play(board, limit, ponder=config["engine"]["ponder"], info=chess.engine.INFO_ALL)
            assert result.move is not None
            client.bots.make_move("game0001", result.move.uci())


def test_a_game_from_the_challenge_to_the_end(lichess: FakeLichess, config: dict[str, Any]) -> None:
    play(lichess, config)
    assert lichess.refused == []
    assert lichess.over()
    assert lichess.board.ply() > 4


def test_a_wrong_token_is_refused(lichess: FakeLichess) -> None:
    client = berserk.Client(berserk.TokenSession("lip_wrong"), base_url=lichess.url)
    with pytest.raises(berserk.exceptions.ResponseError, match="401"):
        client.account.get()
