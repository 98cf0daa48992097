"""The loss: by hand, against the variational bound, and what must not count."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import chess
import numpy as np
import pytest
import torch

from diffusearch.data.records import Line, replay
from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.autoregressive import Autoregressive
from diffusearch.diffusion.gaussian import Gaussian
from diffusearch.diffusion.loss import LossConfig, cross_entropy, soft_shares, variable_weights
from diffusearch.diffusion.multinomial import Multinomial
from diffusearch.diffusion.process import make_process
from diffusearch.diffusion.schedule import alpha, time_weight
from diffusearch.errors import UserError
from diffusearch.tokens.batch import Batch, tokenise
from diffusearch.tokens.moves import move_ids

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def batch_of(tokens: list[list[int]], known: list[list[bool]] | None = None) -> Batch:
    x = torch.tensor(tokens)
    told = torch.ones_like(x, dtype=torch.bool) if known is None else torch.tensor(known)
    everyone = torch.ones(len(x), 1, dtype=torch.bool)
    return Batch(x, told, everyone, torch.full((len(x),), -1), ~everyone[:, 0])


def test_hand_worked_example(tiny_layout) -> None:
    """Two records at t = 5 and t = 20 of T = 20, linear weights 0.8 and 0.05; the second record's coin is clean."""
    logits = {
        "coin": torch.tensor([[[0.0, math.log(3.0)]], [[5.0, -5.0]]]),  # the first record's coin: 1/4, 3/4
        "die": torch.tensor([[[0.0, 0.0, 0.0]], [[math.log(2.0), 0.0, 0.0]]]),  # thirds; 1/2, 1/4, 1/4
    }
    batch = batch_of([[0, 0, 1], [1, 1, 2]])
    noised = torch.tensor([[False, True, True], [False, False, True]])
    lambdas = time_weight("linear", torch.tensor([5, 20]), 20)
    losses = cross_entropy(logits, batch, tiny_layout, noised, lambdas, LossConfig())
    by_hand = (0.8 * (math.log(4.0) + math.log(3.0)) + 0.05 * math.log(4.0)) / (2 * 2)
    assert float(losses.total) == pytest.approx(by_hand, rel=1e-6)
    assert losses.by_type["coin"] == pytest.approx(math.log(4.0))
    assert losses.by_type["die"] == pytest.approx((math.log(3.0) + math.log(4.0)) / 2)


class Table:
    """A denoiser given by a table: for every record x_t its own distributions, drawn once at random."""

    self_conditioning = None

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        self.coin = rng.dirichlet(np.ones(2), size=(3, 3, 4))  # [x_0, x_1, x_2] with masks as the last ids
        self.die = rng.dirichlet(np.ones(3), size=(3, 3, 4))

    def hidden(self, tokens: torch.Tensor, layout: object, root: None = None) -> torch.Tensor:
        return tokens

    def logits(self, hidden: torch.Tensor, layout: object, tokens: object = None) -> dict[str, torch.Tensor]:
        x = tuple(hidden.numpy().T)
        return {
            "coin": torch.from_numpy(np.log(self.coin[x]))[:, None],
            "die": torch.from_numpy(np.log(self.die[x]))[:, None],
        }


def variational_bound(net: Table, x_0: tuple[int, int, int], timesteps: int) -> float:
    """L_vb by enumeration of all x_t and x_{t-1}, from the definition of the absorbing process alone."""
    sizes = (2, 3)

    def q_back(seen: int, clean: int, mask: int, t: int) -> dict[int, float]:
        """q(x_{t-1} | x_t, x_0) of one variable by Bayes' rule."""
        now, before = float(alpha(t, timesteps)), float(alpha(t - 1, timesteps))
        if seen != mask:
            return {seen: 1.0}
        return {clean: (before - now) / (1.0 - now), mask: (1.0 - before) / (1.0 - now)}

    total = 0.0
    for t in range(1, timesteps + 1):
        keep = float(alpha(t, timesteps))
        for pattern in itertools.product((False, True), repeat=2):
            weight = math.prod(1.0 - keep if masked else keep for masked in pattern)
            seen = [sizes[i] if masked else x_0[i + 1] for i, masked in enumerate(pattern)]
            where = (x_0[0], *seen)
            beliefs = (net.coin[where], net.die[where])
            for i in range(2):
                true = q_back(seen[i], x_0[i + 1], sizes[i], t)
                model: dict[int, float] = {}
                for guess, share in enumerate(beliefs[i]):
                    for token, chance in q_back(seen[i], guess, sizes[i], t).items():
                        model[token] = model.get(token, 0.0) + share * chance
                divergence = sum(p * math.log(p / model[token]) for token, p in true.items() if p > 0)
                total += weight * divergence  # for t = 1 the truth is certain: this is -log p(x_0 | x_1)
    return total


