"""The data of a check: what a lab's author writes (Part, Case, Launch) and what a check says (CheckResult).

Plain frozen dataclasses. Nothing here runs code, and nothing here imports torch: banks, parts and results can be
loaded, compared and written to JSON on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

OUTCOMES = ("passed", "wrong", "unsafe", "crashed", "timeout", "not_attempted", "error")
MODES = ("cpu", "gpu")
Outcome = Literal["passed", "wrong", "unsafe", "crashed", "timeout", "not_attempted", "error"]


@dataclass(frozen=True)
class Case:
    """One call of the learner's entry: ``entry(*args, **kwargs)``.

    Arguments are None, bool, int, float, str, tuples, lists, dicts and CPU tensors (any layout: a strided view travels as
    one). In GPU mode the child moves tensors to the device first. ``writes`` names the positions of the arguments that the
    entry is asked to change in place; a change anywhere else is ``unsafe``.
    ``size`` orders cases: the smallest failing one is shown.
    ``raises`` is the name of the exception type that the right answer raises ("ValueError"), or None.
    ``call`` is the function to call where a part has several (``Part.also``); empty: the entry.
    ``modes`` are those that can judge it ("cpu", "gpu"); elsewhere it is left out, and the result says so.
    """

    args: tuple = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    size: int = 0
    writes: tuple[int, ...] = ()
    raises: str | None = None
    call: str = ""
    modes: tuple[str, ...] = MODES


@dataclass(frozen=True)
class Buf:
    """Stands, in ``Launch.args``, for a buffer of the launch; ``dtype`` (a torch dtype's name) views it as another type.

    ``before`` is for addresses past 2^31: the pointer stands so many elements before the buffer, which is then the end of a
    larger one. Only this end is there to be touched.
    """

    name: str
    dtype: str | None = None
    before: int = 0


@dataclass(frozen=True)
class Launch:
    """One launch of a learner's Triton kernel: ``entry[grid](*args, **constexprs)``.

    ``buffers`` maps names to CPU tensors with their initial contents. The child places all of them in one arena with canary
    bands before, between and after, so that a store outside a buffer changes a band and nothing else. ``writes`` names the
    buffers the kernel may change. ``constexprs`` are passed by keyword. ``modes`` as in ``Case``. ``exact``: the values are
    such that every cast asked for keeps them, so that the interpreter's casts to bf16 and fp8 can be judged.
    """

    buffers: Mapping[str, Any]
    args: tuple
    grid: tuple[int, ...]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    size: int = 0
    writes: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES
    exact: bool = False


@dataclass(frozen=True)
class Table:
    """Rows to show a person, all strings. ``caption`` is a sentence, or empty."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Prediction:
    """A question the learner commits to before a run. ``answer`` is one of ``choices``, or, where there are none, free text
    that ``normalise`` makes comparable. ``because`` is shown after the commitment, right or wrong."""

    question: str
    answer: str
    because: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """One part of a lab, as its author describes it in ``solutions/NN_name/parts/ID.py``.

    ``cases(draw)`` returns the inputs for a ``Draw`` (a seeded source of numbers), small ones first.
    ``oracle`` computes what is right for one case. For a ``Case`` it is called with the case's arguments (fresh copies); None
    means the solution region itself. For a ``Launch`` it is called with a dict of the buffers (fresh copies, CPU tensors)
    and the launch, and returns a dict of what the written buffers must hold.
    ``rows(case, got, expected)`` makes the table of the smallest failure; None picks a general one.
    ``question`` is asked when no misconception was recognised.
    ``not_here(mode_name)`` returns a sentence where an environment ("cpu" or "gpu") cannot judge this part, else None.
    ``close``, for float results: every element within ``close * (1 + |expected|)``; None compares exactly.
    ``compare(case, got, expected)`` replaces the general comparison; it returns None or a sentence.
    ``drive(entry, *args, **kwargs)`` is called in the child in place of the entry, where arguments cannot travel as data (a
    class under test, a callback). It is sent as source, so it must stand alone: its imports inside it.
    ``by_case``: a wrong answer gets the points of the cases that it passes, all of one worth; else it gets none.
    ``carries``: the learner's functions of earlier labs come along where they ask for it (`dcplab.own_answers`).
    ``also`` names further functions that belong to the answer; a ``Case`` says with ``call`` which one it is for.
    ``may_import`` names modules of the course that an answer to this part may import; else it may import none.
    ``launch(*args)``, for a kernel: the Launch that `lab.run` makes of a learner's own arguments.
    ``seed_of(got)``: where an answer is about cases that only its learner has, their seed in what it returned.
    """

    id: str
    entry: str
    title: str
    points: float
    minutes: int
    cases: Callable[[Draw], Sequence[Case | Launch]]  # noqa: F821
    question: str
    hints: tuple[str, str, str]
    oracle: Callable | None = None
    rows: Callable[[Any, Any, Any], Table] | None = None
    prediction: Prediction | None = None
    timeout_s: float = 20.0
    not_here: Callable[[str], str | None] = lambda mode: None
    close: float | None = None
    compare: Callable[[Any, Any, Any], str | None] | None = None
    drive: Callable | None = None
    may_import: tuple[str, ...] = ()
    launch: Callable[..., Launch] | None = None
    by_case: bool = False
    carries: bool = False
    also: tuple[str, ...] = ()
    seed_of: Callable[[Any], Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What an answer defines: the entry and ``also``."""
        return (self.entry, *self.also)


@dataclass(frozen=True)
class Wrong:
    """A wrong answer with the diagnosis it must get. ``source`` is what a learner would have typed."""

    id: str  # unique in its lab, for example "1c-no-divide"
    part: str
    says: str  # the misconception, one sentence of at most 80 characters
    asks: str  # one question to ask oneself
    source: str
    outcome: Outcome = "wrong"  # what the check must say: "unsafe" for an answer that touches what it must not
    family: str = ""  # the misconception's row in docs (M1 ... M16), where it has one


@dataclass(frozen=True)
class Right:
    """Another right answer, which must pass."""

    id: str
    part: str
    source: str


@dataclass(frozen=True)
class CheckResult:
    """What one check says. ``message`` is plain text, first line the diagnosis; ``table`` the smallest failing case."""

    lab: str
    part: str
    outcome: Outcome
    points: float
    max_points: float
    message: str
    seed: int
    mode: str
    versions: Mapping[str, str]
    diagnosis: str | None = None
    question: str = ""
    table: Table | None = None
    case: str = ""  # the failing case's label and arguments, shortly
    detail: str = ""  # traceback, guard report: shown by explain(), never first
    elapsed_s: float = 0.0
    case_seed: int | None = None  # the learner's own seed that the answer names, where the part is about it (Part.seed_of)

    def to_json(self) -> dict:
        """The record that ``check --json`` prints (design section 7), and ``question`` to ``case_seed``."""
        d = asdict(self)
        d["versions"] = dict(self.versions)
        return d
