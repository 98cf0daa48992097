"""The back end of torch: every process, every decoding, 8-bit weights; on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from diffusearch.diffusion.absorbing import Absorbing
from diffusearch.diffusion.autoregressive import Autoregressive
from diffusearch.diffusion.decoding import Bools, Decoding, Floats, Ints
from diffusearch.diffusion.process import Process, make_process
from diffusearch.diffusion.sampling import Sample
from diffusearch.inference.backend import DraftArrays, DraftReading, Look, RootContext
from diffusearch.model.denoiser import Denoiser, Root
from diffusearch.model.heads.drafts import Drafts
from diffusearch.model.int8 import int8
from diffusearch.tokens.batch import masked
from diffusearch.tokens.layout import Layout
from diffusearch.training.tables import ProcessConfig


@dataclass(frozen=True)
class TorchContext:
    """Roots with their hidden states, keys and values under prefix attention."""

    given: Ints
    root: Root | None

    @property
    def hidden(self) -> Floats | None:
        return None if self.root is None else self.root.hidden.cpu().numpy()


class TorchBackend:
    """A denoiser in eval mode."""

    name = "torch"
    batch = 256

    def __init__(self, net: Denoiser, process: ProcessConfig) -> None:
        self.net = net.eval()
        self.settings = process
        self.process: Process = make_process(process.kind, process.timesteps)

    def refusal(self, decoding: Decoding, horizon: int) -> str | None:
        return None

    def quantised(self) -> TorchBackend:
        """The same with 8-bit weights in the trunk."""
        return TorchBackend(int8(self.net), self.settings)

    @torch.inference_mode()
    def look(self, given: Ints, layout: Layout, *, moves: bool = True) -> Look:
        net, known = self.net, torch.from_numpy(given)
        if not isinstance(self.process, Absorbing | Autoregressive):
            # These processes have no mask: their first step starts from pure noise.
            one = Decoding(steps=1, legal=False)
            sample = self.process.sample(net, given, layout, one, np.random.default_rng(0))
            return Look(sample.raw_move_logits, sample.value_logits, TorchContext(given, None))
        x, root = masked(known, layout), None
        if net.prefix:
            root = net.read_root(x, layout)
        if root is not None and not moves and net.root_value is not None:  # the root does not see the future
            hidden = root.hidden
        elif isinstance(self.process, Autoregressive):
            hidden = net.trunk(net.root_places(x, layout))[0]
        else:
            hidden = net.hidden(x, layout, root)
        value = net.value_logits(hidden, layout) if net.root_value is not None else None
        if layout.paradigm == "s-v":
            value = net.logits(hidden, layout, tokens=x)["value"][:, 0]
        action = layout.segment("a", 0) if moves else None
        logits = None
        if action is not None:
            logits = net.logits(hidden, layout, layout.groups_at(action.place), tokens=x)["action"][:, 0]
        return Look(_optional(logits), _optional(value), TorchContext(given, root))

    @torch.inference_mode()
    def read_roots(self, given: Ints, layout: Layout) -> TorchContext:
        root = self.net.read_root(torch.from_numpy(given), layout) if self.net.prefix else None
        return TorchContext(given, root)

    @torch.inference_mode()
    def next_states(self, context: RootContext, rows: Ints, moves: Ints, layout: Layout) -> tuple[Ints, Floats]:
        assert isinstance(context, TorchContext)
        root = None if context.root is None else _picked(context.root, torch.from_numpy(rows))
        action, state = layout.segment("a", 0), layout.segment("s", 1)
        assert action is not None
        assert state is not None
        x = masked(torch.from_numpy(context.given[rows]), layout)
        x[:, action.start] = torch.from_numpy(moves)
        end = state.start + len(layout.encoding.slots)
        hidden = self.net.hidden(x, layout, root)
        likelihood = torch.zeros(len(x), dtype=torch.float64)
        groups = tuple(group for group in layout.groups if group.type not in ("action", "value"))
        for group, logits in zip(groups, self.net.logits(hidden, layout, groups, tokens=x).values(), strict=True):
            here = torch.from_numpy(group.variables) < end
            columns = torch.from_numpy(group.variables)[here]
            x[:, columns] = logits.argmax(-1)[:, here]
            likelihood += (logits.amax(-1) - logits.logsumexp(-1))[:, here].sum(-1)
        return x.numpy(), likelihood.numpy()

    @torch.inference_mode()
    def action_values(self, given: Ints, layout: Layout) -> Floats:
        logits: Floats = self.net(masked(torch.from_numpy(given), layout), layout)["value"][:, 0].numpy()
        return logits

    @torch.inference_mode()
    def read_drafts(self, drafts: DraftArrays) -> DraftReading:
        reader = self.net.draft_reader
        assert reader is not None  # Run.reads_drafts
        device = reader.rule.device
        found = reader(Drafts(*(torch.from_numpy(array).to(device) for array in drafts)))
        wins = reader.win_logits(found.worth).sigmoid()
        return DraftReading(_array(found.scores), float(found.scale), _array(wins))

    def sample(
        self,
        given: Ints,
        layout: Layout,
        decoding: Decoding,
        generator: np.random.Generator,
        allowed: Bools | None,
        film: bool,
    ) -> Sample:
        return self.process.sample(self.net, given, layout, decoding, generator, allowed, film)


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.cpu().numpy()
    return array


def _optional(tensor: Tensor | None) -> Floats | None:
    return None if tensor is None else _array(tensor)


def _picked(root: Root, rows: Tensor) -> Root:
    """Some rows of the roots, each as often as it is named."""
    rows = rows.to(root.hidden.device)
    return Root(root.hidden[rows], [(keys[rows], values[rows]) for keys, values in root.past])
