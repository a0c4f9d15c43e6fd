"""A ring of mbarriers whose stages go from one warpgroup to another lets one of them come a round early.

The model here runs anywhere and tries orders of landing; `ring.py` is the same as a kernel, for a GPU. Found as an
``unspecified launch failure`` of `tl_indexer.ragged_specialized` when it had 8 stages for 3 warpgroups: one server in five.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from dcp_kernels import tl_indexer
from tl_cases import HOPPER

RING = Path(__file__).with_name("ring.py")


class Barrier:
    """An mbarrier: its phase, and how many arrivals are missing. An arrival too many is what ends a launch."""

    def __init__(self, count):
        self.count = self.missing = count
        self.phase = 0

    def arrive(self):
        self.missing -= 1
        if not self.missing:
            self.phase, self.missing = self.phase + 1, self.count

    def lets_pass(self, parity):
        return self.phase & 1 != parity


def early(stages, groups, seed, steps=40):
    """Play one order of events; the first step that a warpgroup took before it was there, or None."""
    order = random.Random(seed)
    ready = [Barrier(1) for _ in range(stages)]
    free = [Barrier(1) for _ in range(stages)]
    asked, landed, next_of = 0, set(), {g: g for g in range(groups)}
    flying = []
    for _ in range(100 * steps):
        if min(next_of.values()) >= steps:  # each warpgroup has taken its last
            return None
        who = order.choice(["fetch", "land", *range(groups)])
        if who == "fetch" and asked < steps and free[asked % stages].lets_pass(asked // stages & 1 ^ 1):
            flying.append(asked)
            asked += 1
        elif who == "land" and flying:
            step = flying.pop(order.randrange(len(flying)))
            landed.add(step)
            ready[step % stages].arrive()
        elif who in next_of and next_of[who] < steps:
            step = next_of[who]
            if ready[step % stages].lets_pass(step // stages & 1):
                if step not in landed:
                    return step
                free[step % stages].arrive()
                next_of[who] += groups
    raise AssertionError(f"{next_of}: it stands still, or the events were too few")


@pytest.mark.parametrize("stages, groups", [(9, 3), (6, 3), (6, 2), (8, 2), (4, 1)])
def test_a_stage_of_one_warpgroup_is_never_taken_early(stages, groups):
    assert [early(stages, groups, seed) for seed in range(300)] == [None] * 300


@pytest.mark.parametrize("stages, groups", [(8, 3), (7, 2), (4, 3)])
def test_a_stage_that_changes_hands_is(stages, groups):
    assert any(early(stages, groups, seed) is not None for seed in range(300))


def test_the_kernels_refuse_such_a_ring():
    with pytest.raises(ValueError, match="8 stages are not shared evenly by 3 warpgroups; take 6"):
        tl_indexer.ragged_specialized(heads=32, block_q=4, groups=3, stages=8)
    with pytest.raises(ValueError, match="5 stages are not shared evenly by 2 warpgroups; take 4"):
        tl_indexer.paged_specialized(heads=32, groups=2, stages=5)


@pytest.mark.gpu
@pytest.mark.skipif(not HOPPER, reason="the ring is a kernel for sm_90, and there is no such GPU here")
@pytest.mark.parametrize("stages, groups, right", [(9, 3, True), (6, 2, True), (8, 3, False)])
def test_on_the_gpu(stages, groups, right):
    """In a process of its own: the broken one adds up what it should not, hangs, or ends the context."""
    try:
        command = [sys.executable, RING, str(stages), str(groups)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    except subprocess.TimeoutExpired:
        said = "hung"
    assert any(line.startswith("right") for line in said.splitlines()) == right, said  # TileLang tells what it compiles
