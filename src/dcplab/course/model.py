"""Defines the data of a check: an author's Part, Case and Launch, and the CheckResult.

All are plain frozen dataclasses. Nothing here runs code or imports torch: banks, parts and results can be loaded, compared and
written to JSON on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dcplab.course.cells import Cells, DrawnCase, Groups, Ruler
    from dcplab.course.seeded import Draw

OUTCOMES = ("passed", "wrong", "unsafe", "crashed", "timeout", "not_attempted", "error")
MODES = ("cpu", "gpu")
Outcome = Literal["passed", "wrong", "unsafe", "crashed", "timeout", "not_attempted", "error"]


@dataclass(frozen=True)
class Case:
    """One call of the learner's entry: ``entry(*args, **kwargs)``.

    Arguments are None, bool, int, float, str, tuples, lists, dicts and CPU tensors of any layout: a strided view arrives as a
    strided view. In GPU mode the child moves tensors to the device first.
    ``writes``: positions of the arguments that the entry must change in place. A change anywhere else is ``unsafe``.
    ``size`` orders cases: of those that fail alike the first in order is shown.
    ``raises``: the name of the exception type that the right answer raises ("ValueError"), or None.
    ``call``: the function to call where a part has several (``Part.also``). Empty: the entry.
    ``modes``: those that can judge the case ("cpu", "gpu"). Other modes leave it out, and the result says so.
    ``hides``: the engine's own wirings (functions of `engine.backend`) that this case asks for. They are taken out of the
    child that the case runs in, so cases with different ones run in different children.
    ``tells``: keyword arguments that make an answer print more and change nothing else; the bank's run without them.
    ``compiles``: on a CPU too it runs the course's real kernels, so its child may start a compiler.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    size: int = 0
    writes: tuple[int, ...] = ()
    raises: str | None = None
    call: str = ""
    modes: tuple[str, ...] = MODES
    hides: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    compiles: bool = False


@dataclass(frozen=True)
class Buf:
    """Stands, in ``Launch.args``, for a buffer of the launch. ``dtype`` (a torch dtype's name) views it as another type.

    ``before`` makes addresses past 2^31: the pointer lies so many elements before the buffer, as if the buffer were the end of
    a larger one. Only this end is judged: a load from the rest gives 0, a store there is lost.
    """

    name: str
    dtype: str | None = None
    before: int = 0


@dataclass(frozen=True)
class Launch:
    """One launch of a learner's Triton kernel: ``entry[grid](*args, **constexprs)``.

    ``buffers``: names -> CPU tensors with initial contents. The child places all of them in one allocation with canary bands
    before, between and after them. A store outside a buffer then changes a band and nothing else.
    ``writes``: the buffers that the kernel may change. ``constexprs`` are passed by keyword. ``modes``: as in ``Case``.
    ``exact``: promises that the kernel's casts change no value, so bf16/fp8 casts can be judged on a CPU.
    ``backwards``: on a CPU the last program runs first, since no order is promised.
    ``reads``: buffers of which only some elements may be read, and each of them once: a bool tensor of the buffer's shape. The
    interpreter counts.
    """

    buffers: Mapping[str, Any]
    args: tuple[Any, ...]
    grid: tuple[int, ...]
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    size: int = 0
    writes: tuple[str, ...] = ()
    modes: tuple[str, ...] = MODES
    exact: bool = False
    backwards: bool = False
    reads: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Rows to show a person, all strings. ``caption`` is a sentence, or empty."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Prediction:
    """A question that the learner answers before a run. ``answer`` is one of ``choices``. Without choices it is free text,
    which ``normalise`` makes comparable. ``because`` is shown after the learner's answer, right or wrong."""

    question: str
    answer: str
    because: str
    choices: tuple[str, ...] = ()


Unit = tuple[int, int, str]  # first element, how many, what it is called


@dataclass(frozen=True)
class Shows:
    """What a picture of a part's results shows: the space of each result, and of each argument (or buffer) that stands above.

    Spaces are "loc", "rank", "row", "index-K page", "c-KV page", "token" (rows that begin with request and position), "content"
    (named by what it equals elsewhere) and "number". ``named``: the results of a tuple, each with its space.
    ``units(launch)``: what is one cell of a launch's buffer, where it is neither one element nor one row of two dimensions; or,
    by name, each piece of a buffer that has lines of its own, as the keys of a page.
    ``ruler(case)``: where the result is one number, what it is measured on. None: that case has no picture.
    ``drawn(tried)`` makes the cells of one case in place of all this. ``whole(all tried)`` makes one picture of all cases,
    where each of them is a cell. Before a run they show case number ``asks``, or all, under ``title``, without results.
    """

    result: str = "number"
    given: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)
    units: Callable[[Launch], Mapping[str, Sequence[Unit] | Mapping[str, Sequence[Unit]]]] | None = None
    ruler: Callable[[Case], Ruler | None] | None = None
    drawn: Callable[[DrawnCase], Groups] | None = None
    whole: Callable[[Sequence[DrawnCase]], Groups] | None = None
    title: str = "The question"
    asks: int = 0


@dataclass(frozen=True)
class HandIn:
    """What an answer says of one case, as progress keeps it. ``case``: which. ``answer``: a digest of what was said. ``right``
    of ``of`` names are right."""

    case: str
    answer: str
    right: int
    of: int


