"""Ranks, three ways behind one interface: all in one process, or dealt to processes over gloo, or over NCCL.

A process *hosts* ``ranks``, in order; engine code loops over them. ``all_gather`` takes one tensor for each hosted rank and
gives ``[D, ...]``: every rank's, in rank order, the same in every process. That one collective is all the engine needs.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from dcplab.engine import world
from dcplab.engine.group import PATIENCE, Group, PeerLost, first_sentence, revision
from dcplab.errors import CourseError

# NVLink multicast takes a fabric manager that not every machine lets a process reach.
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1"}


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

    def agree(self, what: str, terms: Mapping[str, Any]) -> None:
        """Raise CourseError in every process unless all of them give the same ``terms``. One process always agrees."""

    def share(self, what: str, value: Any, patience: timedelta = PATIENCE) -> list[Any]:
        """Return every process's ``value``, plain data, in order."""
        return [value]

    def first_to_say(self) -> bool:
        """Return True in the first process that asks."""
        return True

    def __enter__(self) -> Local:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Distributed:
    """``dcp_size`` ranks dealt evenly, in order, to the processes of a ``torch.distributed`` group (gloo or NCCL).

    The group is made from the environment that ``torchrun`` sets (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, LOCAL_RANK). A
    process may host several ranks: eight ranks run on two GPUs, four on each. Raises CourseError in every process if they
    disagree about D, the library or the course's revision. A ``with`` statement ends the group.
    """

    def __init__(self, dcp_size: int, backend: str):
        if "WORLD_SIZE" not in os.environ:
            raise CourseError(f"Ranks over {backend} are processes, and nobody has started them: give --gpus or --processes.")
        processes = world.check(backend, dcp_size)
        self.name, self.dcp_size = backend, dcp_size
        # torch 2.13 has other names for the same collectives; 2.11 does not know them.
        warnings.filterwarnings("ignore", r".*is deprecated. Please use .torch\.distributed\.", FutureWarning)
        for name, value in NO_MULTICAST.items():
            os.environ.setdefault(name, value)
        self.group = Group()
        given = {"store": self.group.groups, "rank": self.group.rank, "world_size": processes, "timeout": PATIENCE}
        try:
            self.agree(
                "group", {"--dcp-size": dcp_size, "--ranks": backend, "torch": torch.__version__, "revision": revision()}
            )
            if backend == "nccl":
                self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
                torch.cuda.set_device(self.device)
                dist.init_process_group(backend, device_id=self.device, **given)
            else:
                self.device = torch.device("cpu")
                dist.init_process_group(backend, **given)
        except BaseException:
            self.group.leave(failed=False)  # the others have seen the same
            raise
        self.ranks = self._hosted()

    def dealt(self, dcp_size: int) -> Distributed:
        """Return the same processes with another number of ranks, which theirs must divide."""
        world.check(self.name, dcp_size)
        other = copy.copy(self)
        other.dcp_size = dcp_size
        other.ranks = other._hosted()
        return other

    def _hosted(self) -> range:
        each = self.dcp_size // self.group.world
        return range(self.group.rank * each, (self.group.rank + 1) * each)

    @property
    def leads(self) -> bool:
        return 0 in self.ranks

    def all_gather(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        if len(parts) != len(self.ranks):
            raise ValueError(
                f"{len(parts)} tensors to gather, and this process hosts {len(self.ranks)} ranks: one is due for each"
            )
        mine = torch.stack(list(parts))
        # Bytes: neither library knows every dtype, and nothing is computed here.
        sent = mine.contiguous().view(-1).view(torch.uint8)
        got = torch.empty(self.group.world * sent.numel(), dtype=torch.uint8, device=sent.device)
        if sent.numel():
            try:
                dist.all_gather_into_tensor(got, sent)
            except torch.OutOfMemoryError:
                raise
            except RuntimeError as error:
                what = f"does not answer over {self.name} ({first_sentence(error)})"
                raise PeerLost(f"Another process has ended, or {what}.") from error
        return got.view(mine.dtype).view(self.dcp_size, *mine.shape[1:])

    def agree(self, what: str, terms: Mapping[str, Any]) -> None:
        self.group.agree(what, terms)

    def share(self, what: str, value: Any, patience: timedelta = PATIENCE) -> list[Any]:
        return self.group.share(what, value, patience)

    def first_to_say(self) -> bool:
        return self.group.first_to_say()

    def __enter__(self) -> Distributed:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        self.group.leave(failed=kind is not None)
        if kind is None and dist.is_initialized():  # of a group that has lost a process nothing is left to end
            dist.destroy_process_group()


def make(kind: str, dcp_size: int, device: str = "cpu") -> Local | Distributed:
    """Make the ranks. ``kind`` is local, gloo or nccl."""
    world.known(kind)
    return Local(dcp_size, device) if kind == "local" else Distributed(dcp_size, kind)
