"""Lab 06's demonstrations: a request that returns to other locs, the strided view on runs cut anywhere, what a check costs,
a page freed twice, what else must come back, a prefill node with ranks of its own, and traffic where freed pages are sorted in.

All of it runs on the CPU, in torch.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from dcplab.engine import index_spaces, retraction, transfer
from dcplab.engine.allocator import PagedAllocator
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.retraction import Episode
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.present.display import Shown

RUNS = 1000  # of `strided_view`
CHECKED = 262_144  # locs of one long request, in `what_a_check_costs`
SPARE = 60  # pages with which a returning request gets fresh ones, and all locs are below one rank's rows


def overnight() -> Shown:
    """Run the same night on four servers: as it should be, restored to last night's locs, and locs used as rows, in range and
    out of it."""
    servers = (
        ("translates both times", "none", 2),
        ("restores to the old locs", "restore_old_locs", 2),
        ("locs as rows, small locs", "retract", SPARE),
        ("locs as rows, large locs", "retract", 2),
    )
    nights = [(what, _episode(defect, spare)) for what, defect, spare in servers]
    first = nights[0][1]
    lines = ["[CPU, torch] D 4, P 4: mine is retracted after one word, and returns to the tenant's pages", ""]
    lines += [f"the tenant was told:  {first.tenants_words}", f"mine should be told:  {first.question.answer}", ""]
    lines.append(f"{'server':<26}{'before':<10}{'after':<10}mine is told")
    for what, night in nights:
        lines.append(f"{what:<26}{_span(night.old_locs):<10}{_span(night.new_locs):<10}{_told(night)}".rstrip())
    return Shown("\n".join(lines))


def what_came_back() -> Shown:
    """Leave index-K, then a draft's pools, out of a restore, and show the words beside what top-k chose before and after."""
    servers = (
        ("everything", "none"),
        ("c-KV, not index-K", "index_k_stale"),
        ("the target, not the draft", "draft_stale"),
    )
    lines = ["[CPU, torch] D 4, P 4, top-k 16: what a restore brought back", ""]
    lines.append(f"{'brought back':<28}{'top-k chose again':<20}mine is told")
    for what, defect in servers:
        night = _episode(defect)
        seen = night.metrics
        lines.append(f"{what:<28}{f'{seen.chosen_again} of {seen.chosen}':<20}{_told(night)}")
    return Shown("\n".join(lines))


def two_layouts() -> Shown:
    """Feed a server of four ranks from prefill nodes of one to four: who sends how many rows to whom, and the answer.

    Then the same from one rank with two faults: locs as rows, and rows taken for locs once more.
    """
    asked = retraction.vault(retraction.MINE, 27, 600)
    lines = ["[CPU, torch] a decode node of 4 ranks, P 4: rows of c-KV that go from rank to rank", ""]
    lines.append(f"{'prefill':<12}{'rank':<6}{'to 0':>6}{'to 1':>6}{'to 2':>6}{'to 3':>6}   the answer")
    for ranks in (1, 2, 3, 4):
        with one_thread():
            engine = Engine(ServerConfig(size=96, page_size=4, topk=16, prefill_dcp=ranks, need_sort=True), comm=Local(4))
            request = engine.submit(asked.prompt, asked.words)
            engine.run()
        told = engine.text(request) + ("" if engine.text(request) == asked.answer else "  WRONG")
        sent = len(asked.prompt.split()) + 1
        moved = {(p.src_rank, p.dst_rank): len(p.src_rows) for p in _pieces(sent, ranks)}
        for rank in range(ranks):
            cells = "".join(f"{moved.get((rank, to), 0) or '-':>6}" for to in range(4))
            lines.append(f"{f'{ranks} ranks' if ranks > 1 else '1 rank':<12}{rank:<6}{cells}   {'' if rank else told}".rstrip())
    lines += ["", "From one rank, with a fault:"]
    for what, defect in (("locs used as rows", "transfer_raw"), ("rows divided once more", "transfer_twice")):
        lines.append(f"  {what:<26}{_told(_episode(defect))}")
    return Shown("\n".join(lines))


