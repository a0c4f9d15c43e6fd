"""Processes that hold the ranks between them: refused where they would not meet, held to one server, ended together.

`check` refuses what could never work, before anything is made. `Group` is one process's place among the others: it joins them,
lets them `agree` that all start the same, and watches that all are still there.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import re
import select
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import dcp_kernels
import torch
import torch.distributed as dist

from dcplab.errors import CourseError

JOIN = datetime.timedelta(
    minutes=2
)  # how long the first to come waits for the last: torch takes long to import on a busy machine
# How long a process waits for another in a collective, or at an agreement. The other may have kernels to compile first.
PATIENCE = datetime.timedelta(minutes=5)
BEAT_S = 1.0
SILENCE_S = 20.0  # a process of which nothing was heard for so long counts as dead; a kernel's compilation can hold it for some
LEAVE_S = 5.0  # how long the process that holds the store stays for the others to take leave


class PeerLost(CourseError):
    """Another process has ended, or does not answer. Each process that is left says so."""


def revision() -> str:
    """Return a short hash of the code that a result depends on: the engine's and the kernels'."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(dcp_kernels.__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def check(kind: str, dcp_size: int, asked: int | None = None) -> int:
    """Return how many processes hold ``dcp_size`` ranks; 0 if this process holds them all.

    ``kind`` is local, gloo or nccl; ``asked`` the processes that a command line asks for (None: a process a rank for gloo, and
    for NCCL those of `torchrun`). Raises CourseError, in a sentence with what to give instead, for a combination that would
    hang or fail once a group is made. Makes nothing here, and no CUDA context, so it can be called before anything else.
    """
    env = os.environ
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
    have = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not have:
        raise CourseError("--ranks nccl needs a CUDA device, and none is visible here; --ranks gloo runs on the CPU.")
    if have < count:
        option = "--nproc-per-node" if "WORLD_SIZE" in os.environ else "--gpus"
        raise CourseError(
            f"NCCL needs a GPU for each process; {count} were started here, and there {'is' if have == 1 else 'are'} {have}: "
            f"give {option} {have}. A process can hold several ranks."
        )


def _example(kind: str, dcp_size: int) -> str:
    """Return a command that would run."""
    count = next((n for n in (2, 3) if dcp_size % n == 0), 1)
    return f"torchrun --standalone --nproc-per-node {count} -m dcplab incident --ranks {kind} --dcp-size {dcp_size}"


def first_here() -> bool:
    """Return True in the first process of a machine, which says what all of them would."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


class Group:
    """This process among those that `torchrun`, or `options.on_every_rank`, has started; ``rank`` of ``world``.

    Made from the environment (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT). Raises PeerLost where the others do not come.
    """

    def __init__(self) -> None:
        try:
            store, self.rank, self.world = next(dist.rendezvous("env://", timeout=JOIN))
            self.store = dist.PrefixStore("dcplab", store)
            self.groups = dist.PrefixStore("group", store)  # for `init_process_group`
            self.store.set(f"beat/{self.rank}", "0")
            self.store.wait([f"beat/{i}" for i in range(self.world)], JOIN)
        except RuntimeError as error:
            raise PeerLost(f"The processes did not meet within {JOIN.seconds} s: {first_sentence(error)}.") from None
        self._agreements = 0
        self._over = threading.Event()
        self._signals, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        if threading.current_thread() is threading.main_thread():
            # A handler of Python's runs between two of its instructions, and a process that waits for NCCL comes to none. What
            # C writes to this pipe the watch reads.
            signal.signal(signal.SIGTERM, lambda *_: None)
            signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._watcher = threading.Thread(target=self._watch, args=(self.store.clone(),), daemon=True)  # type: ignore[attr-defined]
        self._watcher.start()

    def agree(self, what: str, terms: Mapping[str, Any]) -> None:
        """Raise CourseError in every process unless all give the same ``terms`` of ``what``, which says what they start."""
        key, self._agreements = f"terms/{self._agreements}", self._agreements + 1
        mine = json.dumps({name: str(value) for name, value in terms.items()})
        keys = [f"{key}/{i}" for i in range(self.world)]
        try:
            self.store.set(keys[self.rank], mine)
            self.store.wait(keys, PATIENCE)
            everyone = [json.loads(self.store.get(k)) for k in keys]
        except RuntimeError as error:
            raise PeerLost(f"The processes could not agree on {what}: {first_sentence(error)}.") from None
        for i, theirs in enumerate(everyone):
            for name in {**everyone[0], **theirs}:
                first, other = everyone[0].get(name), theirs.get(name)
                if first != other:
                    raise CourseError(
                        f"The processes do not start the same {what}: {name} is {first} in process 0 and {other} in process "
                        f"{i}. Start all of them with the same words, from the same revision of the course."
                    )

    def leave(self, failed: bool) -> None:
        """Take leave, so that nobody takes this process for dead. What ``failed`` is missed at once."""
        self._over.set()
        os.write(self._wake, b"\0")
        self._watcher.join(LEAVE_S)  # a thread that is in the store when Python ends aborts the process
        with contextlib.suppress(RuntimeError):
            if failed:
                self.store.set(f"beat/{self.rank}", "failed")
                return
            self.store.set(f"gone/{self.rank}", "")
            if self.rank == 0:  # as a rule it holds the store
                self.store.wait([f"gone/{i}" for i in range(self.world)], datetime.timedelta(seconds=LEAVE_S))

    def _watch(self, store: dist.Store) -> None:
        heard = dict.fromkeys(range(self.world), ("", time.monotonic()))
        beat = 0
        while not self._over.is_set():
            if select.select([self._signals], [], [], BEAT_S)[0]:
                self._signalled(os.read(self._signals, 64))
            beat += 1
            try:
                store.set(f"beat/{self.rank}", str(beat))
                beats = [bytes(store.get(f"beat/{i}")).decode() for i in range(self.world)]
                gone = {i for i in range(self.world) if store.check([f"gone/{i}"])}
            except RuntimeError:
                if self._over.is_set():  # this process has ended in order, and the others may go
                    return
                self._end("Process 0, or torchrun, at which the processes meet, has ended")
            for i, last in enumerate(beats if not self._over.is_set() else ()):
                if last == "failed":
                    self._end(f"Process {i} of {self.world} has ended with an error")
                if last != heard[i][0] or i == self.rank or i in gone:
                    heard[i] = (last, time.monotonic())
                elif time.monotonic() - heard[i][1] > SILENCE_S:
                    self._end(f"Nothing has been heard of process {i} of {self.world} for {SILENCE_S:.0f} s")

    def _signalled(self, numbers: bytes) -> None:
        if signal.SIGTERM in numbers:
            if "TORCHELASTIC_RUN_ID" in os.environ:  # others who end processes say why themselves
                self._end("torchrun has ended this process: another one has failed, or torchrun was stopped")
            os._exit(128 + signal.SIGTERM)
        if signal.SIGINT in numbers:
            time.sleep(1)  # for the main thread to end by itself, which it cannot while it waits for a GPU
            os._exit(128 + signal.SIGINT)

    def _end(self, why: str) -> NoReturn:
        os.write(2, f"course: {why}; process {self.rank} ends too.\n".encode())
        os._exit(2)


def first_sentence(error: Exception) -> str:
    """Return what a library's error says first, without the line of its source."""
    words = re.sub(r"^\[[^\]]*\] *", "", str(error).strip()).split("\n")[0]
    return words.partition(". ")[0].rstrip(".") or type(error).__name__
