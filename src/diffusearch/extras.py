"""Which extra of the package brings a module that playing does not need."""

from __future__ import annotations

from importlib.util import find_spec

from diffusearch.errors import UserError

EXTRAS = {
    "matplotlib": "figures",
    "onnx": "train",
    "onnxruntime": "",  # of the package itself
    "pyarrow": "train",
    "ray": "cluster",
    "safetensors": "train",
    "tensorboard": "tensorboard",
    "torch": "train",
}


def missing(module: str, what: str = "this") -> UserError | None:
    """The error for a module that is not installed; None if no extra brings it."""
    top = module.partition(".")[0]
    if top not in EXTRAS:
        return None
    wanted = f"'diffusearch[{EXTRAS[top]}]'" if EXTRAS[top] else top
    return UserError(f"{what} needs {top}, which is not installed: pip install {wanted}")


def absent(module: str, what: str) -> UserError | None:
    """The error if the module is not installed; `what` needs it."""
    return missing(module, what) if find_spec(module) is None else None


def require(module: str, what: str) -> None:
    """Raise the error if the module is not installed; `what` needs it."""
    if error := absent(module, what):
        raise error
