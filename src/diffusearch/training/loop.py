"""The training loop: batches in, weights out; killed at any moment, it goes on as if nothing had happened.

Everything random is a function of (seed, step, micro-batch), so step number and seed are the whole RNG and data
state. A batch is made of micro-batches; several processes share these out and sum their gradients, so that one
process and many take the same steps.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

from diffusearch.data.loader import Batch, Mixture, mirrored, tokenise
from diffusearch.data.random_moves import play_random_moves
from diffusearch.data.records import Records
from diffusearch.diffusion.process import make_process
from diffusearch.errors import UserError
from diffusearch.files import write_whole
from diffusearch.model.denoiser import Denoiser
from diffusearch.training import checkpoint
from diffusearch.training.log import Log, Report
from diffusearch.training.optimiser import Average, make_optimisers, rate_factor
from diffusearch.training.recipe import OptimiserConfig, Recipe, differs, recipe_text
from diffusearch.training.sources import open_sources
from diffusearch.training.validation import validate

STALE = 300.0  # seconds of work that a killed run may lose at most


@dataclass(frozen=True)
class World:
    """This process among those of `torchrun`."""

    rank: int
    size: int
    local: int = 0  # number among the processes of this machine, and so of its GPU

    @classmethod
    def join(cls) -> World:
        """Join the process group that torchrun announces, or stand alone."""
        if not dist.is_torchelastic_launched():
            return cls(0, 1)
        if not dist.is_initialized():
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        return cls(dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"]))

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """The first process goes through alone, then all the others."""
        if self.size > 1 and self.rank > 0:
            dist.barrier()
        yield
        if self.size > 1 and self.rank == 0:
            dist.barrier()

    def any(self, here: bool) -> bool:
        """Whether it is so in any process: all get the same answer."""
        if self.size == 1:
            return here
        flag = torch.tensor(int(here), device=f"cuda:{self.local}" if torch.cuda.is_available() else "cpu")
        dist.all_reduce(flag, dist.ReduceOp.MAX)
        return bool(flag)


def has_bf16() -> bool:
    """Whether this machine computes bf16 products in hardware."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    capability = torch.cpu.get_capabilities()
    return bool(capability.get("avx512_bf16") or capability.get("amx_bf16"))


def mixed_precision(choice: str, device: torch.device) -> AbstractContextManager[object]:
    """bf16 autocast or nothing."""
    on = choice == "on" or (choice == "auto" and has_bf16())
    return torch.autocast(device.type, dtype=torch.bfloat16) if on else nullcontext()


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


class Training:
    """One run: its state, and the step that changes it."""

    def __init__(self, recipe: Recipe, out: Path, records: list[Records], world: World) -> None:
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
        self.process = make_process(recipe.process.kind, recipe.process.timesteps)
        self.optimisers = make_optimisers(self.net, config)
        self.average = Average(self.net, config.ema) if config.ema > 0 else None
        self.mixture = Mixture(records, [source.weight for source in recipe.data.sources], recipe.seed)
        self.records = sum(len(r) for r in records)
        self.steps = total_steps(config, self.records)
        self.step = 0
        self.best: float | None = None  # the best validation score so far,
        self.worse = 0  # and how many validations have come since

    def horizon(self, step: int) -> int:
        """The horizon of a step's batch, drawn by the recipe's shares."""
        shares = self.recipe.horizons
        if not shares:
            return self.recipe.model.horizon
        rng = np.random.default_rng([self.recipe.seed, step, 77])
        return 1 + int(rng.choice(len(shares), p=np.array(shares) / sum(shares)))

    def batch(self, step: int) -> Batch:
        """The records of a step as tokens."""
        arrays = self.mixture.take(step, self.recipe.optimiser.batch)
        rng = np.random.default_rng([self.recipe.seed, step, 78])
        if self.recipe.data.mirror:
            arrays = mirrored(arrays, rng.random(len(arrays["known"])) < 0.5)
        layout = self.net.layout.truncated(self.horizon(step))
        if self.recipe.data.tried and layout.segment("s", 1) is not None:
            arrays = play_random_moves(arrays, self.recipe.data.tried, rng)
        return tokenise(arrays, layout)

    def take_step(self) -> Report:
        """One optimiser step on one batch."""
        config, step = self.recipe.optimiser, self.step
        layout = self.net.layout.truncated(self.horizon(step))
        batch = self.batch(step)
        self.net.train()
        factor = rate_factor(step, self.steps, config)
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
            for group in optimiser.param_groups:
                group["lr"] = config.rate * factor
        report = Report()
        size = config.batch // config.micro_batches
        for micro in range(self.world.rank, config.micro_batches, self.world.size):
            # interleaved, so that every micro-batch has its share of every source
            piece = Batch(*(getattr(batch, name)[micro :: config.micro_batches] for name in Batch.__dataclass_fields__))
            generator = torch.Generator().manual_seed(_seed(self.recipe.seed, step, micro))
            torch.manual_seed(_seed(self.recipe.seed, step, micro, 1))  # dropout
            with mixed_precision(self.recipe.bf16, self.device):
                losses, hidden = self.process.loss(self.net, piece, layout, self.recipe.loss, generator)
                # a loss is a mean over its horizon's variables; a variable weighs the same in every horizon
                total = losses.total * layout.predicted / self.net.layout.predicted
                if self.net.root_value is not None and bool((piece.value >= 0).any()):
                    scores = self.net.value_logits(hidden, layout).float()
                    value = F.cross_entropy(scores, piece.value.to(self.device), ignore_index=-1)
                    total = total + self.recipe.loss.value * value / self.net.layout.predicted
                    losses.by_type["root value"] = float(value.detach())
            (total / config.micro_batches).backward()  # type: ignore[no-untyped-call]
            report.add(float(total.detach()), losses, size)
        self._sum_gradients()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        for optimiser in self.optimisers:
            optimiser.step()
        self.step += 1
        if self.average is not None:
            self.average.update(self.net.named_parameters(), step)
        return report

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
        """Take note of a validation score; whether to stop. With patience the best weights are the ones to use."""
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
        """Begin with the weights of another run, the average with the same; says what was taken."""
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
        if about["seed"] != self.recipe.seed:
            seeds = f"seed {about['seed']}, not {self.recipe.seed}"
            raise UserError(f"{path} has {seeds}: resume with the recipe of the run")
        best = about.get("best")
        self.step, self.worse = int(str(about["step"])), int(str(about.get("worse", 0)))
        self.best = None if best is None else float(str(best))


