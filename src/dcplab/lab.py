"""The calls of a learner's notebook: ``from dcplab import lab``, then ``lab.check("1c")`` and its siblings.

No answer runs in the notebook's own process: answers run in disposable children. All calls work in a live kernel (from the
cells that were executed, in order of execution) and outside one (from the notebook file in ``labs/``).
"""

from __future__ import annotations

import contextlib
import os
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dcplab import checking, ended, front_end, mode, paths, prediction, settings
from dcplab import progress as progress_file
from dcplab import recall as recalled
from dcplab.course import catalog
from dcplab.course.model import CheckResult, ExaminedPart, Launch, Part, Table
from dcplab.errors import CourseError, without_traceback
from dcplab.notebook.extract import Program, extract, unfinished
from dcplab.notebook.runs import CellRun, Judged, judged
from dcplab.present import card, check_result
from dcplab.present.display import Shown
from dcplab.present.table import columns, to_html
from dcplab.sandbox import pool
from dcplab.viz.figures import answer

__all__ = ["check", "explain", "full_path", "hint", "mine", "predict", "progress", "recall", "reset", "run", "start"]

WRITTEN_S = 1.0  # in which a front end has written a notebook that it has begun to write


class Checked(Shown):
    """A check's result as a notebook displays it, with its picture open or closed (``shown``). ``result`` is its CheckResult,
    whose fields are attributes here too."""

    def __init__(self, result: CheckResult, shown: bool = False):
        picture = answer.in_card(result.cells, shown)
        super().__init__(check_result.text(result), card.as_html(result, picture))
        self.result = result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.result, name)

    def __float__(self) -> float:
        return self.result.points


def start(lab: str) -> Shown:
    """Open a lab. Shows the mode and your progress, and starts the checker in the background."""
    opened = catalog.lab(lab)
    here = mode.current()
    pool.warm(here.name)
    if (shell := _shell()) and shell.events:
        for happens, tell in (("post_run_cell", front_end.note_the_cell), ("post_run_cell", _tell_of_a_lost_context)):
            with contextlib.suppress(ValueError):
                shell.events.unregister(happens, tell)
            shell.events.register(happens, tell)
    done = progress_file.points(opened)
    versions = ", ".join(f"{name} {version}" for name, version in mode.versions().items())
    return Shown(
        f"Lab {opened.number}: {_ended(opened.title)} {len(opened.listed)} parts, about {opened.minutes} minutes.\n"
        f"Mode: {here.label}. {here.reason}\n{versions}\n"
        f"So far: {done:g} of {opened.points:g} points. "
        + (f"Next: part {n.id}, {_ended(n.title)}" if (n := _next(opened)) else "All done.")
        + f"{_of_another_checkout(_open_notebook(opened))}\n{settings.note()}".rstrip()
    )


def check(part: str, seed: int | None = None) -> Checked | float:
    """Check your answer to a part. The result shows the seed that drew its inputs; pass that seed to get the same inputs
    again."""
    lab = catalog.of_part(part)
    notebook = _open_notebook(lab)
    saved = front_end.save(notebook)  # while the answer runs: its file tells whether the cell has changed since it ran
    result = _judge(lab, part, seed)
    saved()
    result = check_result.placed(result, _judged(notebook, lab.part(part)))
    shown = result.outcome != "passed" or _fell_short(lab, result.part)
    progress_file.record(result)
    for says in filter(None, (_of_other_cases(result), _of_first_hand_ins(lab, result), settings.note())):
        print(says)
    return _present(result, shown)


def hint(part: str, tier: int | None = None) -> Shown:
    """Show the next hint of a part: first a nudge, then the idea, then nearly the answer. ``tier`` asks for one of them."""
    lab = catalog.of_part(part)
    found = lab.part(part)
    if tier is not None and not (isinstance(tier, int) and 1 <= tier <= len(found.hints)):
        raise CourseError(f"Part {found.id} has hints 1 to {len(found.hints)}, not {tier!r}.")
    shown = progress_file.use_hint(lab.name, found.id, tier, len(found.hints))
    rest = len(found.hints) - shown
    more = f'lab.hint("{found.id}") shows the next of {len(found.hints)}.' if rest else "That was the last hint."
    return Shown(f"{found.id}, hint {shown} of {len(found.hints)}: {textwrap.fill(found.hints[shown - 1], 80)}\n{more}")


