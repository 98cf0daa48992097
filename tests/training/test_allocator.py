"""Memory that a step frees: with glibc further steps of the same size have almost no page faults."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from diffusearch.training.allocator import keep_freed_memory

assert keep_freed_memory()
def step():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [torch.ones(2_000_000) for _ in range(8)]  # 8 MB each
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(*(step() for _ in range(10)))  # aligned blocks fit into freed ones after some steps
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is glibc's")
def test_freed_memory_is_not_mapped_anew() -> None:
    run = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    faults = [int(word) for word in run.stdout.split()]
    assert faults[-1] < faults[0] / 10