def test_expected_loss_is_the_variational_bound(tiny_layout) -> None:
    timesteps, x_0 = 4, (1, 0, 2)
    net, records = Table(), 60_000
    bound = variational_bound(net, x_0, timesteps)
    config = LossConfig(time_weight="reciprocal")
    exact = 0.0  # the expectation over t and x_t, with the project's own loss
    for t in range(1, timesteps + 1):
        keep = float(alpha(t, timesteps))
        for pattern in itertools.product((False, True), repeat=2):
            noised = torch.tensor([[False, *pattern]])
            x = torch.where(noised, torch.from_numpy(tiny_layout.sizes), torch.tensor([x_0]))
            lambdas = time_weight("reciprocal", torch.tensor([t]), timesteps)
            loss = cross_entropy(
                net.logits(x, tiny_layout), batch_of([list(x_0)]), tiny_layout, noised, lambdas, config
            )
            exact += math.prod(1.0 - keep if masked else keep for masked in pattern) * float(loss.total) / timesteps
    assert timesteps * 2 * exact == pytest.approx(bound, rel=1e-5)
    batch = batch_of([list(x_0)] * records)
    drawn, _ = Absorbing(timesteps).loss(net, batch, tiny_layout, config, torch.Generator().manual_seed(0))
    assert timesteps * 2 * float(drawn.total) == pytest.approx(bound, rel=0.02)


def test_unknown_variables_have_no_loss_and_are_always_noised(tiny_layout) -> None:
    """Whatever stands in an unknown variable changes nothing."""
    seen: list[torch.Tensor] = []

    class Watching(Table):
        def hidden(self, tokens: torch.Tensor, layout: object, root: None = None) -> torch.Tensor:
            seen.append(tokens)
            return tokens

    known = [[True, True, False]] * 500
    for make in (Absorbing, Multinomial):
        totals = []
        for hidden_token in (0, 2):
            batch = batch_of([[1, 0, hidden_token]] * 500, known)
            losses, _ = make(4).loss(Watching(), batch, tiny_layout, LossConfig(), torch.Generator().manual_seed(1))
            totals.append(float(losses.total))
            assert losses.by_type["die"] == 0.0
        assert totals[0] == totals[1]
        assert torch.equal(seen[-1], seen[-2])
        assert bool((seen[-1][:, 2] == 3).all()) == (make is Absorbing)


def test_multinomial_counts_only_what_differs(tiny_layout) -> None:
    net = Table()
    batch = batch_of([[1, 0, 2]] * 3000)
    process, generator = Multinomial(1), torch.Generator().manual_seed(2)
    losses, _ = process.loss(net, batch, tiny_layout, LossConfig(time_weight="constant"), generator)
    by_hand = 0.0  # T = 1: every variable is uniform
    for coin, die in itertools.product(range(2), range(3)):
        where = (1, coin, die)
        missed = (coin != 0) * -math.log(net.coin[where][0]) + (die != 2) * -math.log(net.die[where][2])
        by_hand += missed / 6 / 2
    assert float(losses.total) == pytest.approx(by_hand, rel=0.06)


