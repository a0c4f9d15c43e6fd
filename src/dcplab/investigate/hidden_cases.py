"""Three servers that misbehave. A seed decides what is wrong with each, where, how large it is, and what it is asked.

Case 1, 2 and 3 of a seed are one of each kind, in an order that the seed decides too:

* *size*: a buffer is too small for the indices that it is given;
* *convention*: one layer writes and reads by one wrong rule, so that it agrees with itself;
* *half*: one operation of one layer, of one rank or of all, keeps to another rule than the rest.

Layer 0 is never the one at fault. A case that shows nothing is drawn anew, so each one is a wrong answer or a dead server.
"""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from dcplab import progress as progress_file
from dcplab.engine import scenario
from dcplab.engine.backend import Monitor
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scenario import Outcome
from dcplab.engine.scheduler import Engine
from dcplab.engine.watcher import Access
from dcplab.errors import CourseError
from dcplab.investigate import local_faults, progress_line
from dcplab.investigate.access_list import Recorder, Seen
from dcplab.investigate.local_faults import Fault

COUNT = 3
LEVEL = "above"
TOPK = 32  # half of what the other small servers have: a case has to be played often, and soon
KINDS = ("size", "convention", "half")
HALVES = ("ckv_write", "read", "extend", "mixed", "retract")
MOST_DRAWS = 20
KEPT = ("investigation", "cases")  # where the learner's seed lies in the progress file: no reset of a part changes it


@dataclass(frozen=True)
class Setup:
    """One server and what it will be asked. ``salt`` makes the words; ``retract``: memory pressure takes a request off once."""

    config: ServerConfig
    fault: Fault
    salt: int
    retract: bool = False


@dataclass(frozen=True)
class Run:
    """A story that a server with a fault went through. ``seen``: every access, in order; ``monitors``: one an act."""

    setup: Setup
    outcome: Outcome
    engine: Engine
    seen: tuple[Seen, ...] = ()
    monitors: dict[str, Monitor] | None = None

    @property
    def visible(self) -> bool:
        return self.outcome.verdict != "right"

    @property
    def first_wrong(self) -> Access | None:
        """The first access with an index of the wrong space, or outside its buffer: the watcher's word."""
        return next(iter(self.engine.watcher.wrong), None)


def learner_seed() -> int:
    """The seed of this learner's cases: made once, kept in the progress file."""
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
    """The setup of case ``n``. The same arguments give the same setup on every machine."""
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
    config = ServerConfig(size=size, page_size=p, dcp_size=d, layers=layers, topk=TOPK, mixed="mixed" in fault.defects)
    return Setup(config, fault, r.randrange(1, 10**6), "retract" in fault.defects)


@functools.lru_cache(maxsize=9)
def found(n: int, seed: int) -> Run:
    """Case ``n`` as its server ran it: drawn anew until something can be seen of the fault."""
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


def recorded(setup: Setup, say=lambda text: None) -> Run:
    """Play a setup on a fresh server and note every access."""
    recorder, acts = Recorder(), {}

    def step(when: str, engine: Engine) -> None:
        acts[when] = Monitor(**vars(engine.shared.monitor))
        say(progress_line.act(when, engine))

    with one_thread():
        engine = local_faults.engine(setup.config, setup.fault)
        recorder.attach(engine)
        out = play(engine, setup, step)
    return Run(setup, out, engine, tuple(recorder.seen), _apart(acts))


def play(engine: Engine, setup: Setup, step=None) -> Outcome:
    """The story of a setup on a server that is there; it may have the setup's pages on another number of ranks."""
    return scenario.story(engine, LEVEL, step, salt=setup.salt, retract=setup.retract, like=setup.config)


def _apart(totals: dict[str, Monitor]) -> dict[str, Monitor]:
    """What the monitor counted in each act, from its sums at the end of each."""
    before, each = Monitor(), {}
    for when, now in totals.items():
        each[when] = Monitor(**{k: v - getattr(before, k) for k, v in vars(now).items()})
        before = now
    return each


def truth_of(run: Run) -> dict:
    """The first wrong operation: whose, on what, and the first index that is wrong in it.

    ``loc``: the loc of the token that the index was for; ``row``: the index as it was used, in the buffer's own count;
    ``rows_available``: how many of those the buffer has. ``defect``: the switches that are on.
    """
    access = run.first_wrong
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


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """torch with one thread: the tensors are tiny, and threads would wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
