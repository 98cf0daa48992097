"""One 20-step decode of the paper's model at batch 1, against 20 full-vocabulary passes of a `transformers` GPT-2.

All have the same weights and decode in the same order with carried-over tokens; the plain one computes all logits of
all places at every step. Ours is measured exact, with the memory of fixed places (cache), and with that and 8-bit
weights, in turns. Prints the ratios of the medians, in how many positions each chooses the plain one's move, and how
much of the plain one's future it imagines.

    python benchmarks/decoding_speed.py [--run RUN] [--order left-to-right] [--positions 20] [--threads 0]

Left to right, the first of the twenty calls fixes the move, with nothing kept from before: in floats it is the plain
one's, whatever the weights. Easy first (the paper's order, the default) squares may be fixed before it, with what was
kept of older calls. Without --run (a run of the shape of recipes/paper-10k.toml) the weights are random, and there a
poor judge of moves.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path

import chess
import numpy as np
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.steps import time_grid
from diffusearch.inference.roots import Roots, given_variables, token_mask
from diffusearch.inference.run import Run, torch_run
from diffusearch.model.denoiser import Denoiser
from diffusearch.training.recipe import recipe_from_dict

STEPS = 20


def same_weights(net: Denoiser) -> GPT2LMHeadModel:
    """A GPT-2 with the weights of a denoiser of the paper's shape."""
    trunk, table = net.config.trunk, net.embedding.table
    places = net.embedding.places
    assert places is not None
    config = GPT2Config(
        vocab_size=len(table), n_positions=len(places), n_embd=trunk.width, n_layer=trunk.layers, n_head=trunk.heads,
        attn_implementation="eager", bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    plain = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        plain.transformer.wte.weight.copy_(table)
        plain.transformer.wpe.weight.copy_(places)
        plain.transformer.ln_f.load_state_dict(net.trunk.norm.state_dict())
        for theirs, ours in zip(plain.transformer.h, net.trunk.blocks, strict=True):
            theirs.ln_1.load_state_dict(ours.attention_norm.state_dict())
            theirs.ln_2.load_state_dict(ours.mlp_norm.state_dict())
            pairs = (
                (theirs.attn.c_attn, ours.attention.qkv),
                (theirs.attn.c_proj, ours.attention.out),
                (theirs.mlp.c_fc, ours.mlp.up),
                (theirs.mlp.c_proj, ours.mlp.down),
            )
            for conv, linear in pairs:
                conv.weight.copy_(linear.weight.t())
                conv.bias.copy_(linear.bias)
    return plain


@torch.inference_mode()
def plain_decode(plain: GPT2LMHeadModel, net: Denoiser, given: Tensor, allowed: Tensor, order: str) -> Tensor:
    """The future's tokens [targets] after 20 whole passes; the first is the move."""
    layout = net.layout
    base, _ = net.embedding.indices(layout)
    sizes = torch.from_numpy(layout.sizes)
    fixed, targets = layout.given_variables, layout.predicted
    x = torch.cat([given[0], sizes[fixed:]])
    visible = torch.zeros(targets, dtype=torch.bool)
    everyone = torch.zeros(1, 1, layout.places, layout.places)  # full attention: nothing is masked
    if net.prefix:
        everyone[..., : layout.given_places, layout.given_places :] = float("-inf")
    vocabulary = torch.arange(len(net.embedding.table))
    inside = (vocabulary >= base[fixed:, None]) & (vocabulary < (base + sizes)[fixed:, None])
    inside[0, base[fixed] : base[fixed] + sizes[fixed]] = allowed[0]
    grid = time_grid(STEPS, STEPS)
    for after in grid[1:]:
        logits = plain((x + base)[None], attention_mask=everyone).logits[0, fixed:]
        log_p = logits.masked_fill(~inside, float("-inf")).log_softmax(-1)
        best, token = log_p.max(-1)
        keep = targets - targets * after // STEPS
        if order == "left-to-right":
            best = -torch.arange(targets, dtype=torch.float32)
        chosen = best.masked_fill(visible, float("inf")).topk(keep).indices
        fresh = torch.zeros_like(visible).index_fill_(0, chosen, True) & ~visible
        x[fixed:] = torch.where(fresh, token - base[fixed:], x[fixed:])
        visible |= fresh
    return x[fixed:]


def positions(count: int) -> list[chess.Board]:
    """Positions of random games."""
    rng, boards = random.Random(0), []
    while len(boards) < count:
        board = chess.Board()
        for _ in range(rng.randrange(4, 60)):
            if board.is_game_over():
                break
            board.push(rng.choice(list(board.legal_moves)))
        if not board.is_game_over():
            boards.append(board)
    return boards


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", type=Path)
    parser.add_argument("--order", choices=("confidence", "left-to-right"), default="confidence")
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--threads", type=int, default=0, help="0: torch's choice")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    if arguments.run:
        run = Run.load(arguments.run, "torch")
    else:
        recipe = recipe_from_dict({})
        torch.manual_seed(0)
        run = torch_run(recipe, Denoiser(recipe.model))
        with torch.no_grad():
            for parameter in run.net.parameters():
                parameter.mul_(2.0)  # fresh weights answer nearly alike: give them opinions
    plain, small = same_weights(run.net), run.quantised()
    choices = {
        "exact": (run, {}),
        "cache": (run, {"cache": True}),
        "cache, 8 bits": (small, {"cache": True}),
        "cache, 3 ahead": (run, {"cache": True, "ahead": 3}),
        "cache, 3 ahead, 8 bits": (small, {"cache": True, "ahead": 3}),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ("plain", *choices)}
    same, alike = dict.fromkeys(seconds, 0), dict.fromkeys(seconds, 0.0)
    for board in positions(arguments.positions):
        given = given_variables([board], run.layout)
        allowed = token_mask(Roots.of([board], run.layout).tokens)
        began = time.perf_counter()
        future = plain_decode(plain, run.net, torch.from_numpy(given), torch.from_numpy(allowed), arguments.order)
        seconds["plain"].append(time.perf_counter() - began)
        same["plain"], alike["plain"] = same["plain"] + 1, alike["plain"] + 1.0
        for name, (net, options) in choices.items():
            decoding = Decoding(steps=STEPS, order=arguments.order, carry="keep", **options)
            began = time.perf_counter()
            sample = net.backend.sample(given, net.layout, decoding, np.random.default_rng(0), allowed, False)
            seconds[name].append(time.perf_counter() - began)
            ours = torch.from_numpy(sample.tokens[0, run.layout.given_variables :])
            same[name] += int(ours[0] == future[0])
            alike[name] += float((ours == future).double().mean())
    middle = {name: statistics.median(times) for name, times in seconds.items()}
    weights, count = f"weights of {run.name}" if arguments.run else "random weights", arguments.positions
    shape = f"{STEPS} steps, {run.layout.places} places"
    print(f"threads {torch.get_num_threads()}, {shape}, order {arguments.order}, {weights}")
    for name, value in middle.items():
        hits = f"the same move in {same[name]} of {count}, {100 * alike[name] / count:.1f} % of the future alike"
        print(f"{name:22s} {1000 * value:8.1f} ms a move, ratio {middle['plain'] / value:5.2f}, {hits}")


if __name__ == "__main__":
    main()
