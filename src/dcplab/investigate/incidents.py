"""Replays the incident of #36886 on a small server of the learner's own, and the same with every patch. A record is about such
a run. Which of the five patches the server has is the seed's too, and is not said: a record has to infer it."""

from __future__ import annotations

import functools
import random
from collections.abc import Set
from dataclasses import replace

from dcplab import mode
from dcplab.engine import defects as switches
from dcplab.engine import incident_report, scenario
from dcplab.engine.configurator import ServerConfig, specs
from dcplab.engine.scenario import Outcome
from dcplab.engine.watcher import Watcher
from dcplab.investigate import hidden_cases
from dcplab.investigate.hidden_cases import Setup
from dcplab.investigate.local_faults import Fault
from dcplab.present import progress_line
from dcplab.present.text_with_table import Words

WRITES = ("write_ckv", "write_index_k", "load_cpu_copy")  # operations that write to a pool
# Servers that answer rightly at first and wrongly from the long requests on: the patches in force.
IN_FORCE = ((), ("index_k_size",), tuple(name for name in switches.PATCHES if name != "index_k_size"))
RAN_ON = "CPU (torch), all ranks in one process"


class Incident(Words):
    """A run with some patches missing, beside a run with every patch. Displayed, it tells the whole story.

    Attributes: ``config``, ``patches`` (those in force), ``outcome``, ``fixed`` (the outcome with every patch), ``watcher``,
    ``versions``.
    """

    def __init__(self, config: ServerConfig, patches: Set[str], outcome: Outcome, fixed: Outcome, watcher: Watcher):
        self.config, self.patches, self.outcome, self.fixed = config, frozenset(patches), outcome, fixed
        self.watcher, self.versions = watcher, mode.versions()
        super().__init__(self._text())

    @property
    def device(self) -> str:
        """Name the device of the run: always "cpu"."""
        return "cpu"

    @property
    def writes_outside(self) -> dict[str, tuple[int, int]]:
        """Map each buffer to (places beyond it that all ranks together meant to write, bytes a place). A place written twice
        counts twice."""
        each = {s.name: s.row_bytes // s.slots_per_row for s in specs(self.config)}
        writes: dict[str, tuple[int, int]] = {}
        for (op, buffer), count in self.watcher.outside.items():
            if op in WRITES:
                writes[buffer] = writes.get(buffer, (0, 0))[0] + count, each[buffer]
        return writes

    def counts(self, fixed: bool = False) -> dict[str, str]:
        """Count right answers of those given, act by act: ``{"fresh": "3/3", ...}``."""
        out = self.fixed if fixed else self.outcome
        return {act: incident_report.counts(out, act) for act in ("fresh", "long", "again")}

    def data(self) -> dict:
        """Return the run as plain data: the fields of `engine.incident_report.outcome_data`, and the server."""
        c = self.config
        return {
            "server": {"dcp_size": c.dcp_size, "page_size": c.page_size, "size": c.size, "layers": c.layers, "topk": c.topk},
            "ran_on": RAN_ON,
            "versions": dict(self.versions),
            "patches": [name for name in switches.PATCHES if name in self.patches],
            "writes_outside": {k: list(v) for k, v in self.writes_outside.items()},
            "run": incident_report.outcome_data(self.outcome),
            "with_all_patches": incident_report.outcome_data(self.fixed),
        }

    def _text(self) -> str:
        missing = frozenset(switches.PATCHES) - self.patches
        text = incident_report.incident(self.config, missing, hidden_cases.LEVEL, replace(self.outcome, seconds=0.0), RAN_ON)
        lines = [line for line in text.split("\n")[:-1] if not line.startswith("defects:")]  # the last line gives seconds
        m = self.outcome.metrics
        lines.append(f"{m.steps} steps, {m.extended} tokens extended, {m.cached} found in the prefix cache")
        lines += ["", "Writes beyond their buffers, all ranks:"]
        lines += [f"  {b}: {n} places of {size} bytes" for b, (n, size) in self.writes_outside.items()] or ["  none"]
        fixed = self.counts(fixed=True)
        lines += ["", "The same with every patch: " + ", ".join(f"{act} {n}" for act, n in fixed.items())]
        return "\n".join(lines)


@functools.lru_cache(maxsize=4)
def replay(seed: int, unpatched: bool = False) -> Incident:
    """Run the server of a seed. The seed decides its D, P, C and words, and which patches it has: none if ``unpatched``, as
    all had before."""
    r = random.Random(f"incident {seed}")
    d, p = r.choice(((2, 4), (2, 5), (2, 6), (3, 4), (3, 5), (4, 4)))
    size = scenario.default_size(p, d) + r.randrange(12) * p
    setup = Setup(
        ServerConfig(size=size, page_size=p, dcp_size=d, layers=3, topk=scenario.TOPK),
        Fault(frozenset()),
        r.randrange(1, 10**6),
    )
    in_force = () if unpatched else random.Random(f"the patches of {seed}").choice(IN_FORCE)
    missing = frozenset(switches.PATCHES) - set(in_force)
    return _pair(replace(setup, fault=Fault(missing)))


def of_case(run: hidden_cases.RecordedRun) -> Incident:
    """Wrap the run of a hidden case as an incident."""
    return _pair(run.setup, run)


def _pair(setup: Setup, run: hidden_cases.RecordedRun | None = None) -> Incident:
    with progress_line.line("the incident") as say:
        run = run or hidden_cases.recorded(setup, say)
    with progress_line.line("the same with every patch") as say:
        fixed = hidden_cases.recorded(replace(setup, fault=Fault()), say)
    patches = frozenset(switches.PATCHES) - setup.fault.defects
    return Incident(setup.config, patches, run.outcome, fixed.outcome, run.engine.watcher)
