"""Chess with a discrete-diffusion transformer: by denoising, or by explicit search.

    import diffusearch

    model = diffusearch.load()
    imagination = model.imagine("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    imagination.show()

Everything else is in the folders: tokens, data, model, diffusion, training, inference, search, agents, evaluation,
play, reproduce.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffusearch.errors import UserError as UserError
    from diffusearch.notebook import Model as Model
    from diffusearch.notebook import Vision as Vision
    from diffusearch.notebook import load as load

__version__ = "0.1.0"
__all__ = ["Model", "UserError", "Vision", "load"]

# Where each public name lives. They are imported on first use: the package itself costs nothing, so that
# `diffusearch uci` answers at once, and torch comes with the first model.
_HOMES = {
    "Model": "diffusearch.notebook",
    "UserError": "diffusearch.errors",
    "Vision": "diffusearch.notebook",
    "load": "diffusearch.notebook",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'diffusearch' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
