"""Holds each learner to a share of the machine by control groups: memory, processes, processor time of all they run together.

Groups of version 2 and 1 are known. Where the machine has none, the hub's check says so, and only a process's own limits are
left.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from dcplab.hub.plan import Plan

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")
PERIOD_US = 100_000


@dataclass(frozen=True)
class Groups:
    """``base``: where learners' groups are made, by controller ("" in version 2, which has one tree)."""

    base: dict[str, Path]


def prepare(root: Path = ROOT) -> Groups | None:
    """Return where groups can be made, made ready; None where there is nothing to write to."""
    try:
        if (root / "cgroup.controllers").exists():
            return _second(root)
        base = {}
        for name in CONTROLLERS:
            with contextlib.suppress(OSError):
                place = root / name / "dcplab-hub"
                place.mkdir(exist_ok=True)
                base[name] = place
        return Groups(base) if base else None
    except OSError:
        return None


def _second(root: Path) -> Groups:
    """Make the groups' parent below the root, and not below the hub's unit: while groups there held learners, systemd could not
    start the unit again (status=219/CGROUP, systemd 252): a group that limits its children may hold no process of its own."""
    base = root / "dcplab-hub"
    base.mkdir(exist_ok=True)
    for folder in (root, base):
        control = folder / "cgroup.subtree_control"
        if missing := [f"+{name}" for name in CONTROLLERS if name not in control.read_text().split()]:
            control.write_text(" ".join(missing))
    return Groups({"": base})


def available(root: Path = ROOT) -> list[str]:
    """Return what could be limited here, without making anything."""
    if (root / "cgroup.controllers").exists():
        return [*CONTROLLERS] if os.access(root / "cgroup.subtree_control", os.W_OK) else []
    return [name for name in CONTROLLERS if os.access(root / name, os.W_OK)]


def place(groups: Groups, name: str, plan: Plan) -> list[Path]:
    """Make a learner's groups, with the plan's limits. Returns their folders. Raises OSError."""
    made = []
    for controller, base in groups.base.items():
        folder = base / f"user-{name}"
        folder.mkdir(exist_ok=True)
        for file, value in _values(controller, plan).items():
            if (folder / file).exists():  # a machine without swap has no limit for it
                (folder / file).write_text(value)
        made.append(folder)
    return made


def enter(folders: list[Path]) -> None:
    """Move this process into groups: called in the child, before it becomes the learner."""
    for folder in folders:
        (folder / "cgroup.procs").write_text(str(os.getpid()))


def _values(controller: str, plan: Plan) -> dict[str, str]:
    second = {"memory.max": str(plan.memory_bytes), "memory.swap.max": "0", "pids.max": str(plan.processes)}
    if plan.cores:
        second["cpu.max"] = f"{int(plan.cores * PERIOD_US)} {PERIOD_US}"
    first = {
        "memory": {"memory.limit_in_bytes": str(plan.memory_bytes)},
        "pids": {"pids.max": str(plan.processes)},
        "cpu": {"cpu.cfs_quota_us": str(int(plan.cores * PERIOD_US) or -1)},
    }
    return second if not controller else first[controller]
