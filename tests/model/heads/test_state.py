"""The heads of states: the copy gates add to the tokens that they copy, and the terms add up."""

from __future__ import annotations

import torch

from diffusearch.model.residual_state import Copies


def test_gates_are_added_at_the_copied_tokens() -> None:
    copied = torch.tensor([[[1, 2], [0, 0], [3, 99]]])  # 99: no piece arrives
    starts = torch.tensor([[[0.0, 0.0], [0.0, 0.0], [-2.0, 5.0]]])
    none = torch.zeros(1, 3, dtype=torch.int64)
    gates = torch.tensor([[[6.0, 1.0], [6.0, 1.0], [6.0, 1.0]]], requires_grad=True)
    logits = Copies(copied, starts, none, none).logits(gates, torch.arange(3), 4)
    assert logits.tolist() == [[[0, 6, 1, 0], [7, 0, 0, 0], [0, 0, 0, 4]]]
    logits.sum().backward()
    assert gates.grad is not None
    assert gates.grad.tolist() == [[[1, 1], [1, 1], [1, 0]]]


def test_the_logits_are_the_sum_of_the_terms(make_net, some_tokens) -> None:
    net = make_net(residual_state=True, attention="prefix")
    torch.nn.init.normal_(net.heads["castling"].castling_table.table)
    tokens = some_tokens(net)
    tokens[:, : net.layout.given_variables] %= 2  # a root is never noised
    seen = {}
    for kind, head in net.heads.items():
        head.register_forward_hook(lambda _, inputs, output, kind=kind: seen.update({kind: (inputs[0], output)}))
    with torch.no_grad():
        net(tokens)
        for kind, count in {"square": 2, "castling": 3, "clock": 2}.items():
            view, logits = seen[kind]
            terms = list(net.heads[kind].terms(view))
            assert len(terms) == count
            assert all(bool(term.any()) for term in terms)
            assert torch.equal(logits, sum(terms[1:], terms[0]))
