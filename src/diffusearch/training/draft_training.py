"""Training of the draft reader on drafts of the network itself. The rest of the network stays as it is.

The loss is the cross-entropy of the oracle's move (or of its scored moves) under the revised probabilities, and of the
mover's win probability after scored moves. Second lines and later drafts are hidden at random, so that the reader knows
what it meets in play: few drafts, and second lines only for moves that led.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from diffusearch.data.draft_records import NO_MOVE, DraftRecords, DraftSplit
from diffusearch.diffusion.loss import Losses, win_shares
from diffusearch.errors import UserError
from diffusearch.model.heads.drafts import Drafts, Reading
from diffusearch.tokens.drafts import LINES
from diffusearch.training.log import Validation
from diffusearch.training.recipe import Recipe
from diffusearch.training.state import Training
from diffusearch.training.validation import weights_to_use

_PIECE = 128  # records of a validation batch
_HIDDEN = 0.5  # share of second lines, and of records with fewer drafts, that are hidden in training

Arrays = dict[str, npt.NDArray[Any]]


def open_drafts(recipe: Recipe) -> tuple[list[DraftSplit], DraftSplit | None]:
    """The draft records of a recipe, all made by the run that it starts from, and those of the first for validation."""
    from diffusearch.files import sha256

    if not recipe.model.draft_reader or not recipe.start:
        raise UserError("drafts train a draft reader: set model.draft_reader = true and start = the run that drafted")
    _refuse_unread(recipe)
    records = [DraftRecords(Path(source.path)) for source in recipe.data.sources]
    weights = sha256(Path(recipe.start) / "weights.safetensors")
    for one in records:
        if one.facts["weights"] != weights:
            raise UserError(f"{one.folder} was drafted by other weights than those of {recipe.start}: draft again")
        if not len(one.train):
            raise UserError(f"{one.folder} holds no position to train on: draft more")
        for name in ("drafts", "depth"):
            ours, first = one.facts[name], records[0].facts[name]
            if ours != first:
                words = f"{one.folder} was made with --{name} {ours} and {records[0].folder} with --{name} {first}"
                raise UserError(f"{words}: draft one of them again with the same, or leave it out of data.sources")
    validation = records[0].validation
    return [one.train for one in records], validation if len(validation) else None


def _refuse_unread(recipe: Recipe) -> None:
    """Refuse fields that would have no effect on training with drafts."""
    data = recipe.data
    if data.validation:
        raise UserError(
            f"data.validation = {data.validation!r} is not read, drafts are validated on the validation split of the "
            "first source: leave it out"
        )
    if data.held_out:
        raise UserError(
            f"data.held_out = {list(data.held_out)} is not read, drafts are made already: leave it out, and leave "
            "games out with `diffusearch draft --exclude`"
        )
    for source in data.sources:
        if source.ply:
            raise UserError(
                f"ply = {source.ply} of {source.path} is not read, a draft begins at its position: leave it out"
            )
        if source.games:
            raise UserError(
                f"games = {source.games} of {source.path} is not read, drafts are single positions: leave it out, and "
                "make fewer with `diffusearch draft --limit`"
            )
    if recipe.bf16 == "on":
        raise UserError("the draft reader is computed in 32 bits, not as bf16 = 'on' says: set 'auto' or 'off'")


class DraftTraining(Training):
    """A run in which only the draft reader is trained."""

    def freeze(self) -> None:
        for name, parameter in self.net.named_parameters():
            parameter.requires_grad = name.startswith("draft_reader.")

    def take_arrays(self, step: int) -> Arrays:
        """The draft records of a step, with some drafts hidden."""
        arrays = self.mixture.take(step, self.recipe.optimiser.batch)
        rng = np.random.default_rng([self.recipe.seed, step, 79])
        count, drafts = arrays["exists"].shape[:2]
        exists = np.array(arrays["exists"])
        second = list(LINES[1][1:])
        exists[:, :, second] &= (rng.random((count, drafts)) > _HIDDEN)[:, :, None]
        fewer = np.where(rng.random(count) < _HIDDEN, rng.integers(1, drafts + 1, count), drafts)
        exists &= (np.arange(drafts) < fewer[:, None])[:, :, None]
        return {**arrays, "exists": exists}

    def losses(self, step: int) -> Iterator[tuple[Tensor, Losses, int]]:
        config, arrays = self.recipe.optimiser, self.take_arrays(step)
        for micro in range(self.world.rank, config.micro_batches, self.world.size):
            torch.manual_seed(
                int(np.random.SeedSequence([self.recipe.seed, step, micro]).generate_state(1)[0])
            )  # dropout
            part = {name: array[micro :: config.micro_batches] for name, array in arrays.items()}
            yield *self.loss(part), len(part["target"])

    def loss(self, arrays: Arrays) -> tuple[Tensor, Losses]:
        """The loss of some draft records."""
        reader, config = self.net.draft_reader, self.recipe.loss
        assert reader is not None
        logits, found = self.read(arrays)
        target = torch.from_numpy(arrays["target"].astype(np.int64)).to(logits.device)
        known = target >= 0
        log_p = torch.log_softmax(logits, -1)
        move = -log_p.gather(1, target.clamp(min=0)[:, None])[:, 0]
        wins = torch.from_numpy(arrays["wins"]).to(logits.device)
        scored = ~wins.isnan()
        if config.soft:
            shares = win_shares(wins, scored, config.soft_temperature)
            move = torch.where(scored.any(1), (1.0 - config.soft) * move - config.soft * (shares * log_p).sum(1), move)
        drafted = torch.from_numpy(arrays["exists"][..., 0]).to(logits.device)
        valued = drafted & scored[:, : drafted.shape[1]]
        win = F.binary_cross_entropy_with_logits(
            reader.win_logits(found.worth), wins[:, : drafted.shape[1]].nan_to_num(0.5), reduction="none"
        )
        value = (win * valued).sum() / valued.sum().clamp(min=1)
        move_loss = (move * known).sum() / known.sum().clamp(min=1)
        hits = float(((logits.argmax(-1) == target) & known).sum() / known.sum().clamp(min=1))
        total = move_loss + config.value * value
        return total, Losses(total, {"action": float(move_loss.detach()), "value": float(value.detach())}, hits)

    def read(self, arrays: Arrays) -> tuple[Tensor, Reading]:
        """Logits [n, moves] after the drafts were read, and the reading."""
        assert self.net.draft_reader is not None
        tensors = {name: torch.from_numpy(arrays[name]).to(self.device) for name in (*Drafts._fields, "priors")}
        tensors = {name: one if one.dtype == torch.bool else one.float() for name, one in tensors.items()}
        found: Reading = self.net.draft_reader(Drafts(*(tensors[name] for name in Drafts._fields)))
        priors = tensors["priors"]
        scores = torch.cat([found.scores, found.rest[:, None].expand(-1, priors.shape[1] - found.scores.shape[1])], 1)
        return torch.where(priors > NO_MOVE / 2, found.scale * (priors + scores), NO_MOVE), found

    @torch.inference_mode()
    def validate(self, records: DraftSplit, limit: int) -> Validation:
        """Accuracy of the move by the first look, and after all drafts were read."""
        hits = first = loss = 0.0
        known = 0  # positions with the oracle's move among the likeliest; in the others every move is wrong
        count = min(limit, len(records))
        with weights_to_use(self):
            for start in range(0, count, _PIECE):
                arrays = records.take(np.arange(start, min(start + _PIECE, count)))
                _, losses = self.loss(arrays)
                here = int((arrays["target"] >= 0).sum())
                known += here
                hits += losses.action_hits * here
                first += float((arrays["target"] == 0).sum())
                loss += losses.by_type["action"] * here
        figures = {"accuracy": hits / count, "first look": first / count}
        if known:
            figures["action loss"] = loss / known
        return Validation(figures["accuracy"], figures)
