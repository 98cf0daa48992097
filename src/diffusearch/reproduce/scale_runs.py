"""The runs of a scale: changes of its base recipe, shared by several exhibits."""

from __future__ import annotations

from diffusearch.reproduce.plan import PlannedRun
from diffusearch.reproduce.scales import Scale

# Baselines train until their validation no longer improves (paper, section 4.1).
CONVERGE = ("watch.patience=5",)


class Runs:
    """The runs of a scale; several exhibits share them."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.s_a, self.s_v = self.baseline("s-a", "s-a"), self.baseline("s-v", "s-v")
        self.sa_v = self.baseline("sa-v", "sa-v", *scale.same_compute, future="actions")  # 30 records a position
        self.nets = f"{{{self.s_a.name}}},{{{self.s_v.name}}}"
        self.diffusion = self.denoiser("s-asa")
        # One run for all depths: rotary positions, and a horizon drawn for each record (paper, appendix).
        horizons = ", ".join(["1.0"] * scale.single)
        self.single = self.denoiser(
            "s-asa-single", "model.trunk.positions=rope", f"horizons=[{horizons}]", "horizons_by=record"
        )

    def baseline(
        self, name: str, paradigm: str, *settings: str, future: str = "oracle", games: int | None = None
    ) -> PlannedRun:
        """S-A, S-V, SA-V: a causal transformer, one forward pass, no future."""
        own = (f"model.paradigm={paradigm}", "process.kind=direct", "model.trunk.attention=causal", *CONVERGE)
        changes = (*own, *self.scale.baseline, *settings, *self.scale.source(future, games))
        return PlannedRun(name, changes, games=games)

    def autoregressive(self, paradigm: str) -> PlannedRun:
        """The record of a future paradigm, token by token with causal attention."""
        own = (f"model.paradigm={paradigm}", "process.kind=autoregressive", "model.trunk.attention=causal", *CONVERGE)
        return PlannedRun(f"{paradigm}-autoregressive", (*own, *self.scale.source()))

    def denoiser(self, name: str, *settings: str, future: str = "oracle", games: int | None = None) -> PlannedRun:
        """The paper's run with changes."""
        return PlannedRun(name, (*settings, *self.scale.source(future, games)), games=games)
