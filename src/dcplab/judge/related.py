"""Finds what is true of every failing case of an answer that no bank knows: how its values relate to the right ones, and
which cases fail. Each fact is computed from the values of all these cases; none is guessed from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from dcplab.course.model import Buf, Case, Launch
from dcplab.course.trial import ONLY_IF_RIGHT
from dcplab.judge import entries, numbers
from dcplab.judge.compare import difference, identical, kind
from dcplab.judge.conditions import exactly_where
from dcplab.judge.judgement import Judgement
from dcplab.judge.pair import Pair
from dcplab.judge.spelled import spells
from dcplab.judge.verdict import outcome_of


@dataclass(frozen=True)
class Relation:
    """A fact about the wrong values, which `present.facts` words. ``which``: the result that it is about, if there are several:
    its number, or a buffer's name. ``alone``: all others are right. ``raises``: other cases raise."""

    what: str
    facts: tuple[Any, ...] = ()
    which: int | str | None = None
    alone: bool = False
    raises: bool = False


def related(judgements: Sequence[Judgement]) -> tuple[Relation | None, tuple[Any, ...] | None] | None:
    """Return the relation of all wrong values to the right ones, and the condition under which a case fails; None if neither is
    known. ``judgements``: of one answer on the cases of several seeds, the displayed one first."""
    first = judgements[0]
    if first.part.compare or first.why != "failed":
        return None  # such a part has its own words
    cases: list[_Ran] = []
    for judgement in judgements:
        call = first.drawn.packed[first.shown.number].get("call")
        for n, (case, packed) in enumerate(zip(judgement.drawn.cases, judgement.drawn.packed, strict=True)):
            if packed.get("call") == call and (judgement.verdicts[n].what != "not_run"):
                failed = judgement.verdicts[n].outcome not in ("passed", "unjudged")
                cases.append(
                    _Ran(case, judgement.trial.records.get(n, {}), judgement.expected[n], inputs(judgement, n), failed)
                )
    failing = [n for n, ran in enumerate(cases) if ran.failed]
    where = exactly_where({n: ran.inputs for n, ran in enumerate(cases)}, failing)
    how = _relation([cases[n] for n in failing], first.part.close) if first.outcome in ("wrong", "unsafe") else None
    if how and how.what == "gives" and spells(first.program.source, how.facts[0].strip("`")):
        how = None
    return (how, where) if how or where else None


@dataclass(frozen=True)
class _Ran:
    """A case, and what the answer did with it."""

    case: Case | Launch
    record: Mapping[str, Any]
    expected: Any
    inputs: Mapping[str, Any]
    failed: bool


def inputs(judgement: Judgement, number: int) -> dict[str, Any]:
    """Return the arguments of a case by name; of a launch the buffers by the names of their pointers, too."""
    case = judgement.drawn.cases[number]
    given = dict(zip(judgement.key.argument_names(case), case.args, strict=False))
    if isinstance(case, Launch):
        given = {name: case.buffers[value.name] if isinstance(value, Buf) else value for name, value in given.items()}
        return {**given, **case.constexprs}
    return {**given, **case.kwargs}


def _relation(failing: Sequence[_Ran], close: float | None) -> Relation | None:
    ended = [ran for ran in failing if "raised" not in ran.record and not getattr(ran.case, "raises", None)]
    if len(ended) < len(failing):  # what is said of the others is true all the same
        found = _relation(ended, close) if ended else None
        return found and replace(found, raises=True)
    records = [ran.record for ran in failing]
    if any(not ("returned" in r or "written" in r) for r in records):
        return None
    wrong: list[dict[Any, Pair]] = []
    paths: set[Any] = set()
    for ran in failing:
        pairs = _parts(ran.case, outcome_of(ran.case, ran.record), ran.expected, ran.inputs)
        paths |= pairs.keys()
        wrong.append({path: pair for path, pair in pairs.items() if difference(pair.got, pair.right, close) is not None})
    return _of_values(wrong, paths, close) or _of_accesses(records, right=not any(wrong))


def _of_values(wrong: Sequence[Mapping[Any, Pair]], paths: set[Any], close: float | None) -> Relation | None:
    """Relate the values that are wrong. ``wrong``: of each case, the wrong results by their paths; ``paths``: those of all."""
    if not all(wrong):
        return None
    if swapped := _swapped(wrong, close):
        return swapped
    common = [path for path in wrong[0] if all(path in of for of in wrong)]
    alone = len(paths) > 1 and {path for of in wrong for path in of} == set(common) and len(common) == 1
    for path in common:
        pairs = [of[path] for of in wrong]
        if found := _of_pairs(pairs, close):
            return Relation(*found, which=path, alone=alone)
    return Relation("wrong", (), common[0], alone) if alone else None


