"""The back ends that a user can choose: their names alone, so that options can be listed and read without a network."""

from __future__ import annotations

BACKENDS = ("auto", "onnx", "torch")  # auto: onnx where the run has graphs for it