def total_steps(config: OptimiserConfig, records: int) -> int:
    """The optimiser steps that a recipe asks for, with so many records in an epoch."""
    return config.steps or max(1, round(config.epochs * records / config.batch))


def out_of_patience(recipe: Recipe, worse: int) -> bool:
    """Whether a run stops early: no better for `worse` validations."""
    return 0 < recipe.watch.patience <= worse


def finished(recipe: Recipe, out: Path) -> bool:
    """Whether the run in a folder has come to the end of a recipe: nothing is left for --resume to do.

    A folder without a checkpoint is told by its weights. Where a recipe counts epochs and the file does not say how
    many records one has, nobody knows, and the answer is no.
    """
    found = next((path for name in ("checkpoint", "weights") if (path := out / f"{name}.safetensors").is_file()), None)
    if found is None:
        return False
    about = checkpoint.load_facts(found)
    step, worse, records = (int(str(about.get(name) or 0)) for name in ("step", "worse", "records"))
    known = bool(recipe.optimiser.steps or records)
    return out_of_patience(recipe, worse) or (known and step >= total_steps(recipe.optimiser, records))


def _refuse_another(recipe: Recipe, out: Path) -> None:
    """Going on with other data or another model would make a run that its recipe does not describe."""
    if name := differs(recipe, out):
        words = f"{out} was begun with another {name}: resume with the recipe of the run"
        raise UserError(f"{words}, or begin a new one with start = {str(out)!r}")


def train(
    recipe: Recipe, out: Path, *, resume: bool = False, report: Callable[[str], None] = lambda line: None
) -> Training:
    """Run a recipe to its end (or its time limit) in the folder `out`."""
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    world = World.join()
    found = (out / "checkpoint.safetensors").exists()
    if found and not resume:
        raise UserError(f"{out} holds a run already: add --resume to go on, or choose another --out")
    out.mkdir(parents=True, exist_ok=True)
    with world.one_by_one():  # the first process replays labelled sets, the others find them done
        records, validation = open_sources(recipe, report)
    training = Training(recipe, out, records, world)
    if resume and not found:
        report(f"{out} holds no checkpoint: the run begins with its first step")
    if validation is None:
        report("no record is left for validation: give data.validation, or label more games")
    if found:
        _refuse_another(recipe, out)
        training.restore()
    elif recipe.start:
        report(training.start_from(Path(recipe.start)))
    if world.rank == 0:
        write_whole(out / "recipe.toml", recipe_text(recipe))
    log = Log(out, training.steps, training.step, report if world.rank == 0 else lambda line: None)
    watch, over = recipe.watch, False
    began = saved = time.monotonic()
    while training.step < training.steps and not training.out_of_patience:
        log.add(training.take_step(), training.step, recipe.optimiser.batch)
        if watch.minutes > 0:
            over = world.any(time.monotonic() - began > 60 * watch.minutes)
        due, last = training.step % watch.validate_every == 0, training.step == training.steps
        if validation is not None and (due or last or over):
            result = validate(training, validation, watch.validate_records)
            log.validation(result, training.step)
            if (due or last) and training.judge(result.score):
                report(f"stopped at step {training.step}: no better for {training.worse} validations")
        stale = time.monotonic() - saved > STALE  # where a checkpoint lies changes nothing of the run
        if training.step % watch.checkpoint_every == 0 or stale or last or over or training.out_of_patience:
            training.save()
            saved = time.monotonic()
        if over:
            report(f"stopped at step {training.step} after {watch.minutes:g} minutes; --resume goes on")
            break
    log.close()
    return training
