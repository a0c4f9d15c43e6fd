"""Names the misconception: the wrong answer of the bank that does the same as this answer on the same inputs.

Pick, in this order:
(1) a bank answer that agrees on every case;
(2) one that agrees on every case of the failing function, since a part may ask for two functions, each with its own mistake;
(3) the nearest: it agrees on the displayed case, on more than half of the failing cases of that function, and on at least half
    of the passing ones.

Passing cases count because the only wrong value of a bool is the other one: "True and False are swapped" would fit each failing
case of any wrong bool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcplab.course.model import Wrong
from dcplab.judge.deeds import Deeds, agree, agree_on, deeds
from dcplab.judge.judgement import Judgement

# Returns the deeds of wrong answers in a mode, on one case (its number) or on all (None). Called only when needed.
Bank = Callable[[Sequence[Wrong], str, int | None], Sequence[Deeds]]


def find(judgement: Judgement, bank: Bank, among: Sequence[Wrong] | None = None) -> Wrong | None:
    """Return the first bank answer that did the same as this answer, else the nearest if one is near enough.

    Only bank answers with this answer's outcome are compared. ``among``: the candidates, if more is known of them.
    """
    drawn, close = judgement.drawn, judgement.part.close
    candidates = [wrong for wrong, _ in judgement.key.bank(judgement.outcome)] if among is None else among
    mine, shown, mode = deeds(judgement.trial, close), judgement.shown.number, drawn.mode
    if candidates and shown in mine.of:  # one case excludes most of them, so only the rest run on all cases
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
    """Name an answer that failed on a GPU (``here``) by its behaviour on the CPU (``there``), as `find` does.

    On a GPU, two writers of one place leave either value, and a bank of kernels takes minutes to compile. The interpreter is
    quick and gives the same each time. If it sees nothing wrong (some values are rounded only on a GPU), the bank answers that
    it cannot tell from this answer run on the GPU.
    """
    if there.why == "failed" and there.outcome == here.outcome:
        return find(there, bank)
    if there.why not in ("passed", "unjudged"):
        return None  # another failure than on the GPU: a kernel that does not compile still computes something here
    own, close = [wrong for wrong, _ in here.key.bank(here.outcome)], here.part.close
    mine, did = deeds(there.trial, close), bank(own, "cpu", None) if own else ()
    return find(here, bank, [wrong for wrong, other in zip(own, did, strict=True) if agree(mine, other, close)])
