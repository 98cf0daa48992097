"""From tokens back to chess: for both colours, in both encodings, also where the model errs."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from diffusearch.data.records import Line, replay
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.decoding import Decoding
from diffusearch.inference.imagination import Imagination
from diffusearch.inference.reading import read_sample
from diffusearch.inference.roots import Roots, given_variables, token_mask
from diffusearch.tokens import moves
from diffusearch.tokens.batch import tokenise
from diffusearch.tokens.layout import Layout, layout

WHITE = ("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4", ["f3f7"])  # mate at once
BLACK = ("rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2", ["d8h4"])  # and for Black
QUIET = ("r3k2r/ppp2ppp/2n1bn2/3qp3/3P4/2N1PN2/PPP2PPP/R2QK2R w KQkq - 0 9", ["e1g1", "e8c8", "c3d5", "f6d5"])
DARK = ("r3k2r/ppp2ppp/2n1bn2/3qp3/3P4/2N1PN2/PPP2PPP/R2QK2R b KQkq - 0 9", ["e8g8", "c3d5", "e6d5", "d4e5"])
ENCODINGS = [("paper", 1), ("compact", 4)]


def record(fen: str, line: list[str], shape: Layout) -> list[int]:
    """The true tokens of a line."""
    tokens: list[int] = tokenise(replay([Line(fen, line)], shape.horizon), shape).tokens[0].tolist()
    return tokens


def imagine(
    scripted,
    fen: str,
    tokens: list[int],
    shape: Layout,
    sure: float = 0.9,
    *,
    raw: dict[int, float] | None = None,
    film: bool = False,
    **how,
) -> Imagination:
    """What a denoiser imagines that believes in `tokens`; `raw` replaces its belief about the first move."""
    board = chess.Board(fen)
    answers = [{token: sure} for token in tokens[shape.given_variables :]]
    action = shape.segment("a", 0)
    assert action is not None
    if raw is not None:
        answers[action.start - shape.given_variables] = raw
    given = np.array([tokens[: shape.given_variables]])
    bits = replay([Line(fen, [])], 1)
    allowed = tokenise(bits, shape.truncated(1)).legal.numpy()
    choice = Decoding(**({"steps": 20} | how))
    net = scripted(lambda x: answers)
    sample = Absorbing(20).sample(net, given, shape, choice, np.random.default_rng(0), allowed, film)
    return read_sample(sample, Roots.of([board], shape), shape)[0]


@pytest.mark.parametrize(("encoding", "patch"), ENCODINGS)
@pytest.mark.parametrize(("fen", "line"), [QUIET, DARK], ids=["white", "black"])
def test_a_true_line_is_read_back(scripted, encoding: str, patch: int, fen: str, line: list[str]) -> None:
    shape = layout("s-asa", 4, encoding, patch)
    seen = imagine(scripted, fen, record(fen, line, shape), shape, film=True)
    assert seen.root == fen
    assert seen.move == line[0]
    assert [ply.move for ply in seen.line] == line
    assert seen.moves == tuple(line)
    board = chess.Board(fen)
    for index, ply in enumerate(seen.line):
        assert ply.legal
        board.push_uci(line[index])
        if index < 3:  # the state after the last action is not part of the record
            assert ply.state == board.fen()
            assert ply.follows
            assert ply.problem is None
            assert ply.wrong == ()
        else:
            assert ply.state is None
    assert sum(seen.probabilities.values()) == pytest.approx(1.0)
    assert set(seen.probabilities) == {move.uci() for move in chess.Board(fen).legal_moves}
    assert max(seen.probabilities, key=lambda uci: seen.probabilities[uci]) == line[0]
    assert seen.legal_mass == pytest.approx(0.9, abs=0.01)
    assert seen.raw_legal
    assert seen.to_json()["line"] == line


@pytest.mark.parametrize(("encoding", "patch"), ENCODINGS)
@pytest.mark.parametrize(("fen", "line"), [WHITE, BLACK], ids=["white", "black"])
def test_a_mate_ends_the_line(scripted, encoding: str, patch: int, fen: str, line: list[str]) -> None:
    shape = layout("s-asa", 4, encoding, patch)
    tokens = record(fen, line, shape)
    seen = imagine(scripted, fen, tokens, shape, film=True)
    assert len(seen.line) == 1
    state = seen.line[0].state
    assert state is not None
    assert chess.Board(state).is_checkmate()
    assert seen.line[0].follows
    assert seen.film[-1].moves == (line[0], "0000", "0000", "0000")
    assert len(set(seen.film[-1].squares)) == 1  # the final position stands in every later state


@pytest.mark.parametrize(("encoding", "patch"), ENCODINGS)
@pytest.mark.parametrize(("fen", "line"), [QUIET, DARK], ids=["white", "black"])
def test_an_invalid_state_is_reported_with_its_reason(scripted, encoding: str, patch: int, fen: str, line) -> None:
    shape = layout("s-asa", 3, encoding, patch)
    tokens = record(fen, line, shape)
    board = chess.Board(fen)
    board.push_uci(line[0])
    king = board.king(board.turn)
    assert king is not None
    state = shape.segment("s", 1)
    assert state is not None
    seen_from = king ^ 56 if encoding == "compact" and not chess.Board(fen).turn else king
    slot = int(np.flatnonzero(shape.encoding.squares == seen_from)[0])
    tokens[state.start + slot] = 0
    seen = imagine(scripted, fen, tokens, shape)
    first = seen.line[0]
    assert first.legal
    assert first.state is None
    assert first.problem is not None
    assert "no king" in first.problem or "castling" in first.problem
    assert not first.follows
    assert first.wrong == (king,)
    assert not seen.line[1].legal  # nothing can be played in no position
    assert seen.moves == (line[0],)


def test_a_valid_state_that_does_not_follow(scripted) -> None:
    fen, line = QUIET
    shape = layout("s-asa", 2, "compact", 8)
    tokens = record(fen, line, shape)
    state = shape.segment("s", 1)
    assert state is not None
    tokens[state.start + chess.A2], tokens[state.start + chess.A3] = 0, 1  # a pawn has crept forward
    seen = imagine(scripted, fen, tokens, shape)
    assert seen.line[0].state is not None
    assert not seen.line[0].follows
    assert seen.line[0].wrong == (chess.A2, chess.A3)


def test_film_goes_from_masks_to_the_record(scripted) -> None:
    fen, line = DARK
    shape = layout("s-asa", 3, "compact", 8)
    seen = imagine(scripted, fen, record(fen, line, shape), shape, film=True)
    assert len(seen.film) == 21
    assert seen.film[0].moves == (None, None, None)
    assert seen.film[0].squares == ("?" * 64, "?" * 64)
    assert seen.film[-1].moves == tuple(line[:3])
    masked = [sum(board.count("?") for board in frame.squares) for frame in seen.film]
    assert masked == sorted(masked, reverse=True)
    assert masked[-1] == 0
    board = chess.Board(fen)
    board.push_uci(line[0])
    letters = "".join(str(board.piece_at(square ^ 56) or ".") for square in range(64))
    assert seen.film[-1].squares[0] == letters
    assert set(seen.film[0].confidence[0]) == {0.0}
    for frame in seen.film[1:]:
        assert {one for state in frame.confidence for one in state} == {0.9}  # as sure as the script says
        assert frame.probabilities[line[0]] == pytest.approx(1.0, abs=0.01)  # the rest is hardly on legal moves


def test_raw_legality_without_the_mask(scripted) -> None:
    fen, line = QUIET
    shape = layout("s-a", 1, "compact", 8)
    tokens = record(fen, line, shape)
    illegal, legal = moves.MOVE_ID["a1a8"], moves.MOVE_ID["e1g1"]
    seen = imagine(scripted, fen, tokens, shape, raw={illegal: 0.7, legal: 0.2})
    assert seen.move == "e1g1"
    assert seen.raw_legal is False
    assert seen.legal_mass == pytest.approx(0.2, abs=0.01)
    free = imagine(scripted, fen, tokens, shape, raw={illegal: 0.7, legal: 0.2}, legal=False)
    assert free.move == "a1a8"
    assert not free.line[0].legal


def test_the_game_is_not_over_at_the_root(scripted) -> None:
    fen, line = QUIET
    shape = layout("s-a", 1, "compact", 8)
    seen = imagine(scripted, fen, record(fen, line, shape), shape, raw={moves.NONE: 0.9}, legal=False)
    assert seen.move == moves.NONE_UCI
    assert seen.line[0].problem == "the game is not over at the root"
    assert seen.moves == ()


def test_paradigms_without_states_play_the_moves_on(scripted) -> None:
    fen, line = DARK
    shape = layout("s-aa", 4, "compact", 8)
    seen = imagine(scripted, fen, record(fen, line, shape), shape)
    assert [ply.move for ply in seen.line] == line
    assert all(ply.legal for ply in seen.line)
    assert all(ply.state is None and ply.squares is None for ply in seen.line)


def test_paradigm_with_states_alone(scripted) -> None:
    fen, line = DARK
    shape = layout("s-ass", 4, "compact", 8)
    seen = imagine(scripted, fen, record(fen, line, shape), shape)
    assert [ply.move for ply in seen.line] == [line[0], None, None]
    board = chess.Board(fen)
    for index, ply in enumerate(seen.line):
        board.push_uci(line[index])
        assert ply.state == board.fen()


def test_the_value_is_read_where_there_is_one(scripted) -> None:
    fen, line = QUIET
    shape = layout("s-avsav", 2, "compact", 8)
    tokens = tokenise(replay([Line(fen, line, [96, 30])], 2), shape).tokens[0].tolist()
    seen = imagine(scripted, fen, tokens, shape)
    assert seen.value == pytest.approx(96.5 / 128)


def test_imaginations_are_ranked_by_joint_probability(scripted) -> None:
    """Two futures are drawn for each of two positions; the likelier one is told."""
    fen, line = QUIET
    shape = layout("s-aa", 2, "compact", 8)
    tokens = record(fen, line, shape)
    good, rare = tokens[68], moves.MOVE_ID["a2a3"]
    allowed = tokenise(replay([Line(fen, [])], 1), shape.truncated(1)).legal.numpy()
    choice = Decoding(steps=2, temperature=1.0, imaginations=6)
    net = scripted(lambda x: [{good: 0.5, rare: 0.4}, {tokens[69]: 0.9}])
    given = np.array([tokens[:68]] * 12)
    sample = Absorbing(20).sample(net, given, shape, choice, np.random.default_rng(0), allowed.repeat(12, 0))
    drawn = sample.log_probability.reshape(2, 6)
    assert len(np.unique(drawn)) > 1
    told = read_sample(sample, Roots.of([chess.Board(fen)] * 2, shape), shape)
    assert [one.log_probability for one in told] == pytest.approx(drawn.max(1).tolist())
    best = sample.tokens.reshape(2, 6, -1)[np.arange(2), drawn.argmax(1)]
    assert [one.move for one in told] == [moves.id_uci(int(token)) for token in best[:, 68]]
    assert [(one.steps, one.nodes) for one in told] == [(2, 12)] * 2
    keys = list(told[0].to_json())
    assert keys[keys.index("steps") :][:2] == ["steps", "evaluations"]
    assert told[0].to_json()["evaluations"] == 12


def test_roots_know_their_legal_moves_in_the_layouts_frame() -> None:
    mated = chess.Board("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    boards = [chess.Board("r3k2r/pPp2ppp/8/3pP3/8/8/P1PP1PpP/R3K2R b KQkq - 0 20"), mated]
    for encoding in ("paper", "compact"):
        shape = layout("s-a", 1, encoding, 1)
        mask = token_mask(Roots.of(boards, shape).tokens)
        turned = encoding == "compact"
        wanted = {moves.MOVE_ID[move.uci()] for move in boards[0].legal_moves}
        assert set(mask[0].nonzero()[0]) == ({int(moves.TURN[one]) for one in wanted} if turned else wanted)
        assert mask[1].nonzero()[0].tolist() == [moves.NONE]


@pytest.mark.parametrize(("encoding", "patch"), ENCODINGS)
def test_given_variables_are_those_of_a_record_that_starts_there(encoding: str, patch: int) -> None:
    for paradigm in ("s-asa", "sa-v"):
        shape = layout(paradigm, 2, encoding, patch)
        boards = [chess.Board(fen) for fen, _ in (QUIET, DARK, BLACK)]
        records = replay([Line(board.fen(), []) for board in boards], 1)
        expected = tokenise(records, shape.truncated(1)).tokens[:, : len(shape.encoding.slots)]
        found = given_variables(boards, shape)
        assert found.shape == (3, shape.given_variables)
        assert np.array_equal(found[:, : len(shape.encoding.slots)], expected.numpy())
