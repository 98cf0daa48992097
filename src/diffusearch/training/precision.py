"""bf16 products in training, where the recipe asks for them or the hardware has them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch


def has_bf16() -> bool:
    """Whether this machine computes bf16 products in hardware."""
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    capability = torch.cpu.get_capabilities()
    return bool(capability.get("avx512_bf16") or capability.get("amx_bf16"))


def uses_bf16(choice: str) -> bool:
    """Whether a recipe's choice ("on", "off" or "auto") means bf16 on this machine."""
    return choice == "on" or (choice == "auto" and has_bf16())


def mixed_precision(choice: str, device: torch.device) -> AbstractContextManager[object]:
    """bf16 autocast or nothing."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if uses_bf16(choice) else nullcontext()
