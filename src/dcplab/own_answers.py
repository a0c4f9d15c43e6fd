"""Takes a learner's own functions of earlier labs into a check of lab 05: finds them, checks them, and carries them as source.

Answers are read from the notebooks and checked once, when the learner asks for them. If one is missing or does not pass, the
learner is told, and the course's own function replaces it. The choice lasts as long as this process.
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
    """Check the learner's answers to these parts (all that the path runs, if none is named), and take those that pass.

    Calls ``say`` for each when it is done. Returns a summary in a sentence.
    """
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
    """Return the program with the functions taken, as a table of sources that the child loads (`engine.learner_ops`)."""
    if not _taken or program.problem:
        return program
    line = f"{learner_ops.CARRIED} = {_taken!r}\n"
    return replace(program, source=program.source + line, lines=(*program.lines, (0, 0)))


def taken() -> tuple[str, ...]:
    """Return the parts whose functions are taken, in order."""
    return tuple(_taken)


def notebook_of(lab: catalog.Lab) -> Path:
    """Return the place of a learner's notebook of a lab: beside the open notebook, as nbgrader and people lay them out, else in
    ``labs/``.

    The solved notebooks lie side by side too, but are nobody's own.
    """
    here = Path.cwd()
    if paths.solutions() not in here.parents:
        for folder in (here.parent / lab.name, here):
            if (found := folder / f"{lab.name}.ipynb").is_file():
                return found
    return reset.path_of(lab)


def _shown(path: Path) -> Path:
    return path.relative_to(paths.root()) if path.is_relative_to(paths.root()) else path


def _checked(identity: str) -> tuple[Program | None, str]:
    """Return the learner's answer if it passes, else None and the reason, as the end of a sentence."""
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
    if found.busy and found.outcome == "error":
        return None, "the machine was too busy to judge it: call this again"
    return None, words.get(found.outcome, f"yours does not pass ({found.message.splitlines()[0]})")
