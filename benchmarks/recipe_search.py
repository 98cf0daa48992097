"""What makes a better recipe? Variants of the flagship's recipes at equal compute, each with the same seeds.

Every run trains for the same processor time of one thread (validation does not count), so that it does not matter what
else the machine does; the rate is constant and the average of the weights is measured, on games that training never
saw. `policy` starts from nothing; `futures` grows futures on a policy (--start). A run's figures are kept in a line
of OUT as soon as it is done: called again, the same command goes on with what is missing. Prints the table.

    python benchmarks/recipe_search.py policy --out OUT.jsonl --minutes 2 --seeds 1 2 --set 'data.sources=[...]' \
        --set data.validation=RECORDS [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusearch.diffusion.roots import masked

from diffusearch.data.loader import tokenise
from diffusearch.data.records import Records
from diffusearch.training.processes import World
from diffusearch.training.recipe import Recipe, load_recipe
from diffusearch.training.sources import open_sources
from diffusearch.training.state import Training
from diffusearch.training.validation import validate, weights_to_use

RECIPES = Path(__file__).parent.parent / "recipes" / "flagship"
RECORDS = 2048  # of validation
COMMON = ("threads=1", "optimiser.batch=256", "optimiser.micro_batches=1", "optimiser.schedule=constant",
          "optimiser.warmup=10", "optimiser.steps=1000000", f"watch.validate_records={RECORDS}")  # fmt: skip
BARE = ("model.grounded=false", "model.rights=false")


def shape(layers: int, width: int, heads: int) -> tuple[str, ...]:
    """Settings of another trunk."""
    return f"model.trunk.layers={layers}", f"model.trunk.width={width}", f"model.trunk.heads={heads}"


# Family -> its recipe and further settings, and its variants: what each changes in that. Where a record costs much,
# batches are small, so that there are steps enough to learn in.
FAMILIES: dict[str, tuple[str, tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "policy": (
        "policy.toml",
        ("optimiser.ema=0.97",),
        {
            "base: a rank a place, 6 x 192": (),
            "2 x 2 squares a place": ("model.patch=4",),
            "2 squares a place": ("model.patch=2", "optimiser.batch=128"),
            "1 square a place": ("model.patch=1", "optimiser.batch=64"),
            "the paper's encoding and head": (
                "model.encoding=paper", "model.patch=1", "model.head=vocabulary", "model.standing=false",
                "model.exposure=false", "model.sight=0", "model.trunk.attention=full", "data.mirror=false",
                "optimiser.batch=64",
            ),
            "no sight": ("model.sight=0",),
            "no sight, no standing": ("model.sight=0", "model.standing=false", "model.exposure=false"),
            "linear move head": ("model.head=typed", "model.standing=false", "model.exposure=false"),
            "no exposure": ("model.exposure=false",),
            "softmax over all moves": ("loss.legal_root=false", "loss.legality=0.0"),
            "AdamW, 1e-3": ("optimiser.kind=adamw", "optimiser.rate=1e-3"),
            "Muon, 4e-3": ("optimiser.rate=4e-3",),
            "6 x 128": shape(6, 128, 4),
            "6 x 256": shape(6, 256, 8),
            "3 x 192": shape(3, 192, 6),
            "10 x 192": shape(10, 192, 6),
            "no average": ("optimiser.ema=0.0",),
            "no auxiliary value": ("model.root_value=false",),
            "no mirror": ("data.mirror=false",),
            "RMSNorm, SwiGLU, QK-norm": (
                "model.trunk.norm=rms", "model.trunk.mlp=swiglu", "model.trunk.qk_norm=true",
            ),
            "focal 1": ("loss.focal=1.0",),
        },
    ),
    "futures": (
        "diffusearch.toml",
        ("optimiser.ema=0.95",),
        {
            "base: grounded, prefix, mixed horizons": (),
            "not grounded, prefix": BARE,
            "not grounded, full attention": (*BARE, "model.trunk.attention=full", "loss.root_policy=0.0"),
            "always h = 4": ("horizons=[]",),
            "h = 1, 2, 4 alike": ("horizons=[0.34, 0.33, 0.0, 0.33]",),
            "h = 2 only": ("horizons=[0.0, 1.0]",),
            "linear lambda": ("loss.time_weight=linear",),
            "squares alike": ("loss.changed=1.0",),
            "states at full weight": ("loss.state=1.0",),
            "nothing grows": ("loss.ply_by_ply=0.0",),
            "focal 1": ("loss.focal=1.0",),
        },
    ),
}  # fmt: skip


@torch.inference_mode()
def next_state_right(training: Training, records: Records) -> float:
    """Share of the best moves behind which every variable of the next state is right, in one call."""
    layout = training.net.layout.truncated(2)
    batch = tokenise(records.take(np.arange(min(RECORDS, len(records)))), layout)
    action, state = layout.segment("a", 0), layout.segment("s", 1)
    assert action is not None
    assert state is not None
    span = slice(state.start, state.start + len(layout.encoding.slots))
    x = masked(batch.tokens[:, : layout.given_variables], layout)
    x[:, action.start] = batch.tokens[:, action.start]
    right = torch.ones(len(x), dtype=torch.bool)
    with weights_to_use(training):
        for rows in torch.arange(len(x)).split(256):
            logits = training.net(x[rows], layout)
            for group in layout.groups:
                inside = (group.variables >= span.start) & (group.variables < span.stop)
                found = logits[group.type][:, inside].argmax(-1)
                right[rows] &= (found == batch.tokens[rows][:, group.variables[inside]]).all(1)
    known = batch.known[:, state.start]
    return float(right[known].double().mean())


def run(recipe: Recipe, minutes: float) -> dict[str, Any]:
    """Train a recipe for so many minutes of processor time and measure it."""
    torch.set_num_threads(1)
    records, validation = open_sources(recipe, print)
    assert validation is not None
    training = Training(recipe, Path(), records, World(0, 1))
    if recipe.start:
        print(training.start_from(Path(recipe.start)))
    began = time.process_time()
    while (spent := time.process_time() - began) < 60 * minutes:
        training.take_step()
    figures = {name: round(value, 5) for name, value in validate(training, validation, RECORDS).figures.items()}
    if training.net.layout.predicted > 1:
        figures["next state right"] = round(next_state_right(training, validation), 5)
    seen = training.step * recipe.optimiser.batch
    return {"steps": training.step, "records": seen, "records/s": round(seen / spent, 1), **figures}


def table(lines: list[dict[str, Any]]) -> str:
    """The variants as Markdown: figures of every seed, best loss of the move first."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for line in sorted(lines, key=lambda line: int(line["seed"])):
        by_name.setdefault(line["variant"], []).append(line)
    shown = [("action loss", "{:.3f}", 1), ("accuracy", "{:.1f}", 100), ("raw legal", "{:.1f}", 100),
             ("value error", "{:.3f}", 1), ("next state right", "{:.1f}", 100)]  # fmt: skip
    shown = [column for column in shown if any(column[0] in line for line in lines)]
    rows = [["variant", "records/s", *(name for name, _, _ in shown)]]
    for name, own in sorted(by_name.items(), key=lambda item: statistics.mean(x["action loss"] for x in item[1])):
        cells = [" ".join(form.format(scale * x[key]) for x in own if key in x) for key, form, scale in shown]
        rows.append([name, f"{statistics.mean(x['records/s'] for x in own):.0f}", *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=2.0, help="of processor time for each run")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--start", default="", help="the policy that futures are grown on")
    parser.add_argument("--set", action="append", default=[], help="a change for all runs: key=value")
    parser.add_argument("--only", nargs="*", help="variants by name; all without")
    arguments = parser.parse_args()
    file, settings, variants = FAMILIES[arguments.family]
    if (arguments.family == "futures") != bool(arguments.start):
        parser.error("futures are grown on a policy: give --start RUN with them, and with them alone")
    text = arguments.out.read_text() if arguments.out.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    for variant in arguments.only or variants:
        for seed in arguments.seeds:
            facts = {"family": arguments.family, "variant": variant, "seed": seed, "minutes": arguments.minutes}
            facts |= {"start": arguments.start, "set": arguments.set}
            if any(all(line.get(name) == fact for name, fact in facts.items()) for line in lines):
                continue
            changes = (*COMMON, *settings, f"start={arguments.start}", f"seed={seed}", *variants[variant])
            figures = run(load_recipe(RECIPES / file, (*changes, *arguments.set)), arguments.minutes)
            assert all(math.isfinite(value) for value in figures.values())
            lines.append(facts | figures)
            with arguments.out.open("a") as out:
                out.write(json.dumps(lines[-1]) + "\n")
            print(json.dumps(lines[-1]), flush=True)
    print(table([line for line in lines if line["family"] == arguments.family]))


if __name__ == "__main__":
    main()
