"""The state of a run (weights, average, optimisers, step) and the step that changes it.

Everything random is a function of (seed, step, micro-batch), so step number and seed are the whole state of random
generators and data. A batch is made of micro-batches; several processes share these and add up their gradients, so
that one process and many take the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
import torch.nn.functional as F

from diffusearch.data.loader import Mixture, Source, mirrored
from diffusearch.data.random_moves import play_random_moves
from diffusearch.diffusion.loss import Losses
from diffusearch.diffusion.process import make_process
from diffusearch.errors import UserError
from diffusearch.model.denoiser import Denoiser
from diffusearch.tokens.batch import Batch, tokenise
from diffusearch.training import checkpoint
from diffusearch.training.log import Report, Validation
from diffusearch.training.optimiser import Average, make_optimisers, rate_factor
from diffusearch.training.precision import mixed_precision, uses_bf16
from diffusearch.training.processes import World
from diffusearch.training.recipe import Recipe
from diffusearch.training.tables import OptimiserConfig
from diffusearch.training.validation import validate


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


class Training:
    """One run: its state, and the step that changes it."""

    def __init__(self, recipe: Recipe, out: Path, records: Sequence[Source], world: World) -> None:
        self.recipe, self.out, self.world = recipe, out, world
        config = recipe.optimiser
        if config.batch % config.micro_batches or config.micro_batches % world.size:
            raise UserError(
                f"batch {config.batch} must split into micro_batches {config.micro_batches}, "
                f"and these over {world.size} processes: set optimiser.micro_batches to a multiple of {world.size}"
            )
        torch.manual_seed(recipe.seed)
        self.device = torch.device("cuda", world.local) if torch.cuda.is_available() else torch.device("cpu")
        self.net = Denoiser(recipe.model).to(self.device)
        self.freeze()
        self.process = make_process(recipe.process.kind, recipe.process.timesteps)
        self.optimisers = make_optimisers(self.net, config, bf16=uses_bf16(recipe.bf16))
        self.average = Average(self.net, config.ema) if config.ema > 0 else None
        self.mixture = Mixture(records, [source.weight for source in recipe.data.sources], recipe.seed)
        self.records = sum(len(r) for r in records)
        self.steps = total_steps(config, self.records)
        self.step = 0
        self.best: float | None = None  # the best validation score so far,
        self.worse = 0  # and how many validations have come since
        self.late_signal: int | None = None  # exit code of a signal in the last step: its caller ends, too

    def freeze(self) -> None:
        """Mark the weights that are not trained; here none."""

    def horizons(self, step: int) -> npt.NDArray[np.int64]:
        """[batch] the horizon of each record of a step, drawn by the recipe's shares: one for all, or each its own."""
        size, shares = self.recipe.optimiser.batch, self.recipe.horizons
        if not shares:
            return np.full(size, self.recipe.model.horizon)
        generator = np.random.default_rng([self.recipe.seed, step, 77])
        drawn = None if self.recipe.horizons_by == "batch" else size
        return np.broadcast_to(1 + generator.choice(len(shares), drawn, p=np.array(shares) / sum(shares)), (size,))

    def batch(self, step: int, horizon: int | None = None) -> Batch:
        """The tokens of the records of a step, at the longest of their horizons unless told."""
        arrays = self.mixture.take(step, self.recipe.optimiser.batch)
        generator = np.random.default_rng([self.recipe.seed, step, 78])
        if self.recipe.data.mirror:
            arrays = mirrored(arrays, generator.random(len(arrays["known"])) < 0.5)
        layout = self.net.layout.truncated(horizon or int(self.horizons(step).max()))
        if self.recipe.data.random_moves and layout.segment("s", 1) is not None:
            arrays = play_random_moves(arrays, self.recipe.data.random_moves, generator)
        return tokenise(arrays, layout)

    def take_step(self) -> Report:
        """One optimiser step on one batch."""
        config, step = self.recipe.optimiser, self.step
        self.net.train()
        factor = rate_factor(step, self.steps, config)
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
            for group in optimiser.param_groups:
                group["lr"] = config.rate * factor
        report = Report(rate=config.rate * factor)
        for total, losses, records in self.losses(step):
            (total * records / config.batch).backward()  # type: ignore[no-untyped-call]
            report.add(float(total.detach()), losses, records)
        self._sum_gradients()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        for optimiser in self.optimisers:
            optimiser.step()
        self.step += 1
        if self.average is not None:
            self.average.update(self.net.named_parameters(), step)
        return report

    def losses(self, step: int) -> Iterator[tuple[torch.Tensor, Losses, int]]:
        """For each part of this process's share of a step: its mean loss, the same by type, and its records."""
        config, horizons = self.recipe.optimiser, self.horizons(step)
        batch = self.batch(step, int(horizons.max()))
        for micro in range(self.world.rank, config.micro_batches, self.world.size):
            generator = torch.Generator().manual_seed(_seed(self.recipe.seed, step, micro))
            torch.manual_seed(_seed(self.recipe.seed, step, micro, 1))  # dropout
            # interleaved, so that every micro-batch has its share of every source
            rows = np.arange(micro, config.batch, config.micro_batches)
            for horizon in np.unique(horizons[rows]).tolist():
                chosen = torch.from_numpy(rows[horizons[rows] == horizon])
                yield *self._loss(batch, chosen, horizon, generator), len(chosen)

    def _loss(
        self, batch: Batch, rows: torch.Tensor, horizon: int, generator: torch.Generator
    ) -> tuple[torch.Tensor, Losses]:
        """The mean loss of some records of a batch, at one horizon."""
        layout = self.net.layout.truncated(horizon)
        piece = Batch(*(getattr(batch, name)[rows] for name in Batch.__dataclass_fields__)).truncated(layout)
        with mixed_precision(self.recipe.bf16, self.device):
            losses, hidden = self.process.loss(self.net, piece, layout, self.recipe.loss, generator)
            # a loss is a mean over its horizon's variables; a variable weighs the same in every horizon
            total = losses.total * layout.predicted / self.net.layout.predicted
            if self.net.root_value is not None and bool((piece.value >= 0).any()):
                scores = self.net.value_logits(hidden, layout).float()
                value = F.cross_entropy(scores, piece.value.to(self.device), ignore_index=-1)
                total = total + self.recipe.loss.value * value / self.net.layout.predicted
                losses.by_type["root value"] = float(value.detach())
        return total, losses

    def _sum_gradients(self) -> None:
        """Add the gradients of all processes, in one message."""
        for parameter in self.net.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        if self.world.size == 1:
            return
        gradients = [p.grad for p in self.net.parameters() if p.grad is not None]
        flat = torch.cat([g.reshape(-1) for g in gradients])
        dist.all_reduce(flat)
        offset = 0
        for gradient in gradients:
            gradient.copy_(flat[offset : offset + gradient.numel()].view_as(gradient))
            offset += gradient.numel()

    def weights(self) -> dict[str, torch.Tensor]:
        """The weights to use: the average where there is one."""
        if self.average is not None:
            return self.average.weights
        return {name: p.detach() for name, p in self.net.named_parameters()}

    def judge(self, score: float) -> bool:
        """Note a validation score; whether to stop. With patience the best weights so far are the ones to use."""
        patience = self.recipe.watch.patience
        if self.best is None or score > self.best:
            self.best, self.worse = score, 0
            if patience:
                self._save_weights()
        else:
            self.worse += 1
        return self.out_of_patience

    @property
    def out_of_patience(self) -> bool:
        """Whether the run stops early: no better for so many validations."""
        return out_of_patience(self.recipe, self.worse)

    def validate(self, records: Any, limit: int) -> Validation:
        """Measure the weights to use on the first `limit` records."""
        return validate(self, records, limit)

    def _about(self) -> dict[str, object]:
        facts: dict[str, object] = {"step": self.step, "seed": self.recipe.seed, "name": self.recipe.name}
        return facts | {"best": self.best, "worse": self.worse, "records": self.records}

    def _save_weights(self) -> None:
        if not self.world.rank:
            checkpoint.save_tensors(self.out / "weights.safetensors", self.weights(), self._about())

    def save(self) -> None:
        """Write checkpoint and weights (first process only)."""
        if self.world.rank:
            return
        if not self.recipe.watch.patience or self.best is None:
            self._save_weights()
        tensors: dict[str, torch.Tensor] = {f"model.{name}": p for name, p in self.net.named_parameters()}
        if self.average is not None:
            tensors |= {f"average.{name}": p for name, p in self.average.weights.items()}
        tensors |= checkpoint.optimiser_tensors(self.optimisers)
        checkpoint.save_tensors(self.out / "checkpoint.safetensors", tensors, self._about())

    def start_from(self, run: Path) -> str:
        """Start with the weights of another run, also in the average; says what was taken."""
        taken = checkpoint.start_from(self.net, run)
        if self.average is not None:
            self.average = Average(self.net, self.recipe.optimiser.ema)
        return taken

    def restore(self) -> None:
        """Go on from the checkpoint."""
        path = self.out / "checkpoint.safetensors"
        tensors, about = checkpoint.load_tensors(path)
        parts: dict[str, dict[str, torch.Tensor]] = {"model": {}, "average": {}, "optimiser": {}}
        for name, tensor in tensors.items():
            kind, _, rest = name.partition(".")
            if kind not in parts:
                raise UserError(f"{path} holds {name!r}, which this version does not know")
            parts[kind][name if kind == "optimiser" else rest] = tensor
        checkpoint.load_weights(self.net, parts["model"], path)
        if (self.average is not None) != bool(parts["average"]):
            raise UserError(f"{path} and the recipe differ in optimiser.ema: resume with the recipe of the run")
        if self.average is not None:
            self.average.restore(parts["average"], path)
        checkpoint.restore_optimisers(self.optimisers, parts["optimiser"], path)
        if about.get("seed") != self.recipe.seed:
            seeds = f"seed {about.get('seed')}, not {self.recipe.seed}"
            raise UserError(f"{path} has {seeds}: resume with the recipe of the run")
        best = about.get("best")
        self.step, self.worse = checkpoint.count(about, "step", path), checkpoint.count(about, "worse", path)
        self.best = float(best) if isinstance(best, int | float) else None


def total_steps(config: OptimiserConfig, records: int) -> int:
    """The optimiser steps that a recipe asks for, with so many records in an epoch."""
    return config.steps or max(1, round(config.epochs * records / config.batch))


def out_of_patience(recipe: Recipe, worse: int) -> bool:
    """Whether a run stops early: no better for `worse` validations."""
    return 0 < recipe.watch.patience <= worse
