"""Names the misconception: the wrong answer that does the same as this answer on the same inputs.

Pick, in this order:
(1) a bank answer that agrees on every case; where a driver runs an answer, the first of those that are written most like it:
    two of the bank that agree with one answer on every case would agree with each other, which `tests/test_bank.py` refuses;
(2) one that agrees on every case of the failing function, since a part may ask for two functions, each with its own mistake;
(3) what is true of every case (`judge.observed`), which is told by others: no name;
(4) a bank answer that agrees on every case but for dtypes (`judge.made`);
(5) a machine-made answer that agrees on every case (`judge.made`);
(6) the nearest of the bank: it agrees on every failing case of that function, and is wrong on few others, a quarter as many,
    not counting one in which it raises: a batch without requests ends many a loop, and is another mistake;
(7) two mistakes at once, or one that shows beside another that nobody knows (`judge.made`).

If a branch is missing, only an answer of the bank that lacks it too has a name for it.

A name must be true before it is frequent. One failing case that the nearest does not explain refutes it. If only two values
are possible, the wrong one is always the other and agreement proves little: there is no nearest, and two at once are two of the
bank that agree on every case, on another seed's too. If several fit equally well, each with another sentence, none is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course.model import Wrong
from dcplab.judge import made
from dcplab.judge.compare import identical
from dcplab.judge.deeds import Deeds, agree, agree_on
from dcplab.judge.judgement import Judgement
from dcplab.judge.observed import forgets, forgotten, observed
from dcplab.judge.sieve import Bank, by_likeness, on_failing, on_shown

LIKELY = 4  # of a driven part, that run before all others


def find(judgement: Judgement, bank: Bank, among: Sequence[Wrong] | None = None) -> Wrong | None:
    """Return the bank answer that did the same as this answer, else the nearest if one is near enough.

    Only bank answers with this answer's outcome are compared. ``among``: the candidates, if more is known of them.
    """
    drawn, close, aliases = judgement.drawn, judgement.part.close, judgement.outcome == "unsafe"
    candidates = [wrong for wrong, _ in judgement.key.bank(judgement.outcome)] if among is None else among
    if forgotten(judgement):
        candidates = [wrong for wrong in candidates if forgets(judgement, wrong.source)]  # others mean their None
    mine, shown, mode = judgement.deeds, judgement.shown.number, drawn.mode
    like = left = list(candidates)
    if shown in mine.of and judgement.part.drive:  # a server for each of the bank: who is written like it may spare the rest
        for wrong in on_shown(judgement, by_likeness(judgement, candidates)[:LIKELY], bank, aliases):
            if agree(mine, bank([wrong], mode, None)[0], close, aliases):
                return wrong
    if shown in mine.of:
        like = on_shown(judgement, candidates, bank, aliases)
        left = on_failing(judgement, like, bank, aliases)
    others = list(zip(left, bank(left, mode, None), strict=True)) if left else []
    whole = [wrong for wrong, other in others if agree(mine, other, close, aliases)]
    here = judgement.alongside
    if not whole and shown in mine.of and len(here) < len(drawn.cases):
        whole = [wrong for wrong, other in others if agree_on(here, mine, other, close, aliases)]
    if named := _one(whole):
        return named
    if shown not in mine.of or observed(judgement):
        return None
    by_machine = mode == "cpu" and among is None  # a GPU would compile hundreds of kernels
    if by_machine and (made_alike := made.retyped(judgement, bank) or made.single(judgement, bank)):
        return made_alike
    if whole:
        return None
    either = two_valued(judgement)
    near = None if either else _nearest(judgement, others, mine)
    if near or not by_machine:
        return near
    return made.double(judgement, bank, left if judgement.part.drive else like, pairs_only=either)


def _nearest(judgement: Judgement, others: Sequence[tuple[Wrong, Deeds]], mine: Deeds) -> Wrong | None:
    close, aliases = judgement.part.close, judgement.outcome == "unsafe"
    failing = [number for number in judgement.failing if number in judgement.alongside]
    passing = [number for number in judgement.alongside if number not in failing]
    near: dict[int, list[Wrong]] = {}
    for wrong, other in others if len(failing) > 1 else ():
        beyond = [n for n in passing if not agree_on([n], mine, other, close, aliases)]  # where it is wrong and this one right
        raises = sum(n in other.raised for n in beyond)
        if 4 * (len(beyond) - min(raises, 1)) <= len(failing) and agree_on(failing, mine, other, close, aliases):
            near.setdefault(len(beyond), []).append(wrong)
    return _one(near[min(near)]) if near else None


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
    mine, did = there.deeds, bank(own, "cpu", None) if own else ()
    return find(here, bank, [wrong for wrong, other in zip(own, did, strict=True) if agree(mine, other, close)])


def _one(fitting: Sequence[Wrong]) -> Wrong | None:
    return fitting[0] if len({wrong.says for wrong in fitting}) == 1 else None


def two_valued(judgement: Judgement) -> bool:
    """Return True if the right results of the failing function are bools or words, or take at most two values."""
    right = [judgement.expected[n] for n in judgement.alongside]
    if all(isinstance(value, bool | str) for value in right):
        return True
    apart: list[Any] = []
    for value in right:
        if not any(identical(value, known) for known in apart):
            apart.append(value)
        if len(apart) > 2:
            return False
    return True
