"""The denoiser f(x_t): tokens of a partly noised record in, logits of every variable out."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.model.embedding import Embedding
from diffusearch.model.grounding import Grounding, follow_states
from diffusearch.model.heads import Heads, Logits
from diffusearch.model.sight import Sight
from diffusearch.model.trunk import Past, Trunk, TrunkConfig
from diffusearch.tokens.layout import Group, Layout, layout
from diffusearch.tokens.values import BINS


@dataclass(frozen=True)
class ModelConfig:
    """What the network is. Defaults are the paper's."""

    paradigm: str = "s-asa"  # what a record holds (paper, section 3.1)
    horizon: int = 4  # h: actions in a record (paper: 4)
    encoding: str = "paper"  # "paper": 77 characters; "compact": the board turned to the root's mover
    patch: int = 1  # squares a place carries: 1 (paper), 2, 4 (2x2) or 8 (a rank)
    head: str = "vocabulary"  # "vocabulary" (paper), "typed" or "squares" (source x destination)
    head_width: int = 64  # width of the source and destination vectors of the "squares" head
    standing: bool = False  # moves are also scored by what stands where (standing.py; compact encoding)
    exposure: bool = False  # and by what would look at the king after them (exposure.py; standing)
    sight: int = 0  # numbers that a square of the root gathers along its lines (sight.py; compact encoding); 0: none
    root_value: bool = False  # an auxiliary head for the value of the root
    grounded: bool = False  # imagined states start from the state before (grounding.py; prefix attention)
    rights: bool = False  # imagined rights are also read off the squares that moves touch (rights.py; grounded)
    trunk: TrunkConfig = field(default_factory=TrunkConfig)

    def check(self) -> None:
        """Refuse what cannot be built."""
        choices = {
            "head": (self.head, ("vocabulary", "typed", "squares")),
            "attention": (self.trunk.attention, ("full", "prefix", "causal")),
            "positions": (self.trunk.positions, ("learned", "rope")),
            "norm": (self.trunk.norm, ("layer", "rms")),
            "mlp": (self.trunk.mlp, ("gelu", "swiglu")),
        }
        for name, (value, allowed) in choices.items():
            if value not in allowed:
                raise UserError(f"{name} = {value!r} is unknown: choose one of {', '.join(allowed)}")
        if self.head == "vocabulary" and self.patch != 1:
            raise UserError(f"head = 'vocabulary' needs patch = 1, not {self.patch}: use 'typed' or 'squares'")
        if self.grounded and self.trunk.attention != "prefix":
            raise UserError(f"grounded = true needs attention = 'prefix', not {self.trunk.attention!r}")
        if self.rights and not self.grounded:
            raise UserError("rights = true needs grounded = true: rights are lost from the state before")
        if self.standing and (self.encoding != "compact" or self.head == "vocabulary"):
            raise UserError("standing = true needs encoding = 'compact' and head = 'typed' or 'squares'")
        if self.exposure and not self.standing:
            raise UserError("exposure = true needs standing = true: both read what stands where")
        if self.sight and self.encoding != "compact":
            raise UserError(f"sight = {self.sight} needs encoding = 'compact', not {self.encoding!r}")
        if self.trunk.width % (2 * self.trunk.heads):
            raise UserError(f"width {self.trunk.width} cannot be split evenly over {self.trunk.heads} heads")


@dataclass(frozen=True)
class Root:
    """What the trunk made of the given places under prefix attention: computed once, used by every step."""

    hidden: Tensor  # [batch, given places, width]
    past: Past


