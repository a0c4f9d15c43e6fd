"""Lab 06's demonstrations: a request that returns to other locs, the strided view on runs cut anywhere, what a check costs, a page
freed twice, and traffic on a node that sorts what it frees.

All of it runs on the CPU, in torch.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from dcplab.demos.ragged_engine import SIZES
from dcplab.engine import index_spaces
from dcplab.engine.allocator import PagedAllocator
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.pools import DeviceAssert
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.present.display import Shown

# One key a query on two ranks, and no page outlives its request: what a row holds is what its last holder left.
TOY = ServerConfig(**SIZES, heads=1, index_heads=1, witness=False, prefix_cache=False)
# Anna sleeps, Ben gets her pages, and she returns to Cleo's. What Anna and Cleo keep stands at the same positions.
PROMPTS = {
    "Anna": "Anna has the code : red green blue gold . tell the code",
    "Ben": "one two three four five six seven eight nine ten eleven . four five",
    "Cleo": "Cleo has the code : green blue red gold . tell the code",
}
RIGHT = {"Anna": ": red green blue gold", "Ben": "six seven eight nine ten eleven . four", "Cleo": ": green"}
RUNS = 1000  # of `strided_view`
CHECKED = 262_144  # locs of one long request, in `what_a_check_costs`


class Night(Shown):
    """A night that was run. ``said``: words by name, also of a server that died. ``crash``: what ended it, or empty.

    ``pages``: Anna's allocator pages before and after. ``engine``: the server afterwards.
    """

    def __init__(self, engine: Engine, said: dict[str, str], pages: tuple[list[int], list[int]], crash: str):
        first = engine.watcher.first_misuse
        lines = [f"{name}: {words}{'' if words == RIGHT[name] else '  WRONG'}" for name, words in said.items()]
        lines += [crash] if crash else []
        super().__init__("\n".join([*lines, first.sentence() if first else "no index in a wrong space"]))
        self.engine, self.said, self.pages, self.crash = engine, said, pages, crash


def night(defects: Iterable[str] = (), held: int = 0) -> Night:
    """Retract Anna after one word, give her pages to Ben, and let her return to those that Cleo has left.

    ``defects``: switches of `engine.defects`. ``held``: allocator pages that others hold all night, so that locs are larger.
    """
    with one_thread():
        engine = Engine(TOY, defects, Local(TOY.dcp_size))
        engine.allocator.issue(held)
        asked = {"Anna": engine.submit(PROMPTS["Anna"], 5, "Anna")}
        engine.step()
        anna, crash, after = asked["Anna"], "", []
        before = list(anna.pages)
        try:
            engine.retract(anna)
            sleeping = engine.retracted.popleft()  # she would be admitted first
            for name in ("Ben", "Cleo"):
                asked[name] = engine.submit(PROMPTS[name], len(RIGHT[name].split()), name)
            while not asked["Cleo"].finished:
                engine.step()
            engine.retracted.append(sleeping)
            while engine.busy:
                engine.step()
                after = after or list(anna.pages)
        except DeviceAssert as error:
            crash = f"crash: {error}"
    return Night(engine, {name: engine.text(request) for name, request in asked.items()}, (before, after), crash)


def overnight() -> Shown:
    """Run the same night on three servers: as it should be, locs used as rows, and that with larger locs."""
    servers = (
        ("translates both times", night()),
        ("takes locs for rows, small locs", night(["retract"])),
        ("takes locs for rows, large locs", night(["retract"], held=14)),
    )
    lines = [f"[CPU, torch] D {TOY.dcp_size}, P {TOY.page_size}, C {TOY.size}: Anna is retracted after one word", ""]
    lines += [f"{name} asks: {prompt}" for name, prompt in PROMPTS.items()]
    lines += ["", f"{'server':<34}{'her pages':<18}{'Anna says':<32}Ben says"]
    for what, run in servers:
        stay = f"{_plain(run.pages[0])}, then {_plain(run.pages[1])}" if run.pages[1] else _plain(run.pages[0])
        cells = ["(crash)" if run.crash else f"{run.said[n]}{'' if run.said[n] == RIGHT[n] else '  WRONG'}" for n in RIGHT]
        lines.append(f"{what:<34}{stay:<18}{cells[0]:<32}{cells[1]}".rstrip())
    first = servers[1][1].engine.watcher.first_misuse
    lines += ["", "The second server's first wrong operation:", f"  {first.sentence() if first else 'none'}"]
    lines += ["The third server:", f"  {servers[2][1].crash or 'answered'}"]
    return Shown("\n".join(lines))


def _plain(pages: list[int]) -> str:
    return " ".join(map(str, pages))


def strided_view(seed: int = 6) -> Shown:
    """Hold ``locs[r::D] // D`` against the owner rule on RUNS random runs, by the owner at which a run begins."""
    counts = {"owner 0": [0, 0, 0], "another owner": [0, 0, 0]}
    for locs, rank, dcp_size in runs(seed):
        mine = locs[index_spaces.owner_rank(locs, dcp_size) == rank]
        view = locs[rank::dcp_size]
        count = counts["another owner" if len(locs) and int(locs[0]) % dcp_size else "owner 0"]
        count[0] += 1
        count[1] += not torch.equal(mine, view)
        count[2] += not torch.equal(mine // dcp_size, view // dcp_size)
    lines = [f"[CPU, torch] {RUNS} random runs: D 2 to 8, P 1 to 16, 1 to 64 tokens, one rank each", ""]
    lines.append(f"{'the run begins at':<20}{'runs':>6}{'other tokens':>14}{'wrong rows':>12}")
    lines += [f"{where:<20}{n:>6}{tokens:>14}{rows:>12}" for where, (n, tokens, rows) in counts.items()]
    lines += ["", "Other tokens: the view picks locs that the rank does not own, or misses some. Wrong rows: their rows differ too."]
    return Shown("\n".join(lines))


def runs(seed: int) -> Iterable[tuple[torch.Tensor, int, int]]:
    """Give (locs, rank, D) of RUNS random runs: half are whole prefixes, half begin anywhere."""
    draw = random.Random(seed)
    for i in range(RUNS):
        dcp_size, page_size, length = draw.randint(2, 8), draw.randint(1, 16), draw.randint(1, 64)
        start = draw.randrange(page_size * dcp_size) if i % 2 else 0
        allocator = PagedAllocator(200 * page_size, page_size, dcp_size)
        pages = draw.sample(range(1, 201), allocator.pages_needed(0, start + length))
        yield allocator.locs(pages, start, start + length), draw.randrange(dcp_size), dcp_size


_GUARDS = {
    "none": "pass",
    "assert": "assert in_turn(locs, d), 'the run begins late'",
    "exception": "if not in_turn(locs, d): raise ValueError('the run begins late')",
    "alarm": "if not in_turn(locs, d): alarms.append('the run begins late')",
}


def what_a_check_costs() -> Shown:
    """Try one precondition as nothing, an assert, an exception and an alarm: on a run that begins late, with ``python -O`` and
    without, and by the time that it takes beside the view and a mask."""
    late = torch.arange(65, 65 + 8)
    lines = ["[CPU, torch] kernel_rows on a run that begins at owner 1 of 4", ""]
    lines.append(f"{'guard':<12}{'python':<30}{'python -O':<30}the caller")
    callers = {
        "none": "never hears of it",
        "assert": "hears of it, unless started with -O",
        "exception": "must handle it: this request fails, or the server does",
        "alarm": "goes on with wrong rows, and somebody is told",
    }
    for guard, source in _GUARDS.items():
        told = [_tried(source, optimize, late) for optimize in (0, 1)]
        lines.append(f"{guard:<12}{told[0]:<30}{told[1]:<30}{callers[guard]}")
    locs = torch.arange(CHECKED) + 8 * 512
    with one_thread():
        times = {name: _seconds(work, locs) for name, work in _WORK.items()}
    lines += ["", f"Processor time for {CHECKED:,} locs of eight ranks, the best of 7, as multiples of the view alone:"]
    lines += [f"  {name:<34}{took / times['the view']:5.1f}" for name, took in times.items()]
    lines += ["On a GPU the check waits for the device besides: its answer must be known before the next line."]
    return Shown("\n".join(lines))


def _in_turn(locs: torch.Tensor, d: int) -> bool:
    return bool((locs % d == torch.arange(len(locs)) % d).all())


_WORK: dict[str, Callable[[torch.Tensor], Any]] = {
    "the view": lambda locs: locs[3::8] // 8,
    "the view, first loc checked": lambda locs: int(locs[0]) % 8 or locs[3::8] // 8,
    "the view, every loc checked": lambda locs: _in_turn(locs, 8) and locs[3::8] // 8,
    "a mask, which needs no check": lambda locs: locs[locs % 8 == 3] // 8,
}


def _seconds(work: Callable[[torch.Tensor], Any], locs: torch.Tensor) -> float:
    took = []
    for _ in range(7):
        began = time.process_time()
        for _ in range(5):
            work(locs)
        took.append(time.process_time() - began)
    return max(min(took), 1e-9)


def _tried(guard: str, optimize: int, locs: torch.Tensor) -> str:
    """Compile a guarded view as ``python`` or ``python -O`` would, call it, and say what came of it."""
    source = f"def kernel_rows(locs, d, r):\n    {guard}\n    return locs[r::d] // d\n"
    alarms: list[str] = []
    names: dict[str, Any] = {"in_turn": _in_turn, "alarms": alarms}
    exec(compile(source, "guard", "exec", optimize=optimize), names)
    try:
        rows = names["kernel_rows"](locs, 4, 0).tolist()
    except (AssertionError, ValueError) as error:
        return type(error).__name__
    return f"rows {rows}, wrong{', alarm' if alarms else ''}"


def two_frees() -> Shown:
    """Free 1,000 tokens in two pieces, cut at 576, on a free list with and without an assertion; then ask for pages twice."""
    page_size, dcp_size, end = 64, 8, 1000
    width = page_size * dcp_size
    pieces = [(0, 576), (576, end)]
    allocator = PagedAllocator(6 * page_size, page_size, dcp_size)
    pages = allocator.issue(-(-end // width)) or []
    lines = [f"[CPU] P {page_size}, D {dcp_size}, W {width}: a request of {end} tokens in pages {_plain(pages)}", ""]
    free = list(range(6, max(pages), -1))  # what a free list without an assertion does with the same pieces
    for start, stop in pieces:
        touched = [pages[i] for i in range(start // width, -(-stop // width))]
        try:
            allocator.release(touched)
            told = "freed"
        except ValueError as error:
            told = str(error)
        free += touched
        lines.append(f"[{start}, {stop})  touches pages {_plain(touched):<6} with the assertion: {told}")
    given = {name: free.pop() for name in ("Ben", "Cleo")}
    lines += ["", "Without it the next two requests, of one page each, get"]
    lines += [f"  {name:<6}page {page}" for name, page in given.items()]
    return Shown("\n".join(lines))


def traffic(requests: int = 60) -> Shown:
    """Send requests one after another through two allocators, one that sorts what it frees (`need_sort`), and follow the
    largest loc ever issued. Never more than three pages are held."""
    page_size, dcp_size, pages = 4, 2, 24
    size = pages * page_size
    lines = [f"[CPU] D {dcp_size}, P {page_size}, C {size}: {requests} requests of 3 pages, one after another", ""]
    rows = index_spaces.ckv_rows(size, page_size)
    marks = (1, 2, 4, 8, 16, requests)
    lines.append(f"{'requests so far':<40}" + "".join(f"{n:>7}" for n in marks))
    for need_sort, what in ((False, "an ordinary server"), (True, "a prefill or decode node")):
        allocator, seen = PagedAllocator(size, page_size, dcp_size, need_sort), []
        for n in range(1, requests + 1):
            allocator.release(allocator.issue(3) or [])
            if n in marks:
                seen.append((allocator.highest + 1) * allocator.width - 1)
        lines.append(f"{what + ', largest loc':<40}" + "".join(f"{loc:>7}" for loc in seen))
    lines += ["", f"One rank has rows 0 to {rows - 1}. A loc of {rows} or more, used as a row, is outside."]
    return Shown("\n".join(lines))
