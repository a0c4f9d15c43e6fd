"""Grades submissions: every part of the lab that a notebook is of, each answer in a disposable child."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from pathlib import Path

from dcplab import checking, mode
from dcplab.course.catalog import Lab
from dcplab.course.model import CheckResult
from dcplab.errors import CourseError
from dcplab.grade.read import Submission, read
from dcplab.grade.rows import Row, student_of
from dcplab.notebook.extract import extract
from dcplab.present import check_result

Keys = Mapping[str, Sequence[checking.Key]]  # of each lab, by its name: what its parts are held against, in order


def keys_of(labs: Sequence[Lab]) -> Keys:
    return {lab.name: [lab.key(part.id) for part in lab.parts] for lab in labs}


def grade_all(
    found: Sequence[Path], keys: Keys, seed: int, workers: int = 1, started: Callable[[Path], None] = lambda path: None
) -> Iterator[tuple[int, Row]]:
    """(place in ``found``, row) of each path, as they are done. All get the same seed.

    The threads here only wait for children: ``workers`` is how many answers run at a time.
    """
    stop = threading.Event()
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = {pool.submit(_grade_one, path, keys, seed, started, stop): place for place, path in enumerate(found)}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    finally:  # Ctrl-C, or a checker that does not start: nothing new begins, and nobody waits for what runs
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _grade_one(path: Path, keys: Keys, seed: int, started: Callable[[Path], None], stop: threading.Event) -> Row:
    started(path)
    try:
        labs = [(name, [key.part.id for key in of], [key.part.entry for key in of]) for name, of in keys.items()]
        return grade(read(path, labs), keys, seed, stop)
    except CourseError:
        raise  # the checker itself is missing: no row could be trusted
    except Exception as error:
        return Row(str(path), "error", message=f"The grader failed ({type(error).__name__}: {error}).", seed=seed)


def grade(submission: Submission, keys: Keys, seed: int, stop: threading.Event | None = None) -> Row:
    """The row of one submission."""
    path = submission.path
    common = dict(path=str(path), student=student_of(path.absolute()), seed=seed, digest=submission.digest)
    lab = submission.lab or next((name for name in keys if name in (path.stem, *path.parts)), None)
    worth = float(sum(key.part.points for key in keys.get(lab, ())))
    if submission.status != "graded":
        return Row(**common, status=submission.status, lab=lab, max_points=worth, message=submission.message)
    parts = []
    for key in keys[lab]:
        if stop is not None and stop.is_set():
            raise CancelledError
        parts.append(grade_part(key, submission.cells, seed, str(path.parent)))
    points = float(sum(result.points for result in parts))
    return Row(**common, status="graded", lab=lab, points=points, max_points=worth, parts=tuple(parts))


def grade_part(key: checking.Key, cells: Sequence[str], seed: int, folder: str | None) -> CheckResult:
    """One part of a notebook, given by its code cells in document order. The course's own ``parts/`` decides about points.

    Should the checker fail over an answer, that costs this part alone, and the result says that it was not judged.
    """
    started = time.perf_counter()
    try:
        return checking.check(key, extract(cells, key.part.names, folder), seed=seed)
    except CourseError:
        raise  # the checker does not run at all
    except Exception as error:
        return check_result.result(
            lab=key.lab,
            part=key.part,
            outcome="error",
            first=f"The checker failed over this answer ({type(error).__name__}: {error}).",
            seed=seed,
            mode=mode.current().name,
            started=started,
            detail=traceback.format_exc(),
        )