class Denoiser(nn.Module):
    """Embedding, trunk and heads for one layout and its shorter horizons.

    The network may live on any device: tokens are brought to it, and in play (eval mode) logits are brought back, so
    that everything around it works on the CPU.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        config.check()
        self.config = config
        self.layout: Layout = layout(config.paradigm, config.horizon, config.encoding, config.patch)
        width = config.trunk.width
        self.embedding = Embedding(
            self.layout,
            width,
            slotted=config.head != "vocabulary" and (config.encoding == "compact" or config.patch > 1),
            learned_positions=config.trunk.positions == "learned",
            named_moves=config.grounded,
        )
        self.sight = Sight(self.layout, width, config.sight) if config.sight else None
        self.trunk = Trunk(config.trunk)
        self.heads = Heads(
            self.layout,
            width,
            config.head,
            config.head_width,
            copy=config.grounded,
            rights=config.rights,
            standing=config.standing,
            exposure=config.exposure,
        )
        self.root_value = nn.Linear(width, BINS) if config.root_value else None
        self.grounding = Grounding(self.layout, width) if config.grounded else None
        self.shift = int(config.trunk.attention == "causal")

    @property
    def prefix(self) -> bool:
        """Whether the root does not see the future."""
        return self.config.trunk.attention == "prefix"

    def read_root(self, tokens: Tensor, layout: Layout) -> Root:
        """Prefix attention: the given places alone. Tokens [batch, >= given variables]."""
        return Root(*self.trunk(self.root_places(tokens, layout)))

    def root_places(self, tokens: Tensor, layout: Layout) -> Tensor:
        """What the trunk starts from at the given places [batch, given places, width]."""
        given = tokens[:, : layout.given_variables]
        return self._sighted(self.embedding(given, layout.truncated(1), 0, layout.given_places), tokens)

    def start(self, tokens: Tensor, layout: Layout, root: Root | None) -> Tensor:
        """What the trunk starts from [batch, places, width]: all places, or behind a root only those of the future."""
        if root is None:
            return self._sighted(self.embedding(tokens, layout), tokens)
        return self._grounded(self.embedding(tokens, layout, layout.given_places), tokens, root, layout)

    def hidden(self, tokens: Tensor, layout: Layout, root: Root | None = None) -> Tensor:
        """Hidden states [batch, places, width] of a whole record."""
        if self.prefix and root is None:
            root = self.read_root(tokens, layout)
        return self._whole(self.start(tokens, layout, root), root)

    def hidden_of_vectors(self, vectors: Tensor, layout: Layout, tokens: Tensor) -> Tensor:
        """The same from vectors of variables [batch, variables, width].

        Tokens [batch, >= given variables] are the part of the record that is not vectors only: the root at least.
        """
        places = self._sighted(self.embedding.gather(vectors, layout), tokens)
        if not self.prefix:
            return self._whole(places, None)
        root = Root(*self.trunk(places[:, : layout.given_places]))
        return self._whole(self._grounded(places[:, layout.given_places :], tokens, root, layout), root)

    def _whole(self, start: Tensor, root: Root | None) -> Tensor:
        hidden: Tensor = self.trunk(start, None if root is None else root.past)[0]
        return hidden if root is None else torch.cat([root.hidden.expand(hidden.shape[0], -1, -1), hidden], dim=1)

    def _sighted(self, places: Tensor, tokens: Tensor) -> Tensor:
        """Places [batch, n, width] from the root on, its squares with what looks at them."""
        if self.sight is None:
            return places
        seen = self.sight(tokens[:, :64])
        return torch.cat([places[:, : seen.shape[1]] + seen, places[:, seen.shape[1] :]], dim=1)

    def _grounded(self, future: Tensor, tokens: Tensor, root: Root, layout: Layout) -> Tensor:
        """The future's places [batch, n, width] with what they start from, if the model is grounded."""
        if self.grounding is None:
            return future
        grounded: Tensor = self.grounding(future, tokens, root.hidden, layout, self.embedding)
        return grounded

    def forward(self, tokens: Tensor, layout: Layout | None = None, root: Root | None = None) -> Logits:
        """Tokens [batch, variables] -> logits by type; a shorter layout gives a shorter horizon."""
        layout = layout or self.layout
        return self.logits(self.hidden(tokens, layout, root), layout, tokens=tokens)

    def logits(
        self, hidden: Tensor, layout: Layout, groups: tuple[Group, ...] | None = None, *, tokens: Tensor | None = None
    ) -> Logits:
        """Hidden states -> logits by type, of all variables or of the given groups (or parts of groups).

        `tokens` [batch, >= given variables] are the record's, which a grounded model needs for states and a model
        with `standing` for moves.
        """
        known, copies = None, None
        if tokens is not None and (self.grounding is not None or self.config.standing):
            tokens = tokens.to(hidden.device)
            before, known = follow_states(tokens, layout)
            copies = None if self.grounding is None else self.grounding.copies(tokens, layout, before, known)
        out: Logits = self.heads(hidden, layout, self.embedding, self.shift, groups, copies, known)
        return out if self.training else {kind: logits.cpu() for kind, logits in out.items()}

    def value_logits(self, hidden: Tensor, layout: Layout) -> Tensor:
        """Logits [batch, 128] of the root's value, from the mean of its places."""
        if self.root_value is None:
            raise UserError("this model has no root value: train with root_value = true")
        logits: Tensor = self.root_value(hidden[:, : layout.given_places].mean(1))
        return logits if self.training else logits.cpu()