@dataclass(frozen=True)
class Part:
    """One part of a lab, as its author describes it in ``solutions/NN_name/parts/ID.py``.

    ``cases(draw)`` returns the inputs for a ``Draw`` (a seeded source of numbers), small ones first.
    ``oracle`` computes the right result of one case. For a ``Case`` it gets fresh copies of the arguments; None means that the
    solution region itself is the oracle. For a ``Launch`` it gets a dict of fresh copies of the buffers (CPU tensors) and the
    launch, and returns a dict with the right contents of the written buffers.
    ``rows(case, got, expected)`` makes the table of the failure that is shown. None picks a general table.
    ``question`` is asked if no misconception was recognised.
    ``not_here(mode_name)`` returns a sentence if an environment ("cpu" or "gpu") cannot judge this part, else None.
    ``close``, for float results: every element must be within ``close * (1 + |expected|)``. None compares exactly.
    ``compare(case, got, expected)`` replaces the general comparison. It returns None or a sentence.
    ``drive(entry, *args, **kwargs)`` is called in the child in place of the entry, where arguments cannot travel as data (a
    class under test, a callback). It is sent as source, so its imports must stand inside it.
    ``by_case``: a wrong answer gets the points of the cases that it passes, all of one worth. Otherwise it gets none.
    ``carries``: the learner's functions of earlier labs run with the answer if the learner asks for it (`dcplab.own_answers`).
    ``also`` names further functions that belong to the answer. A ``Case`` chooses one with ``call``.
    ``may_import`` names modules of the course that an answer to this part may import. Without it an answer may import none.
    ``launch(*args)``, for a kernel: makes the Launch for `lab.run` from a learner's own arguments.
    ``compiles(*args, **kwargs)``: True if a learner's own arguments ask `lab.run` for a `Case` that ``compiles``.
    ``seed_of(got)``, for answers about cases that only their learner has: reads the seed of these cases from the returned
    value.
    ``hand_in(case, got)``: the `HandIn` of what came back for a case, or None while it is unfinished. ``after(earlier)`` makes
    the part for who has handed in ``earlier`` (`progress.hand_ins`): it tells less to who has handed in nothing yet.
    ``but(source)`` reads a passing answer. It returns a sentence on what is right in it by luck, which begins with "But", or
    None.
    ``picture``: what the picture under a check shows. None: there is no picture.
    ``can_wait``: no later part uses it. Its heading says so.
    ``entries``, for a list of tuples: what an entry is called, then what its own entries are: ("segment", "start", "end").
    ``timeout_s``: seconds that an answer has for all cases, processor time and sleep together. A GPU doubles them.
    """

    id: str
    entry: str
    title: str
    points: float
    minutes: int
    cases: Callable[[Draw], Sequence[Case | Launch]]
    question: str
    hints: tuple[str, str, str]
    oracle: Callable[..., Any] | None = None
    rows: Callable[[Any, Any, Any], Table] | None = None
    prediction: Prediction | None = None
    timeout_s: float = 20.0
    not_here: Callable[[str], str | None] = lambda mode: None
    close: float | None = None
    compare: Callable[[Any, Any, Any], str | None] | None = None
    drive: Callable[..., Any] | None = None
    may_import: tuple[str, ...] = ()
    launch: Callable[..., Launch] | None = None
    compiles: Callable[..., bool] = lambda *args, **kwargs: False
    by_case: bool = False
    carries: bool = False
    also: tuple[str, ...] = ()
    seed_of: Callable[[Any], Any] | None = None
    hand_in: Callable[[Any, Any], HandIn | None] | None = None
    after: Callable[[Mapping[str, Any]], Part] | None = None
    but: Callable[[str], str | None] | None = None
    picture: Shows | None = None
    can_wait: bool = False
    entries: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that an answer defines: the entry and ``also``."""
        return (self.entry, *self.also)


@dataclass(frozen=True)
class ExaminedPart:
    """One part of a lab that is handed in and marked with its examination (`dcplab.exam`), never checked. ``points``: what the
    marks give for it at most."""

    id: str
    title: str
    points: float
    minutes: int
    prediction: Prediction | None = None


@dataclass(frozen=True)
class Wrong:
    """A wrong answer with the diagnosis it must get. ``source`` is the text that a learner would have typed."""

    id: str  # unique in its lab, for example "1c-no-divide"
    part: str
    says: str  # the misconception, one sentence of at most 80 characters
    asks: str  # one question for the learner
    source: str
    outcome: Outcome = "wrong"  # outcome of the check: "unsafe" for an answer that touches forbidden memory
    family: str = ""  # the misconception's row in docs (M1 ... M16), if it has one
    shows: tuple[int, ...] = ()  # of one made for an answer with another mistake too: the cases that show this one


@dataclass(frozen=True)
class Right:
    """Another right answer, which must pass."""

    id: str
    part: str
    source: str


@dataclass(frozen=True)
class CheckResult:
    """The result of one check. ``message`` is plain text, its first line the diagnosis. ``table`` shows a failing case."""

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
    detail: str = ""  # traceback, guard report: explain() shows it
    elapsed_s: float = 0.0
    case_seed: int | None = None  # the learner's own seed that the answer names (Part.seed_of)
    busy: bool = False  # the machine was: not judged, or judged without a name; worth another try
    odd: tuple[str, ...] = ()  # sentences on what a grader should look at, though it costs no points
    lacks: tuple[str, ...] = ()  # pieces of the walls that the answer ran without (`sandbox.pool.lacks`)
    handed: tuple[HandIn, ...] = ()  # what it said case by case, where hand-ins are kept (Part.hand_in)
    cells: Cells | None = None  # a small case in a picture: given, come back, right

    def to_json(self) -> dict[str, Any]:
        """Return all fields as plain data: the record that ``check --json`` prints."""
        d = asdict(self)
        d["versions"] = dict(self.versions)
        return d
