"""Judges one answer, as facts: its outcome, the reason, and each case's verdict. `present` puts them into words."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from dcplab.course.drawn import Drawn
from dcplab.course.key import Key
from dcplab.course.model import HandIn, Outcome, Part, Wrong
from dcplab.course.trial import Trial, accesses_known
from dcplab.judge.deeds import Deeds, deeds
from dcplab.judge.verdict import NO_CASE, Verdict, in_order, of_case, overall
from dcplab.notebook.extract import Program, defined, same_code, unfinished

FAILED = ("wrong", "unsafe", "crashed", "timeout")
NOT_DRAWN, NOT_RUN = Drawn(0, "", (), (), 0, 0.0), Trial()  # of an answer that did not run


@dataclass(frozen=True)
class Judgement:
    """The judgement of one answer. ``why`` is the reason for the outcome:

    * "passed", "failed": decided by the cases
    * "unjudged": the interpreter computes an operation of the answer wrongly
    * "not_here": this environment cannot judge the part (``says`` has the reason)
    * "elsewhere": only the other mode can judge the cases
    * "unreadable": the notebook gives no program (``says`` has the reason)
    * "starter", "unfinished": nothing to run
    * "waits": the function ``says`` is unfinished
    * "checker": the checker itself failed (``says`` has the reason)
    * "does_not_load": the program raised before the first case
    * "refused": Triton's compiler refused the kernel (``refusal``)
    * "other_seed": it is about the cases of another learner (``says`` names the seed that is this learner's)
    * "several_seeds": it names another seed from case to case (``says`` names two)
    * "no_kernel": what was launched is not what the source says (``says``: "made" if no kernel is in it, else "other")
    * "busy": the machine kept the answer, or the course's own programs, from working
    """

    key: Key
    program: Program
    seed: int
    mode: str
    outcome: Outcome
    why: str
    says: str = ""
    drawn: Drawn = NOT_DRAWN
    trial: Trial = field(default_factory=lambda: NOT_RUN)
    expected: Sequence[Any] = ()
    verdicts: Sequence[Verdict] = ()
    shown: Verdict = NO_CASE
    wrong: Wrong | None = None  # the misconception, once it is named
    plain: tuple[str, Any] | None = None  # else a fact about every case, from `observed`
    nameless: bool = False  # the machine was too busy to look for the misconception
    compiled: bool = False  # compiled for sm_90, with or without a GPU
    refusal: Mapping[str, Any] = field(default_factory=dict)  # empty: Triton refused nothing
    vouched: bool = True  # the kernel ran where no other code of the answer did, or the part has none
    beside: Mapping[str, str] = field(default_factory=dict)  # the course's functions that stood in: their parts
    own: Judgement | None = None  # the same answer with the learner's functions of those parts

    @property
    def part(self) -> Part:
        return self.key.part

    @functools.cached_property
    def deeds(self) -> Deeds:
        """Return what tells the answer from others."""
        return deeds(self.trial, self.part.close)

    @property
    def ran(self) -> bool:
        return self.trial is not NOT_RUN

    @property
    def failing(self) -> list[int]:
        """Return the numbers of the failing cases."""
        return [v.number for v in self.verdicts if v.outcome not in ("passed", "unjudged")]

    @property
    def alongside(self) -> list[int]:
        """Return the numbers of the cases that call the same function as the displayed case."""
        packed = self.drawn.packed
        return [i for i, case in enumerate(packed) if case.get("call") == packed[self.shown.number].get("call")]

    @property
    def many(self) -> Verdict | None:
        """Return the smallest case of the majority, if most cases that are not right crash or cannot be judged and the
        displayed case does neither."""
        ends = [v for v in self.verdicts if v.outcome not in ("passed", "not_run")]
        same = [v for v in ends if v.outcome in ("crashed", "unjudged")]
        kind = max({v.outcome for v in same}, key=lambda outcome: sum(v.outcome == outcome for v in same), default="")
        most = [v for v in same if v.outcome == kind]
        if self.shown is NO_CASE or self.shown.outcome == kind or 2 * len(most) <= len(ends):
            return None
        return in_order(most, self.drawn.cases)[0]

    @property
    def unwatched(self) -> list[int]:
        """Return the numbers of the launches on a GPU whose accesses are not known: the interpreter, which watches accesses,
        did not run these to their end."""
        if self.trial.watched is None or not self.drawn.launches:
            return []
        return [n for n in self.trial.records if not accesses_known(self.trial.watched.records.get(n, {}))]

    @property
    def share(self) -> float:
        """Return the share of the points for an answer that did not pass."""
        whole = self.part.by_case and self.outcome == "wrong" and self.why not in ("other_seed", "several_seeds")
        return 1 - len(self.failing) / len(self.verdicts) if whole else 0.0

    @property
    def case_seed(self) -> int | None:
        """Return the learner's own seed that an answer names, if its part is about one; else None."""
        if self.why not in ("passed", "failed", "other_seed", "several_seeds"):
            return None
        return next((n for n in self.named_seeds if n is not None), None)

    @property
    def named_seeds(self) -> list[int | None]:
        """Return what an answer names as its learner's own seed, case by case; None is no seed."""
        if self.part.seed_of is None or not self.ran:
            return []
        records = self.trial.records.values()
        named = [self.part.seed_of(r["returned"]) for r in records if "raised" not in r and "returned" in r]
        return [n if type(n) is int and 0 <= n < 2**63 else None for n in named]

    @property
    def handed(self) -> tuple[HandIn, ...]:
        """Return what the answer says of each case, where its part keeps hand-ins."""
        if self.part.hand_in is None or self.why not in ("passed", "failed"):
            return ()
        records = ((case, self.trial.records.get(n, {})) for n, case in enumerate(self.drawn.cases))
        said = (self.part.hand_in(case, r["returned"]) for case, r in records if "raised" not in r and "returned" in r)
        return tuple(h for h in said if h is not None)


def not_run(key: Key, program: Program, seed: int, mode: str) -> Judgement | None:
    """Return the judgement of an answer that need not run, or None if it must."""
    names = key.part.names

    def say(outcome: Outcome, why: str, says: str = "") -> Judgement:
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
    """Return the judgement where no case can be judged in this mode."""
    return Judgement(key, program, seed, mode, "error", "elsewhere")


def busy(key: Key, program: Program, seed: int, mode: str) -> Judgement:
    """Make the judgement where the machine was too busy to run it to its end."""
    return Judgement(key, program, seed, mode, "error", "busy")


def judge(key: Key, program: Program, drawn: Drawn, trial: Trial, expected: Sequence[Any] | str) -> Judgement:
    """Judge a trial case by case. ``expected``: the right results, or a sentence if the course's own program failed."""

    def say(outcome: Outcome, why: str, **more: Any) -> Judgement:
        return Judgement(key, program, drawn.seed, drawn.mode, outcome, why, drawn=drawn, trial=trial, **more)

    if isinstance(expected, str):
        return say("error", "checker", says=expected)
    verdicts = [of_case(key.part, i, case, trial, expected[i]) for i, case in enumerate(drawn.cases)]
    facts = {"expected": expected, "verdicts": verdicts}
    if trial.load_error:
        return say("crashed", "does_not_load", **facts)
    outcome, shown = overall(verdicts, drawn.cases)
    if outcome == "passed":
        return say("passed", "passed", **facts)
    if outcome == "unjudged":
        return say("error", "unjudged", shown=shown, **facts)
    if outcome == "not_attempted":
        helper = next((name for name in defined(program.source) if unfinished(program.source, name)), "")
        return say("not_attempted", "waits", says=helper, shown=shown, **facts)
    return say(cast(Outcome, outcome), "failed", shown=shown, **facts)


def alone(judgement: Judgement, own: Judgement, beside: Mapping[str, str]) -> Judgement:
    """Make the judgement of a part on its own, with the course's functions ``beside`` it. ``own``: with the learner's."""
    return replace(judgement, own=own, beside=beside)


def compiled(judgement: Judgement, for_a_gpu: bool, refusal: Mapping[str, Any] | None) -> Judgement:
    """Add the compiler's word to the judgement of a kernel that ran in the interpreter."""
    if refusal:
        return replace(judgement, outcome="crashed", why="refused", refusal=refusal, shown=NO_CASE)
    return replace(judgement, compiled=for_a_gpu)


def held_to(judgement: Judgement, seed: int | None) -> Judgement:
    """Make the judgement of an answer about its learner's own cases. It is about one seed's: who could choose one for each case
    would need to know nothing. Where the learner's own seed is known, about another's it is wrong. None: it is not known."""
    named = list(dict.fromkeys(judgement.named_seeds))
    if judgement.why not in ("passed", "failed") or named in ([], [seed]) or (seed is None and len(named) == 1):
        return judgement
    why, says = ("other_seed", str(seed)) if seed is not None else ("several_seeds", " and ".join(map(str, named[:2])))
    return replace(judgement, outcome="wrong", why=why, says=says, shown=NO_CASE, wrong=None, plain=None)


def no_kernel(judgement: Judgement, says: str) -> Judgement:
    """Make the judgement of an answer whose own code makes up for what its kernel does not do."""
    return replace(judgement, outcome="crashed", why="no_kernel", says=says, shown=NO_CASE)


def named(judgement: Judgement, wrong: Wrong | None, plain: tuple[str, Any] | None = None) -> Judgement:
    """Add the misconception to a judgement, and display the smallest case that fails by it. A small case shows a mistake best,
    even if another case is unsafe. Without a misconception, add the fact ``plain``, and display a case in which a
    branch is missing."""
    if wrong is None:
        shown = judgement.verdicts[plain[1][2]] if plain and plain[0] == "missing" else judgement.shown
        return replace(judgement, plain=plain, shown=shown)
    verdicts, cases = judgement.verdicts, judgement.drawn.cases
    ran = [verdicts[i] for i in judgement.failing]
    ran = [v for v in ran if v.outcome in ("wrong", "unsafe", judgement.shown.outcome)]
    ran = [v for v in ran if v.number in wrong.shows] or ran  # the question is about the mistake that is named
    return replace(judgement, wrong=wrong, shown=in_order(ran, cases)[0])


def nameless(judgement: Judgement) -> Judgement:
    """Make the judgement where the machine was too busy to look for its misconception: the verdict stands."""
    return replace(judgement, nameless=True)
