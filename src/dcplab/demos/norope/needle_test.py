"""Asks the server: the needle test on the server as it was, and on the four combinations of the two fixes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from dcplab import subprocess_call
from dcplab.demos.norope import toy_server
from dcplab.demos.norope.toy_server import BOTH, FOUR, READERS
from dcplab.engine import defects as switches
from dcplab.engine import incident_report, scenario
from dcplab.engine.comm import Local
from dcplab.engine.scenario import Outcome
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.engine.watcher import Access
from dcplab.present import progress_line
from dcplab.present.display import Shown

OLD, NEW = "loc as row", "localized"
LEVELS = ("below", "above")


def needle() -> Shown:
    """Run the needle test on a fresh server without any patch, far below the watermark. Shows its answer and how full the pool
    is."""
    run = toy_server.ask(switches.PATCHES)
    config, m = run.engine.config, run.engine.metrics
    prompt = run.question.prompt.split()
    lines = [
        f"{toy_server.heading(config)}; no patch at all",
        "",
        f"prompt   {' '.join(prompt[:11])}",
        f"         ... {len(prompt) - 17} words that say nothing ...",
        f"         {' '.join(prompt[-6:])}",
        f"answer   {run.got}",
        f"right    {run.question.answer}",
        f"         {'the same: the test passes' if run.right else 'not the same: the test FAILS'}",
        "",
        f"{'buffer':<8}{'rows a rank':>12}{'largest loc':>13}",
    ]
    for w in run.engine.watermarks():
        if w.buffer.startswith("ckv"):
            lines.append(f"{w.buffer:<8}{w.slots:>12}{m.largest_loc:>13}  {'below' if m.largest_loc < w.slots else 'BEYOND'}")
    return Shown("\n".join(lines))


class HalfFixes(Shown):
    """``outcomes``: (write, read, level) -> `scenario.Outcome`, where write and read are "loc as row" or "localized"."""

    def __init__(self, outcomes: dict[tuple[str, str, str], Outcome], said: str):
        super().__init__(said)
        self.outcomes = outcomes


def half_fixes() -> Shown:
    """Run the whole story on the engine eight times: the write fix and the read fix, each alone, both and neither, below and
    above the watermark. Index-K and the bounds are right in all of them."""
    if subprocess_call.while_grading():
        return HalfFixes({}, "Not run while the notebook is graded.")
    outcomes = {}
    with progress_line.line("servers", 8) as say, one_thread():
        for level, write, read in product(LEVELS, (OLD, NEW), (OLD, NEW)):
            say(f"write {write}, read {read}, {level} the watermark", 1)
            left = [d for d in BOTH if (read if d in READERS else write) == OLD]
            engine = Engine(replace(FOUR, topk=scenario.TOPK), left, Local(FOUR.dcp_size))
            outcomes[write, read, level] = scenario.story(engine, level)
    return HalfFixes(outcomes, _told(outcomes))


def _short(access: Access | None) -> str:
    return incident_report.short(incident_report.access_data(access))


def _told(outcomes: dict[tuple[str, str, str], Outcome]) -> str:
    rows = FOUR.size + FOUR.page_size
    lines = [f"{toy_server.heading(FOUR)}; read means decode and extend; index-K and the bounds are right"]
    for level in LEVELS:
        highest = max(out.largest_loc for (_, _, at), out in outcomes.items() if at == level)
        lines += ["", f"{level} the watermark: the largest loc is {highest}, a rank has {rows} rows", ""]
        lines.append(f"{'':<20}" + "".join(f"{'read ' + read:<34}" for read in (OLD, NEW)).rstrip())
        for write in (OLD, NEW):
            cells = [_cell(outcomes[write, read, level]) for read in (OLD, NEW)]
            lines.append(f"{'write ' + write:<20}" + "".join(f"{c:<34}" for c in cells).rstrip())
    lines += ["", "the first operation with an index of the wrong space, and the first one outside its buffer", ""]
    for write, read in product((OLD, NEW), (OLD, NEW)):
        low, high = (outcomes[write, read, level] for level in LEVELS)
        lines.append(f"write {write}, read {read}")
        lines.append(f"  space    {_short(low.first_misuse)}")
        lines.append(f"  outside  below: {_short(low.first_outside)}; above: {_short(high.first_outside)}")
    return "\n".join(lines)


def _cell(out: Outcome) -> str:
    """Format the right answers of all that were asked, and the first wrong word."""
    right = len(out.answers) - len(out.wrong)
    said = f"{right} of {len(out.answers)} right"
    if not out.wrong:
        return said
    first = out.wrong[0]
    got, want = next((g, w) for g, w in zip(first.got.split(), first.question.answer.split(), strict=False) if g != w)
    return f"{said}: {got} for {want}"