def _pieces(tokens: int, ranks: int) -> list[transfer.Piece]:
    """List the pieces of a request whose pages begin at page 1 on both nodes."""
    sides = []
    for dcp_size in (ranks, 4):
        allocator = PagedAllocator(4 * tokens, 4, dcp_size)
        sides.append(allocator.locs(allocator.issue(allocator.pages_needed(0, tokens)) or (), 0, tokens))
    return transfer.relayout(sides[0], ranks, sides[1], 4)


def _episode(defect: str, spare: int = 2) -> Episode:
    with one_thread():
        return retraction.episode(defect, spare=spare)


def _told(night: Episode) -> str:
    if night.why:
        return f"crash: {night.why}"
    return f"{night.got}{'' if night.right else '  WRONG'}"


def _span(locs: list[int]) -> str:
    return f"{locs[0]}..{locs[-1]}" if locs else "-"


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
    lines += ["", "Other tokens: the view picks locs that the rank does not own, or misses some."]
    lines += [
        "Wrong rows: their rows differ too.",
    ]
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
    lines.append(f"{'guard':<11}{'python':<30}{'python -O':<30}the caller")
    callers = {
        "none": "never hears",
        "assert": "hears, but not with -O",
        "exception": "must handle it",
        "alarm": "goes on, others hear",
    }
    for guard, source in _GUARDS.items():
        told = [_tried(source, optimize, late) for optimize in (0, 1)]
        lines.append(f"{guard:<11}{told[0]:<30}{told[1]:<30}{callers[guard]}")
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
    first, second = pages
    lines = [f"[CPU] P {page_size}, D {dcp_size}, W {width}: a request of {end} tokens"]
    lines += [f"its page 0 is the allocator's page {first}, its page 1 the allocator's page {second}", ""]
    free = [6, 5, 4, 3]  # what a free list without an assertion does with the same pieces
    for start, stop in pieces:
        own = range(start // width, -(-stop // width))
        touched = [pages[i] for i in own]
        try:
            allocator.release(touched)
            told = "freed"
        except ValueError as error:
            told = str(error)
        free += touched
        piece, its_pages = f"[{start}, {stop})", f"its pages {_plain(list(own))}"
        lines.append(f"{piece:<14}{its_pages:<18}with the assertion: {told}")
    given = {name: free.pop() for name in ("Ben", "Cleo")}
    lines += ["", "Without it the next two requests, of one page each, get"]
    lines += [f"  {name:<6}the allocator's page {page}" for name, page in given.items()]
    night = _episode("free_mid_page")
    lines += ["", "A server that frees prompt and answer apart, without it:"]
    lines += [f"  mine is told: {_told(night)}", f"  should be:    {night.question.answer}"]
    return Shown("\n".join(lines))


def traffic(requests: int = 40) -> Shown:
    """Store and free requests one after another on two allocators, one that sorts in what is freed (`need_sort`), and follow
    the largest loc. Never more than one request is held."""
    size, page_size = 1024, 8
    marks = (1, 2, 5, 10, 20, requests)
    lines = [f"[CPU] D 4, P {page_size}, C {size}: {requests} requests of 150 tokens, one after another", ""]
    lines.append(f"{'the largest loc of request':<40}" + "".join(f"{n:>7}" for n in marks))
    for need_sort, what in ((False, "an ordinary server"), (True, "a prefill or decode node")):
        largest = retraction.traffic(requests, need_sort=need_sort, size=size, page_size=page_size)
        lines.append(f"{what:<40}" + "".join(f"{largest[n - 1]:>7}" for n in marks))
    rows = index_spaces.ckv_rows(size, page_size)
    lines += ["", f"One rank has rows 0 to {rows - 1}. A loc of {rows} or more, used as a row, is outside."]
    return Shown("\n".join(lines))
