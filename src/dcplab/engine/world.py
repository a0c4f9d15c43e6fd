"""How many processes hold the ranks, from a command's words and the environment alone: what could never work is refused here.

Nothing is imported for it. torch takes seconds, and a D that does not fit is told in less than one, by every process.
"""

from __future__ import annotations

import glob
import os
import sys
import time

from dcplab.errors import CourseError

KINDS = ("local", "gloo", "nccl")
SAY_S = 0.5  # in which the first process of a machine says why all end, before the end of another has it ended
OTHER_DEVICES = ("/dev/dxg", "/dev/kfd", "/dev/nvmap")  # a GPU of WSL, of AMD, of a Jetson: torch alone can count these


def asked(ranks: str, processes: int | None, gpus: int | None) -> tuple[str, int | None]:
    """Return the kind of ranks (local, gloo, nccl) and the number of processes that the options ``--ranks``, ``--processes``
    and ``--gpus`` ask for together."""
    if gpus is None:
        return ranks, processes
    if ranks == "gloo":
        raise CourseError("--gpus starts ranks over NCCL, and --ranks gloo runs on the CPU: give --processes.")
    if processes is not None:
        raise CourseError("--gpus starts a process a GPU: leave --processes out.")
    return "nccl", gpus


def known(kind: str) -> None:
    """Raise CourseError for another kind of ranks than there are."""
    if kind not in KINDS:
        raise CourseError(f"There is no way of running ranks called {kind!r}; there are local, gloo and nccl.")


def check(kind: str, dcp_size: int, asked: int | None = None) -> int:
    """Return how many processes hold ``dcp_size`` ranks; 0 if this process holds them all.

    ``kind`` is local, gloo or nccl; ``asked`` the processes that a command line asks for (None: a process a rank for gloo, and
    for NCCL those of `torchrun`). Raises CourseError, in a sentence with what to give instead, for a combination that would
    hang or fail once a group is made. Makes nothing here, and no CUDA context, so it can be called before anything else: before
    torch is there it refuses only what the device files tell, and is to be called again.
    """
    env = os.environ
    known(kind)
    if asked is not None and asked < 1:
        raise CourseError(f"At least one process must hold the ranks, not {asked}.")
    if kind == "local":
        if env.get("WORLD_SIZE", "1") != "1" and "TORCHELASTIC_RUN_ID" in env:
            raise CourseError(
                f"torchrun has started {env['WORLD_SIZE']} processes, and --ranks local holds all {dcp_size} ranks in one: "
                "give --ranks gloo or nccl, or start it without torchrun."
            )
        if asked is not None and asked > 1:
            raise CourseError(f"--ranks local holds all ranks in one process, not in {asked}: give --ranks gloo, or --gpus.")
        return 0
    if "WORLD_SIZE" in env:
        world, here = _of_torchrun(kind, dcp_size, asked)
    else:
        if kind == "nccl" and asked is None:
            _need_gpus(1)
            raise CourseError(
                f"--ranks nccl runs under torchrun, a process a GPU: {_example(kind, dcp_size)}. Or give --gpus N, which "
                "starts them."
            )
        world = here = dcp_size if asked is None else asked
    if dcp_size % world:
        fit = " or ".join(str(n) for n in range(1, dcp_size + 1) if dcp_size % n == 0)
        option = "--nproc-per-node" if "WORLD_SIZE" in env else "--gpus" if kind == "nccl" else "--processes"
        raise CourseError(
            f"{dcp_size} DCP ranks cannot be dealt evenly to {world} processes: give {option} {fit}, or a --dcp-size "
            f"that {world} divides, as {world * max(1, dcp_size // world)}."
        )
    if kind == "nccl":
        _need_gpus(here)
    return world


def _of_torchrun(kind: str, dcp_size: int, asked: int | None) -> tuple[int, int]:
    """Return the processes that `torchrun` has started in all, and on this machine."""
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        if name not in os.environ:
            raise CourseError(
                f"WORLD_SIZE is in the environment and {name} is not; torchrun sets both ({_example(kind, dcp_size)}). "
                "Without torchrun, unset WORLD_SIZE."
            )
    world, rank = _number("WORLD_SIZE"), _number("RANK")
    if not rank < world:
        raise CourseError(f"RANK={rank} is none of the {world} processes that WORLD_SIZE says there are.")
    if asked is not None and asked != world:
        raise CourseError(f"torchrun has started {world} processes, and {asked} are asked for: leave that to torchrun.")
    return world, _number("LOCAL_WORLD_SIZE") if "LOCAL_WORLD_SIZE" in os.environ else world


def _number(name: str) -> int:
    value = os.environ[name]
    if not value.isdecimal():
        raise CourseError(f"{name}={value!r} in the environment is no number of processes; torchrun sets it.")
    return int(value)


def _need_gpus(count: int) -> None:
    have = _gpus()
    if have is None:
        return
    if not have:
        raise CourseError("--ranks nccl needs a CUDA device, and none is visible here; --ranks gloo runs on the CPU.")
    if have < count:
        option = "--nproc-per-node" if "WORLD_SIZE" in os.environ else "--gpus"
        raise CourseError(
            f"NCCL needs a GPU for each process; {count} were started here, and there {'is' if have == 1 else 'are'} {have}: "
            f"give {option} {have}. A process can hold several ranks."
        )


def _gpus() -> int | None:
    """Count the CUDA devices: as torch does where it is there, else those of which there is a file and that are not hidden,
    which may be more. None: there is no telling without torch."""
    if "torch" in sys.modules:
        import torch

        return torch.cuda.device_count() if torch.cuda.is_available() else 0
    if any(map(os.path.exists, OTHER_DEVICES)):
        return None
    files = len(glob.glob("/dev/nvidia[0-9]*"))
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return files if shown is None else min(files, len([name for name in shown.split(",") if name.strip() not in ("", "-1")]))


def _example(kind: str, dcp_size: int) -> str:
    """Return a command that would run."""
    count = next((n for n in (2, 3) if dcp_size % n == 0), 1)
    return f"torchrun --standalone --nproc-per-node {count} -m dcplab incident --ranks {kind} --dcp-size {dcp_size}"


def first_here() -> bool:
    """Return True in the first process of a machine, which says what all of them would."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def leave_it_to_the_first() -> None:
    """End this process, unless it is the first of its machine: all of them have the same to say."""
    if not first_here():
        time.sleep(SAY_S)
        raise SystemExit(2) from None
