"""Runs the warm process that children are forked from: ``python -m dcplab.sandbox.server FD``.

It imports torch and Triton once and touches no device, so a fork is ready in milliseconds and has its own CUDA context. It runs
no answer and holds no input: it passes on a file descriptor, through which a job reaches a child.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from dcplab import paths, settings
from dcplab.sandbox import compiled_kernels, fork_cost
from dcplab.sandbox.walls import enclose, libc, namespaces


def main(fd: int, mode: str) -> None:
    left_out = "namespaces" in enclose.allowances(mode, settings.sandbox()).without
    alone = "DCPLAB_SANDBOX" if left_out else namespaces.enter(keep=fd, own_proc=mode == "gpu")
    control = socket.socket(fileno=fd)
    # Orphans of a child become ours, however they detached themselves, and are killed when the child ends.
    libc.prctl(libc.PR_SET_SUBREAPER, 1)
    _preload(mode)
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for stop in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C is for the notebook; the server ends with its parent
        signal.signal(stop, signal.SIG_IGN)
    control.send(json.dumps({"alone": alone}).encode())
    children: dict[int, socket.socket] = {}
    forked = 0.0
    while True:
        links = {link.fileno(): pid for pid, link in children.items()}
        waits: list[Any] = [control, wake_read, *children.values()]
        ready, _, _ = select.select(waits, [], [])
        for source in ready:
            if source is control:
                if not _fork_one(control, children, (wake_read, wake_write)):
                    for pid in children:
                        _kill(pid)
                    _end_orphans(set())
                    os._exit(0)  # at once: an orderly exit of torch takes seconds
                forked += 1
            elif source is wake_read:
                with contextlib.suppress(BlockingIOError):
                    os.read(wake_read, 4096)
            elif (pid := links[source.fileno()]) in children:
                # "kill", or the other end is closed: the child is no longer wanted.
                with contextlib.suppress(OSError):
                    source.recv(16)
                _kill(pid)
        _reap(children)
        if forked >= fork_cost.CHILDREN and not children:  # nobody waits now, and it is done once
            fork_cost.lighten()
            forked = -math.inf


def _preload(mode: str) -> None:
    import numpy  # noqa: F401
    import torch
    import triton.language  # noqa: F401

    torch.set_num_threads(1)  # a fork is safe only while no thread pool was started
    if os.environ.get("TRITON_INTERPRET") == "1":
        from dcplab.sandbox import warmup

        warmup.run()
    else:
        with contextlib.suppress(ImportError):  # a hash of Triton's 400 MB, which each child that compiles would make anew
            from triton.runtime.cache import triton_key

            triton_key()
    if mode == "gpu":
        with contextlib.suppress(Exception):  # gcc builds it, seconds that no child should pay; a child that needs it says why
            from triton.backends.nvidia.driver import CudaUtils

            course = str(paths.compiled_kernels())
            compiled_kernels.place(Path(course), course, keeps=True)
            CudaUtils()
        with contextlib.suppress(ImportError):  # half a second's import for each child whose answer runs in the engine
            import tilelang  # noqa: F401
    enclose.prepare(mode, settings.sandbox())
    import dcplab.sandbox.child  # noqa: F401

    gc.freeze()  # a child's collection would else look at all that was imported, and so copy it


def _fork_one(control: socket.socket, children: dict[int, socket.socket], mine: tuple[int, ...]) -> bool:
    data, fds, _, _ = socket.recv_fds(control, 4096, 5)
    if not data:
        return False
    job, result, out, err, link = fds
    pid = os.fork()
    if pid == 0:
        try:
            with socket.socket(fileno=os.dup(link)) as told:
                told.send(b'{"pid": true}')  # the kernel adds our id, as whoever asked counts
            _become_child(job, result, out, err, [control.fileno(), link, *mine, *(c.fileno() for c in children.values())])
        finally:
            os._exit(70)
    for fd in (job, result, out, err):
        os.close(fd)
    children[pid] = socket.socket(fileno=link)
    return True


def _become_child(job: int, result: int, out: int, err: int, close: list[int]) -> None:
    os.setsid()
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    for fd in close:
        os.close(fd)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
        os.close(source)
    sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in ((0, "r"), (1, "w"), (2, "w")))
    from dcplab.sandbox import child

    child.main(job, result)


def _kill(pid: int) -> None:
    for end in (os.killpg, os.kill):  # the process group may not exist yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


def _reap(children: dict[int, socket.socket]) -> None:
    ended = [pid for pid in children if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None]
    for pid in ended:
        _kill(pid)  # the rest of its group, while its zombie still keeps the id from being used again
        _, status = os.waitpid(pid, 0)
        link = children.pop(pid)
        _end_orphans(set(children))
        with contextlib.suppress(OSError):
            link.send(json.dumps({"exit": os.waitstatus_to_exitcode(status)}).encode())
        link.close()
    if ended:
        with contextlib.suppress(ChildProcessError):
            while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if info is None or info.si_pid in children:
                    break
                os.waitpid(info.si_pid, 0)


def _end_orphans(known: set[int]) -> None:
    """Kill the processes that a dead child left to us. Killing one may leave us its own children, hence the loop."""
    for _ in range(64):
        orphans = [pid for pid in _children() if pid not in known]
        if not orphans:
            return
        for pid in orphans:
            _kill(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    """Return the living children of this process, by the ids that it knows them by. /proc has others, those of outside."""
    found, me = [], os.readlink("/proc/self")
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as f:
                    fields = f.read().rpartition(b")")[2].split()
                if fields[1].decode() == me and fields[0] != b"Z":
                    with open(f"/proc/{name}/status", encoding="utf-8", errors="replace") as f:
                        ids = next(line for line in f if line.startswith("NSpid:")).split()
                    found.append(int(ids[-1]))
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
