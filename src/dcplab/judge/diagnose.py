"""Which misconception: the wrong answer of the bank that does, on the same inputs, what this one did.

Pick, in this order: (1) one that agrees on every case; (2) one that agrees on every case of the function that is shown, since
a part may ask for two, each with a mistake of its own; (3) the nearest: it agrees on the shown case, on more than half of the
failing ones of that function and on at least half of the passing ones. Passing cases count, because of two values a wrong one
is always the other: "True and False are swapped" would fit each failing case of any wrong bool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcplab.course.model import Wrong
from dcplab.judge.deeds import Deeds, agree, agree_on, deeds
from dcplab.judge.judgement import Judgement

# What these wrong answers did, in a mode: on one case (its number), or on all (None). Each is asked for when it is needed.
Bank = Callable[[Sequence[Wrong], str, int | None], Sequence[Deeds]]


def find(judgement: Judgement, bank: Bank, among: Sequence[Wrong] | None = None) -> Wrong | None:
    """The first of the bank that did what this answer did, else the nearest if one is near. Only its outcome counts.

    ``among``: those that it can be, where more is known of them.
    """
    drawn, close = judgement.drawn, judgement.part.close
    candidates = [wrong for wrong, _ in judgement.key.bank(judgement.outcome)] if among is None else among
    mine, shown, mode = deeds(judgement.trial, close), judgement.shown.number, drawn.mode
    if candidates and shown in mine.of:  # one case tells most of them apart, so only the rest run on all
        did = bank(candidates, mode, shown)
        candidates = [c for c, other in zip(candidates, did, strict=True) if agree_on([shown], mine, other, close)]
    if not candidates:
        return None
    others = list(zip(candidates, bank(candidates, mode, None), strict=True))
    whole = next((wrong for wrong, other in others if agree(mine, other, close)), None)
    if whole or shown not in mine.of:
        return whole
    packed = drawn.packed
    here = [i for i, case in enumerate(packed) if case.get("call") == packed[shown].get("call")]
    if len(here) < len(packed):
        for wrong, other in others:
            if agree_on(here, mine, other, close):
                return wrong
    failing = [number for number in judgement.failing if number in here]
    if len(failing) < 2:
        return None
    passing = [number for number in here if number not in failing]
    near = []
    for i, (_, other) in enumerate(others):
        f, p = (sum(agree_on([n], mine, other, close) for n in numbers) for numbers in (failing, passing))
        if 2 * f > len(failing) and 2 * p >= len(passing):
            near.append((f + p, -i))
    return candidates[-max(near)[1]] if near else None


def find_on_gpu(here: Judgement, there: Judgement, bank: Bank) -> Wrong | None:
    """As `find`, for an answer that failed on a GPU (``here``): what it did on the CPU (``there``) names it.

    Two writers of one place leave there what the GPU pleases, and a bank of kernels takes minutes to compile. The interpreter
    is quick, and does the same each time. Where it sees nothing wrong (values that only a GPU rounds), those of the bank that
    it cannot tell from the answer run on the GPU.
    """
    if there.why == "failed" and there.outcome == here.outcome:
        return find(there, bank)
    if there.why not in ("passed", "unjudged"):
        return None  # what fails there is not what failed here: a kernel that does not compile also computes something
    own, close = [wrong for wrong, _ in here.key.bank(here.outcome)], here.part.close
    mine, did = deeds(there.trial, close), bank(own, "cpu", None) if own else ()
    return find(here, bank, [wrong for wrong, other in zip(own, did, strict=True) if agree(mine, other, close)])
