"""Foresight: the first move is chosen by what comes of it, not by its share alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace

import chess
import numpy as np
import numpy.typing as npt
import pytest
import torch
from diffusearch.agents.fan import Fan, State, evaluations, grow
from diffusearch.agents.foresight import FAN, TRUST, Foresight, draw
from diffusearch.agents.judging import judgement
from diffusearch.diffusion.imagination import Imagination, Ply
from diffusearch.diffusion.roots import Allowed
from diffusearch.diffusion.unfolding import Imagined, Unfolded

from diffusearch.agents.build import agent
from diffusearch.agents.imagining import ImaginingAgent
from diffusearch.agents.values import DOUBT
from diffusearch.diffusion.decoding import Decoding
from diffusearch.errors import UserError
from diffusearch.search.handmade import MaterialValue
from diffusearch.weights import packaged

# White's queen can take a pawn that is guarded: dear at a glance, lost two plies on.
TRAP = "3r2k1/5ppp/8/3p4/8/8/3Q1PPP/6K1 w - - 0 1"
MATE = "6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1"
CORNER = "k7/8/2K5/8/8/8/8/1R6 w - - 0 1"  # mate in two: Kc7 Ka7, Ra1


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def turned(uci: str) -> str:
    move = chess.Move.from_uci(uci)
    return chess.Move(move.from_square ^ 56, move.to_square ^ 56).uci()


def position(fen: str, mirrored: bool) -> chess.Board:
    return chess.Board(fen).mirror() if mirrored else chess.Board(fen)


class Greedy:
    """Likes captures at a glance, or what it is told to; imagines by the rules; values states by material."""

    foresees, horizon = True, 4

    def __init__(self, *, blind: Sequence[str] = (), **likes: float) -> None:
        self.blind, self.likes = blind, likes  # moves behind which it imagines nothing valid; weights of moves
        self.asked: list[tuple[int, int]] = []  # positions unfolded together, and moves followed in each
        self.onward: list[tuple[int, int, int | None]] = []  # positions imagined from, steps and horizon

    def unfold(self, boards: Sequence[chess.Board], count: int, legal: Allowed | None = None) -> list[Unfolded]:
        self.asked.append((len(boards), count))
        out = []
        for index, (board, value) in enumerate(zip(boards, self.values(boards).tolist(), strict=True)):
            own = list(board.legal_moves) if legal is None else legal[index]
            raw = {move: self.likes.get(move.uci(), 10.0 if board.is_capture(move) else 1.0) for move in own}
            shares = {move: share / sum(raw.values()) for move, share in raw.items()}
            best = sorted(shares, key=shares.__getitem__, reverse=True)[:count]
            out.append(Unfolded(shares, value, {move: self._behind(board, move) for move in best}))
        return out

    def _behind(self, board: chess.Board, move: chess.Move) -> Imagined:
        following = board.copy(stack=False)
        following.push(move)
        return Imagined(None, "it is blind", "?" * 64) if move.uci() in self.blind else Imagined(following)

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float32]:
        return MaterialValue().values(boards)

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding,
        generator: torch.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
    ) -> list[Imagination]:
        """A line of plies without states, as many as the steps reach."""
        self.onward.append((len(boards), decoding.steps, horizon))
        plies = min((decoding.steps + 1) // 2, horizon or self.horizon) if decoding.line else 1
        out = []
        for board, one in zip(boards, Greedy(**self.likes).unfold(boards, 0, legal), strict=True):
            best = max(one.shares, key=one.shares.__getitem__).uci()
            shares = {move.uci(): share for move, share in one.shares.items()}
            line = (Ply(best, True, None, None, True),) * plies
            out.append(Imagination(board.fen(), best, shares, line, (), -1.0, steps=min(decoding.steps, 2 * plies - 1)))
        return out


class Steady(Greedy):
    """Thinks that whoever is to move wins with 0.7."""

    def values(self, boards: Sequence[chess.Board]) -> npt.NDArray[np.float32]:
        return np.full(len(boards), 0.7, dtype=np.float32)


def played(net: Greedy, board: chess.Board, fan: Fan, trust: float = 2.0, steps: int = 20) -> str:
    (seen,) = Foresight(net, fan, trust).imagine([board], Decoding(steps=steps))
    assert sum(seen.probabilities.values()) == pytest.approx(1.0)
    assert max(seen.probabilities, key=lambda uci: seen.probabilities[uci]) == seen.move
    assert seen.line[0].move == seen.move
    assert seen.steps <= steps
    return seen.move


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_poisoned_pawn_is_left_alone_when_its_future_is_looked_at(mirrored: bool) -> None:
    board = position(TRAP, mirrored)
    takes = turned("d2d5") if mirrored else "d2d5"
    assert played(Greedy(), board, (64, 2), trust=0.0) == takes
    assert played(Greedy(), board, (64,)) == takes  # a ply deep it has won a pawn
    assert played(Greedy(), board, (64, 2)) != takes


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_refutation_that_is_the_second_likeliest_reply_is_seen_with_two_replies(mirrored: bool) -> None:
    board, quiet, takes = position(TRAP, mirrored), "g8h8", "d2d5"
    quiet, takes = (turned(quiet), turned(takes)) if mirrored else (quiet, takes)
    net = Greedy(**{quiet: 50.0})
    assert played(net, board, (64, 1)) == takes
    assert played(net, board, (64, 2)) != takes


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mate_is_known_by_the_rules(mirrored: bool) -> None:
    board = position(MATE, mirrored)
    board.push_uci(played(Greedy(blind=["d1d8", "d8d1"]), board, (64,), trust=5.0))
    assert board.is_checkmate()


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_value_is_what_the_futures_say(mirrored: bool) -> None:
    """Whoever is to move wins with 0.7, or so it seems; with the mate in sight it is more."""
    board = position(MATE, mirrored)
    (seen,) = Foresight(Steady(), (64,)).imagine([board], Decoding())
    assert seen.value == pytest.approx(1.0 / (1.0 + math.exp(-(logit(0.7) + logit(1.0 - DOUBT)) / 2)))


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mate_in_two_is_found_in_three_plies(mirrored: bool) -> None:
    likes = {"b1b8": 5.0, "b1b2": 3.0, "c6c7": 2.0, "b1a1": 2.0}
    net = Greedy(**{turned(uci) if mirrored else uci: weight for uci, weight in likes.items()})
    board = position(CORNER, mirrored)
    found = [played(net, board, fan, trust=4.0) for fan in ((8, 8), (8, 8, 8))]
    assert played(net, board, (8, 8, 8), trust=4.0, steps=3) == (turned("b1b8") if mirrored else "b1b8")  # at a glance
    assert [turned(uci) if mirrored else uci for uci in found] == ["b1b2", "c6c7"]  # the first one saves the rook


@pytest.mark.parametrize("mirrored", [False, True])
def test_states_are_judged_by_who_is_to_move(mirrored: bool) -> None:
    board = position(TRAP, mirrored)
    mine, theirs = State(board, board.turn, 0.5), State(board, not board.turn, 0.5)
    assert judgement(mine, None) == 0.5  # no valid state: as good as before the move
    assert judgement(mine, State(board, board.turn, -1.0)) == -1.0
    for state in (mine, theirs):
        state.futures = {chess.Move.null(): None}
        assert judgement(mine, state) == 0.5  # nothing was seen behind it
        leaves = [State(board, board.turn, odds) for odds in (1.0, 3.0, -2.0)]
        state.futures = {chess.Move(place, place + 8): leaf for place, leaf in enumerate(leaves)}
    assert judgement(mine, mine) == (0.5 + 3.0) / 2  # the best, trusted half
    assert judgement(mine, theirs) == -2.0  # the worst
    theirs.futures[chess.Move.null()] = None
    mine.futures = {chess.Move(0, 1): theirs, chess.Move(0, 2): None}
    assert judgement(mine, mine) == (0.5 + 0.5) / 2


@pytest.mark.parametrize("mirrored", [False, True])
def test_values_are_the_movers_at_every_level(mirrored: bool) -> None:
    (root,) = grow(Steady(), [position(TRAP, mirrored)], None, (2, 3))
    (one, other), own = root.futures.values(), logit(0.7)
    assert one
    assert other
    assert (root.odds, one.odds, other.odds) == pytest.approx((own, -own, -own))
    assert [state.odds for state in one.futures.values() if state] == pytest.approx([own] * 3)


@pytest.mark.parametrize("mirrored", [False, True])
def test_imagined_ends_are_known_by_the_rules(mirrored: bool) -> None:
    board = position("8/5K1k/8/6Q1/8/8/8/8 b - - 0 1", mirrored)  # the king must step into the corner
    (root,) = grow(Steady(), [board], None, (1, 64, 1))
    (corner,) = root.futures.values()
    assert corner
    ends = {turned(move.uci()) if mirrored else move.uci(): state for move, state in corner.futures.items() if state}
    assert (ends["g5g7"].odds, ends["g5g6"].odds) == pytest.approx((logit(DOUBT), 0.0))  # mate, stalemate
    assert ends["g5g7"].over
    assert not ends["g5g6"].futures
    assert judgement(root, corner) == pytest.approx(logit(DOUBT))
    assert not ends["g5a5"].over
    assert len(ends["g5a5"].futures) == 1


def test_the_history_of_the_game_is_seen_at_the_root() -> None:
    board = chess.Board(TRAP)
    for uci in ["g1h1", "g8h8", "h1g1", "h8g8"] * 2:
        board.push_uci(uci)
    board.pop()  # the third time is one move away
    (root,) = grow(Steady(), [board], None, (64,))
    again = root.futures[chess.Move.from_uci("h8g8")]
    assert again
    assert (again.over, again.odds) == (True, 0.0)
    assert again.board.epd() == chess.Board(TRAP).epd()  # the position behind the move
    assert root.board.epd() == board.epd() != again.board.epd()


def test_without_a_valid_state_the_shares_decide() -> None:
    board = chess.Board(TRAP)
    blind = Greedy(blind=[move.uci() for move in board.legal_moves])
    assert played(blind, board, (8, 2), trust=5.0) == "d2d5"
    assert blind.asked == [(1, 8), (0, 2)]
    assert played(Greedy(blind=["d2d5"]), board, (64, 2)) == "d2d5"  # not seen to be bad
    assert played(Greedy(blind=["d8d5"]), board, (64, 1)) == "d2d5"  # nor its refutation


@pytest.mark.parametrize(
    ("steps", "fan"),
    [(1, ()), (3, (4,)), (4, (4,)), (6, (4, 2)), (8, (4, 2, 2)), (9, (4, 2, 2, 1)), (20, (4, 2, 2, 1))],
)
def test_too_few_steps_shorten_the_fan(steps: int, fan: Fan) -> None:
    net = Greedy()
    chooser = Foresight(net, (4, 2, 2, 1), 2.0)
    assert chooser.within(steps) == fan
    (seen,) = chooser.imagine([chess.Board()], Decoding(steps=steps))
    widths = [1, 4, 8, 16]
    assert net.asked == list(zip(widths, fan, strict=False))
    assert seen.steps == min(steps, 9)  # the whole fan holds the whole line
    assert (seen.evaluations or seen.steps) == chooser.work(steps)


def test_the_default_agent_has_steps_for_the_whole_fan() -> None:
    made = agent("diffusearch")
    assert isinstance(made, ImaginingAgent)
    assert isinstance(made.chooser, Foresight)
    assert made.chooser.within(made.decoding.steps) == FAN
    assert evaluations((4, 2, 2, 1)) == 89  # 45 positions are looked at, 44 of them imagined
    assert [made.work(steps) for steps in (1, 2, 3, 4, 6)] == [
        1,
        2,
        9,
        10,
        26,
    ]  # 4: a reply is imagined behind 4 futures
    decision = made.play(chess.Board())
    assert decision.imagination
    assert decision.imagination.steps == 9 < decision.nodes <= made.work(made.decoding.steps) == 89


def test_a_lone_move_needs_no_foresight() -> None:
    net = Greedy()
    (seen,) = Foresight(net).imagine([chess.Board()], Decoding(), legal=[[chess.Move.from_uci("a2a3")]])
    assert (seen.move, net.asked) == ("a2a3", [])


def test_temperature_draws_from_the_new_shares() -> None:
    board, chance = chess.Board(TRAP), torch.Generator().manual_seed(1)
    chooser = Foresight(Greedy(), (64, 1), 2.0)
    drawn = {chooser.imagine([board], Decoding(temperature=5.0), chance)[0].move for _ in range(20)}
    assert len(drawn) > 5
    shares = {chess.Move.from_uci("a2a3"): 0.9, chess.Move.from_uci("b2b3"): 0.1}
    lots = [draw(shares, 1.0, chance) for _ in range(400)]
    assert 320 <= lots.count(chess.Move.from_uci("a2a3")) <= 390


def test_a_batch_is_as_one_by_one_and_first_moves_can_be_narrowed() -> None:
    boards = [chess.Board(TRAP), chess.Board(), chess.Board(TRAP).mirror(), chess.Board(MATE)]
    net = Greedy()
    together = Foresight(net, (3, 2, 2), 2.0).imagine(boards, Decoding())
    assert [count for _, count in net.asked] == [3, 2, 2]  # all boards at once
    assert together == [Foresight(net, (3, 2, 2), 2.0).imagine([board], Decoding())[0] for board in boards]
    names = (("h2h3", "g2g3"), ("a2a3",), ("h7h6",), ("g2g3",))
    narrowed = Foresight(net, (3, 2), 2.0).imagine(
        boards, Decoding(), legal=[[chess.Move.from_uci(uci) for uci in own] for own in names]
    )
    for seen, own in zip(narrowed, names, strict=True):
        assert seen.move in own
        assert sum(seen.probabilities[uci] for uci in own) == pytest.approx(1.0)


def test_the_agents_text_and_what_the_model_must_know() -> None:
    made = agent(f"diffusearch:{packaged('diffusearch')}?fan=3x2&trust=0.5")
    assert isinstance(made, ImaginingAgent)
    assert isinstance(made.chooser, Foresight)
    assert (made.chooser.fan, made.chooser.trust) == ((3, 2), 0.5)
    plain = agent("diffusearch").chooser  # type: ignore[attr-defined]
    assert (plain.fan, plain.trust) == (FAN, TRUST)
    for text in ("diffusearch?fan=1", "diffusearch?order=confidence", "diffusearch?k=4"):
        assert agent(text).chooser is None  # type: ignore[attr-defined]
    assert agent("diffusearch?k=4").work(5) == 20
    assert made.play(chess.Board(TRAP)).move in chess.Board(TRAP).legal_moves
    with pytest.raises(UserError, match="fan=4x2 needs a model"):
        Foresight(SimpleNamespace(foresees=False), (4, 2))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("fan=4x2&k=3", "fan=4x2 and k=3 .* leave one of them out"),
        ("fan=4x2&k=3&trust=2", "fan=4x2 and k=3"),
        ("k=4&trust=2", "trust=2 .* no fan .* leave trust out, or write fan="),
        ("fan=1&trust=2.5", r"trust=2\.5 .* no fan"),
        ("order=confidence&trust=0", "trust=0 .* no fan"),
        ("fan=1x9", "fan=1x9 follows one first move.*: write fan=1"),
        ("order=random&fan=4x2x2x1", "order=random has no meaning for a fan"),
        ("cache=on", "cache has no meaning for turn-by-turn.*order 'confidence'"),
        ("remask=on&move_last=on", "remask has no meaning"),
        ("fan=1&stop=0.5", "stop_confidence has no meaning"),
        ("order=confidence&ahead=3", "ahead=3 works with cache"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        agent(f"diffusearch?{options}")
    assert agent("diffusearch?fan=1&k=4").chooser is None  # type: ignore[attr-defined]
    assert agent("diffusearch?trust=2").chooser.trust == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text", ["0", "4x0", "65", "4x", "x4", "4X2", "4,2", "-4", "4x 2", "1x" * 8 + "1", "64x64", "four", ""]
)
def test_a_bad_fan_is_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^(option fan of agent .* such as 4x2x2x1, of at most 1024|.*fan)"):
        agent(f"diffusearch?fan={text}")
