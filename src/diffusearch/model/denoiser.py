"""The denoiser f(x_t): tokens of a partly noised record in, logits of every variable out.

The paper's network is embedding, trunk and tied heads. Two switches add chess to it: `board_features` and
`residual_state`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import torch
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.model.board_features.attacks import AttackFeatures
from diffusearch.model.embedding import Embedding
from diffusearch.model.heads import HeadKind, Heads, Logits
from diffusearch.model.heads.value import RootValue
from diffusearch.model.known_states import known_states
from diffusearch.model.kv_cache import Past
from diffusearch.model.residual_state import MoveVectors, ResidualState
from diffusearch.model.trunk import Trunk, TrunkConfig
from diffusearch.ranges import Range
from diffusearch.tokens.layout import Group, Layout, layout


@dataclass(frozen=True)
class ModelConfig:
    """The network. Defaults are the paper's."""

    # what a record holds (paper, section 3.1)
    paradigm: Literal["s-a", "s-v", "sa-v", "s-aa", "s-asa", "s-ass", "s-avav", "s-avsav"] = "s-asa"
    horizon: Annotated[int, Range(low=1, high=256)] = 4  # h: actions in a record (paper: 4)
    encoding: Literal["paper", "compact"] = "paper"  # 77 characters, or the board from the side of the root's mover
    patch: Literal[1, 2, 4, 8] = 1  # squares in a place: 1 (paper), 2, 4 (2x2) or 8 (a rank)
    head: HeadKind = "vocabulary"  # "vocabulary" (paper), "typed" or "squares" (source x target): model/heads
    head_width: Annotated[int, Range(low=1, high=4096)] = 64  # of the source and target vectors of head = "squares"
    board_features: bool = False  # attack features, policy skip, king exposure (model/board_features; compact encoding)
    feature_width: Annotated[int, Range(low=1, high=4096)] = 32  # of the attack features of a square
    root_value: bool = False  # an auxiliary head for the value of the root
    residual_state: bool = False  # predicted states start from the state before (residual_state.py; prefix attention)
    trunk: TrunkConfig = field(default_factory=TrunkConfig)

    def check(self) -> None:
        """Refuse values that do not go together."""
        if self.head == "vocabulary" and self.patch != 1:
            raise UserError(f"head = 'vocabulary' needs patch = 1, not {self.patch}: use 'typed' or 'squares'")
        if self.board_features and self.encoding != "compact":
            raise UserError(f"board_features = true needs encoding = 'compact', not {self.encoding!r}")
        if self.residual_state and self.trunk.attention != "prefix":
            raise UserError(f"residual_state = true needs attention = 'prefix', not {self.trunk.attention!r}")
        if self.trunk.width % (2 * self.trunk.heads):
            raise UserError(
                f"width {self.trunk.width} cannot be split evenly over {self.trunk.heads} heads: "
                f"use a multiple of {2 * self.trunk.heads}"
            )


@dataclass(frozen=True)
class Root:
    """The given places under prefix attention: computed once, used by every denoising step."""

    hidden: Tensor  # [batch, given places, width]
    past: Past


