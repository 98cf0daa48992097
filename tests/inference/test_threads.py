"""Threads of network calls: one of them for a while, and what was asked for again."""

from __future__ import annotations

import pytest
import torch

from diffusearch.inference import threads


def test_one_thread_ends_with_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr(threads, "_asked", None)
    torch.set_num_threads(2)
    try:
        with threads.one_thread():
            assert (torch.get_num_threads(), threads.threads()) == (1, 1)
        assert (torch.get_num_threads(), threads._asked) == (2, None)
        with pytest.raises(ValueError, match="inside"), threads.one_thread():
            raise ValueError("inside")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
