"""The draft reader: at its start a rule in closed form, and blind to what was not drafted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.model.heads.drafts import DraftReader, Drafts
from diffusearch.tokens.drafts import NODES
from diffusearch.tokens.layout import layout

ROOTS, DRAFTS, WIDTH = 2, 3, 16
LAYOUT = layout("s-asa", 2, "compact", 8)


def reader(seed: int | None = None) -> DraftReader:
    """A fresh reader in float64; with a seed all its weights are random."""
    torch.manual_seed(seed or 0)
    made = DraftReader(LAYOUT, WIDTH).double().eval()
    if seed is not None:
        with torch.no_grad():
            for parameter in made.parameters():
                parameter.add_(torch.randn(parameter.shape, dtype=torch.float64) * 0.3)
    return made


def drafts(seed: int = 1) -> Drafts:
    """Random drafts in which every node exists and no game is over."""
    chance = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=chance, dtype=torch.float64)

    nodes = (ROOTS, DRAFTS, NODES)
    return Drafts(
        draw(ROOTS, LAYOUT.given_places, WIDTH),
        draw(*nodes, LAYOUT.given_places, WIDTH),
        draw(ROOTS),
        draw(*nodes),
        -draw(*nodes).abs(),
        torch.ones(nodes, dtype=torch.bool),
        torch.zeros(nodes, dtype=torch.bool),
    )


def without(some: Drafts, *nodes: int, draft: int | slice = slice(None)) -> Drafts:
    exists = some.exists.clone()
    exists[:, draft, list(nodes)] = False
    return some._replace(exists=exists)


def test_a_fresh_reader_is_the_rule_of_the_mean_along_one_line() -> None:
    some = without(drafts(), 3, 4)
    found = reader()(some)
    worth = some.odds[..., :3].mean(-1)
    torch.testing.assert_close(found.worth, worth)
    torch.testing.assert_close(found.scores, 16.0 * worth)
    torch.testing.assert_close(found.rest, 16.0 * worth.amax(1))
    torch.testing.assert_close(found.odds, some.odds)


def test_replies_are_joined_by_a_soft_minimum() -> None:
    some, made = drafts(), reader()
    first, second = some.odds[..., :3].mean(-1), some.odds[..., [0, 3, 4]].mean(-1)
    temperature = made.temperature.detach()
    expected = -temperature * ((-first / temperature).exp() + (-second / temperature).exp()).log()
    torch.testing.assert_close(made(some).worth, expected)


@pytest.mark.parametrize(("gone", "of"), [((2, 3, 4), (0, 1, 1)), ((1, 2, 3, 4), (0, 0, 0))])
def test_a_missing_position_counts_as_the_one_before(gone: tuple[int, ...], of: tuple[int, ...]) -> None:
    some = without(drafts(), *gone)
    torch.testing.assert_close(reader()(some).worth, some.odds[..., list(of)].mean(-1))


def test_what_was_not_drafted_changes_nothing() -> None:
    some, made = without(without(drafts(), 3, 4), 0, 1, 2, draft=2), reader(5)
    other = drafts(2)
    hidden, odds, shares = some.hidden.clone(), some.odds.clone(), some.log_shares.clone()
    hidden[:, :, 3:], odds[:, :, 3:], shares[:, :, 3:] = other.hidden[:, :, 3:], 9.0, -3.0
    hidden[:, 2], odds[:, 2] = other.hidden[:, 2], -9.0
    found, again = made(some), made(some._replace(hidden=hidden, odds=odds, log_shares=shares))
    torch.testing.assert_close(again.scores, found.scores)
    torch.testing.assert_close(again.rest, found.rest)
    torch.testing.assert_close(found.scores[:, 2], found.rest)  # a move without a draft is like all others


def test_squares_correct_values_but_not_those_of_finished_games() -> None:
    some, made = drafts(), reader(5)
    over = some.over.clone()
    over[0, 1, 2] = True
    found = made(some._replace(over=over))
    changed = found.odds != some.odds
    assert not changed[0, 1, 2]
    assert changed.sum() == changed.numel() - 1


def test_positions_of_the_opponent_are_turned_to_the_movers_frame() -> None:
    assert reader().turned.tolist() == [7, 6, 5, 4, 3, 2, 1, 0, 8]
    small = DraftReader(layout("s-asa", 2, "compact", 4), WIDTH)  # 2x2 squares a place
    assert small.turned.tolist() == [12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3, 16]
    fixed = DraftReader(layout("s-asa", 2, "paper", 1), WIDTH)  # always White's frame
    assert fixed.turned.tolist() == list(range(77))


def test_the_order_of_drafts_matters_only_by_their_rank() -> None:
    some, made = drafts(), reader(5)
    with torch.no_grad():
        made.numbers[0].weight[:, -1] = 0.0  # the rank
    turned = Drafts(*(one.flip(1) if one.ndim > 2 and one.shape[1] == DRAFTS else one for one in some))
    torch.testing.assert_close(made(turned).scores, made(some).scores.flip(1))


def test_a_model_has_the_reader_only_where_it_is_asked_for(make_net: Callable[..., Denoiser]) -> None:
    assert make_net().draft_reader is None
    net = make_net(root_value=True, attention="prefix", draft_reader=True)
    assert net.draft_reader is not None
    assert "draft_reader.rule" in dict(net.named_parameters())
    for wrong in ({"root_value": False}, {"trunk": replace(net.config.trunk, attention="full")}):
        with pytest.raises(UserError, match="draft_reader = true needs root_value = true and attention = 'prefix'"):
            replace(net.config, **wrong).check()  # type: ignore[arg-type]
    for wrong in ({"paradigm": "s-a"}, {"paradigm": "s-aa"}, {"horizon": 1}):
        with pytest.raises(UserError, match="draft_reader = true needs a state after the first move"):
            replace(net.config, **wrong).check()  # type: ignore[arg-type]
