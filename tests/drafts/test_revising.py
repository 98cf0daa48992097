"""Draft and revise: how much is drafted, the calls it takes, what the network reads, and the rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import chess
import numpy as np
import pytest

from diffusearch.agents.base import Limits
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.diffusion.decoding import Decoding
from diffusearch.drafts.revising import Effort, Reviser
from diffusearch.errors import UserError
from diffusearch.inference.backend import DraftArrays, DraftReading
from diffusearch.inference.evaluation import Evaluation, PredictedState
from diffusearch.inference.joint import JointDenoiser
from diffusearch.inference.run import Run
from diffusearch.play.scoring import scored
from diffusearch.search.dynamics import Imagined, Rules

RULE = Decoding(drafts=3, rounds=0)
BOARDS = [
    chess.Board(),
    chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 1"),
    chess.Board("8/8/8/4k3/8/8/4P3/4K3 b - - 0 1"),
]


@pytest.mark.parametrize(
    ("steps", "effort"),
    [
        (1, (0, 0, 0)),
        (2, (0, 0, 0)),
        (3, (6, 1, 0)),
        (5, (6, 2, 0)),
        (7, (6, 3, 0)),
        (10, (6, 3, 0)),
        (11, (6, 3, 1)),
        (15, (6, 3, 2)),
        (20, (6, 3, 3)),
        (1000, (6, 3, 3)),
    ],
)
def test_the_steps_bound_what_is_drafted(steps: int, effort: tuple[int, int, int]) -> None:
    assert Effort.of(Decoding(steps=steps, drafts=6)) == Effort(*effort)
    assert Effort.of(Decoding(steps=steps)) == Effort(0, 0, 0)


def test_positions_by_the_rules_take_one_call_a_ply() -> None:
    assert Effort.of(Decoding(steps=4, drafts=2), predicts=False) == Effort(2, 3, 0)


class Counting:
    """The run's back end; counts the calls of each kind."""

    def __init__(self, backend: Any) -> None:
        self._backend, self.calls = backend, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._backend, name)
        if not callable(found):
            return found

        def counted(*args: Any, **options: Any) -> Any:
            self.calls[name] += 1
            return found(*args, **options)

        return counted