def chess_batch(layout, lines: list[Line] | None = None) -> Batch:
    lines = lines or [Line(START, ["e2e4", "e7e5"], [64, 64]), Line(START, ["d2d4"], [70])]
    return tokenise(replay(lines, max(2, layout.horizon)), layout)


def test_softmax_over_legal_moves_only(make_net) -> None:
    """With legal_root the first move's loss ignores how much lies on illegal moves."""
    net = make_net(paradigm="s-a", horizon=1)
    batch = chess_batch(net.layout)
    noised = torch.zeros_like(batch.known)
    noised[:, -1] = True
    logits = {"action": torch.zeros(2, 1, 1969)}
    config = LossConfig(legal_root=True, raw_move=0.0)
    losses = cross_entropy(logits, batch, net.layout, noised, torch.ones(2), config)
    assert float(losses.total) == pytest.approx(math.log(20))  # twenty first moves
    with_raw = LossConfig(legal_root=True, raw_move=0.5)
    both = cross_entropy(logits, batch, net.layout, noised, torch.ones(2), with_raw)
    assert float(both.total) == pytest.approx(math.log(20) + 0.5 * math.log(1969), rel=1e-6)
    lawful = LossConfig(legal_root=True, raw_move=0.0, legality=3.0)
    more = cross_entropy(logits, batch, net.layout, noised, torch.ones(2), lawful)
    assert float(more.total) == pytest.approx(math.log(20) + 3.0 * math.log(1969 / 20), rel=1e-6)


SCORED = [("e2e4", 0.60), ("d2d4", 0.57), ("g1f3", 0.54)]


def soft_batch(layout, black: bool = False) -> Batch:
    """The first record has three scored moves, the second none; with `black` both have Black to move."""
    fen = START.replace(" w ", " b ") if black else START
    scored = [
        (chess.Move(m.from_square ^ 56, m.to_square ^ 56).uci() if black else uci, win)
        for uci, win in SCORED
        for m in [chess.Move.from_uci(uci)]
    ]
    lines = [Line(fen, [scored[0][0]], scored=scored), Line(fen, [scored[1][0]])]
    return tokenise(replay(lines, layout.horizon, scored=4), layout)


def test_soft_shares_are_a_softmax_of_win_probabilities(make_net) -> None:
    batch = soft_batch(make_net(paradigm="s-a", horizon=1).layout)
    powers = [math.exp((win - 0.60) / 0.03) for _, win in SCORED]
    expected = [power / sum(powers) for power in powers]
    assert soft_shares(batch, 0.03)[0].tolist() == pytest.approx([*expected, 0.0], rel=1e-5)
    assert soft_shares(batch, 0.03)[1].tolist() == [0.0] * 4


@pytest.mark.parametrize("encoding", ["paper", "compact"])
@pytest.mark.parametrize("black", [False, True])
def test_soft_targets_mix_the_oracles_move_and_the_shares(make_net, encoding: str, black: bool) -> None:
    patch = 1 if encoding == "paper" else 8
    layout = make_net(paradigm="s-a", horizon=1, encoding=encoding, patch=patch).layout
    batch = soft_batch(layout, black)
    chance = torch.Generator().manual_seed(0)
    scores = torch.randn((2, 1, 1969), generator=chance)
    noised = torch.zeros_like(batch.known)
    noised[:, -1] = True
    config = LossConfig(legal_root=True, raw_move=0.0, soft=0.4, soft_temperature=0.03)
    found = cross_entropy({"action": scores}, batch, layout, noised, torch.ones(2), config)
    legal = scores[:, 0].masked_fill(~batch.legal, -math.inf).log_softmax(-1)
    turned = black and encoding == "paper"  # the batch is built with Black's moves; their tokens are in the frame
    moved = [
        chess.Move(m.from_square ^ 56, m.to_square ^ 56) if turned else m
        for m in (chess.Move.from_uci(uci) for uci, _ in SCORED)
    ]
    tokens = move_ids(moved)
    powers = [math.exp((win - 0.60) / 0.03) for _, win in SCORED]
    soft = -sum(float(legal[0, token]) * power for token, power in zip(tokens, powers, strict=True)) / sum(powers)
    first = 0.6 * -float(legal[0, tokens[0]]) + 0.4 * soft
    assert float(found.total) == pytest.approx((first - float(legal[1, tokens[1]])) / 2, rel=1e-5)


