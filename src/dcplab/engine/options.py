"""Starting a server from a command line: which device, which sizes, which ranks, and the processes that hold them."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from dcplab import ended, subprocess_call
from dcplab.engine import group, scenario, world
from dcplab.engine.configurator import ServerConfig
from dcplab.errors import CourseError


@dataclass(frozen=True)
class EngineOptions:
    """The options given. None: the device's default. ``ranks`` is local, gloo or nccl; ``processes`` hold them, where nobody
    has started any."""

    device: str = "auto"
    ranks: str = "local"
    dcp_size: int = 4
    size: int | None = None
    page_size: int | None = None
    layers: int = 3
    topk: int | None = None
    chunk: int | None = None
    need_sort: bool = False
    interleave: int = 1
    indexer: str = "replicated"
    host_tokens: int | None = None
    prefill_dcp: int = 0
    draft: int = 0
    threads: int = 1  # of torch on a CPU: more of them wait for each other on a busy machine
    processes: int | None = None


GRACE_S = 2.0  # for processes to end by themselves once one has


def device(options: EngineOptions) -> str:
    """Return cpu or cuda. Raises CourseError if CUDA was asked for and is not available."""
    try:
        world.check(options.ranks, options.dcp_size, options.processes)  # refused before anything is made
    except CourseError:
        world.leave_it_to_the_first()
        raise
    have = torch.cuda.is_available()
    if options.device == "auto":
        return "cuda" if options.ranks == "nccl" or (have and options.ranks == "local") else "cpu"
    if options.device not in ("cpu", "cuda"):
        raise CourseError(f"There is no device called {options.device!r}; there are cpu and cuda.")
    if options.device == "cuda" and not have:
        raise CourseError("No CUDA device is visible here; --device cpu runs the same server in torch.")
    if options.device == "cpu" and options.ranks == "nccl":
        raise CourseError("--ranks nccl runs on GPUs; on the CPU the ranks are local or gloo.")
    if options.device == "cuda" and options.ranks == "gloo":
        raise CourseError("--ranks gloo runs on the CPU; on GPUs the ranks are local or nccl.")
    return options.device


def config(options: EngineOptions) -> ServerConfig:
    """Return the server asked for, checked. On a GPU: pages of 64, 16 heads, top-k 2,048, as the kernels need them."""
    gpu = device(options) == "cuda"
    for name in ("dcp_size", "page_size", "size", "layers", "topk", "chunk"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise CourseError(f"{name} must be at least 1, not {value}.")
    if gpu and options.page_size and options.page_size % 64:
        raise CourseError(
            f"On a GPU a page is a multiple of 64 rows, not {options.page_size}: the indexer kernel reads whole pages."
        )
    page_size = options.page_size or (64 if gpu else 8)
    topk = options.topk or (2048 if gpu else scenario.TOPK)
    built = ServerConfig(
        size=options.size or scenario.default_size(page_size, options.dcp_size, topk),
        page_size=page_size,
        dcp_size=options.dcp_size,
        layers=options.layers,
        heads=16 if gpu else 2,
        index_heads=32 if gpu else 3,
        topk=topk,
        chunk=options.chunk or (4096 if gpu else 256),
        need_sort=options.need_sort,
        interleave=options.interleave,
        indexer=options.indexer,
        host_tokens=options.host_tokens,
        prefill_dcp=options.prefill_dcp,
        draft_tokens=options.draft,
    )
    built.check()
    return built


def on_every_rank(options: EngineOptions, work: Callable[..., None], *given: Any) -> None:
    """Call ``work(options, *given)`` in each process that holds ranks: here, or in new ones where nobody has started any.

    Raises CourseError if one of them ends before its work does; none of the others outlives that.
    """
    count = world.check(options.ranks, options.dcp_size, options.processes)
    if count and "WORLD_SIZE" not in os.environ:
        _start(count, options, work, given)
        return
    if device(options) == "cpu":
        torch.set_num_threads(options.threads)
    try:
        work(options, *given)
    except (group.PeerLost, group.Unlike):
        raise
    except CourseError:
        world.leave_it_to_the_first()
        raise


def _start(count: int, options: EngineOptions, work: Callable[..., None], given: tuple[Any, ...]) -> None:
    """Run ``work`` in ``count`` new processes, and wait."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    words = (count, options, port, work, given)
    context = torch.multiprocessing.spawn(_one_process, words, nprocs=count, join=False)
    try:
        while not context.join(grace_period=GRACE_S):
            pass
    except torch.multiprocessing.ProcessExitedException as error:
        if error.exit_code == 2:  # it has said why
            raise SystemExit(2) from None
        why = ended.by_signal(-error.exit_code) if error.exit_code < 0 else f"exit status {error.exit_code}"
        raise CourseError(f"Process {error.error_index} of {count} has ended ({why}), and so the others were ended.") from None


def _one_process(
    rank: int, count: int, options: EngineOptions, port: int, work: Callable[..., None], given: tuple[Any, ...]
) -> None:
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in place.items()}, MASTER_ADDR="127.0.0.1")
    try:
        on_every_rank(options, work, *given)
    except group.PeerLost:
        time.sleep(2 * GRACE_S)  # who started this process sees the one that was lost, and says what became of it
        raise SystemExit(2) from None
    except CourseError as error:
        print(f"course: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def free_gpu_bytes() -> int:
    """Return the free memory of the GPU, asked in a new process: this one makes no context, which would take memory itself."""
    asked = subprocess_call.call("torch.cuda", "mem_get_info", timeout_s=120)
    if asked["value"] is None:
        raise CourseError(f"The GPU does not say how much memory it has: {asked['why']}.")
    return asked["value"][0]


def ran_on(options: EngineOptions) -> str:
    """Name the device and the ranks for the head of a result, so that a CPU's is never taken for a GPU's."""
    where = f"GPU ({torch.cuda.get_device_name()})" if device(options) == "cuda" else "CPU (torch)"
    count = world.check(options.ranks, options.dcp_size, options.processes)
    how = (
        f"{count} processes over {'NCCL' if options.ranks == 'nccl' else options.ranks}"
        if count
        else "all ranks in one process"
    )
    return f"{where}, {how}"
