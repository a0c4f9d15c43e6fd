"""Processes that hold the ranks between them: held to one server, ended together.

`Group` is one process's place among the others: it joins them, lets them `agree` that all start the same, and watches that all
are still there. What could never work `world.check` refuses before.
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


class Unlike(CourseError):
    """What happened in this process and perhaps in no other. It is said by who raises it."""


def revision() -> str:
    """Return a short hash of the code that a result depends on: the engine's and the kernels'."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(dcp_kernels.__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


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
        self._shared = 0
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
        everyone = self.share(what, {name: str(value) for name, value in terms.items()})
        for i, theirs in enumerate(everyone):
            for name in {**everyone[0], **theirs}:
                first, other = everyone[0].get(name), theirs.get(name)
                if first != other:
                    raise CourseError(
                        f"The processes do not start the same {what}: {name} is {first} in process 0 and {other} in process "
                        f"{i}. Start all of them with the same words, from the same revision of the course."
                    )

    def share(self, what: str, value: Any, patience: datetime.timedelta = PATIENCE) -> list[Any]:
        """Return every process's ``value``, as JSON has it, in order. Raises PeerLost where one does not give any in time."""
        key, self._shared = f"shared/{self._shared}", self._shared + 1
        keys = [f"{key}/{i}" for i in range(self.world)]
        try:
            self.store.set(keys[self.rank], json.dumps(value))
            self.store.wait(keys, patience)
            return [json.loads(self.store.get(k)) for k in keys]
        except RuntimeError as error:
            raise PeerLost(f"The processes could not agree on {what}: {first_sentence(error)}.") from None

    def first_to_say(self) -> bool:
        """Return True in the first process that asks: all may have the same to say, and one of them says it."""
        try:
            return self.store.add("said", 1) == 1
        except RuntimeError:
            return True

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