def test_soft_targets_of_illegal_and_missing_moves_give_finite_gradients(make_net) -> None:
    net = make_net(paradigm="s-a", horizon=1).train()
    config = LossConfig(legal_root=True, soft=1.0)
    losses, _ = Absorbing(1).loss(net, soft_batch(net.layout), net.layout, config, torch.Generator())
    losses.total.backward()
    assert bool(losses.total.isfinite())
    assert all(bool(p.grad.isfinite().all()) for p in net.parameters() if p.grad is not None)


def test_changed_squares_weigh_more(make_net) -> None:
    layout = make_net().layout
    batch = chess_batch(layout, [Line(START, ["e2e4", "e7e5"])])
    logits = {group.type: torch.zeros(1, len(group.variables), group.size) for group in layout.groups}
    noised = torch.zeros_like(batch.known)
    state = layout.segment("s", 1)
    assert state is not None
    noised[:, state.start : state.start + 64] = True
    plain = cross_entropy(logits, batch, layout, noised, torch.ones(1), LossConfig())
    more = cross_entropy(logits, batch, layout, noised, torch.ones(1), LossConfig(changed=5.0))
    assert float(more.total / plain.total) == pytest.approx((62 + 2 * 5) / 64)  # e2 and e4


@pytest.mark.parametrize(("uci", "changed"), [("e2e4", {"clock"}), ("g1f3", set()), ("h1h3", {"castling"})])
def test_rights_and_clocks_that_change_weigh_more(make_net, uci: str, changed: set[str]) -> None:
    """What happens at every move anyhow does not: the side changes, the clock counts on."""
    layout = make_net(horizon=2).layout
    batch = chess_batch(layout, [Line("4k3/8/8/8/8/8/4P3/4K1NR w K - 3 9", [uci])])
    weights = variable_weights(batch, layout, LossConfig(changed=5.0))
    state = layout.segment("s", 1)
    assert state is not None
    span = range(state.start + 64, state.start + len(layout.encoding.slots))
    assert {layout.types[variable] for variable in span if weights[0, variable] == 5.0} == changed


def test_self_conditioning_feeds_a_first_pass_to_half_of_the_batches(make_net) -> None:
    net = make_net("prefix", self_conditioning=True)
    batch, fed = chess_batch(net.layout), []
    plain = net.hidden
    net.hidden = lambda x, layout, root=None, estimate=None: (fed.append(estimate), plain(x, layout, root, estimate))[1]
    generator = torch.Generator().manual_seed(0)
    for _ in range(40):
        Absorbing().loss(net, batch, net.layout, LossConfig(), generator)
    estimates = [one for one in fed if one is not None]
    assert 10 <= len(estimates) <= 30
    assert len(fed) == 40 + len(estimates)  # each estimate takes a pass of its own
    sizes = torch.from_numpy(net.layout.sizes)
    assert all(bool((one < sizes).all()) for one in estimates)  # no mask is left
    assert all(torch.equal(one[:, :68], batch.tokens[:, :68]) for one in estimates)


def test_root_without_legal_moves_gives_a_finite_loss(make_net) -> None:
    """A game that is over at the root: the answer is NONE, under the mask of legal moves too."""
    net = make_net(paradigm="s-a", horizon=1).train()
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    batch = chess_batch(net.layout, [Line(mated, []), Line(START, ["e2e4"])])
    losses, _ = Absorbing(1).loss(net, batch, net.layout, LossConfig(legal_root=True), torch.Generator())
    losses.total.backward()
    assert bool(losses.total.isfinite())
    assert all(bool(p.grad.isfinite().all()) for p in net.parameters() if p.grad is not None)


