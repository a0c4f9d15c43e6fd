"""A case of 5d as a learner solves it: from what the tools print, with lab 01's rule and lab 02's watermark alone."""

import os
import re

import pytest

from dcplab import investigate
from dcplab.investigate import diagnose_by_rule

pytestmark = pytest.mark.slow  # servers run

SEEDS = range(int(os.environ.get("DCPLAB_SEEDS", "2")))


class Learner:
    """Asks, and counts how often. Reads tables as they are printed."""

    def __init__(self, case):
        self.case, self.calls = case, 0

    def ask(self, tool, *args, **asked):
        self.calls += 1
        return getattr(self.case, tool)(*args, **asked)

    def step(self):
        """The step to look into: halved, or where strict mode stopped if the buffer was too small from the start."""
        if "before the first request" in str(self.ask("typed")):
            return int(re.search(r"Stopped in step (\d+)", str(self.ask("strict")))[1])
        low, high = 0, int(re.search(r"one of the (\d+) steps", str(self.ask("typed")))[1])
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if "An index was refused" in str(self.ask("typed", until=middle)) else (middle, high)
        return high

    def lines(self, step):
        """The accesses of a step, page by page."""
        start = 0
        while True:
            page = self.ask("trace", start, count=24, step=step)
            rows = [dict(zip(page.table.header, row, strict=True)) for row in page.table.rows]
            rows = [row for row in rows if int(row["no."]) >= start]
            yield from rows
            if len(rows) < 24:
                return
            start = int(rows[-1]["no."]) + 1

    def broken(self, line):
        """The index that breaks the rule of its buffer, None if none does."""
        ranks, rank = self.case.config.dcp_size, int(line["rank"])
        places, counts = int(line["there are"].partition(",")[0]), line["there are"].partition("by ")[2]
        first, last = int(re.match(r"\d+", line["indices used"])[0]), int(re.search(r"\d+$", line["indices used"])[0])
        if counts == "loc":
            return places if last >= places else None
        if counts == "row":
            loc = int(line["loc of the first"])
            return None if (loc % ranks, loc // ranks) == (rank, first) else first
        return first if line["loc of the first"] != "-" else None  # a place in a workspace lasts one step: it is no loc's


@pytest.mark.parametrize("seed, n", [(seed, n) for seed in SEEDS for n in (1, 2, 3)])
def test_reasoning_solves_a_case_and_a_first_call_does_not(seed, n):
    case, truth = investigate.case(n, seed), diagnose_by_rule.truth(n, seed)
    learner = Learner(case)
    line = next(line for line in learner.lines(learner.step()) if learner.broken(line) is not None)
    index = learner.broken(line)
    said = {"buffer": line["buffer"], "op": line["operation"], "rank": line["rank"], "loc": index, "row": index}
    said["rows_available"] = line["there are"].partition(",")[0]
    assert all(diagnose_by_rule.marks(said, truth).values()), (said, truth)
    assert 3 <= learner.calls <= 15
    assert case.trace().table.header[0] == case.trace(0, count=99).table.header[0] == "by", "nothing is listed unasked"
    for naive in (case.typed(), case.strict(), case.layers(), case.lse(), case.identity()):
        assert truth["op"] not in str(naive)
