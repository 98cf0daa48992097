"""The server against ill-wishers: slow and vanished clients, foreign pages, text that is made to be slow or long."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chess
import httpx
import pytest
from fastapi.testclient import TestClient

from diffusearch.agents.simple import RandomAgent
from diffusearch.errors import UserError
from diffusearch.play.api import Service
from diffusearch.play.opponents import Level, Opponent, Opponents
from diffusearch.play.pasted_games import pasted
from diffusearch.play.request_limits import RequestLimits, TimedHeaders
from diffusearch.play.server import create_app
from diffusearch.play.work_queue import WorkQueue

WAIT = 60.0  # seconds until a test gives up
ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture
def client(opponents: Opponents) -> TestClient:
    return TestClient(create_app(Service(opponents), None), base_url=ADDRESS)


# --- who may ask ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},  # another program of this machine
        {"Origin": "https://127.0.0.1:8000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_foreign_page_is_refused_on_every_post(client: TestClient, headers: dict[str, str]) -> None:
    paths = [path for path, methods in client.get("/api/openapi.json").json()["paths"].items() if "post" in methods]
    assert len(paths) >= 7
    for path in (*paths, "/api/nowhere", "/"):
        answer = client.post(path.replace("{number}", "0"), json={}, headers=headers)
        assert answer.status_code == 403, path
        assert "other sites" in answer.json()["detail"]
        assert "content-security-policy" in answer.headers


def test_the_own_page_and_programs_may_post(client: TestClient) -> None:
    for headers in ({"Origin": ADDRESS}, {"Origin": ADDRESS, "Sec-Fetch-Site": "same-origin"}, {}):
        assert client.post("/api/position", json={}, headers=headers).status_code == 200


def test_other_methods_are_told_which_are_allowed(opponents: Opponents, tmp_path: Any) -> None:
    (tmp_path / "index.html").write_text("page")
    client = TestClient(create_app(Service(opponents), tmp_path), base_url=ADDRESS)
    for method, path, allowed in (
        ("GET", "/api/position", "POST"),
        ("DELETE", "/api/think", "POST"),
        ("POST", "/api/agents", "GET"),
        ("PUT", "/api/puzzles/3/solution", "GET"),
        ("POST", "/index.html", "GET, HEAD"),
        ("DELETE", "/", "GET, HEAD"),
    ):
        answer = client.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed), (method, path)
    assert client.get("/api/nowhere").status_code == 404


# --- slow and vanished clients -------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch, opponents: Opponents) -> Iterator[Any]:
    """A real server with short time limits."""
    from conftest import Running

    monkeypatch.setattr(TimedHeaders, "header_seconds", 0.5)
    monkeypatch.setattr(RequestLimits.__init__, "__defaults__", (0.5,))
    with Running(opponents, None) as running:
        yield running


def connect(running: Any) -> socket.socket:
    host, port = running.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=WAIT)


@pytest.mark.parametrize("sent", [b"", b"POST /api/position HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_slow_headers_are_cut_off(impatient: Any, sent: bytes) -> None:
    with connect(impatient) as slow:
        slow.sendall(sent)
        assert slow.recv(1000) == b""  # closed; without a limit this would wait for ever
    assert httpx.get(f"{impatient.address}/api/puzzles", timeout=WAIT).status_code == 200


def test_slow_headers_of_a_second_request_are_cut_off(impatient: Any) -> None:
    with connect(impatient) as slow:
        slow.sendall(b"GET /api/puzzles/0/solution HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert slow.recv(10).startswith(b"HTTP/1.1 2")
        slow.sendall(b"GET /api/puzzles HTT")
        while slow.recv(100_000):
            pass  # the rest of the first answer, then the end


def test_a_slow_body_is_cut_off(impatient: Any) -> None:
    with connect(impatient) as slow:
        head = b"POST /api/position HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        slow.sendall(head + b"Content-Length: 100\r\n\r\n{")
        answer = b""
        while part := slow.recv(10_000):
            answer += part
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"took longer" in answer


@pytest.mark.parametrize("route", ["/api/think", "/api/review"])
def test_places_of_vanished_clients_are_free_at_once(route: str, opponents: Opponents, waiter: Any) -> None:
    """Three clients wait for an agent that thinks for ever; when they leave, three places are free."""

    async def scene() -> None:
        queue = WorkQueue(places=3, threads=1)
        service = Service(opponents, thinking=queue)
        app = create_app(service, None)
        gone = asyncio.Event()
        body = b'{"agent": "waiter", "moves": ["e2e4"]}'

        async def request() -> int:
            messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
            status = 0

            async def receive() -> dict[str, Any]:
                if messages:
                    return messages.pop()
                await gone.wait()
                return {"type": "http.disconnect"}

            async def send(message: Any) -> None:
                nonlocal status
                status = message.get("status", status)

            headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
            scope = {"type": "http", "method": "POST", "path": route, "raw_path": route.encode()}
            scope |= {"headers": headers, "query_string": b"", "scheme": "http", "http_version": "1.1"}
            await app(scope, receive, send)  # type: ignore[arg-type]
            return status

        clients = [asyncio.create_task(request()) for _ in range(3)]
        async with asyncio.timeout(WAIT):
            while queue.taken < 3:
                await asyncio.sleep(0)
            assert await request() == 503
            gone.set()
            await asyncio.gather(*clients)
        assert queue.taken == 0
        waiter.gate.set()
        service.thinking.close()

    ThreadPoolExecutor(1).submit(asyncio.run, scene()).result()  # Playwright leaves a loop running in this thread


# --- text ----------------------------------------------------------------------------------------------------------

NESTED = "1. e4 " + "(1. d4 " * 10_000
SLOW_TEXTS = {
    "open braces": "{" * 99_000,
    "open braces behind moves": "1. e4 e5 " + "{ " * 49_000,
    "open braces line by line": "1. e4 e5\n" + "{\n" * 49_000,
    "brackets": "(" * 99_000,
    "nested variations": NESTED,
    "closed nested variations": "1. e4 " + "(" * 49_000 + ")" * 49_000,
    "one long word": "a" * 99_000,
    "numbers": "1." * 49_000,
    "signs": "$1" * 49_000,
    "results": "*" * 99_000,
    "semicolons": ";" * 99_000,
}


@pytest.mark.parametrize("text", SLOW_TEXTS.values(), ids=SLOW_TEXTS.keys())
def test_text_that_is_made_to_be_slow_is_refused(text: str) -> None:
    """The first two took a minute and nine seconds, because every open bracket was searched to the end of the text."""
    with pytest.raises(UserError) as refusal:
        pasted(text)
    assert len(str(refusal.value)) < 400


def test_open_comments_and_deep_variations_are_refused_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chess.pgn.read_game", lambda *_, **__: pytest.fail("parsed"))
    for name, words in (("open braces", "not closed"), ("nested variations", "30 deep"), ("brackets", "30 deep")):
        with pytest.raises(UserError, match=words):
            pasted(SLOW_TEXTS[name])
    with pytest.raises(UserError, match="30 deep"):
        pasted(SLOW_TEXTS["closed nested variations"])


def test_brackets_inside_comments_are_text() -> None:
    assert pasted("1. e4 {((((} (1. d4 {)}) e5 ; {(\n2. Nf3 *").moves == ["e2e4", "e7e5", "g1f3"]
    assert pasted("1. e4 " + "(1. d4) " * 200 + "e5 *").moves == ["e2e4", "e7e5"]


def test_the_server_answers_others_while_it_reads_long_text(client: TestClient) -> None:
    for text in ("{" * 99_000, NESTED[:99_000]):
        answer = client.post("/api/paste", json={"text": text})
        assert answer.status_code == 400
        assert len(answer.json()["detail"]) < 400


def test_long_input_is_cut_in_answers_and_not_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    long = "x" * 90_000
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("position", {long: 1}),
        ("position", {"moves": [long]}),
        ("paste", {"text": f"1. e4 e5 2. N{long}9"}),
        ("paste", {"text": f'[Variant "{long}"]\n\n1. e4 *'}),
        ("paste", {"text": f'[FEN "{long}"]\n\n1. e4 *'}),
        ("paste", {"text": "1. e4 e5 2. Ke3 " + "e4 " * 20_000}),
        ("think", {"agent": long}),
        ("think", {"agent": "y" * 300}),
    ]
    with caplog.at_level(logging.DEBUG):
        for path, body in bodies:
            answer = client.post(f"/api/{path}", json=body)
            assert 400 <= answer.status_code < 500
            assert len(answer.json()["detail"]) <= 400, path
    assert not [
        record for record in caplog.records if "xxxx" in record.getMessage() or "illegal" in record.getMessage()
    ]


@pytest.mark.parametrize(
    "body", [b"[" * 500_000, b'{"level": ' + b"1" * 500_000 + b"}", b"\xff\xfe", b'{"moves": [' + b"1," * 200_000]
)
def test_bodies_that_are_no_json_are_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/think", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"].endswith(".")


# --- many at once --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fifty_clients_at_once_each_finish_a_game() -> None:
    listed = (Opponent("light", "Light", "Any legal move", (Level("full", "light"),)),)

    async def scene() -> None:
        service = Service(Opponents(listed, lambda _: RandomAgent(seed=7)))
        transport = httpx.ASGITransport(create_app(service, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:

            async def game(number: int) -> str:
                moves: list[str] = []
                board = chess.Board(
                    "8/8/4k3/8/8/3K4/4P3/8 w - - 60 1" if number % 2 else "8/8/8/4k3/8/8/2K5/7Q w - - 70 1"
                )
                start = board.fen()
                while True:
                    answer = await client.post("/api/position", json={"fen": start, "moves": moves})
                    if (result := answer.json()["result"]) is not None:
                        return str(result["score"])
                    if len(moves) % 2:
                        thought = await client.post("/api/think", json={"fen": start, "moves": moves, "agent": "light"})
                        assert thought.status_code == 200, thought.text
                        moves.append(thought.json()["move"])
                    else:
                        moves.append(answer.json()["legal"][number % len(answer.json()["legal"])]["uci"])

            async with asyncio.timeout(10 * WAIT):
                scores = await asyncio.gather(*(game(number) for number in range(50)))
        assert len(scores) == 50
        assert service.thinking.taken == service.reading.taken == 0
        service.close()

    ThreadPoolExecutor(1).submit(asyncio.run, scene()).result()  # Playwright leaves a loop running in this thread
