"""Joint denoising: positions in, their next moves out, each denoised together with its future.

The record of a position is denoised as a decoding says, whatever it says of drafts: those are read in
diffusearch.drafts.revising.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import chess
import numpy as np

from diffusearch.diffusion.decoding import Decoding
from diffusearch.diffusion.sampling import Sample
from diffusearch.errors import UserError
from diffusearch.inference.evaluation import Allowed
from diffusearch.inference.imagination import Imagination
from diffusearch.inference.reading import read_sample
from diffusearch.inference.roots import Roots, given_variables, move_tokens, refuse_finished, token_mask
from diffusearch.inference.run import Run
from diffusearch.tokens.layout import Layout
from diffusearch.training.tables import RANDOM_NOISE

BATCH = 256  # records that are denoised together


class JointDenoiser:
    """A run that denoises each move together with its future."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    def provenance(self) -> dict[str, Any]:
        return self.run.provenance

    def imagine(
        self,
        boards: Sequence[chess.Board],
        decoding: Decoding | None = None,
        generator: np.random.Generator | None = None,
        legal: Allowed | None = None,
        horizon: int | None = None,
        *,
        film: bool = False,
    ) -> list[Imagination]:
        """Denoise the next move of each position together with its future.

        `decoding` is the run's own where it is left out; `legal` narrows the moves that may be played at each root;
        `horizon` asks for another length of the future than the model's; `film` records every step.
        """
        decoding = decoding or self.run.recipe.decoding
        generator = generator or np.random.default_rng(0)
        layout = self.asked_layout(decoding, horizon)
        out: list[Imagination] = []
        size = max(1, BATCH // decoding.imaginations)
        for start in range(0, len(boards), size):
            narrowed = None if legal is None else legal[start : start + size]
            roots = Roots.of(boards[start : start + size], layout)
            sample = self._sample(roots, decoding, layout, generator, narrowed, film)
            out += read_sample(sample, roots, layout)
        return out

    def work(self, decoding: Decoding) -> int:
        """Evaluations of one position, at most, that an imagination takes."""
        return decoding.steps * decoding.imaginations

    def asked_layout(self, decoding: Decoding, horizon: int | None = None) -> Layout:
        """The requested horizon; by default the whole one, or the shortest trained one when steps = 1.

        A horizon that is shorter than every trained one is refused, and so are several records that would be the same.
        """
        run, recipe = self.run, self.run.recipe
        if decoding.imaginations > 1 and not (decoding.random or recipe.process.kind in RANDOM_NOISE):
            raise UserError(
                f"imaginations = {decoding.imaginations} at temperature 0 denoises the same record each time: set a "
                "temperature too (0.5, say), or carry = 'gumbel'"
            )
        trained = recipe.trained_horizons
        if horizon is None and decoding.steps == 1:
            return recipe.trained_layout()  # one look
        asked = run.horizon if horizon is None else horizon
        if asked < min(trained):
            raise UserError(
                f"the run {run.name!r} was trained on records of {_listed(trained)} plies, and horizon {asked} is "
                f"shorter: ask for {min(trained)} or more"
            )
        shorter = set(range(1, asked)) - set(trained)
        if decoding.order == "plies" and shorter and recipe.process.kind != "autoregressive":
            raise UserError(
                f"order 'plies' denoises records of 1 to {asked} plies, and the run {run.name!r} was trained on "
                f"{_listed(trained)}: choose another order"
            )
        if asked > run.horizon and recipe.model.trunk.positions != "rope":
            raise UserError(
                f"the run {run.name!r} has learned positions for {run.horizon} plies, and horizon {asked} is longer: "
                "train with model.trunk.positions = 'rope'"
            )
        return run.layout.truncated(asked)

    def _sample(
        self,
        roots: Roots,
        decoding: Decoding,
        layout: Layout,
        generator: np.random.Generator,
        narrowed: Allowed | None,
        film: bool,
    ) -> Sample:
        run = self.run
        if not run.has_policy:
            raise UserError(f"the run {run.name!r} is {run.paradigm} and predicts no move: use an s-a or s-asa run")
        refuse_finished(roots)
        given = given_variables(roots.boards, layout)
        allowed = token_mask(roots.tokens if narrowed is None else move_tokens(roots.boards, narrowed, layout))
        times = decoding.imaginations
        if times > 1:
            given, allowed = given.repeat(times, 0), allowed.repeat(times, 0)
        return run.backend.sample(given, layout, decoding, generator, allowed, film)


def _listed(horizons: Sequence[int]) -> str:
    return ", ".join(map(str, horizons))
