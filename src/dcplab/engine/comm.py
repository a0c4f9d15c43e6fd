"""Ranks, three ways behind one interface: all in one process, one process each over gloo, or over NCCL by ``torchrun``.

A process *hosts* ``ranks``, in order; engine code loops over them. ``all_gather`` takes one tensor for each hosted rank and
gives ``[D, ...]``: every rank's, in rank order, the same in every process. That one collective is all the engine needs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import torch
import torch.distributed as dist

from dcplab.errors import CourseError


class Local:
    """Every rank in this process: nothing is sent."""

    name = "local"

    def __init__(self, dcp_size: int, device: torch.device | str = "cpu"):
        self.dcp_size, self.ranks, self.device = dcp_size, range(dcp_size), torch.device(device)

    @property
    def leads(self) -> bool:
        """Whether this process hosts rank 0, and prints."""
        return True

    def all_gather(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.stack(list(parts))

    def close(self) -> None:
        pass


class Distributed:
    """``dcp_size`` ranks dealt evenly, in order, to the processes of a ``torch.distributed`` group (gloo or NCCL).

    The group is made from the environment that ``torchrun`` sets (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, LOCAL_RANK). A
    process may host several ranks: eight ranks run on two GPUs, four on each.
    """

    def __init__(self, dcp_size: int, backend: str):
        world = int(os.environ.get("WORLD_SIZE", "0"))
        if not world:
            raise CourseError(
                f"--ranks {backend} runs under torchrun, which says how many processes there are: start it by torchrun."
            )
        if dcp_size % world:
            raise CourseError(f"{dcp_size} DCP ranks cannot be dealt evenly to {world} processes.")
        self.name, self.dcp_size = backend, dcp_size
        if backend == "nccl":
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(self.device)
            dist.init_process_group(backend, device_id=self.device)
        else:
            self.device = torch.device("cpu")
            dist.init_process_group(backend)
        each = dcp_size // world
        self.ranks = range(dist.get_rank() * each, (dist.get_rank() + 1) * each)

    @property
    def leads(self) -> bool:
        return 0 in self.ranks

    def all_gather(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        mine = torch.stack(list(parts))
        # Bytes: neither library knows every dtype, and nothing is computed here.
        sent = mine.contiguous().view(-1).view(torch.uint8)
        got = torch.empty(dist.get_world_size() * sent.numel(), dtype=torch.uint8, device=sent.device)
        if sent.numel():
            dist.all_gather_into_tensor(got, sent)
        return got.view(mine.dtype).view(self.dcp_size, *mine.shape[1:])

    def close(self) -> None:
        if dist.is_initialized():
            dist.destroy_process_group()


def make(kind: str, dcp_size: int, device: str = "cpu") -> Local | Distributed:
    """``kind`` is local, gloo or nccl."""
    if kind == "local":
        return Local(dcp_size, device)
    if kind in ("gloo", "nccl"):
        if kind == "nccl" and not torch.cuda.is_available():
            raise CourseError("--ranks nccl needs a CUDA device, and none is visible here.")
        return Distributed(dcp_size, kind)
    raise CourseError(f"There is no way of running ranks called {kind!r}; there are local, gloo and nccl.")
