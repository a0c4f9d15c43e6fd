"""The judgement of one answer, as facts: its outcome, why, and what each case came to. `present` puts it into words."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcplab.course.drawn import Drawn
from dcplab.course.key import Key
from dcplab.course.model import Part, Wrong
from dcplab.course.trial import Trial
from dcplab.judge.verdict import Verdict, of_case, overall
from dcplab.notebook.extract import Program, same_code, unfinished

FAILED = ("wrong", "unsafe", "crashed", "timeout")


@dataclass(frozen=True)
class Judgement:
    """``why`` is the reason for the outcome: "passed" or "failed" on the cases, "unjudged" (the interpreter computes that
    wrongly), "not_here" (``says`` has the reason), "elsewhere" (the other mode alone can judge it), "unreadable" (``says``),
    "starter", "unfinished", "waits" (for the function ``says``), "checker" (it failed itself: ``says``), "does_not_load",
    "refused" (by Triton's compiler; ``refusal``)."""

    key: Key
    program: Program
    seed: int
    mode: str
    outcome: str
    why: str
    says: str = ""
    drawn: Drawn | None = None
    trial: Trial | None = None
    expected: Sequence[Any] = ()
    verdicts: Sequence[Verdict] = ()
    shown: Verdict | None = None
    wrong: Wrong | None = None  # the misconception, once it has a name
    compiled: bool = False  # for a GPU that need not be here
    refusal: Mapping[str, Any] | None = None

    @property
    def part(self) -> Part:
        return self.key.part

    @property
    def failing(self) -> list[int]:
        """The numbers of the cases that fail."""
        return [v.number for v in self.verdicts if v.outcome not in ("passed", "unjudged")]

    @property
    def share(self) -> float:
        """How much of the points an answer that did not pass gets."""
        return 1 - len(self.failing) / len(self.verdicts) if self.part.by_case and self.outcome == "wrong" else 0.0

    @property
    def case_seed(self) -> int | None:
        """The learner's own seed that an answer names, where its part is about one; None where it names none."""
        if self.part.seed_of is None or self.why not in ("passed", "failed"):
            return None
        records = self.trial.records.values()
        named = (self.part.seed_of(r["returned"]) for r in records if "raised" not in r and "returned" in r)
        return next((n for n in named if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**63), None)


def not_run(key: Key, program: Program, seed: int, mode: str) -> Judgement | None:
    """The judgement of an answer that need not run; None of one that must."""
    names = key.part.names

    def say(outcome: str, why: str, says: str = "") -> Judgement:
        return Judgement(key, program, seed, mode, outcome, why, says)

    if reason := key.part.not_here(mode):
        return say("error", "not_here", reason)
    if program.problem:
        return say("crashed" if program.unreadable else "not_attempted", "unreadable", program.problem)
    if same_code(program.source, key.starter.source, names):
        return say("not_attempted", "starter")
    if unfinished(program.source, names):
        return say("not_attempted", "unfinished")
    return None


def elsewhere(key: Key, program: Program, seed: int, mode: str) -> Judgement:
    """The judgement where no case can be judged in this mode."""
    return Judgement(key, program, seed, mode, "error", "elsewhere")


def judge(key: Key, program: Program, drawn: Drawn, trial: Trial, expected: Sequence[Any] | str, triton: str) -> Judgement:
    """Hold what an answer did against what is expected, case by case. ``expected`` is a sentence where the course's own program
    failed; ``triton`` is the version whose interpreter ran it."""

    def say(outcome: str, why: str, **more) -> Judgement:
        return Judgement(key, program, drawn.seed, drawn.mode, outcome, why, drawn=drawn, trial=trial, **more)

    if isinstance(expected, str):
        return say("error", "checker", says=expected)
    verdicts = [of_case(key.part, i, case, trial, expected[i], triton) for i, case in enumerate(drawn.cases)]
    facts = {"expected": expected, "verdicts": verdicts}
    if trial.load_error:
        return say("crashed", "does_not_load", **facts)
    outcome, shown = overall(verdicts, drawn.cases)
    if outcome == "passed":
        return say("passed", "passed", **facts)
    if outcome == "unjudged":
        return say("error", "unjudged", shown=shown, **facts)
    if outcome == "not_attempted":
        helper = next((name for name in _functions(program.source) if unfinished(program.source, name)), "")
        return say("not_attempted", "waits", says=helper, shown=shown, **facts)
    return say(outcome, "failed", shown=shown, **facts)


def compiled(judgement: Judgement, for_a_gpu: bool, refusal: Mapping[str, Any] | None) -> Judgement:
    """The judgement of a kernel that the interpreter runs, once a compiler has seen it."""
    if refusal:
        return replace(judgement, outcome="crashed", why="refused", refusal=refusal, shown=None)
    return replace(judgement, compiled=for_a_gpu)


def named(judgement: Judgement, wrong: Wrong | None) -> Judgement:
    """The judgement with its misconception. What a mistake does is seen best where little is going on, be it unsafe elsewhere:
    the smallest case that fails by it is shown."""
    if wrong is None:
        return judgement
    verdicts, cases = judgement.verdicts, judgement.drawn.cases
    ran = [i for i in judgement.failing if verdicts[i].outcome in ("wrong", "unsafe", judgement.shown.outcome)]
    return replace(judgement, wrong=wrong, shown=verdicts[min(ran, key=lambda i: (cases[i].size, i))])


def _functions(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
