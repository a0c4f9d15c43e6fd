"""Holds what an answer to a part is compared with."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field

from dcplab.course.model import Case, Launch, Part, Wrong
from dcplab.notebook.extract import Program


@dataclass(frozen=True)
class Key:
    """A part's solution and starter as programs, and its bank of wrong answers."""

    lab: str
    part: Part
    solution: Program
    starter: Program
    wrong: Sequence[tuple[Wrong, Program]] = field(default=())

    def bank(self, outcome: str) -> list[tuple[Wrong, Program]]:
        """Return the wrong answers of this part that must get ``outcome``."""
        return [(wrong, program) for wrong, program in self.wrong if wrong.part == self.part.id and wrong.outcome == outcome]

    def argument_names(self, case: Case | Launch) -> list[str]:
        """Name the parameters of the function that a case calls, from the solution's source or the part's driver."""
        if self.part.drive:
            return list(inspect.signature(self.part.drive).parameters)[1:]
        called = getattr(case, "call", "") or self.part.entry
        for node in ast.parse(self.solution.source).body:
            if isinstance(node, ast.FunctionDef) and node.name == called:
                return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        return []
