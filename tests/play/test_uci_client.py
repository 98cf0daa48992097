"""The whole program as a process, spoken to by python-chess's engine client, which we did not write."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import pytest

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "diffusearch", "uci"]


@pytest.fixture
def engine() -> Iterator[chess.engine.SimpleEngine]:
    client = chess.engine.SimpleEngine.popen_uci([*COMMAND, "--agent", "greedy-material"], timeout=60)
    yield client
    client.quit()
    assert client.returncode.result(timeout=60) == 0


@pytest.mark.parametrize(
    ("words", "brought"),
    [([], []), (["--agent", "s-a?seed=3"], ["pydantic"])],  # where there are words, typer's parser brings it
    ids=["plain", "an agent"],
)
def test_the_handshake_brings_nothing_heavy(words: list[str], brought: list[str]) -> None:
    """uciok must be there before the heavy imports; the process tells which modules it has loaded by then."""
    code = (
        "import sys, io\n"
        "from diffusearch.cli import main\n"
        "sys.stdin = io.TextIOWrapper(io.BytesIO(b'uci\\nquit\\n'))\n"
        f"sys.argv = ['diffusearch', 'uci', *{words}]\n"
        "try:\n"
        "    main()\n"
        "finally:\n"  # with words it ends by SystemExit
        "    print('heavy:', sorted({'torch', 'numpy', 'pyarrow', 'fastapi', 'pydantic'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert "uciok" in done.stdout
    assert f"heavy: {brought}" in done.stdout


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["--agent", "nope"], "diffusearch: there is no agent 'nope'. The agents are: diffusearch, "),
        (["--agent", "s-a?nope=1"], "diffusearch: agent 's-a?nope=1' has no option 'nope'"),
        (["--agent", "direct"], "diffusearch: agent 'direct' lacks its RUN"),
        (["--agent", "s-a:one", "--weights", "two"], "diffusearch: agent 's-a:one' names its weights already"),
    ],
)
def test_a_wrong_agent_in_the_command_line_is_refused_at_once(words: list[str], refusal: str) -> None:
    """Nothing is sent to it, and its input stays open."""
    with subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.wait(timeout=60) == 2
            assert process.stdout is not None
            assert process.stdout.read() == ""
            assert process.stderr is not None
            assert process.stderr.read().startswith(refusal)
        finally:
            process.kill()


def test_weights_complete_an_agent_in_the_command_line() -> None:
    done = subprocess.run(
        [*COMMAND, "--agent", "direct", "--weights", "runs/mine"], input="uci\nquit\n", capture_output=True, text=True
    )
    assert "option name Agent type string default direct\n" in done.stdout
    assert done.returncode == 0


def test_a_game_on_the_clock(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    game = object()
    while not board.is_game_over() and board.ply() < 80:
        limit = chess.engine.Limit(white_clock=1.0, black_clock=1.0, white_inc=0.05, black_inc=0.05)
        result = engine.play(board, limit, game=game, info=chess.engine.INFO_ALL)
        assert result.move in board.legal_moves
        assert result.info["pv"][0] == result.move
        board.push(result.move)
    assert board.ply() >= 10


def test_every_way_to_limit(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4")
    for limit in (
        chess.engine.Limit(time=0.05),
        chess.engine.Limit(nodes=1),
        chess.engine.Limit(depth=1),
        chess.engine.Limit(white_clock=0.01, black_clock=5),
        chess.engine.Limit(white_clock=60, black_clock=60, remaining_moves=3),
    ):
        assert engine.play(board, limit).move == chess.Move.from_uci("h5f7")


def test_analysis_lines_and_root_moves(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    infos = engine.analyse(board, chess.engine.Limit(time=0.1), multipv=3)
    assert [info["multipv"] for info in infos] == [1, 2, 3]
    assert infos[0]["pv"][0].uci() == "e4d5"
    assert infos[0]["score"].white().score(mate_score=10000) > -500
    root = [chess.Move.from_uci("e1e2")]
    assert engine.play(board, chess.engine.Limit(time=0.05), root_moves=root).move == root[0]


def test_wdl_where_values_are_known(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1")
    engine.configure({"UCI_ShowWDL": True})
    info = engine.analyse(board, chess.engine.Limit(time=0.05))
    assert info["wdl"].relative.expectation() == pytest.approx(0.59, abs=0.01)  # a pawn up


def test_pondering_and_endless_analysis(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    for _ in range(4):
        result = engine.play(board, chess.engine.Limit(white_clock=10, black_clock=10), ponder=True)
        assert result.move is not None
        board.push(result.move)
        reply = result.ponder or next(iter(board.legal_moves))
        board.push(reply)
    with engine.analysis(board) as analysis:  # go infinite
        for info in analysis:
            if info.get("pv"):
                break
        analysis.stop()
        assert analysis.wait().move in board.legal_moves
    engine.ping()


def test_a_wrong_agent_is_told_not_fatal() -> None:
    lines = b"uci\nsetoption name Agent value dreamless\nisready\ngo\n"
    done = subprocess.run(COMMAND, input=lines, capture_output=True, timeout=120, check=True)
    said = done.stdout.decode().splitlines()
    assert said[-1] == "bestmove (none)"
    assert any(line.startswith("info string") and "dreamless" in line for line in said)
    assert done.stderr == b""


def test_a_network_imagines_the_pv(tiny_run: Path) -> None:
    command = [*COMMAND, "--agent", "diffusearch", "--weights", str(tiny_run), "--steps", "3"]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=120) as engine:
        engine.ping()
        engine.configure({"Order": "confidence"})
        board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
        full = engine.play(board, chess.engine.Limit(), info=chess.engine.INFO_ALL)
        assert full.move in board.legal_moves
        assert full.info["nodes"] == 4  # the first look and three steps
        assert full.info["pv"][0] == full.move
        assert "score" in full.info  # this model has a root value
        two = engine.analyse(board, chess.engine.Limit(nodes=7), multipv=2)
        assert [info["nodes"] for info in two] == [7, 7]  # the first look, two steps for each line, two scores
        assert all("score" in info for info in two)
        assert two[0]["pv"][0] != two[1]["pv"][0]


def test_wrong_weights_are_told_not_fatal() -> None:
    lines = b"uci\nsetoption name Weights value no/such/run\nisready\ngo\n"
    done = subprocess.run(COMMAND, input=lines, capture_output=True, timeout=240, check=True)
    said = done.stdout.decode().splitlines()
    assert said[-1] == "bestmove (none)"
    assert any(line.startswith("info string") and "no/such/run" in line for line in said)
