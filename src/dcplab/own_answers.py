"""A learner's own functions of earlier labs, taken along into a check of lab 05: found, checked, and carried as source.

What is taken is read out of the notebooks and checked once, when it is asked for; what is missing or does not pass
is said so, and the course's own function does its work. The choice lasts as long as this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from dcplab import checking, mode, paths, settings
from dcplab.course import catalog
from dcplab.engine import learner_ops
from dcplab.errors import CourseError
from dcplab.notebook import reset
from dcplab.notebook.extract import Program

_taken: dict[str, str] = {}  # part -> source


def take(parts: Iterable[str], say: Callable[[str], None]) -> str:
    """Check the learner's answers to these parts (all that the path runs, if none is named) and take along those that pass.
    Tells ``say`` of each as it is done; gives the sum of it in a sentence."""
    asked = [p.strip().lower() for p in parts] or list(learner_ops.PARTS)
    _taken.clear()
    if asked == ["none"]:
        return "The course's own functions are used for everything."
    if settings.graded_by_nbgrader():
        return "A notebook is graded alone: the course's own functions are used for everything."
    if unknown := [p for p in asked if p not in learner_ops.PARTS]:
        raise CourseError(f"The path runs no function of part {unknown[0]!r}; it runs those of {', '.join(learner_ops.PARTS)}.")
    for part in asked:
        program, why = _checked(part)
        if program:
            _taken[part] = program.source
        say(f"{part:<4} {' and '.join(learner_ops.PARTS[part])}: {'yours' if program else f'the reference; {why}'}")
    return f"{len(_taken)} of {len(learner_ops.PARTS)} parts of the path run on your own functions."


def carry(program: Program) -> Program:
    """The program with what was taken along, as a table of sources that the child loads (`engine.own`)."""
    if not _taken or program.problem:
        return program
    line = f"{learner_ops.CARRIED} = {_taken!r}\n"
    return replace(program, source=program.source + line, lines=(*program.lines, (0, 0)))


def taken() -> tuple[str, ...]:
    """The parts whose functions are taken along, in order."""
    return tuple(_taken)


def notebook_of(lab: catalog.Lab) -> Path:
    """Where a learner's notebook of a lab is looked for: beside the one that is open, as nbgrader and people lay them out, else
    in ``labs/``. The solved notebooks lie side by side too, and are nobody's own."""
    here = Path.cwd()
    if paths.solutions() not in here.parents:
        for folder in (here.parent / lab.name, here):
            if (found := folder / f"{lab.name}.ipynb").is_file():
                return found
    return reset.path_of(lab)


def _shown(path: Path) -> Path:
    return path.relative_to(paths.root()) if path.is_relative_to(paths.root()) else path


def _checked(identity: str) -> tuple[Program | None, str]:
    """The learner's answer if it passes; else None and why not, as the end of a sentence."""
    try:
        lab = catalog.of_part(identity)
        part = lab.part(identity)
        path = notebook_of(lab)
        program = reset.program(lab, part, path if path != reset.path_of(lab) else None)
    except CourseError as e:
        return None, str(e)
    found = checking.check(lab.key(part.id), program, mode=mode.current().name)
    if found.outcome == "passed":
        return program, ""
    words = {"not_attempted": f"not attempted in {_shown(path)}", "error": "it cannot be judged here"}
    return None, words.get(found.outcome, f"yours does not pass ({found.message.splitlines()[0]})")
