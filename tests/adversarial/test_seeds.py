"""An answer about its learner's own cases names one seed, and cannot choose one for each case."""

import functools

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.name_the_space import drawing
from dcplab.notebook.extract import extract

KNOWS_ITS_CASE = """
import sys
SEEDS = {seeds}
def name_the_space():
    frame = sys._getframe(1)
    while "n" not in frame.f_locals:
        frame = frame.f_back
    return SEEDS[frame.f_locals["n"]], {{n: {said!r} for n in SEEDS}}
"""
PARTS = ("1i", "2i", "3h", "4h", "6g")
drawn = functools.cache(drawing.draw)  # which remembers 32, and here each seed is asked for eight times


@functools.cache
def constant(part):
    """What is said of every snippet, and for each snippet a seed of which it is true."""
    first = drawing.draw(part, 0)[0]
    said = (first.space, first.line)
    fits = {n: next(s for s in range(2000) if _said(part, s, n) == said) for n in range(1, drawing.COUNT + 1)}
    return f"{said[0]}, {said[1]}", fits


def _said(part, seed, n):
    one = drawn(part, seed)[n - 1]
    return one.space, one.line


def judged(part, source, own_seed=None):
    from dataclasses import replace

    key = catalog.of_part(part).key(part)
    return checking.check(replace(key, own_seed=own_seed), extract([source], key.part.names), seed=1, mode="cpu")


@pytest.mark.parametrize("part", PARTS)
def test_one_answer_and_a_seed_for_each_snippet_of_which_it_is_true(part):
    said, fits = constant(part)
    found = judged(part, KNOWS_ITS_CASE.format(seeds=fits, said=said))
    assert (found.outcome, found.points) == ("wrong", 0) and "another seed from case to case" in found.message
    assert found.case_seed in fits.values(), "an instructor sees one of them"


@pytest.mark.parametrize("part", PARTS)
def test_no_constant_is_worth_much_on_any_one_seed(part):
    for seed in range(100):
        right = [(one.space, one.line) for one in drawn(part, seed)]
        assert max(map(right.count, right)) <= 3, (part, seed)


@pytest.mark.parametrize("own_seed", [None, 36886])
@pytest.mark.parametrize("seed", ["torch.tensor([1, 2])", "2**63", "-1", "True", "'36886'", "type('I', (int,), {})(36886)"])
def test_what_is_no_seed_earns_nothing_and_harms_nobody(seed, own_seed):
    said = {n: "{}, {}".format(*_said("6g", 36886, n)) for n in range(1, 9)}
    right = f"import torch\ndef name_the_space():\n    return 36886, {said}"
    assert judged("6g", right, own_seed).points == 10
    found = judged("6g", right.replace("36886", seed), own_seed)
    assert (found.outcome, found.points) == ("wrong", 0), found.message