def explain(part: str, seed: int | None = None) -> Shown:
    """Show every case with its outcome, the traceback, and your answer's output. Draws the inputs of your last check again."""
    lab = catalog.of_part(part)
    found = lab.part(part)
    if seed is None:
        seed = progress_file.part(lab.name, found.id).get("seed")
    result = _judge(lab, part, seed if isinstance(seed, int) else None)
    said = "\n".join(line for line in result.message.split("\n") if not line.startswith("More: "))  # the line points here
    return Shown("\n\n".join(filter(None, (said, result.case and f"The case: {result.case}", result.detail))))


def mine(*parts: str) -> Shown:
    """Run lab 05's path on your own functions of labs 01 to 04: all that it can use, or those of the parts you name.

    Each function is checked first. The course's function replaces one that is missing or does not pass. ``lab.mine("none")``
    returns to the course's functions.
    """
    from dcplab import own_answers as own

    return Shown(own.take(parts, print))


def reset(part: str) -> Shown:
    """Put back the starter of a part ("1c") or of a whole lab ("01"). A notebook file is copied before it is changed."""
    from dcplab.notebook import reset as notebook_reset

    lab, found = catalog.place(part)
    if found is None:
        return Shown(
            notebook_reset.notebook(lab) + "\nReload the notebook from disk (File, Reload Notebook from Disk) to see it."
        )
    shell = _shell()
    if shell is None:
        return Shown(notebook_reset.cell(lab, found.id))
    starter = lab.starter_cell(found.id)
    progress_file.forget(lab.name, found.id)
    # The front end writes the file on disk and would overwrite our change.
    if front_end.here():
        front_end.fill(f"answer-{found.id}", found.id, starter)
        where = f"{found.id} is its starter again, in its own cell. Ctrl-Z in that cell brings your answer back."
        return Shown(f"{where} {notebook_reset.ANEW}")
    shell.set_next_input(starter)
    where = f"The starter of {found.id} is in the cell below; your own cell is left as it is."
    return Shown(f"{where} {notebook_reset.ANEW}\n\n{starter}")


def progress() -> Shown:
    """Show the board: every part of every lab, with points, attempts and hints."""
    return board(catalog.labs())


def board(labs: Sequence[catalog.Lab]) -> Shown:
    rows = []
    for lab in labs:
        rows.append((lab.number, lab.title, "", f"{progress_file.points(lab):g} of {lab.points:g}", "", "", ""))
        for p in lab.listed:
            known = progress_file.part(lab.name, p.id)
            mark = "✓" if known.get("best", 0) and known["best"] >= p.points else "·" if not known.get("attempts") else "✗"
            guess = known.get("prediction") or {}
            predicted = "" if not guess else "right" if guess.get("right") else "not right"
            best = f"{min(known.get('best', 0), p.points):g} of {p.points:g}"
            rows.append((p.id, p.title, mark, best, str(known.get("attempts", "")), str(known.get("hints", "")), predicted))
    header = ("part", "title", "", "points", "attempts", "hints", "prediction")
    heads = [i for i, row in enumerate(rows) if row[0].isdigit()]
    return Shown("\n".join(columns([header, *rows])), to_html(Table(header, tuple(rows)), heads, "board"))


def predict(part: str, answer: str | None = None) -> Any:
    """Ask the part's question before you run anything. Shows a form, or takes ``answer`` at once. Never waits."""
    lab = catalog.of_part(part)
    found = lab.asks(part)
    if answer is not None:
        return Shown(prediction.commit(lab, found, str(answer)))
    return prediction.form(lab, found)


def recall(lab: str, seed: int | None = None) -> recalled.Questions:
    """Ask five questions on what came before a lab ("02"). Nothing is graded or kept. ``seed`` asks the same again."""
    return recalled.questions(catalog.lab(lab), seed)


