"""Holds what an answer to a part is compared with."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dcplab import syntax
from dcplab.course.model import Case, Launch, Part, Wrong
from dcplab.notebook.extract import Program, defined, same_code


def _no_others(part: str) -> Program:
    raise KeyError(part)


@dataclass(frozen=True)
class Key:
    """A part's solution and starter as programs, and its bank of wrong answers.

    ``own_seed``: the seed of the learner's own cases, if it is known (`Part.seed_of`).
    ``others``: the names that the lab's other parts ask for, each with its part's id. ``solve(part)`` gives its
    solution.
    """

    lab: str
    part: Part
    solution: Program
    starter: Program
    wrong: Sequence[tuple[Wrong, Program]] = field(default=())
    others: Mapping[str, str] = field(default_factory=dict)
    solve: Callable[[str], Program] = _no_others
    own_seed: int | None = None

    def after(self, earlier: Mapping[str, Any]) -> Key:
        """Return the key for a learner who has handed in ``earlier`` (`progress.hand_ins`). Where a part tells the first answer
        less, no mistake is named by the bank: it would tell all."""
        return self if self.part.after is None else replace(self, part=self.part.after(earlier), wrong=())

    def bank(self, outcome: str) -> list[tuple[Wrong, Program]]:
        """Return the wrong answers of this part that must get ``outcome``."""
        return [(wrong, program) for wrong, program in self.wrong if wrong.part == self.part.id and wrong.outcome == outcome]

    def beside(self, program: Program) -> tuple[Program, dict[str, str]]:
        """Return an answer with the course's functions in place of the learner's own that it calls from other parts, and the
        names replaced, each with its part's id. A function that is the course's already is left alone."""
        used = {name: self.others[name] for name in defined(program.source) if name in self.others}
        course = {part: self.solve(part) for part in dict.fromkeys(used.values())}
        used = {n: part for n, part in used.items() if not same_code(program.source, course[part].source, n)}
        added = "".join(course[part].source for part in dict.fromkeys(used.values()))
        lines = (*program.lines, *[(0, 0)] * added.count("\n"))
        return replace(program, source=program.source + added, lines=lines), used

    def argument_names(self, case: Case | Launch) -> list[str]:
        """Name the parameters of the function that a case calls, from the solution's source or the part's driver."""
        if self.part.drive:
            return list(inspect.signature(self.part.drive).parameters)[1:]
        called = getattr(case, "call", "") or self.part.entry
        for node in syntax.parse(self.solution.source).body:
            if isinstance(node, ast.FunctionDef) and node.name == called:
                return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        return []

    def result_names(self, case: Case | Launch) -> tuple[str, ...]:
        """Return what the docstring of the function that a case calls says of the tuple that comes back: "Returns (a, b)".
        Without such a tuple there are none."""
        called, source = getattr(case, "call", "") or self.part.entry, self.solution.source
        own = [node for node in syntax.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == called]
        found = re.search(r"Returns \(([^()]*)\)", (ast.get_docstring(own[0]) or "") if own else source)
        return tuple(name.strip() for name in re.sub(r"\[[^\]]*\]", "", found[1]).split(",")) if found else ()
