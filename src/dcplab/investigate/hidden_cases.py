"""Draws three servers that misbehave. A seed decides what is wrong with each, where, how large the server is, and its
questions.

Cases 1, 2 and 3 of a seed are one of each kind. The seed decides their order too:

* *size*: a buffer is too small for the indices that it gets;
* *convention*: one layer writes and reads by the same wrong rule, so it agrees with itself;
* *half*: one operation of one layer, on one rank or on all, follows another rule than the rest.

Layer 0 is never at fault. A case whose fault has no visible effect is drawn anew, so each case gives a wrong answer or ends its
server.
"""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass

from dcplab import progress as progress_file
from dcplab import settings
from dcplab.engine import scenario
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scenario import Outcome
from dcplab.engine.scheduler import Engine
from dcplab.engine.shared import Monitor
from dcplab.engine.threads import one_thread
from dcplab.engine.watcher import Access
from dcplab.errors import CourseError
from dcplab.investigate import local_faults
from dcplab.investigate.access_list import Recorder, SeenAccess
from dcplab.investigate.local_faults import Fault
from dcplab.present import progress_line

COUNT = 3
LEVEL = "above"
KINDS = ("size", "convention", "half")
HALVES = ("ckv_write", "read", "extend", "mixed", "retract")
MOST_DRAWS = 20
ACTS = {"fresh": "the questions", "long": "two long requests", "again": "the questions again"}
KEPT = ("investigation", "cases")  # place of the learner's seed in the progress file; resetting a part does not touch it


@dataclass(frozen=True)
class Setup:
    """One server and its questions. ``salt`` makes the words. ``retract``: memory pressure takes a request off once."""

    config: ServerConfig
    fault: Fault
    salt: int
    retract: bool = False


@dataclass(frozen=True)
class RecordedRun:
    """The record of a story on a faulty server. ``seen``: every access, in order. ``monitors``: the monitor's counts for each
    act."""

    setup: Setup
    outcome: Outcome
    engine: Engine
    seen: tuple[SeenAccess, ...] = ()
    monitors: dict[str, Monitor] | None = None

    @property
    def visible(self) -> bool:
        return self.outcome.verdict != "right"

    @property
    def first_wrong(self) -> Access | None:
        """Return the first access that the watcher finds wrong: its index is of the wrong space, or outside the buffer."""
        return next(iter(self.engine.watcher.wrong), None)


def learner_seed() -> int:
    """Return the seed of this learner's cases: the one that an instructor gave them, else their own. The first call makes that
    and keeps it in the progress file."""
    if (given := settings.own_seed()) is not None:
        return given
    known = progress_file.part(*KEPT).get("seed")
    if isinstance(known, int):
        return known
    made = random.SystemRandom().randrange(10**6, 10**8)

    def note(entry: dict) -> None:
        if not isinstance(entry.get("seed"), int):
            entry["seed"] = made

    progress_file.change(*KEPT, note)
    return progress_file.part(*KEPT).get("seed", made)


def draw(n: int, seed: int, attempt: int = 0) -> Setup:
    """Return the setup of case ``n``. The same arguments give the same setup on every machine."""
    order = random.Random(f"order {seed}").sample(KINDS, COUNT)
    r = random.Random(f"case {n} of {seed}, {attempt}")
    d, p = r.choice(((2, 4), (2, 5), (2, 6), (2, 7), (3, 4), (3, 5), (4, 3), (4, 4)))
    layers = r.choice((3, 4)) if d == 2 else 3
    layer, rank = frozenset({r.randrange(1, layers)}), frozenset({r.randrange(d)})
    kind = order[n - 1]
    half = r.choice(HALVES)
    fault = {
        "size": Fault(frozenset({"index_k_size"})),
        "convention": Fault(frozenset({"ckv_write", "read", "extend"}), layer),
        "half": Fault(frozenset({half}), layer, rank if half in ("ckv_write", "read", "retract") else local_faults.EVERYWHERE),
    }[kind]
    size = scenario.default_size(p, d) + r.randrange(12) * p
    config = ServerConfig(size=size, page_size=p, dcp_size=d, layers=layers, topk=scenario.TOPK, mixed="mixed" in fault.defects)
    return Setup(config, fault, r.randrange(1, 10**6), "retract" in fault.defects)


@functools.lru_cache(maxsize=9, typed=True)  # True is no seed, though it equals 1
def visible_run(n: int, seed: int) -> RecordedRun:
    """Return case ``n`` as its server ran it. Draws anew until the fault has a visible effect."""
    if n not in range(1, COUNT + 1):
        raise CourseError(f"There are cases 1 to {COUNT}, not {n!r}.")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise CourseError(f"A seed is a whole number, not {seed!r}.")
    with progress_line.line(f"case {n}") as say:
        for attempt in range(MOST_DRAWS):
            run = recorded(draw(n, seed, attempt), say)
            if run.visible:
                return run
    raise CourseError(f"Seed {seed} gives no case {n} that shows anything; take another seed.")


def act(when: str, engine: Engine) -> str:
    """Word the act, and the step, that a story has reached."""
    m = engine.metrics
    return f"{ACTS[when]}: step {m.steps}, {m.extended + m.decoded} tokens, largest loc {m.largest_loc}"


def recorded(setup: Setup, say=lambda text: None) -> RecordedRun:
    """Play a setup on a fresh server and record every access."""
    recorder, acts = Recorder(), {}

    def step(when: str, engine: Engine) -> None:
        acts[when] = Monitor(**vars(engine.shared.monitor))
        say(act(when, engine))

    with one_thread():
        engine = local_faults.engine(setup.config, setup.fault)
        recorder.attach(engine)
        out = play(engine, setup, step)
    return RecordedRun(setup, out, engine, tuple(recorder.seen), _apart(acts))


def play(engine: Engine, setup: Setup, step=None) -> Outcome:
    """Play a setup's story on a given server. The server may spread the setup's pages over another number of ranks."""
    return scenario.story(engine, LEVEL, step, salt=setup.salt, retract=setup.retract, like=setup.config)


def _apart(totals: dict[str, Monitor]) -> dict[str, Monitor]:
    """Split the monitor's running totals, taken at the end of each act, into the counts of each act."""
    before, each = Monitor(), {}
    for when, now in totals.items():
        each[when] = Monitor(**{k: v - getattr(before, k) for k, v in vars(now).items()})
        before = now
    return each


def truth_of(run: RecordedRun) -> dict:
    """Return the first wrong operation, its buffer, and the first index that is wrong in it.

    ``loc``: the loc of the token that the index belongs to. ``row``: the index as it was used, counted within the buffer.
    ``rows_available``: the buffer's size in the same count. ``defect``: the switches that are on.
    """
    access = run.first_wrong
    assert access is not None  # a case has a fault, and its story meets it
    index = access.low if access.misuse else access.first
    return {
        "buffer": access.buffer,
        "op": access.op,
        "rank": access.rank,
        "loc": index,
        "row": index,
        "rows_available": access.slots,
        "defect": ",".join(sorted(run.setup.fault.defects)),
    }
