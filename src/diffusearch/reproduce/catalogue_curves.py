"""The exhibits that are curves or look at futures: against layers, denoising steps, depth and training games."""

from __future__ import annotations

from diffusearch.reproduce.exhibits import Exhibit, Row, row
from diffusearch.reproduce.row_labels import KEEP, OURS, in_steps, single
from diffusearch.reproduce.scale_runs import Runs


def futures(runs: Runs) -> Exhibit:
    """Figure 3 left and Table 8."""
    return Exhibit(
        name="futures",
        place="Figure 3 (left) and Table 8",
        title="Quality of imagined futures, horizon 4",
        metrics=("futures",),
        rows=(
            row(OURS, "diffusearch", runs.diffusion),
            row(f"DiffuSearch, {KEEP}", "diffusearch", runs.diffusion, "carry=keep"),
        ),
        remark="The first move is masked to the legal ones in every call; the paper masks nothing.",
    )


def layers(runs: Runs) -> Exhibit:
    """Figure 3 middle and Table 7."""
    scale = runs.scale

    def label(kind: str, n: int) -> str:
        return f"{kind}, {n} layer{'' if n == 1 else 's'}, {{scale}} games"

    def one(kind: str, n: int) -> Row:
        return _point(runs, kind, label(kind, n), n, n == scale.usual_layers, str(n), f"model.trunk.layers={n}")

    return Exhibit(
        name="layers",
        place="Figure 3 (middle) and Table 7",
        title="Action accuracy against layers",
        metrics=("actions",),
        rows=tuple(one(kind, n) for kind in ("S-A", "DiffuSearch") for n in scale.layers),
        reference=label("DiffuSearch", scale.usual_layers),
        axis="layers",
        beyond=tuple((kind, 16, label(kind, 16)) for kind in ("S-A", "DiffuSearch")),
    )


def steps(runs: Runs) -> Exhibit:
    """Figure 3 right."""
    counts = runs.scale.steps
    ends = (counts[0], counts[-1])
    return Exhibit(
        name="steps",
        place="Figure 3 (right)",
        title="Action accuracy against denoising steps",
        metrics=("actions",),
        rows=tuple(
            row(
                in_steps(order, n),
                "diffusearch",
                runs.diffusion,
                f"steps={n}&order={order}",
                series=order,
                x=n,
                seeds=runs.scale.seeds if n in ends else 1,
            )
            for order in ("confidence", "random")
            for n in counts
        ),
        remark="The same runs, decoded in many ways; *confidence* is easy first. The paper draws this figure without "
        "printing its numbers.",
        reference=in_steps("confidence", counts[-1]),
        axis="denoising steps",
    )


def depth(runs: Runs) -> Exhibit:
    """Figure 4 left and middle, Table 6."""
    scale = runs.scale
    usual = min(3, scale.depths - 1)  # future steps of the base recipe

    def separate(steps: int) -> Row:
        """A model of its own for each depth: `steps` future states are a horizon of steps + 1."""
        if steps == usual:
            run, seeds = runs.diffusion, scale.seeds
        else:
            run, seeds = runs.denoiser(f"s-asa-h{steps + 1}", f"model.horizon={steps + 1}"), 1
        label = f"future steps {steps}, separate model"
        return row(label, "diffusearch", run, series="separate models", x=steps, seeds=seeds)

    def of_single(steps: int) -> Row:
        return row(single(steps), "diffusearch", runs.single, f"horizon={steps + 1}", series="single model", x=steps)

    return Exhibit(
        name="depth",
        place="Figure 4 (left, middle) and Table 6",
        title="Accuracy and latency against depth",
        metrics=("actions", "latency", "tree-depth"),
        rows=(
            *(separate(steps) for steps in range(scale.depths)),
            *(of_single(steps) for steps in range(scale.depths)),
            *(
                Row(f"{word}, {n} simulations", f"{word}:{runs.nets}?simulations={n}", (runs.s_a, runs.s_v))
                for word in ("mcts", "mcts-as-published")
                for n in scale.simulations
            ),
        ),
        remark=f"The labels need a horizon of {scale.depths} (`diffusearch label --horizon {scale.depths}`). The "
        f"single model trains on horizons up to {scale.single}, drawn for each record, and is asked for more. The "
        "paper draws its search rows without printing their numbers.",
        reference=f"future steps {usual}, separate model",
        axis="future steps imagined (searches: mean depth as measured)",
    )


def data_size(runs: Runs) -> Exhibit:
    """Figure 4 right."""
    scale = runs.scale

    def size(games: int) -> str:
        return f"{games // 1000}k" if games % 1000 == 0 else str(games)

    def one(kind: str, games: int) -> Row:
        label = f"{kind}, {size(games)} games"
        return _point(runs, kind, label, games, games == scale.games, size(games), games=games)

    return Exhibit(
        name="data-size",
        place="Figure 4 (right)",
        title="Action accuracy against training games",
        metrics=("actions",),
        rows=tuple(one(kind, games) for kind in ("S-A", "DiffuSearch") for games in scale.sizes),
        paper="main",
        remark="The paper prints two points of each curve (Table 2); the figure has them.",
        reference=f"DiffuSearch, {scale.words} games",
        axis="training games",
        beyond=tuple(
            (kind, n, f"{kind}, {n // 1000}k games") for kind in ("S-A", "DiffuSearch") for n in (10_000, 100_000)
        ),
    )


def _point(
    runs: Runs, kind: str, label: str, x: float, usual: bool, name: str, *settings: str, games: int | None = None
) -> Row:
    """A point of the curve of S-A or DiffuSearch: the usual run with all its seeds, or a run with changes."""
    seeds = runs.scale.seeds if usual else 1
    if kind == "S-A":
        run = runs.s_a if usual else runs.baseline(f"s-a-{name}", "s-a", *settings, games=games)
        return row(label, "s-a", run, series=kind, x=x, seeds=seeds)
    run = runs.diffusion if usual else runs.denoiser(f"s-asa-{name}", *settings, games=games)
    return row(label, "diffusearch", run, series=kind, x=x, seeds=seeds)