def run(part: str, *args: Any, function: str = "", **kwargs: Any) -> Any:
    """Run your present answer to a part on your own arguments, in a child. Returns its result and prints its output.

    ``function`` names the function to call where a part has several. An answer that is unfinished, or that fails, gives None
    and a sentence, so that Run All goes on.
    """
    lab = catalog.of_part(part)
    found = lab.part(part)
    program = _carried(found, program_of(lab, found))
    if program.problem:
        raise CourseError(program.problem)
    if unfinished(program.source, found.names):
        print(f"{found.id} is not finished yet: it still ends in `raise NotImplementedError`.")
        return None
    try:
        case = checking.own_case(found, args, kwargs, function)
        value, said = checking.call(found, program, case, mode.current().name, note=print)
    except CourseError as problem:
        print(problem)
        return None
    if lines := [*filter(None, [_where_it_ran(isinstance(case, Launch)), said])]:
        print("\n".join(lines))
    return value


def full_path(dcp_size: int = 4, ranks: str = "gloo", processes: int | None = 2, gpus: int | None = None) -> Shown:
    """Run your wiring of 5a and 5b on whole servers: the incident with all ranks in one process, then as you deal them.
    ``ranks``, ``processes``, ``gpus``: the options of ``./course incident``. "gloo" runs anywhere, ``gpus=2`` over NCCL.
    """
    from dcplab.on_ranks import full_path as whole

    if _sent or settings.graded_by_nbgrader():
        return Shown(whole.NOT_HERE)
    return whole.of_notebook(program_of, dcp_size, ranks, processes, gpus)


_said_where: set[tuple[str, bool]] = set()  # the modes that `run` has named in this session: for a kernel, for a function


def _where_it_ran(kernel: bool) -> str:
    """Name the mode in which an answer ran, the first time that a function ran in it, and that a kernel did."""
    here = (mode.current().label, kernel)
    said = "" if here in _said_where else f"[{here[0]}]"
    _said_where.add(here)
    return said


def program_of(lab: catalog.Lab, part: Part) -> Program:
    """Return the learner's present answer: from the cells that this kernel has run, else from the notebook file in
    ``labs/``."""
    shell = _shell()
    if shell is None:
        from dcplab.notebook import reset as notebook_reset

        return notebook_reset.program(lab, part)
    found = extract(shell.history_manager.input_hist_raw[1:], part.names, folder=os.getcwd())
    found = replace(found, ran=True)  # the first is [1]
    if found.problem and not found.unreadable:
        return replace(found, problem=_not_run(found.problem))
    return found


def _not_run(problem: str) -> str:
    first = problem.partition(",")[0].rstrip(".")
    return f"{first.replace('No cell', 'No cell that was run')}: run the cell with your answer first."


def _judge(lab: catalog.Lab, part: str, seed: int | None) -> CheckResult:
    own = None if settings.graded_by_nbgrader() else settings.own_seed()  # the bridge holds it, by its table or key
    key = replace(lab.key(part), own_seed=own)
    key = key.after(progress_file.hand_ins(lab.name, key.part.id))
    return checking.check(key, _carried(key.part, program_of(lab, key.part)), seed=seed, note=print)


def _carried(part: Part, program: Program) -> Program:
    """Return the program with the learner's functions of earlier labs, if the part takes them and the learner asked for
    them."""
    if not part.carries:
        return program
    from dcplab import own_answers as own

    if taken := own.taken():
        print(f"With your own functions of {', '.join(taken)}.")
    return own.carry(program)


def _judged(notebook: Path, part: Part) -> Judged | None:
    """Return which run of which cell a check has judged."""
    from dcplab.notebook import reset as notebook_reset

    shell = _shell()
    history = shell.history_manager.input_hist_raw if shell else ()
    runs = [CellRun(i, text, *front_end.ran.get(i, ("", 0.0))) for i, text in enumerate(history) if text]
    end, saved = time.monotonic() + WRITTEN_S, None
    while saved is None:
        try:
            saved = notebook_reset.saved_cells(notebook)
        except CourseError:  # nothing was saved, or Jupyter is writing it, which it does in place
            if not notebook.is_file() or time.monotonic() > end:
                saved = []
            else:
                time.sleep(0.02)
    return judged(part.id, part.entry, runs, saved)


def _open_notebook(lab: catalog.Lab) -> Path:
    """Return the file of the notebook that this kernel serves: Jupyter names it, else the lab's own beside us. Outside a kernel
    it is the learner's."""
    from dcplab.notebook import reset as notebook_reset

    if _shell() is None:
        return notebook_reset.path_of(lab)
    named = Path(os.environ.get("JPY_SESSION_NAME") or f"{lab.name}.ipynb")
    return named if named.is_file() else Path.cwd() / named.name


