"""Turns one small case of a judged answer into cells: what was given, what came back, what is right. `viz` draws them.

The values are a stranger's, so whatever cannot be put into cells makes no picture; the card's table still has it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from dcplab.course.cells import Cells, DrawnCase, DrawnCell, Ruler, Strip
from dcplab.course.model import Case, Launch, Part, Shows
from dcplab.course.seeded import Draw
from dcplab.judge.judgement import Judgement
from dcplab.judge.verdict import in_order, outcome_of
from dcplab.present import memory_cells
from dcplab.present.value_cells import BLANK, LARGEST, VECTORS, Surroundings, cell, filled

MOST_CELLS = 240  # of a picture
MOST_LINES, MOST_RUNS = 256, 20_000  # of accesses, which an answer could forge: what is small enough to draw has no more
OTHER_CASE = "Another case than the table's: "
QUESTIONS = 4  # the seed of what is drawn before a run
SEVERAL = 4  # entries of a result that show more than one number does


def of_judged(judgement: Judgement) -> Cells | None:
    """Return the picture of a small case of an answer that ran: one that fails, if any does. None if there is none to draw."""
    if judgement.part.picture is None or judgement.why not in ("passed", "failed"):
        return None
    if judgement.part.picture.whole is not None:
        try:
            return of_all(judgement.part.picture, _tried(judgement))
        except Exception:  # as below
            return None
    for number in _order(judgement):
        case, expected = judgement.drawn.cases[number], judgement.expected[number]
        record = judgement.trial.records.get(number, {})
        names = judgement.key.argument_names(case)
        try:
            made = draw(judgement.part.picture, case, names, expected, outcome_of(case, record), _accesses(judgement, number))
        except Exception:  # a value that no picture expects
            continue
        if made is not None:
            other = judgement.why == "failed" and number != judgement.shown.number
            return replace(made, caption=f"{OTHER_CASE}{made.caption}") if other else made
    return None


def draw(
    shows: Shows, case: Case | Launch, names: Sequence[str], expected: Any, got: Any, accesses: Sequence[Any] = ()
) -> Cells | None:
    """Draw one case. ``got``: what came back or was written, None if nothing did. ``accesses``: as `memory_cells` has them.
    None if it is too large."""
    if getattr(case, "raises", None):
        return None
    groups: list[tuple[Strip, ...]] | None
    sizes: Mapping[str, Any] = {}
    if shows.drawn is not None:
        groups, what = list(shows.drawn(DrawnCase(case, got, expected))), ""
    elif isinstance(case, Launch):
        groups = memory_cells.groups(shows, case, expected, got, accesses)
        sizes = case.constexprs
        what = f"grid {case.grid[0] if len(case.grid) == 1 else case.grid}"
    else:
        given = {**{names[i]: value for i, value in enumerate(case.args) if i < len(names)}, **case.kwargs}
        groups, what = _case_groups(shows, case, given, expected, got), ""
        sizes = given
    if groups is None or not _fits(groups):
        return None
    plain = [f"{name} {value}" for name, value in sizes.items() if type(value) in (int, str)]
    said = ", ".join(filter(None, [*plain, what]))
    title = case.label if "_" in case.label.partition(" ")[0] else f"{case.label[:1].upper()}{case.label[1:]}"  # a name stays
    made = Cells(title, f"{said}. " if said else "", tuple(groups))
    return replace(made, caption=f"{made.caption}{_says(made, got)}")


def of_all(shows: Shows, tried: Sequence[DrawnCase]) -> Cells | None:
    """Draw all cases in one picture, each of them a cell. None if it is too large."""
    assert shows.whole is not None
    groups = shows.whole(tried)
    made = Cells(shows.title, "", groups)
    return replace(made, caption=_says(made, next((t for t in tried if t.got is not None), None))) if _fits(groups) else None


def blank(part: Part) -> Cells:
    """Draw the question of a part whose picture makes its own cells: of all its cases, or of its first one."""
    shows, cases = part.picture, part.cases(Draw(QUESTIONS))
    assert shows is not None and (shows.whole or shows.drawn)
    tried = [DrawnCase(case) for case in cases]
    groups = shows.whole(tried) if shows.whole else shows.drawn(tried[shows.asks]) if shows.drawn else ()
    return Cells(shows.title, "", groups)


def _tried(judgement: Judgement) -> list[DrawnCase]:
    cases, records = judgement.drawn.cases, judgement.trial.records
    return [
        DrawnCase(case, outcome_of(case, records.get(n, {})), judgement.expected[n], n in judgement.failing)
        for n, case in enumerate(cases)
    ]


def _fits(groups: Sequence[Sequence[Strip]]) -> bool:
    return 0 < sum(len(strip.cells) for group in groups for strip in group) <= MOST_CELLS


def _says(made: Cells, got: Any) -> str:
    if got is None:
        return "Nothing came back, so its cells are empty."
    if not (wrong := len(made.wrong)):
        return "Every value here is right."
    told = ", with the right value after ✓" if any(cell.right for *_, cell in made.wrong) else ""
    return f"{wrong} cell{'s are' if wrong > 1 else ' is'} not right: outlined{told}."


def _order(judgement: Judgement) -> list[int]:
    """Return the numbers of the cases that may be drawn, best first: one that fails, of several entries, small."""
    verdicts, cases = judgement.verdicts, judgement.drawn.cases
    ran = [v for v in verdicts if v.outcome != "not_run"]
    chosen = in_order([v for v in ran if v.outcome == "passed"] if judgement.outcome == "passed" else ran, cases)
    chosen = [v for v in chosen if judgement.outcome == "passed" or v.number in judgement.failing]
    return sorted((v.number for v in chosen), key=lambda n: not _tells(cases[n], judgement.expected[n]))


def _tells(case: Case | Launch, expected: Any) -> bool:
    if isinstance(case, Launch):
        return math.prod(case.grid) > 1
    first = expected[0] if isinstance(expected, tuple) and expected else expected
    return (isinstance(first, torch.Tensor) and first.numel() >= SEVERAL) or isinstance(expected, dict)


def _accesses(judgement: Judgement, number: int) -> Sequence[Any]:
    for trial in (judgement.trial, judgement.trial.watched):
        seen = trial.records.get(number, {}).get("accesses") if trial else None
        if seen and len(seen) <= MOST_LINES and sum(len(runs) for *_, runs in seen) <= MOST_RUNS:
            return seen
    return ()


def _case_groups(shows: Shows, case: Case, given: Mapping[str, Any], expected: Any, got: Any) -> list[tuple[Strip, ...]] | None:
    if shows.ruler:
        ruler = shows.ruler(case)
        return measured(ruler, expected, got) if ruler else None
    known: dict[tuple[float, ...], str] = {}
    for name, space in shows.given.items():
        if space == "content" and isinstance(given.get(name), torch.Tensor):
            known |= {tuple(row): f"{name} {i}" for i, row in enumerate(given[name].double().tolist())}
    around = Surroundings.of(given.get("dcp_size"), given.get("dcp_rank"), known)
    above: list[tuple[str, list[DrawnCell]]] = []
    for name, space in shows.given.items():
        if name not in given or (case.writes and name == list(given)[case.writes[0]]):
            continue
        lines = _lines(name, space, given[name])
        if lines is None:
            return None
        above += [(label, [cell(space, entry, around) for entry in line]) for label, line in lines]
    results = _results(shows, case, given, expected, got)
    below: list[tuple[str, list[DrawnCell]]] = []
    for label, space, right, mine, before in results:
        asked, came, was = (_lines(label, space, value) for value in (right, mine, before))
        if asked is None:
            return None
        came = came if came is not None and len(came) == len(asked) else None
        for i, (name, line) in enumerate(asked):
            old = was[i][1] if was else ()
            if case.writes:
                above.append((name, [DrawnCell(str(k), "header") for k in range(len(line))]))
            below.append((name, filled(space, line, None if came is None else came[i][1], around, old)))
    return _paired(above, below)


def measured(ruler: Ruler, expected: Any, got: Any) -> list[tuple[Strip, ...]] | None:
    """Put a number on its ruler, or nothing where nothing came back. None if one of the two is no number to draw."""
    if type(expected) is not int or not (got is None or type(got) is int) or max(abs(got or 0), abs(expected)) > LARGEST:
        return None
    on = ruler.filled if ruler.counts else ruler.placed
    due, mine = on(expected), on(expected if got is None else got)
    cells = [
        DrawnCell(text or "nothing" if text != asked else text, right=None if text == asked else asked)
        for text, asked in zip(mine, due, strict=True)
    ]
    if got is None:
        cells = [BLANK] * len(due)
    beyond = bool(due[-1] or mine[-1])
    names = [*ruler.pieces, "beyond"][: len(due) - 1 + beyond]
    lines = [(ruler.what, [DrawnCell(name, "header") for name in names])]
    lines += [(label, [*map(DrawnCell, texts), BLANK][: len(names)]) for label, texts in ruler.above]
    lines += [("yours", cells[: len(names)])]
    return [tuple(Strip(label, tuple(line)) for label, line in lines)]


def _results(shows: Shows, case: Case, given: Mapping[str, Any], expected: Any, got: Any) -> list[tuple]:
    """Return (label, space, right, yours, before) of each result."""
    if case.writes:
        place = case.writes[0]
        name = list(given)[place]
        return [(f"your {name}", shows.result, expected[place], (got or {}).get(place), given[name])]
    if shows.named:
        mine = got if isinstance(got, tuple | list) and len(got) == len(shows.named) else [None] * len(shows.named)
        return [(f"your {n}", s, e, g, None) for (n, s), e, g in zip(shows.named.items(), expected, mine, strict=True)]
    return [("yours", shows.result, expected, got, None)]


def _paired(above: list, below: list) -> list[tuple[Strip, ...]]:
    """Put each result under the given strip that it has a cell for, if there is one; the others stand above."""
    same = [i for i, (_, line) in enumerate(above) if len(line) == len(below[0][1])]
    same = same[-1:] if len(below) == 1 else same
    if [len(above[i][1]) for i in same] != [len(line) for _, line in below[: len(same)]]:
        same = []
    strips: list[tuple[Strip, ...]] = [(Strip(label, tuple(line)),) for i, (label, line) in enumerate(above) if i not in same]
    for k, (label, line) in enumerate(below):
        head = (Strip(above[same[k]][0], tuple(above[same[k]][1])),) if k < len(same) else ()
        strips.append((*head, Strip(label, tuple(line))))
    return strips


def _lines(label: str, space: str, value: Any) -> list[tuple[str, list]] | None:
    """Take a value apart: lines of entries, each with its label. None if it is no such value."""
    if type(value) is int:
        return [(label, [value])]
    if type(value) is list and len(value) <= 16 * MOST_CELLS and all(type(v) is int for v in value):
        return [(label, value)]
    if not isinstance(value, torch.Tensor) or value.numel() > 16 * MOST_CELLS:
        return None
    deep = value.dim() - (space in VECTORS and value.dim() > 1)
    if deep <= 1:
        return [(label, value.tolist() if deep else [value.item()])]
    if deep > 2:
        return None
    return [(f"{label} {i}", line) for i, line in enumerate(value.tolist())]