def test_autoregressive_loss_counts_every_known_variable(make_net) -> None:
    net = make_net("causal", paradigm="s-aa")
    batch = chess_batch(net.layout)
    losses, hidden = Autoregressive().loss(net, batch, net.layout, LossConfig(), torch.Generator())
    logits = net.logits(hidden, net.layout)["action"].log_softmax(-1)
    known = [(0, 0), (0, 1), (1, 0)]  # the second record's line is one move long
    by_hand = -sum(float(logits[r, ply, batch.tokens[r, 68 + ply]].detach()) for r, ply in known) / (2 * 2)
    assert float(losses.total.detach()) == pytest.approx(by_hand, rel=1e-5)


def test_autoregressive_needs_causal_attention(make_net) -> None:
    net = make_net("full")
    with pytest.raises(UserError, match="causal"):
        Autoregressive().loss(net, chess_batch(net.layout), net.layout, LossConfig(), torch.Generator())


def test_gaussian_loss_is_the_cross_entropy_at_the_first_step(make_net) -> None:
    """T = 1: only the reconstruction is left. The vectors of unknown variables do not matter."""
    net = make_net("prefix")
    batch = chess_batch(net.layout)
    losses, hidden = Gaussian(1).loss(net, batch, net.layout, LossConfig(), torch.Generator().manual_seed(0))
    noised = torch.ones_like(batch.known)
    noised[:, : net.layout.given_variables] = False
    logits = net.logits(hidden, net.layout)
    plain = cross_entropy(logits, batch, net.layout, noised, torch.ones(2), LossConfig())
    assert float(losses.total.detach()) == pytest.approx(float(plain.total.detach()))
    batch.tokens[~batch.known] = 0
    again, _ = Gaussian(1).loss(net, batch, net.layout, LossConfig(), torch.Generator().manual_seed(0))
    assert float(again.total.detach()) == float(losses.total.detach())


def test_gaussian_diffusion_term_vanishes_for_a_perfect_prediction(make_net) -> None:
    """A network that is certain of x_0 expects exactly its vector: no loss at any time."""
    net = make_net(paradigm="s-aa")
    batch = chess_batch(net.layout, [Line(START, ["e2e4", "e7e5"])])
    right = torch.nn.functional.one_hot(batch.tokens[:, 68:], 1969).float() * 100.0
    sure = SimpleNamespace(
        embedding=net.embedding,
        hidden_of_vectors=lambda vectors, layout, tokens: vectors,
        logits=lambda hidden, layout, tokens: {"action": right},
    )
    losses, _ = Gaussian(20).loss(sure, batch, net.layout, LossConfig(), torch.Generator())  # type: ignore[arg-type]
    assert float(losses.total.detach()) < 1e-6


def test_gaussian_loss_does_not_pull_the_vectors_together(make_net) -> None:
    """If it could, making all vectors alike would be the cheapest way to predict them."""
    net = make_net(paradigm="s-aa")
    batch = chess_batch(net.layout, [Line(START, ["e2e4", "e7e5"])] * 20)
    logits = torch.zeros(20, 2, 1969, requires_grad=True)
    undecided = SimpleNamespace(
        embedding=net.embedding,
        hidden_of_vectors=lambda vectors, layout, tokens: vectors.detach(),
        logits=lambda hidden, layout, tokens: {"action": logits},
    )
    losses, _ = Gaussian(20).loss(undecided, batch, net.layout, LossConfig(), torch.Generator())  # type: ignore[arg-type]
    losses.total.backward()
    assert net.embedding.table.grad is None
    assert logits.grad is not None
    assert bool((logits.grad.gather(2, batch.tokens[:, 68:, None]) < 0).all())  # the right moves become likelier


def test_processes_by_name() -> None:
    assert isinstance(make_process("multinomial", 7), Multinomial)
    assert make_process("direct", 20).timesteps == 1
    assert make_process("absorbing", 20).timesteps == 20
    with pytest.raises(UserError, match=r"loud.*absorbing"):
        make_process("loud", 20)
    with pytest.raises(UserError, match="timesteps"):
        make_process("absorbing", 0)
