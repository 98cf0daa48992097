"""The runs that several tables share, as changes of the base recipe (paper-10k unless told otherwise)."""

from __future__ import annotations

from diffusearch.reproduce.exhibit import Training

# Baselines are trained until their validation no longer improves (paper, section 4.1).
CONVERGE = ("watch.patience=5",)
DIFFUSION = Training("s-asa")


def baseline(name: str, paradigm: str, *settings: str) -> Training:
    """S-A, S-V, SA-V: one forward pass, no future, so nothing to denoise."""
    return Training(name, (f"model.paradigm={paradigm}", "process.kind=direct", *CONVERGE, *settings))


def autoregressive(paradigm: str) -> Training:
    """The same records, token by token with causal attention."""
    settings = (f"model.paradigm={paradigm}", "process.kind=autoregressive", "model.trunk.attention=causal", *CONVERGE)
    return Training(f"{paradigm}-autoregressive", settings)


def diffusion(name: str, *settings: str) -> Training:
    """The paper's run with changes."""
    return Training(name, settings)


S_A, S_V, SA_V = baseline("s-a", "s-a"), baseline("s-v", "s-v"), baseline("sa-v", "sa-v")
