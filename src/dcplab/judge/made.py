"""Names a mistake that no person wrote down: by the second bank, which a machine makes, or as two mistakes at once.

The second bank is made of single edits of the solution (`dcplab.course.mutants.slips`). One that does the same as the answer
on all cases, the passing ones too, says what the answer comes to, never in which place. Two mistakes are a wrong answer of the
bank together with a dtype, with another wrong answer, or with one edit elsewhere; they too agree on every case. If only one of
two is known, the answer does the same wherever that one shows. Where None comes back and a value is due, two mistakes explain
nothing: they would only be silent together.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dcplab import syntax
from dcplab.course.combined import combined
from dcplab.course.model import Wrong
from dcplab.course.mutants import slips
from dcplab.judge import sieve
from dcplab.judge.deeds import Deeds, agree, agree_on, of_values
from dcplab.judge.judgement import Judgement
from dcplab.judge.observed import returned_none
from dcplab.judge.sieve import Bank

EDITED = "It does what a right one would with {} in one place."
ASKS = "Which line of yours comes to that?"
AND_EDITED = "And it does what a right one would with {} in one place."
AND_MORE = "{} And something else is wrong."
AND_DTYPE = "{} And its dtype is {}; {} is asked for."
AND_ELSEWHERE = "Some cases end as with this mistake: {} Others as with this one: {}"
FEW_CASES = 3  # that each of two mistakes explains alone
FIRST_FEW = 3  # mistakes that are tried with a second one
AT_ONCE = 4  # edits that run on all cases before others are excluded


def single(judgement: Judgement, bank: Bank) -> Wrong | None:
    """Return the edit of the solution that did the same as the answer on every case, or None."""
    key = judgement.key
    if judgement.outcome not in ("wrong", "unsafe") or _gives_data(key.solution.source, key.part.entry):
        return None  # an exception has many causes, and says more itself; what is wrong in data is no edit of a program
    made = [
        Wrong(f"{key.part.id}-edit", key.part.id, EDITED.format(slip.edit), ASKS, slip.source, judgement.outcome)
        for slip in slips(key.solution.source, key.part.names)
    ]
    return next(_agreeing(judgement, made, bank), None)


def _gives_data(source: str, entry: str) -> bool:
    """Return True if the entry takes no arguments: then it computes nothing from a case, and its answer is a record."""
    found = next((n for n in ast.walk(syntax.parse(source)) if isinstance(n, ast.FunctionDef) and n.name == entry), None)
    return found is not None and not ast.unparse(found.args)


def retyped(judgement: Judgement, bank: Bank) -> Wrong | None:
    """Return the wrong answer of the bank that did the same but for dtypes, or None. If the answer's dtype is a mistake too, it
    is named. For a kernel there is none: its buffers have their dtypes. A driver takes too long."""
    known = [wrong for wrong, _ in judgement.key.wrong if wrong.outcome == "wrong"]
    mine, right, shown = judgement.deeds.untyped, _right(judgement).untyped, judgement.shown.number
    slow = judgement.drawn.launches or judgement.part.drive is not None
    if slow or judgement.outcome != "wrong" or not mine or not known:
        return None
    there = bank(known, judgement.drawn.mode, (shown,))
    known = [w for w, other in zip(known, there, strict=True) if other.untyped.get(shown) == mine.get(shown)]
    did = bank(known, judgement.drawn.mode, None) if known else []
    shows = {w.id for w, other in zip(known, did, strict=True) if any(other.untyped.get(n) != right[n] for n in right)}
    same = [w for w, other in zip(known, did, strict=True) if other.untyped == mine and w.id in shows]
    if len({w.says for w in same}) != 1:
        return None
    dtype = _other_dtype(judgement)
    return _with(same[0], "dtype", AND_DTYPE.format(same[0].says, *dtype)) if dtype else same[0]


def double(judgement: Judgement, bank: Bank, like: Sequence[Wrong], pairs_only: bool = False) -> Wrong | None:
    """Return two mistakes that together do the same as the answer on every case, or None. ``pairs_only``: both are known
    to the bank.

    ``like``: the wrong answers that did the same on the shown case at least. Only they can be the first of two for a kernel or
    under a driver, since it takes long to run all of them. A driver, which may start a server a case, takes too long for pairs.
    """
    if returned_none(judgement):
        return None
    every = [wrong for wrong, _ in judgement.key.wrong if wrong.outcome in ("wrong", "unsafe")]
    driven = judgement.part.drive is not None
    slow = driven or bool(judgement.drawn.launches)
    known = [wrong for wrong in every if wrong.id in {w.id for w in like}] if slow else every
    did = _did(known, bank, judgement, tuple(sorted(sieve.failing(judgement))))
    showing = _showing(judgement, known, did)
    first = showing[:FIRST_FEW]
    did |= _did(first, bank, judgement, None)
    if driven:
        return None if pairs_only else _partly(judgement, first, did)
    solution = judgement.key.solution.source
    sources = {wrong.id: program.source for wrong, program in judgement.key.wrong}
    others = [(w.id, f"And: {w.says}", sources[w.id]) for w in every]
    found = _only(_agreeing(judgement, list(_pairs(solution, first, sources, others)), bank))
    if pairs_only:
        return found
    if not found and not slow:
        edits = [("edit", AND_EDITED.format(slip.edit), slip.source) for slip in slips(solution, judgement.part.names)]
        found = _only(_agreeing(judgement, list(_pairs(solution, first, sources, edits)), bank))
    return found or _partly(judgement, first, did) or _split(judgement, showing, did)


def _did(wrong: Sequence[Wrong], bank: Bank, judgement: Judgement, cases: tuple[int, ...] | None) -> dict[str, Deeds]:
    done = bank(wrong, judgement.drawn.mode, cases) if wrong else ()
    return dict(zip((w.id for w in wrong), done, strict=True))


def _pairs(
    solution: str, first: Sequence[Wrong], sources: Mapping[str, str], others: Sequence[tuple[str, str, str]]
) -> Iterator[Wrong]:
    """Yield each of the first mistakes with each of the others (id, sentence, source), where both fit into one program."""
    for one in first:
        for identity, says, source in others:
            if made := combined(solution, sources[one.id], source):
                yield replace(_with(one, identity, f"{one.says} {says}"), source=made)


def _partly(judgement: Judgement, known: Sequence[Wrong], did: dict[str, Deeds]) -> Wrong | None:
    """Return a mistake to which the answer keeps wherever that mistake shows, in half of the failing cases at least."""
    close, right = judgement.part.close, _right(judgement)
    mine, failing = judgement.deeds, set(judgement.failing) & set(judgement.alongside)
    fitting: list[Wrong] = []
    for wrong in known:
        shows = [n for n in judgement.alongside if n in right.of and not agree_on([n], did[wrong.id], right, close)]
        if len(shows) > 1 and 2 * len(shows) >= len(failing) and agree_on(shows, mine, did[wrong.id], close):
            fitting.append(replace(wrong, shows=tuple(shows)))
    if len({wrong.says for wrong in fitting}) != 1:
        return None
    return _with(fitting[0], "more", AND_MORE.format(fitting[0].says))


def _split(judgement: Judgement, known: Sequence[Wrong], did: dict[str, Deeds]) -> Wrong | None:
    """Return two mistakes of which each failing case shows one, if both explain several."""
    close, failing = judgement.part.close, [n for n in judgement.failing if n in judgement.alongside]
    mine = judgement.deeds
    explained = {w.id: {n for n in failing if agree_on([n], mine, did[w.id], close)} for w in known}
    fitting: dict[tuple[str, str], tuple[Wrong, Wrong]] = {}
    for one, other in itertools.combinations(known, 2):
        a, b = explained[one.id], explained[other.id]
        if len(a - b) >= FEW_CASES and len(b - a) >= FEW_CASES and len(a | b) == len(failing) and one.says != other.says:
            fitting[one.says, other.says] = one, other
    if len(fitting) != 1:
        return None
    one, other = next(iter(fitting.values()))
    shows = tuple(sorted(explained[one.id]))
    return replace(_with(one, f"or-{other.id}", AND_ELSEWHERE.format(one.says, other.says)), shows=shows)


def _showing(judgement: Judgement, known: Sequence[Wrong], did: dict[str, Deeds]) -> list[Wrong]:
    """Return the mistakes by which some failing cases are explained, that of the most cases first."""
    close, failing = judgement.part.close, judgement.failing
    mine = judgement.deeds
    explained = {w.id: sum(agree_on([n], mine, did[w.id], close) for n in failing) for w in known}
    return sorted((w for w in known if explained[w.id]), key=lambda w: -explained[w.id])


def _agreeing(judgement: Judgement, made: Sequence[Wrong], bank: Bank) -> Iterator[Wrong]:
    """Yield those that did the same on every case. Where some cases exclude nobody, the first few run on all of them: who asks
    for one alone is spared the rest."""
    close, mode, mine = judgement.part.close, judgement.drawn.mode, judgement.deeds
    if judgement.shown.number not in mine.of:
        return
    left, groups = list(made), sieve.groups(judgement)
    while left:
        if len(left) > AT_ONCE and (cases := next(groups, None)):
            before, left = len(left), sieve.on(cases, judgement, left, bank)
            if len(left) < before:
                continue
        few, left = left[:AT_ONCE], left[AT_ONCE:]
        yield from (w for w, other in zip(few, bank(few, mode, None), strict=True) if agree(mine, other, close))


def _only(fitting: Iterator[Wrong]) -> Wrong | None:
    """Return the first, unless another one follows that says something else: then none, and no more is run."""
    first = next(fitting, None)
    return None if first and any(wrong.says != first.says for wrong in fitting) else first


def _with(wrong: Wrong, more: str, says: str) -> Wrong:
    return replace(wrong, id=f"{wrong.id}+{more}", says=says)


def _right(judgement: Judgement) -> Deeds:
    return of_values(judgement.drawn.cases, judgement.expected, judgement.part.close)


def _other_dtype(judgement: Judgement) -> tuple[str, str] | None:
    """Return the answer's dtype and the one asked for, if it is another in some case."""
    facts = (v.fact for v in judgement.verdicts if v.what == "differs" and v.fact.what == "dtype")
    fact = next(facts, None)
    return fact and (str(fact.got.dtype).removeprefix("torch."), str(fact.expected.dtype).removeprefix("torch."))
