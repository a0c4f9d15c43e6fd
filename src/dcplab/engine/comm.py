"""Ranks, three ways behind one interface: all in one process, one process each over gloo, or over NCCL by ``torchrun``.

A process *hosts* ``ranks``, in order; engine code loops over them. ``all_gather`` takes one tensor for each hosted rank and
gives ``[D, ...]``: every rank's, in rank order, the same in every process. That one collective is all the engine needs.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence

import torch
import torch.distributed as dist

from dcplab.errors import CourseError

# How long a process waits for another in a collective. The other may have kernels to compile first. Then both end with an
# error.
PATIENCE = datetime.timedelta(minutes=5)


class Local:
    """Every rank in this process: nothing is sent."""

    name = "local"

    def __init__(self, dcp_size: int, device: torch.device | str = "cpu"):
        self.dcp_size, self.ranks, self.device = dcp_size, range(dcp_size), torch.device(device)

    @property
    def leads(self) -> bool:
        """Return True if this process hosts rank 0, and prints."""
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
        world = processes(backend, dcp_size)
        if not world:
            raise CourseError(f"--ranks {backend} runs under torchrun: {_example(backend, dcp_size)}.")
        self.name, self.dcp_size = backend, dcp_size
        if backend == "nccl":
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(self.device)
            dist.init_process_group(backend, device_id=self.device, timeout=PATIENCE)
        else:
            self.device = torch.device("cpu")
            dist.init_process_group(backend, timeout=PATIENCE)
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


def processes(kind: str, dcp_size: int) -> int:
    """Return how many processes `torchrun` has started for ``dcp_size`` ranks, or 0 if this process is none of them.

    Raises CourseError, in a sentence with what to give instead, for a combination that would hang or fail once a group is made.
    Makes nothing here, and no CUDA context, so it can be called before anything else.
    """
    env = os.environ
    if kind == "local":
        if env.get("WORLD_SIZE", "1") != "1" and "TORCHELASTIC_RUN_ID" in env:
            raise CourseError(
                f"torchrun has started {env['WORLD_SIZE']} processes, and --ranks local holds all {dcp_size} ranks in one: "
                "give --ranks gloo or nccl, or start it without torchrun."
            )
        return 0
    if "WORLD_SIZE" not in env:
        if kind == "nccl":
            _need_gpus(1)
            raise CourseError(f"--ranks nccl runs under torchrun, a process a GPU: {_example(kind, dcp_size)}.")
        return 0
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        if name not in env:
            raise CourseError(
                f"WORLD_SIZE is in the environment and {name} is not; torchrun sets both ({_example(kind, dcp_size)}). "
                "Without torchrun, unset WORLD_SIZE."
            )
    world, rank = _number("WORLD_SIZE"), _number("RANK")
    if not rank < world:
        raise CourseError(f"RANK={rank} is none of the {world} processes that WORLD_SIZE says there are.")
    if dcp_size % world:
        fit = " or ".join(str(n) for n in range(1, dcp_size + 1) if dcp_size % n == 0)
        raise CourseError(
            f"{dcp_size} DCP ranks cannot be dealt evenly to {world} processes: give --nproc-per-node {fit}, or a --dcp-size "
            f"that {world} divides, as {world * max(1, dcp_size // world)}."
        )
    if kind == "nccl":
        _need_gpus(_number("LOCAL_WORLD_SIZE") if "LOCAL_WORLD_SIZE" in env else world)
    return world


def _number(name: str) -> int:
    value = os.environ[name]
    if not value.isdecimal():
        raise CourseError(f"{name}={value!r} in the environment is no number of processes; torchrun sets it.")
    return int(value)


def _need_gpus(count: int) -> None:
    have = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not have:
        raise CourseError("--ranks nccl needs a CUDA device, and none is visible here; --ranks gloo runs on the CPU.")
    if have < count:
        raise CourseError(
            f"NCCL needs a GPU for each process; {count} were started here, and there {'is' if have == 1 else 'are'} {have}: "
            f"give --nproc-per-node {have}. A process can hold several ranks."
        )


def _example(kind: str, dcp_size: int) -> str:
    """Return a command that would run."""
    count = next((n for n in (2, 3) if dcp_size % n == 0), 1)
    return f"torchrun --standalone --nproc-per-node {count} -m dcplab incident --ranks {kind} --dcp-size {dcp_size}"


def make(kind: str, dcp_size: int, device: str = "cpu") -> Local | Distributed:
    """Make the ranks. ``kind`` is local, gloo or nccl."""
    if kind == "local":
        return Local(dcp_size, device)
    if kind in ("gloo", "nccl"):
        return Distributed(dcp_size, kind)
    raise CourseError(f"There is no way of running ranks called {kind!r}; there are local, gloo and nccl.")
