"""Grades submissions: every part of a notebook's lab, each answer in a disposable child."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dcplab import checking, mode, settings
from dcplab.course.catalog import Lab
from dcplab.course.key import Key
from dcplab.course.model import CheckResult
from dcplab.errors import CourseError
from dcplab.grade.layout import Found
from dcplab.grade.read import Submission, digest_of
from dcplab.grade.reader import Reader
from dcplab.grade.rows import GradeRow
from dcplab.grade.seeds import Bound, of_nobody, own_seed
from dcplab.notebook.extract import Program
from dcplab.present import check_result
from dcplab.reference import References

CHANGED = "The file changed while the run went on: this row is about what was read first."
NO_EXAMINATION = "The notebook of lab 08 holds no marks, and no folder of its examination was handed in with it."
Keys = Mapping[str, Sequence[Key]]  # a lab's name -> the keys of its parts, in order


@dataclass(frozen=True)
class GradingRun:
    """State that the notebooks of one grading run share: the seed, results of the course's own programs, the signal to
    stop, and who has which cases."""

    seed: int
    kept: References = field(default_factory=References)
    stop: threading.Event = field(default_factory=threading.Event)
    bound: Bound = of_nobody


def refuse_diagnosis() -> None:
    """Raise CourseError if the walls around an answer are changed for a diagnosis: points come from closed ones."""
    if asked := settings.sandbox():
        raise CourseError(f"DCPLAB_SANDBOX={asked} opens the walls around answers: unset it to grade.")


def keys_of(labs: Sequence[Lab]) -> Keys:
    return {lab.name: [lab.key(part.id) for part in lab.parts] for lab in labs}


def grade_all(
    found: Sequence[Found],
    keys: Keys,
    seed: int,
    workers: int = 1,
    started: Callable[[Path], None] = lambda path: None,
    bound: Bound = of_nobody,
) -> Iterator[tuple[int, GradeRow]]:
    """Yield (place in ``found``, row) for each path, in order of completion. All get the same seed.

    ``bound``: the seed of each student's own cases.
    ``workers``: answers that run at a time. The threads of this process only wait for children.
    """
    stop, kept = threading.Event(), References()
    with Reader() as reader:
        submitted = [_read(one, keys, reader) for one in found]  # before the first answer runs
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = {
            pool.submit(_grade_one, submission, keys, GradingRun(seed, kept, stop, bound), started): place
            for place, submission in enumerate(submitted)
        }
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    finally:  # after Ctrl-C or without a checker: begin nothing new, do not wait for running children
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _read(one: Found, keys: Keys, reader: Reader) -> Submission:
    path, parts = one.path, {name: {key.part.id: key.part.names for key in of} for name, of in keys.items()}
    try:
        submission = Submission(path, one.status, one.note) if one.status else reader.read(path, parts)
    except Exception as error:
        submission = Submission(path, "error", _failed(error))
    return replace(submission, student=one.student, account=one.account, shown=one.shown, note="" if one.status else one.note)


def _grade_one(submission: Submission, keys: Keys, run: GradingRun, started: Callable[[Path], None]) -> GradeRow:
    started(submission.path)
    try:
        return grade(submission, keys, run)
    except CourseError:
        raise  # the checker itself is missing: no row could be trusted
    except Exception as error:
        return GradeRow(submission.name, "error", student=submission.student, message=_failed(error), seed=run.seed)


def _failed(error: Exception) -> str:
    return f"The grader failed ({type(error).__name__}: {error})."[:500]


def grade(submission: Submission, keys: Keys, run: GradingRun) -> GradeRow:
    """Return the row of one submission."""
    path, student = Path(submission.name), submission.student
    own = own_seed(run.bound, submission.account, student)
    common: dict[str, Any] = dict(path=str(path), student=student, seed=run.seed, digest=submission.digest, own_seed=own)
    lab = submission.lab or next((name for name in keys if name in (path.stem, *path.parts)), None)
    worth = float(sum(key.part.points for key in keys.get(lab or "", ())))
    if submission.status != "graded" or lab is None:
        why = " ".join(filter(None, (submission.message, submission.note)))
        return GradeRow(**common, status=submission.status, lab=lab, max_points=worth, message=why)
    if not keys[lab]:  # an examined lab
        return GradeRow(**common, status="missing", lab=lab, message=NO_EXAMINATION)
    parts = []
    for key in keys[lab]:
        if run.stop.is_set():
            raise CancelledError
        own_key = replace(key, own_seed=own)
        parts.append(grade_part(own_key, submission.programs[key.part.id], run.seed, run.kept))
    points = float(sum(result.points for result in parts))
    busy = [part.part for part in parts if part.busy and part.outcome == "error"]
    said = [f"Not judged, for the machine was busy: {', '.join(busy)}. --resume tries again."] if busy else []
    if run.bound is not of_nobody and own is None and any(key.part.seed_of for key in keys[lab]):
        said.append("No seed is bound to its student: whose cases it is about was not held against anything.")
    if (named := next((name for name in keys if name in (path.stem, path.absolute().parent.name)), lab)) != lab:
        said.append(f"It holds {lab}, and was handed in as {named}.")
    if digest_of(submission.path) != submission.digest:
        said.append(CHANGED)
    if submission.note:
        said.append(submission.note)
    more: dict[str, Any] = dict(points=points, max_points=worth, parts=tuple(parts), message=" ".join(said))
    return GradeRow(**common, status="graded", lab=lab, **more)


def grade_part(key: Key, program: Program, seed: int, kept: References | None = None) -> CheckResult:
    """Check one part of a notebook, given its program. The course's own ``parts/`` decides about points.

    ``kept``: results of the course's own programs in this run. If the checker fails over an answer, only this part is affected,
    and its result says that it was not judged.
    """
    started = time.perf_counter()
    try:
        return checking.check(key, program, seed=seed, kept=kept)
    except CourseError:
        raise  # the checker cannot run at all
    except Exception as error:
        return check_result.not_judged(key, seed, mode.current().name, error, time.perf_counter() - started)
