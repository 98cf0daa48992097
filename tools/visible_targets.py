"""What does a network predict of a target that it sees? The share that is right by type and time, visible and noised.

    python tools/visible_targets.py RUN LABELS

The loss of absorbing diffusion counts noised targets only. Where a decoding predicts visible targets anew
(`carry = "predict"`, the paper's rule), a network that does not copy them loses what it has found. LABELS is a labelled
folder; the first records of its validation games are used.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.inference.run import Run
from diffusearch.tokens.batch import tokenise
from diffusearch.training.sources import records_of

RECORDS, PIECE = 256, 32
TIMESTEPS = 20
TIMES = (19, 10, 5, 1, 0)  # t; the share t / T of the targets is noised


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("labels", type=Path)
    options = parser.parse_args()
    run = Run.load(options.run, "torch")
    net, layout = run.net, run.net.layout
    records = records_of(options.labels, layout.horizon, "validation", run.recipe.data.cache, False, print)
    process, generator = Absorbing(TIMESTEPS), torch.Generator().manual_seed(0)
    for t in TIMES:
        hits: dict[tuple[str, str], list[float]] = defaultdict(list)
        for start in range(0, min(RECORDS, len(records)), PIECE):
            batch = tokenise(records.take(np.arange(start, min(start + PIECE, len(records)))), layout)
            x, noised = process.corrupt(batch.tokens, layout, torch.full((len(batch.tokens),), t), generator)
            x = torch.where(batch.known, x, torch.from_numpy(layout.sizes))
            logits = net(x, layout)
            for group in layout.groups:
                columns = torch.from_numpy(group.variables)
                hit = logits[group.type].argmax(-1) == batch.tokens[:, columns]
                known, hidden = batch.known[:, columns], noised[:, columns]
                hits[group.type, "visible"] += hit[known & ~hidden].tolist()
                hits[group.type, "noised"] += hit[known & hidden].tolist()
        told = (f"{kind} {seen} {100 * np.mean(ok):.1f} % of {len(ok)}" for (kind, seen), ok in hits.items() if ok)
        print(f"t = {t}: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
