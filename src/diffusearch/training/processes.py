"""The processes of one training: alone, or several that `torchrun` started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class World:
    """This process among those of `torchrun`."""

    rank: int
    size: int
    local: int = 0  # number among the processes of this machine, and so of its GPU

    @classmethod
    def join(cls) -> World:
        """Join the process group that torchrun announces, or stand alone."""
        if not dist.is_torchelastic_launched():
            return cls(0, 1)
        if not dist.is_initialized():
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        return cls(dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"]))

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """The first process goes through alone, then all the others."""
        if self.size > 1 and self.rank > 0:
            dist.barrier()
        yield
        if self.size > 1 and self.rank == 0:
            dist.barrier()

    def any(self, here: bool) -> bool:
        """Whether it is so in any process: all get the same answer."""
        if self.size == 1:
            return here
        flag = torch.tensor(int(here), device=f"cuda:{self.local}" if torch.cuda.is_available() else "cpu")
        dist.all_reduce(flag, dist.ReduceOp.MAX)
        return bool(flag)