class TrueWorld:
    """A network that predicts every state as the rules make it; counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def predict(
        self, boards: Sequence[chess.Board], evaluations: Sequence[Evaluation | None], moves: Sequence[chess.Move]
    ) -> list[PredictedState]:
        self.calls += 1
        return [self.state(one.board) for one in Rules().step(boards, evaluations, moves)]

    def state(self, after: chess.Board | None) -> PredictedState:
        return PredictedState(None if after is None else chess.Board(after.fen()))


@pytest.fixture
def counted(reading_run: Run) -> Run:
    return Run(reading_run.recipe, Counting(reading_run.backend))


@pytest.mark.parametrize(("steps", "rounds"), [(3, 0), (7, 0), (11, 1), (15, 2)])
def test_the_calls_are_the_true_count(counted: Run, steps: int, rounds: int) -> None:
    decoding, world = Decoding(steps=steps, drafts=3, rounds=rounds), TrueWorld()
    (one,) = Reviser(counted, Imagined(world)).imagine(BOARDS[:1], decoding)
    calls = counted.backend.calls  # type: ignore[attr-defined]
    assert one.steps == calls["look"] + world.calls <= steps
    nodes = sum(len(line) - (at > 0) for draft in one.drafts for at, line in enumerate(draft.lines))
    assert one.evaluations == 1 + 2 * nodes  # each position is predicted and evaluated


@pytest.mark.parametrize("predicts", [True, False])
def test_work_is_the_most_that_a_decision_evaluates(reading_run: Run, predicts: bool) -> None:
    dynamics = Imagined(TrueWorld()) if predicts else Rules()
    agent = ImaginingAgent(Reviser(reading_run, dynamics), Decoding(drafts=6))
    for steps in range(1, 21):
        for board in BOARDS:
            assert agent.play(board, Limits(steps=steps)).nodes <= agent.work(steps)
    for steps in (1, 4, 7):  # no round, which may end early: the start has six moves with lines of three plies
        assert agent.play(BOARDS[0], Limits(steps=steps)).nodes == agent.work(steps)


def test_every_line_has_the_value_of_its_move(reading_run: Run) -> None:
    agent = ImaginingAgent(Reviser(reading_run, Rules()), Decoding(drafts=3))
    lines = agent.analyse(BOARDS[0], lines=3)
    assert len({one.move for one in lines}) == 3
    for one in lines:
        assert one.look_ahead is not None
        assert one.value == next(move.score for move in one.look_ahead.candidates if move.move == one.move)
    assert scored(agent, BOARDS[0], lines) == (lines, 0)  # nothing is left to be asked


class NoWorld(TrueWorld):
    """A network that predicts no valid position."""

    def state(self, after: chess.Board | None) -> PredictedState:
        return PredictedState(None, "no kings")


def test_states_that_are_no_positions_end_a_draft(counted: Run) -> None:
    """Nothing is drafted after them, no round goes on, and the calls are still the true count."""
    world = NoWorld()
    (one,) = Reviser(counted, Imagined(world)).imagine(BOARDS[:1], Decoding(steps=20, drafts=3, rounds=3))
    assert len(one.drafts) == 3
    for draft in one.drafts:
        assert draft.value is None
        (line,) = draft.lines
        assert [(ply.move, ply.problem) for ply in line] == [(draft.move, "no kings")]
    assert one.steps == counted.backend.calls["look"] + world.calls == 2  # type: ignore[attr-defined]
    (evaluation,) = counted.evaluate(BOARDS[:1])
    assert {ply.value for draft in one.drafts for line in draft.lines for ply in line} == {evaluation.value}
    assert sum(one.probabilities.values()) == pytest.approx(1.0)


def test_one_step_is_the_look_of_the_run(counted: Run, reading_run: Run) -> None:
    decoding = Decoding(steps=1, drafts=4)
    found = Reviser(counted).imagine(BOARDS, decoding)
    assert [one.move for one in found] == [
        one.move for one in JointDenoiser(reading_run).imagine(BOARDS, Decoding(steps=1))
    ]
    assert counted.backend.calls["read_drafts"] == 0  # type: ignore[attr-defined]
    assert all(not one.drafts for one in found)


def test_too_few_steps_for_a_ply_of_drafts_are_one_look(reading_run: Run) -> None:
    reviser = Reviser(reading_run)
    one, two = (reviser.imagine(BOARDS, Decoding(steps=steps, drafts=4)) for steps in (1, 2))
    assert one == two
    assert {found.steps for found in two} == {1}
    assert reviser.asked_layout(Decoding(steps=2, drafts=4)).horizon == 1
    assert {found.steps for found in reviser.imagine(BOARDS, Decoding(steps=2))} == {2}  # jointly, as is asked for


def test_a_fresh_reader_plays_by_the_rule(reading_run: Run) -> None:
    """Log prior + 16 x the mean log odds along the line, for one line a move."""
    reviser = Reviser(reading_run, Rules())
    roots = reviser.revise(BOARDS, reading_run.evaluate(BOARDS), Effort.of(RULE, predicts=False))
    for board, root, found in zip(BOARDS, roots, reviser.imagine(BOARDS, RULE), strict=True):
        assert sum(found.probabilities.values()) == pytest.approx(1.0)
        assert set(found.probabilities) == {move.uci() for move in board.legal_moves}
        score = {}
        for draft in root.drafts:
            (line,) = draft.lines()
            odds = [node.odds for node in line]
            odds += odds[-1:] * (3 - len(odds))
            score[draft.move.uci()] = np.log(root.evaluation.priors[draft.move]) + 16.0 * float(np.mean(odds))
        likeliest = max(score, key=score.__getitem__)
        assert likeliest == max(found.drafts, key=lambda draft: draft.after).move
        pairs = sorted((score[draft.move], draft.after) for draft in found.drafts)
        assert [after for _, after in pairs] == sorted(after for _, after in pairs)


def test_the_value_of_a_ply_is_that_of_the_position_before_it(reading_run: Run) -> None:
    found = Reviser(reading_run, Imagined(TrueWorld())).imagine(BOARDS, Decoding(steps=11, drafts=3, rounds=1))
    for board, one in zip(BOARDS, found, strict=True):
        for line in (line for draft in one.drafts for line in draft.lines):
            before = [board, *(chess.Board(ply.state) for ply in line if ply.state is not None)][: len(line)]
            values = [evaluation.value for evaluation in reading_run.evaluate(before)]
            assert [ply.value for ply in line] == pytest.approx(values, rel=1e-3)


def test_only_the_allowed_moves_are_drafted(reading_run: Run) -> None:
    allowed = [chess.Move.from_uci("h2h3"), chess.Move.from_uci("g2g4")]
    (found,) = Reviser(reading_run).imagine(BOARDS[:1], Decoding(drafts=6), legal=[allowed])
    assert set(found.probabilities) == {"h2h3", "g2g4"}
    assert {draft.move for draft in found.drafts} == {"h2h3", "g2g4"}


def test_many_boards_are_revised_as_one_by_one(reading_run: Run) -> None:
    reviser, decoding = Reviser(reading_run, Rules()), Decoding(drafts=4)
    together = reviser.imagine(BOARDS, decoding)
    for board, one in zip(BOARDS, together, strict=True):
        (alone,) = reviser.imagine([board], decoding)
        assert alone.move == one.move
        assert list(alone.probabilities.values()) == pytest.approx(list(one.probabilities.values()), rel=1e-3, abs=1e-5)
        assert (alone.steps, alone.evaluations) == (one.steps, one.evaluations)


class Scripted:
    """Reads what a test says: a score for each drafted move, by its rank, and how much a second line takes from it."""

    name = "scripted"

    def __init__(self, backend: Any, scores: list[float], refuted: tuple[float, ...]) -> None:
        self._backend, self.scores, self.refuted = backend, np.array(scores), np.array(refuted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def read_drafts(self, drafts: DraftArrays) -> DraftReading:
        second = drafts.exists[:, :, 3]
        scores = np.broadcast_to(self.scores, second.shape) - self.refuted * second
        return DraftReading(scores, 1.0, np.full(second.shape, 0.5))


@pytest.mark.parametrize(("refuted", "rounds", "rank"), [((0, 0, 0), 1, 1), ((0, 100, 0), 2, 2), ((0, 100, 100), 3, 0)])
def test_rounds_go_on_until_the_leader_keeps_the_lead(
    reading_run: Run, refuted: tuple[float, ...], rounds: int, rank: int
) -> None:
    """The second draft leads; a second line that refutes it gives the lead to the next."""
    run = Run(reading_run.recipe, Scripted(reading_run.backend, [0.0, 90.0, 60.0], refuted))
    (found,) = Reviser(run, Rules()).imagine(BOARDS[:1], Decoding(steps=100, drafts=3, rounds=9))
    assert found.move == found.drafts[rank].move
    assert (found.steps - 4) // 2 == rounds
    assert sum(len(draft.lines) == 2 for draft in found.drafts) == rounds


def test_a_run_without_a_reader_is_refused(run_folder: Any) -> None:
    with pytest.raises(UserError, match="has no draft reader"):
        Reviser(Run.load(run_folder))


def test_the_layout_is_as_deep_as_the_drafts(reading_run: Run) -> None:
    reviser = Reviser(reading_run)
    assert reviser.asked_layout(Decoding(drafts=4, depth=1)).horizon == 1
    assert reviser.asked_layout(replace(Decoding(), drafts=0, order="plies")).horizon == reading_run.horizon
