"""Known states of a noised record: visible tokens, else those of the state before."""

from __future__ import annotations

import torch

from diffusearch.data.records import Line, replay
from diffusearch.model.known_states import known_states
from diffusearch.tokens import states
from diffusearch.tokens.batch import tokenise
from diffusearch.tokens.layout import layout

FEN = "r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP1b1/2N2N2/PPPQ1PPP/R3K2R {} KQkq - 7 30"


def test_the_paper_encoding_copies_characters_and_changes_sides() -> None:
    shape = layout("s-asa", 3, "paper", 1)
    root = torch.randint(0, 2, (4, 77), generator=torch.Generator().manual_seed(0))
    before, known = known_states(root, shape)
    assert [(state[:, 64] == root[:, 64]).tolist() for state in before] == [[True] * 4, [False] * 4, [True] * 4]
    for state in known:
        assert torch.equal(torch.cat([state[:, :64], state[:, 65:]], 1), torch.cat([root[:, :64], root[:, 65:]], 1))


def test_a_noised_token_is_taken_from_the_state_before() -> None:
    shape = layout("s-asa", 3, "compact", 8)
    line = Line(FEN.format("w"), ["e1g1", "e8c8", "f1e1"])
    clean = tokenise(replay([line], 3), shape).tokens
    first, second = shape.segment("s", 1), shape.segment("s", 2)
    assert first is not None
    assert second is not None
    noised = clean.clone()
    noised[:, second.start :] = torch.from_numpy(shape.sizes[second.start :])
    before, _ = known_states(noised, shape)
    castled = clean[0, first.start : first.start + 64]
    assert torch.equal(before[2][0, :64], castled)
    assert not torch.equal(before[2][0, :64], clean[0, :64])
    noised[:, first.start : first.start + 8] = 13  # the first rank of s_1 is noised: the root's is known
    before, _ = known_states(noised, shape)
    assert torch.equal(before[2][0, :8], clean[0, :8])
    assert torch.equal(before[2][0, 8:64], castled[8:])
    assert before[2][0, states.SIDE] == 0
    assert before[2][0, states.CLOCK] == 7 + 2
