"""Agents by their texts on real networks, tiny and untrained: legal moves, true counts, provenance and horizon."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import pytest

from diffusearch.agents import runs
from diffusearch.agents.base import Limits
from diffusearch.agents.build import agent
from diffusearch.errors import UserError
from diffusearch.inference.run import Run

FENS = [
    chess.STARTING_FEN,
    "r3k2r/pPp2ppp/8/3pP3/8/8/P1PP1PpP/R3K2R w KQkq d6 0 20",
    "r3k2r/pPp2ppp/8/3pP3/8/8/P1PP1PpP/R3K2R b KQkq - 0 20",
    "7k/8/8/8/8/8/7r/K7 w - - 99 200",
]
SEARCHES = [
    f"search:{{mixed}}?planner={planner}&dynamics={dynamics}"
    for planner in ("minimax&widths=3x2x1", "mcts&simulations=9", "rollout&depth=3")
    for dynamics in ("imagined", "rules")
]
TEXTS = [
    "s-a:{s-a}",
    "s-a:{paper}",
    "s-v:{s-v}",
    "s-v:{values}",
    "sa-v:{sa-v}",
    "mcts:{s-a},{s-v}?simulations=8",
    "mcts:{mixed}?simulations=8",
    "mcts-as-published:{s-a},{s-v}?simulations=8",
    "search:{s-a},{s-v}?dynamics=rules&widths=2x2",
    "search:{mixed},{s-v}?widths=2x2",
    *SEARCHES,
    "diffusearch:{paper}?steps=3",
    "diffusearch:{paper}?steps=2&temperature=1&k=2&film=on",
    "diffusearch:{mixed}?steps=4&strength=20&carry=gumbel",
    "diffusearch:{mixed}?int8=on&steps=1",
    "direct:{direct}",
    "autoregressive:{autoregressive}",
]


def named(text: str, folders: dict[str, Path]) -> str:
    return text.format_map({name: str(path) for name, path in folders.items()})


class Counter:
    """What a run is asked, in network calls and positions."""

    def __init__(self, run: Run, patch: pytest.MonkeyPatch) -> None:
        self.evaluated: list[int] = []
        self.predicted: list[int] = []
        evaluate, predict = run.evaluate, run.predict

        def counted_evaluate(boards: Sequence[chess.Board], *more: Any, **options: Any) -> Any:
            self.evaluated.append(len(boards))
            return evaluate(boards, *more, **options)

        def counted_predict(boards: Sequence[chess.Board], *more: Any) -> Any:
            self.predicted.append(len(boards))
            return predict(boards, *more)

        patch.setattr(run, "evaluate", counted_evaluate)
        patch.setattr(run, "predict", counted_predict)


@pytest.mark.parametrize("text", TEXTS)
def test_legal_moves_lines_and_root_moves(text: str, run_folders: dict[str, Path]) -> None:
    made = agent(named(text, run_folders))
    boards = [chess.Board(fen) for fen in FENS]
    for board, decision in zip(boards, made.play_many(boards), strict=True):
        assert board.is_legal(decision.move)
        assert sum(decision.probabilities.values()) == pytest.approx(1.0)
        assert decision.value is None or 0.0 <= decision.value <= 1.0
        replay = board.copy()
        for move in decision.line:
            assert replay.is_legal(move)
            replay.push(move)
    board = boards[1]
    lines = made.analyse(board, lines=3)
    assert len({one.move for one in lines}) == 3
    promotion = chess.Move.from_uci("b7a8n")
    assert made.play(board, Limits(moves=(promotion,))).move == promotion


@pytest.mark.parametrize("text", SEARCHES)
@pytest.mark.parametrize("fen", [FENS[0], FENS[3], "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"])
def test_searches_count_what_they_ask(
    text: str, fen: str, run_folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter(runs.run(str(run_folders["mixed"]), "", "s-a"), monkeypatch)
    decision = agent(named(text, run_folders)).play(chess.Board(fen))
    assert decision.nodes == sum(counter.evaluated) + sum(counter.predicted) > 0
    if "rules" in text:
        assert counter.predicted == []
        assert decision.imagination is None
    else:
        assert bool(counter.predicted) == (fen != FENS[3] or "mcts" not in text)  # MCTS predicts no state after a draw
        assert decision.imagination is not None
        assert decision.imagination.steps == len(counter.evaluated) + len(counter.predicted)
        assert decision.imagination.nodes == decision.nodes
        assert decision.imagination.film == ()


@pytest.mark.parametrize(("name", "text", "calls", "plies"), [
    ("paper", "", 20, 4),
    ("paper", "?steps=1", 1, 4),
    ("paper", "?steps=5", 5, 4),
    ("mixed", "", 20, 4),
    ("mixed", "?steps=1", 1, 1),
    ("mixed", "?horizon=1", 1, 1),
    ("s-a", "", 1, 1),  # a lone variable is fixed in the first call
])  # fmt: skip
def test_diffusearch_denoises_the_whole_record_in_as_many_calls_as_steps(
    name: str, text: str, calls: int, plies: int, run_folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.run(str(run_folders[name]), "", "diffusearch")
    variables: list[int] = []
    hidden = run.net.hidden
    monkeypatch.setattr(run.net, "hidden", lambda x, *more: variables.append(x.shape[1]) or hidden(x, *more))
    made = agent(f"diffusearch:{run_folders[name]}{text}")
    decision = made.play(chess.Board(), Limits(line=False))  # a line that nobody wants changes nothing
    whole = run.layout.truncated(plies).variables
    assert variables == [whole] * calls
    assert decision.nodes == calls
    assert decision.imagination is not None
    assert decision.imagination.steps == calls
    assert made.horizon == plies


@pytest.mark.parametrize(
    ("text", "runs_inside", "horizon"),
    [
        ("s-a:{s-a}", "s-a", 1),
        ("s-a:{paper}", "paper", 1),
        ("s-v:{values}", "values", 1),
        ("sa-v:{sa-v}", "sa-v", 1),
        ("diffusearch:{paper}", "paper", 4),
        ("diffusearch:{mixed}?steps=1", "mixed", 1),
        ("diffusearch:{mixed}?int8=on", "mixed", 4),
        ("direct:{direct}", "direct", 4),
        ("autoregressive:{autoregressive}", "autoregressive", 2),
        ("search:{mixed}", "mixed", 4),
        ("search:{mixed}?widths=3x2", "mixed", 2),
        ("search:{mixed}?strength=50", "mixed", 2),
        ("search:{mixed}?planner=rollout&depth=6", "mixed", 6),
        ("search:{mixed}?planner=mcts&simulations=9", "mixed", 9),
        ("mcts:{mixed}", "mixed", 64),
    ],
)
def test_provenance_and_horizon(text: str, runs_inside: str, horizon: int, run_folders: dict[str, Path]) -> None:
    made = agent(named(text, run_folders))
    assert made.horizon == horizon
    weights = (run_folders[runs_inside] / "weights.safetensors").read_bytes()
    assert made.provenance["name"] == runs_inside
    assert made.provenance["weights"] == hashlib.sha256(weights).hexdigest()
    assert made.provenance["model"]["encoding"] == "compact"


@pytest.mark.parametrize("text", ["mcts:{s-a},{s-v}", "search:{s-a},{s-v}?dynamics=rules"])
def test_two_runs_are_told_by_their_roles(text: str, run_folders: dict[str, Path]) -> None:
    made = agent(named(text, run_folders))
    assert {role: one["name"] for role, one in made.provenance.items()} == {"policy": "s-a", "value": "s-v"}


@pytest.mark.parametrize("text", ["random", "greedy-material"])
def test_agents_without_a_network_have_no_provenance(text: str) -> None:
    assert (agent(text).provenance, agent(text).horizon) == ({}, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("search:{s-a},{s-v}", "predicts no states: write dynamics=rules"),
        ("search:{paper}", "search needs values"),
        ("search:{mixed}?depth=2", "option depth .* belongs to planner=rollout, not to planner=minimax"),
        ("search:{mixed}?planner=mcts&widths=2", "option widths .* belongs to planner=minimax, not to planner=mcts"),
        ("search:{mixed}?planner=rollout&cpuct=1", "option cpuct .* belongs to planner=mcts"),
        ("diffusearch:{paper}?cache=on", "set carry = 'keep'"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, words: str, run_folders: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=words):
        agent(named(text, run_folders))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("diffusearch:{paper}?horizon=2", "horizon 2 is shorter: ask for 4"),
        ("diffusearch:{paper}?order=plies", "order 'plies' denoises records of 1 to 4 plies"),
        ("diffusearch:{mixed}?horizon=5", "horizon 5 is longer"),
    ],
)
def test_layouts_that_were_not_trained_are_refused(text: str, words: str, run_folders: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=words):
        agent(named(text, run_folders)).play(chess.Board())


def test_repetition_is_seen_by_every_search(run_folders: dict[str, Path]) -> None:
    board = chess.Board("6k1/6p1/8/8/8/8/r4r2/4Q2K w - - 0 1")
    for uci in ["e1e8", "g8h7", "e8h5", "h7g8", "h5e8", "g8h7", "e8h5", "h7g8"]:
        board.push_uci(uci)
    again = chess.Move.from_uci("h5e8")
    for text in SEARCHES[:4]:
        made = agent(named(text, run_folders))
        decision = made.play(board, Limits(moves=(again,)))
        assert decision.look_ahead is not None
        score = decision.look_ahead.candidates[0].score
        assert decision.look_ahead.candidates[0].value == 0.5
        root = runs.run(str(run_folders["mixed"]), "", "s-v").evaluate([board], priors=False)[0].value
        assert score is not None
        assert root is not None
        assert min(root, 0.5) <= score <= max(root, 0.5)
        forgetful = made.play(chess.Board(board.fen()), Limits(moves=(again,)))
        assert forgetful.look_ahead is not None
        assert forgetful.look_ahead.candidates[0].value != 0.5