def _of_another_checkout(notebook: Path) -> str:
    """Warn that the notebook lies in another checkout than the course that this kernel runs, which judges and counts."""
    here = notebook.resolve()
    home = next((p for p in here.parents if (p / "course").is_file() and (p / "labs").is_dir()), None)
    if _shell() is None or home in (None, paths.root().resolve()) or here.is_relative_to(paths.labs().resolve()):
        return ""
    return (
        f"\nThis notebook lies in {home}, and the course that runs here is that of {paths.root()}: it judges your answers, and "
        f"your progress goes to {paths.state_dir()}. To work in the notebook's own course, start it there with ./course lab."
    )


def _of_other_cases(result: CheckResult) -> str:
    """Warn that the answer is about another learner's cases. `grade` shows the instructor the same."""
    if result.case_seed is None or settings.graded_by_nbgrader() or settings.own_seed() is not None:  # then it is held
        return ""
    from dcplab import investigate

    if result.case_seed == (own := investigate.seed()):
        return ""
    whose = ", the solved notebook's" if result.case_seed == progress_file.SOLVED_SEED else ""
    return f"This answer is about seed {result.case_seed}{whose}. Your own cases are those of seed {own}."


def _of_first_hand_ins(lab: catalog.Lab, result: CheckResult) -> str:
    """Say how much was right at the first hand-in of each case, and of all of them once the part has passed."""
    if not result.handed:
        return ""
    first = progress_file.hand_ins(lab.name, result.part)
    if result.outcome != "passed":
        each = (f"case {case}: {entry.get('right', 0)} of {entry.get('of', 0)}" for case, entry in sorted(first.items()))
        return f"Right at the first hand-in: {', '.join(each)}."
    right, of = (sum(entry.get(name, 0) for entry in first.values()) for name in ("right", "of"))
    return f"At the first hand-in {right} of {of} were right."


def _fell_short(lab: catalog.Lab, part: str) -> bool:
    """Return True if the part was tried before and never passed: an answer that passes at once needs no picture."""
    known = progress_file.part(lab.name, part)
    return bool(known.get("attempts")) and known.get("best", 0) < lab.part(part).points


def _present(result: CheckResult, shown: bool) -> Checked | float:
    """Return the value of a check cell. nbgrader scores a cell by its value and its errors, so the value depends on who runs
    it."""
    who = settings.graded_by_nbgrader()
    if who == "autograde":
        # Only a plain float counts as partial credit for nbgrader; False, None or an object would count as all points.
        print(check_result.text(result))
        return float(result.points)
    if who == "validate" and result.outcome != "passed":
        raise AssertionError(result.message.partition("\n")[0])
    return Checked(result, shown)


_sent: list[Any] = []  # what stands where the shell would: the cells of another process (`closed.worker`)


@contextlib.contextmanager
def attached(shell: Any) -> Iterator[None]:
    """Take cells that another process has sent for a kernel's. ``shell``: their ``history_manager``, or None for a file's."""
    _sent.append(shell)
    try:
        yield
    finally:
        _sent.pop()


def _shell() -> Any:
    """Return the notebook's shell, or None outside a live kernel."""
    if _sent:
        return _sent[-1]
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    return shell if getattr(shell, "history_manager", None) is not None else None


def _tell_of_a_lost_context(result: Any) -> None:
    """Tell the learner, after a cell of their own ended this kernel's CUDA context, what happened and what to do."""
    if lost := ended.lost(str(result.error_in_exec or "")):
        print(
            f"{ended.poisoned(lost)} Restart the kernel (Kernel, Restart Kernel) and run your cells again. "
            "Checks are not touched: each runs your answer in a process of its own."
        )


def _ended(title: str) -> str:
    """Turn a title into a sentence of its own."""
    return title if title.endswith(("?", ".")) else f"{title}."


def _next(lab: catalog.Lab) -> Part | ExaminedPart | None:
    return next((p for p in lab.listed if progress_file.part(lab.name, p.id).get("best", 0) < p.points), None)


if _shell() is None:  # a script; IPython asks the error itself what to show
    without_traceback()
