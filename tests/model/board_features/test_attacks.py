"""Attack features: lines and jumps of the board; zero at the start; enough to learn what a check is."""

from __future__ import annotations

import random
from collections.abc import Callable

import chess
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.process import make_process
from diffusearch.model.board_features.attacks import AttackFeatures
from diffusearch.model.board_features.lines import joined_squares
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens import moves, states
from diffusearch.tokens.layout import layout


def codes(board: chess.Board) -> torch.Tensor:
    return torch.from_numpy(states.board_row(board, board.turn)[None, :64].astype(np.int64))


def random_features(patch: int = 8) -> AttackFeatures:
    torch.manual_seed(0)
    features = AttackFeatures(layout("s-a", 1, "compact", patch), 16, 4)
    torch.nn.init.normal_(features.lines)
    return features


def test_the_squares_between_two_squares() -> None:
    source, target, between = joined_squares()
    assert len(source) == 1792  # 1456 of a queen, 336 of a knight
    for pair in range(len(source)):
        want = set(chess.SquareSet.between(int(source[pair]), int(target[pair])))
        assert set(np.flatnonzero(between[:, pair]).tolist()) == want


@pytest.mark.parametrize("patch", [1, 2, 4, 8])
def test_a_square_sees_along_open_lines_and_through_one_piece(patch: int) -> None:
    features = random_features(patch)
    near = layout("s-a", 1, "compact", patch)
    place = near.place_of[chess.A1]

    def seen(pieces: str) -> torch.Tensor:
        with torch.no_grad():
            seen: torch.Tensor = features(codes(chess.Board(f"{pieces} w - - 0 1")))[0, place]
        return seen

    nothing = seen("8/8/8/8/8/8/8/R7")
    clear, one, two = seen("r7/8/8/8/8/8/8/R7"), seen("r7/8/8/8/8/8/P7/R7"), seen("r7/8/8/8/8/P7/P7/R7")
    assert not torch.equal(nothing, clear)
    if patch == 1:  # a larger place also sees from its other squares
        assert not torch.equal(one, seen("8/8/8/8/8/8/P7/R7"))  # the rook behind the pawn: an x-ray
        assert torch.allclose(two, seen("8/8/8/8/8/P7/P7/R7"), rtol=1e-4, atol=1e-5)  # beyond two: nothing
        assert torch.allclose(seen("8/8/8/8/8/8/4k3/R7"), nothing, rtol=1e-4, atol=1e-5)  # no line, no knight's jump


def test_a_place_reads_its_own_squares_and_tells_them_apart() -> None:
    features = random_features()

    def vectors_of(pieces: str) -> torch.Tensor:
        with torch.no_grad():
            vectors: torch.Tensor = features(codes(chess.Board(f"{pieces} w - - 0 1")))[0]
        return vectors

    # four pieces in the corner; what is added beyond them is seen through no line but the second rank and the long ones
    corner = vectors_of("8/8/8/8/8/7p/7p/4pppN")
    other = vectors_of("8/8/8/8/8/7p/7p/4ppNp")
    assert (corner != other).any(-1).tolist()[:3] == [True, True, True]
    walled = vectors_of("8/8/8/8/8/5ppp/5ppp/5ppN")
    bishop = vectors_of("8/8/8/8/8/5ppp/5ppp/5ppB")  # behind two walls: only near ranks can tell
    assert (walled != bishop).any(-1).tolist() == [True, True, True, False, False, False, False, False]
    west, east = vectors_of("8/8/8/8/8/8/8/N7"), vectors_of("8/8/8/8/8/8/8/7N")
    assert not torch.allclose(west[2], east[2])  # the same ways, other squares of the rank


def test_they_start_at_zero(make_net: Callable[..., Denoiser]) -> None:
    net, plain = (make_net(horizon=2, patch=8, attention="prefix", board_features=on) for on in (True, False))
    plain.load_state_dict({name: w for name, w in net.state_dict().items() if name in plain.state_dict()})
    tokens = torch.zeros(2, net.layout.variables, dtype=torch.int64)
    tokens[:, :64] = codes(chess.Board())
    assert torch.equal(net(tokens)["action"], plain(tokens)["action"])
    assert net.attack_features is not None
    with torch.no_grad():
        net.attack_features.lines += 0.1
    assert not torch.equal(net(tokens)["action"], plain(tokens)["action"])


@pytest.mark.slow
def test_they_learn_what_a_check_is() -> None:
    chance = random.Random(3)
    inputs, checks, board = [], [], chess.Board()
    while len(inputs) < 1800:
        options = list(board.legal_moves)
        if not options or board.halfmove_clock > 40:
            board = chess.Board()
            continue
        board.push(chance.choice([m for m in options if board.gives_check(m)] or options))
        if board.is_check() == (len(checks) % 2 == 0):  # as many checks as other positions
            inputs.append(codes(board)[0])
            checks.append(board.is_check())
    rows, wanted = torch.stack(inputs), torch.tensor(checks, dtype=torch.int64)
    torch.manual_seed(0)
    features = AttackFeatures(layout("s-a", 1, "compact", 8), 2, 8)
    optimiser = torch.optim.Adam(features.parameters(), 0.03)
    for step in range(90):
        part = slice(step % 7 * 200, step % 7 * 200 + 200)
        optimiser.zero_grad()
        F.cross_entropy(features(rows[part]).sum(1), wanted[part]).backward()
        optimiser.step()
    right = (features(rows[1400:]).sum(1).argmax(-1) == wanted[1400:]).float().mean()
    assert right > 0.8


def test_autoregressive_decoding_reads_the_same_features(make_net: Callable[..., Denoiser]) -> None:
    net = make_net(paradigm="s-a", horizon=1, patch=8, attention="causal", board_features=True)
    assert net.attack_features is not None
    torch.nn.init.normal_(net.attack_features.lines)
    given = torch.from_numpy(states.board_row(chess.Board(), chess.WHITE)[None].astype(np.int64))
    record = torch.cat([given, torch.tensor([[len(moves.MOVES) + 1]])], dim=1)
    process, decoding = make_process("autoregressive", 1), Decoding(legal=False)
    sample = process.sample(net, given.numpy(), net.layout, decoding, np.random.default_rng(0))
    assert sample.raw_move_logits is not None
    with torch.inference_mode():
        wanted = net(record)["action"][0, 0]
    assert torch.allclose(
        torch.from_numpy(sample.raw_move_logits[0]), wanted, rtol=1e-4, atol=1e-5 * float(wanted.abs().max())
    )
