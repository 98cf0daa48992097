"""The denoiser f(x_t): tokens of a partly noised record in, logits of every variable out.

The paper's network is embedding, trunk and tied heads. Two switches add chess to it: `board_features` and
`residual_state`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from diffusearch.errors import UserError
from diffusearch.model.board_features.attacks import AttackFeatures
from diffusearch.model.config import ModelConfig
from diffusearch.model.embedding import Embedding
from diffusearch.model.heads import Heads, Logits
from diffusearch.model.heads.drafts import DraftReader
from diffusearch.model.heads.value import RootValue
from diffusearch.model.known_states import known_states
from diffusearch.model.kv_cache import Past
from diffusearch.model.residual_state import MoveVectors, ResidualState
from diffusearch.model.rows import is_slotted
from diffusearch.model.trunk import Trunk
from diffusearch.tokens.layout import Group, Layout


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
        self.layout: Layout = config.layout
        width = config.trunk.width
        acts = "action" in self.layout.types
        self.embedding = Embedding(
            self.layout,
            width,
            slotted=is_slotted(config),
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
        self.residual_state = (
            ResidualState(self.layout, width, after_move=config.copy_gates == "after-move")
            if config.residual_state
            else None
        )
        self.self_conditioning = nn.Linear(width, width) if config.self_conditioning else None
        if self.self_conditioning is not None:  # at the start, the estimate changes nothing
            nn.init.zeros_(self.self_conditioning.weight)
            nn.init.zeros_(self.self_conditioning.bias)
        self.draft_reader = DraftReader(self.layout, width) if config.draft_reader else None
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

    def hidden(
        self, tokens: Tensor, layout: Layout, root: Root | None = None, estimate: Tensor | None = None
    ) -> Tensor:
        """Hidden states [batch, places, width] of a whole record.

        `estimate` [batch, variables] is the last prediction of the record, for a model with self-conditioning.
        """
        if self.prefix and root is None:
            root = self.read_root(tokens, layout)
        start = self.start(tokens, layout, root)
        if self.self_conditioning is not None and estimate is not None:
            read = self.self_conditioning(self.embedding(estimate, layout, layout.given_places))
            start = torch.cat([start[:, : start.shape[1] - read.shape[1]], start[:, -read.shape[1] :] + read], dim=1)
        return self._whole(start, root)

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