class Denoiser(nn.Module):
    """Embedding, trunk and heads for one layout and its shorter horizons.

    The network may be on any device: tokens are moved to it, and in play (eval mode) logits are moved back, so that all
    other code works on the CPU.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        config.check()
        self.config = config
        self.layout: Layout = layout(config.paradigm, config.horizon, config.encoding, config.patch)
        width = config.trunk.width
        acts = "action" in self.layout.types
        self.embedding = Embedding(
            self.layout,
            width,
            slotted=config.head != "vocabulary" and (config.encoding == "compact" or config.patch > 1),
            learned_positions=config.trunk.positions == "learned",
            added={"action": MoveVectors(width)} if config.residual_state and acts else {},
        )
        self.attack_features = (
            AttackFeatures(self.layout, width, config.feature_width) if config.board_features else None
        )
        self.trunk = Trunk(config.trunk)
        self.heads = Heads(
            self.layout,
            width,
            config.head,
            config.head_width,
            board_features=config.board_features,
            residual_state=config.residual_state,
        )
        self.root_value = RootValue(width) if config.root_value else None
        self.residual_state = ResidualState(self.layout, width) if config.residual_state else None
        self.shift = int(config.trunk.attention == "causal")

    @property
    def prefix(self) -> bool:
        """Whether the root does not attend to the future."""
        return self.config.trunk.attention == "prefix"

    def read_root(self, tokens: Tensor, layout: Layout) -> Root:
        """Prefix attention: the given places alone. Tokens [batch, >= given variables]."""
        return Root(*self.trunk(self.root_places(tokens, layout)))

    def root_places(self, tokens: Tensor, layout: Layout) -> Tensor:
        """The trunk's input at the given places [batch, given places, width]."""
        given = tokens[:, : layout.given_variables]
        return self._with_attacks(self.embedding(given, layout.truncated(1), 0, layout.given_places), tokens)

    def start(self, tokens: Tensor, layout: Layout, root: Root | None) -> Tensor:
        """The trunk's input [batch, places, width]: all places, or with a root only those of the future."""
        if root is None:
            return self._with_attacks(self.embedding(tokens, layout), tokens)
        return self._with_states(self.embedding(tokens, layout, layout.given_places), tokens, root, layout)

    def hidden(self, tokens: Tensor, layout: Layout, root: Root | None = None) -> Tensor:
        """Hidden states [batch, places, width] of a whole record."""
        if self.prefix and root is None:
            root = self.read_root(tokens, layout)
        return self._whole(self.start(tokens, layout, root), root)

    def hidden_of_vectors(self, vectors: Tensor, layout: Layout, tokens: Tensor) -> Tensor:
        """The same from vectors of variables [batch, variables, width].

        Tokens [batch, >= given variables] are the part of the record that is known as tokens: at least the root.
        """
        places = self._with_attacks(self.embedding.gather(vectors, layout), tokens)
        if not self.prefix:
            return self._whole(places, None)
        root = Root(*self.trunk(places[:, : layout.given_places]))
        return self._whole(self._with_states(places[:, layout.given_places :], tokens, root, layout), root)

    def _whole(self, start: Tensor, root: Root | None) -> Tensor:
        hidden: Tensor = self.trunk(start, None if root is None else root.past)[0]
        return hidden if root is None else torch.cat([root.hidden.expand(hidden.shape[0], -1, -1), hidden], dim=1)

    def _with_attacks(self, places: Tensor, tokens: Tensor) -> Tensor:
        """Places [batch, n, width] from the root on, with the attack features of the root's squares."""
        if self.attack_features is None:
            return places
        features = self.attack_features(tokens[:, :64])
        squares = features.shape[1]
        return torch.cat([places[:, :squares] + features, places[:, squares:]], dim=1)

    def _with_states(self, future: Tensor, tokens: Tensor, root: Root, layout: Layout) -> Tensor:
        """The future's places [batch, n, width], with the residual state where the model has it."""
        if self.residual_state is None:
            return future
        start: Tensor = self.residual_state(future, tokens, root.hidden, layout, self.embedding)
        return start

    def forward(self, tokens: Tensor, layout: Layout | None = None, root: Root | None = None) -> Logits:
        """Tokens [batch, variables] -> logits by type; a shorter layout gives a shorter horizon."""
        layout = layout or self.layout
        return self.logits(self.hidden(tokens, layout, root), layout, tokens=tokens)

    def logits(
        self, hidden: Tensor, layout: Layout, groups: tuple[Group, ...] | None = None, *, tokens: Tensor | None = None
    ) -> Logits:
        """Hidden states -> logits by type, of all variables or of the given groups (or parts of groups).

        `tokens` [batch, >= given variables] are the record's: needed for states with the residual state, and for moves
        with board features.
        """
        known, copies = None, None
        if tokens is not None and (self.residual_state is not None or self.heads.reads_boards):
            tokens = tokens.to(hidden.device)
            before, known = known_states(tokens, layout)
            if self.residual_state is not None:
                copies = self.residual_state.copies(tokens, layout, before, known)
        out: Logits = self.heads(hidden, layout, self.embedding, self.shift, groups, copies, known)
        return out if self.training else {kind: logits.cpu() for kind, logits in out.items()}

    def value_logits(self, hidden: Tensor, layout: Layout) -> Tensor:
        """Logits [batch, 128] of the root's value."""
        if self.root_value is None:
            raise UserError("this model has no root value: train with root_value = true")
        logits: Tensor = self.root_value(hidden[:, : layout.given_places])
        return logits if self.training else logits.cpu()
