"""The page's server: what it answers, what it refuses, and that it stays awake while agents think."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chess
import httpx
import pytest
from fastapi.testclient import TestClient

from diffusearch.errors import UserError
from diffusearch.play.api import Service
from diffusearch.play.opponents import Opponents
from diffusearch.play.puzzles import puzzles
from diffusearch.play.request_limits import MAX_BODY
from diffusearch.play.server import create_app, listen
from diffusearch.play.work_queue import WorkQueue

FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "assets"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
def client(opponents: Opponents, page: Path) -> TestClient:
    # Not used as a context manager: the shared agents outlive this application.
    return TestClient(create_app(Service(opponents), page), base_url="http://127.0.0.1:8000")


def post(client: TestClient, path: str, **body: Any) -> Any:
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, path: str, status: int, **body: Any) -> str:
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == status, answer.text
    sentence: str = answer.json()["detail"]
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def loaded(client: TestClient) -> dict[str, Any]:
    """The agents by id, once none is being loaded."""
    end = time.monotonic() + 60
    while True:
        cards = {card["id"]: card for card in client.get("/api/agents").json()}
        if all(card["state"] != "loading" for card in cards.values()):
            return cards
        assert time.monotonic() < end
        time.sleep(0.01)


def test_start_position(client: TestClient) -> None:
    position = post(client, "position")
    assert position["fen"] == chess.STARTING_FEN
    assert len(position["legal"]) == 20
    assert {"uci": "g1f3", "source": "g1", "target": "f3", "promotion": None, "san": "Nf3"} in position["legal"]
    assert position["result"] is None
    assert position["turn"] == "white"


def test_history_check_and_result(client: TestClient) -> None:
    position = post(client, "position", moves=FOOLS_MATE)
    assert [move["san"] for move in position["history"]] == ["f3", "e5", "g4", "Qh4#"]
    assert position["history"][-1]["fen"] == position["fen"]
    assert position["check"] == "e1"
    assert position["legal"] == []
    assert position["result"] == {"score": "0-1", "reason": "checkmate"}


def test_promotions_are_listed_one_by_one(client: TestClient) -> None:
    position = post(client, "position", fen="8/P6k/8/8/8/8/7K/8 w - - 0 1")
    assert sorted(move["promotion"] for move in position["legal"] if move["source"] == "a7") == ["b", "n", "q", "r"]


@pytest.mark.parametrize(
    ("moves", "reason"),
    [(["g1f3", "g8f6", "f3g1", "f6g8"] * 2, "threefold")],
)
def test_repetition_is_a_draw(client: TestClient, moves: list[str], reason: str) -> None:
    result = post(client, "position", moves=moves)["result"]
    assert result["score"] == "1/2-1/2"
    assert reason in result["reason"]
    assert "over" in refused(client, "think", 409, moves=moves, agent="dreamer")


@pytest.mark.parametrize(
    ("fen", "words"),
    [
        ("not a fen", "not a FEN"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no king"),
        ("k6K/8/8/8/8/8/8/P7 w - - 0 1", "first or last rank"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "not to move is in check"),
        ("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", "castling"),
    ],
)
def test_bad_positions_are_refused_in_one_sentence(client: TestClient, fen: str, words: str) -> None:
    assert words in refused(client, "position", 400, fen=fen)
    assert words in refused(client, "think", 400, fen=fen, agent="dreamer")


def test_illegal_move_is_named(client: TestClient) -> None:
    assert "Move 2, e2e4" in refused(client, "position", 400, moves=["e2e4", "e2e4"])


@pytest.mark.parametrize(
    "body",
    [
        {"moves": ["castle"]},
        {"moves": "e2e4"},
        {"moves": ["e2e4"] * 1001},
        {"fen": "x" * 121},
        {"unknown": 1},
    ],
)
def test_wrong_shapes_are_refused(client: TestClient, body: dict[str, Any]) -> None:
    refused(client, "position", 422, **body)


def test_thought_holds_the_whole_imagination(client: TestClient) -> None:
    thought = post(client, "think", moves=["e2e4"], agent="dreamer")
    assert thought["san"] == "e5"
    assert thought["candidates"][0]["uci"] == thought["move"] == thought["line"][0]["uci"]
    assert len(thought["line"]) == 4
    assert len(thought["line"][3]["wrong"]) == 1
    assert set("".join(thought["film"][0]["squares"])) == {"?"}
    assert "?" not in "".join(thought["film"][-1]["squares"])
    assert thought["imagined"] is True


def test_agent_that_only_moves(client: TestClient) -> None:
    thought = post(client, "think", agent="quiet")
    assert thought["value"] is None
    assert thought["film"] == []
    assert thought["line"][0]["squares"].count(".") == 32


def test_agents_say_what_they_can_do(client: TestClient) -> None:
    cards = loaded(client)
    assert [level["label"] for level in cards["dreamer"]["levels"]] == ["2 steps", "8 steps"]
    assert cards["dreamer"]["state"] == "ready"
    assert cards["absent"]["state"] == "problem"
    assert cards["dreamer"]["default"] == 1
    assert cards["dreamer"]["problem"] is None
    assert "no weights" in cards["absent"]["problem"]


def test_unknown_agent_and_level(client: TestClient) -> None:
    assert "dreamer" in refused(client, "think", 404, agent="/etc/passwd")
    assert "levels 0 to 1" in refused(client, "think", 400, agent="dreamer", level=2)
    assert "no weights" in refused(client, "think", 400, agent="absent")


def test_paste_and_download_round_trip(client: TestClient) -> None:
    pgn = post(client, "pgn", moves=FOOLS_MATE, white="You", black="Dreamer")["pgn"]
    assert "1. f3 e5 2. g4 Qh4# 0-1" in pgn
    game = post(client, "paste", text=pgn)
    assert game["moves"] == FOOLS_MATE
    assert (game["white"], game["black"]) == ("You", "Dreamer")
    fen = "8/P6k/8/8/8/8/7K/8 w - - 0 1"
    assert post(client, "paste", text=f" {fen}\n")["fen"] == fen
    from_fen = post(client, "pgn", fen=fen, moves=["a7a8q"], white="A", black="B", resigned="black")["pgn"]
    assert post(client, "paste", text=from_fen) == {"fen": fen, "moves": ["a7a8q"], "white": "A", "black": "B"}
    assert '[Result "1-0"]' in from_fen


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "neither a FEN nor a PGN"),
        (" ", "empty"),
        ("1. e4 e5 2. Ke3", "Ke3"),
        ('[Variant "Atomic"]\n\n1. e4 *', "Atomic"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "the board is empty"),
        ("7k/8/8/8/8/8/8/K6Q b - - 0 99999999999999999999999", "9999 moves"),
        ("1. e4 -- 2. d4 *", "null move"),
        ("1. e4 e5 2. Sf3 Sc6 *", "'Sf3'"),
        ("1. e4 e5 2. Qxh9 *", "'Qxh9'"),
    ],
)
def test_bad_pastes(client: TestClient, text: str, words: str) -> None:
    assert words in refused(client, "paste", 400, text=text)


@pytest.mark.parametrize("name", ['A"]\n[X "', 'A \\"B\\" C', "s-a:" + "long/" * 30, "\\", "é\u200b"])
def test_player_names_cannot_break_the_pgn(client: TestClient, name: str) -> None:
    """Any name is taken, and written so that every reader finds one plain tag."""
    text = post(client, "pgn", moves=FOOLS_MATE, white=name, black="B")["pgn"]
    (tag,) = [line for line in text.splitlines() if line.startswith("[White ")]
    assert len(tag) <= 70
    assert tag.count('"') == 2
    assert "\\" not in tag
    assert post(client, "paste", text=text)["moves"] == FOOLS_MATE


def test_every_puzzle_is_legal_and_solved_by_its_solution(client: TestClient) -> None:
    cards = client.get("/api/puzzles").json()
    assert len(cards) >= 50
    assert [card["rating"] for card in cards] == sorted(card["rating"] for card in cards)
    for card, puzzle in zip(cards, puzzles(), strict=True):
        assert chess.Board(card["fen"]).is_valid()
        for cut in range(1, len(puzzle.solution) + 1, 2):
            verdict = post(client, f"puzzles/{card['id']}/try", moves=list(puzzle.solution[:cut]))
            assert verdict["right"] is True
        assert verdict["solved"] is True
        assert verdict["solution"] == puzzle.san()


def test_puzzle_mistakes_and_refusals(client: TestClient) -> None:
    puzzle = puzzles()[0]
    others = [m.uci() for m in chess.Board(puzzle.fen).legal_moves if m.uci() != puzzle.solution[0]]
    verdict = post(client, "puzzles/0/try", moves=others[:1])
    assert verdict["right"] is False
    assert verdict["solution"] == puzzle.san()
    refused(client, "puzzles/0/try", 400, moves=["a1a1"])
    refused(client, "puzzles/0/try", 400, moves=[others[0], others[0]])
    refused(client, "puzzles/99999/try", 404, moves=["e2e4"])


def test_agent_tries_the_puzzle_too(client: TestClient) -> None:
    attempt = post(client, "puzzles/0/agent", agent="quiet")
    assert attempt["thought"]["agent"] == "quiet"
    assert attempt["solved"] == (attempt["found"] == puzzles()[0].length)


def test_static_files_stay_inside_the_folder(client: TestClient) -> None:
    assert "page" in client.get("/").text
    for path in (
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//etc/passwd",
        "/link.txt",
        "/api/nothing",
    ):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert "secret" not in answer.text


def test_headers_and_no_cors(client: TestClient) -> None:
    for path in ("/", "/api/puzzles", "/nowhere"):
        headers = client.get(path, headers={"Origin": "http://elsewhere.example"}).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


def test_foreign_host_is_refused(client: TestClient) -> None:
    assert client.get("/api/puzzles", headers={"Host": "elsewhere.example"}).status_code == 400


def test_long_bodies_are_cut_off(client: TestClient) -> None:
    answer = client.post("/api/paste", content=b'{"text": "' + b"a" * MAX_BODY + b'"}')
    assert answer.status_code == 413
    assert "longer" in answer.json()["detail"]


def test_the_eleventh_is_busy_and_the_ten_are_answered(opponents: Opponents, waiter: Any) -> None:
    async def scene() -> None:
        queue = WorkQueue(places=10, threads=2)
        app = create_app(Service(opponents, thinking=queue), None)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            waiter.gate.clear()
            asked = {"agent": "waiter", "moves": ["e2e4"]}
            ten = [asyncio.create_task(client.post("/api/think", json=asked)) for _ in range(10)]
            while queue.taken < 10:
                await asyncio.sleep(0)
            eleventh = await client.post("/api/think", json=asked)
            assert eleventh.status_code == 503
            assert eleventh.json()["detail"].startswith("The server is busy")
            assert eleventh.headers["retry-after"]
            # The event loop is free: questions that need no thinking are answered meanwhile.
            assert (await client.post("/api/position", json={})).status_code == 200
            waiter.gate.set()
            assert [(await task).status_code for task in ten] == [200] * 10
            assert (await client.post("/api/think", json=asked)).status_code == 200
        queue.close()

    ThreadPoolExecutor(1).submit(asyncio.run, scene()).result()  # Playwright leaves a loop running in this thread


def test_a_taken_port_is_explained() -> None:
    with listen(0) as first:
        first.listen()
        with pytest.raises(UserError, match="--port"):
            listen(first.getsockname()[1])