def _parts(case: Case | Launch, got: Any, right: Any, given: Mapping[str, Any]) -> dict[Any, Pair]:
    if isinstance(case, Launch):
        return {name: Pair(got.get(name), value, given, case.buffers[name]) for name, value in right.items()}
    if case.writes:
        names = list(given)
        return {names[i]: Pair(got.get(i), value, given, case.args[i]) for i, value in right.items()}
    if isinstance(right, tuple) and isinstance(got, tuple | list) and len(got) == len(right):
        return {i: Pair(g, r, given) for i, (g, r) in enumerate(zip(got, right, strict=True))}
    return {None: Pair(got, right, given)}


def _of_accesses(records: Sequence[Mapping[str, Any]], right: bool) -> Relation | None:
    """Return the accesses of forbidden memory that every case has. ``right``: the values are."""
    told = [[e for e in record.get("events") or () if right or e["kind"] not in ONLY_IF_RIGHT] for record in records]
    of = [{_access(event) for event in events} for events in told]
    every = tuple(sorted(set.intersection(*of))) if of else ()
    return Relation("right_but" if right else "touches", every) if every else None


def _access(event: Mapping[str, Any]) -> tuple[str, ...]:
    if event["kind"] != "outside":
        return event["kind"], str(event["argument"])
    side = "before" if event["element"] < 0 else "past"
    return "outside", event["op"], side, event["buffer"]


def _swapped(wrong: Sequence[Mapping[Any, Pair]], close: float | None) -> Relation | None:
    if not all(of.keys() == {0, 1} for of in wrong):
        return None
    turned = all(
        difference(of[0].got, of[1].right, close) is None and difference(of[1].got, of[0].right, close) is None for of in wrong
    )
    return Relation("swapped") if turned else None


def _of_pairs(pairs: Sequence[Pair], close: float | None) -> tuple[str, tuple[Any, ...]] | None:
    if any(_is_tensor(p.right) for p in pairs) and any(_is_number(p.right) for p in pairs):
        pairs = _as_tensors(pairs)
    tell: list[Callable[[Sequence[Pair], float | None], tuple[str, tuple[Any, ...]] | None]] = []
    if all(_is_tensor(p.got) and _is_tensor(p.right) for p in pairs):
        if as_other := entries.of_dtypes(pairs):
            return as_other
        tell = [entries.of_memory] if pairs[0].before is not None else [entries.of_rows, entries.of_entries]
    elif all(_is_number(p.got) and _is_number(p.right) for p in pairs):
        tell = [numbers.of_numbers]
    else:
        tell = [_of_words]
    return next((found for each in tell if (found := each(pairs, close))), None)


def _as_tensors(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with numbers as tensors of one entry, where a function is called with numbers and with tensors."""
    either = {name for p in pairs for name, value in p.inputs.items() if _is_tensor(value)}
    made = []
    for p in pairs:
        few = {n: torch.tensor([v]) for n, v in p.inputs.items() if n in either and type(v) is int and abs(v) < 2**63}
        if few and _is_number(p.got) and _is_number(p.right):
            p = Pair(torch.tensor([p.got]), torch.tensor([p.right]), {**p.inputs, **few})
        made.append(p)
    return made


def _of_words(pairs: Sequence[Pair], close: float | None) -> tuple[str, tuple[Any, ...]] | None:
    """Relate bools, words, None and values of unlike kinds."""
    if all(p.right is None for p in pairs):
        return "for_none", ()
    if all(p.got is None for p in pairs):
        return "none", ()
    if _same(p.got for p in pairs) and _same(p.right for p in pairs) and isinstance(pairs[0].right, bool | str):
        return "for", (pairs[0].got, pairs[0].right)
    if all(kind(p.got) != kind(p.right) for p in pairs) and _same(kind(p.got) for p in pairs):
        values = all(_is_tensor(p.got) != _is_tensor(p.right) and _listed(p.got) == _listed(p.right) for p in pairs)
        return ("kind_only" if values else "kind"), (kind(pairs[0].got), kind(pairs[0].right))
    return None


def _listed(value: Any) -> Any:
    return value.tolist() if _is_tensor(value) else value


def _same(values: Iterable[Any]) -> bool:
    first, *rest = list(values)
    return all(identical(first, value) for value in rest)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
