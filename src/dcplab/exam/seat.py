"""The words of lab 08's notebook: sit down at a case, look, try, hand in. It marks nothing itself (`dcplab.exam.taking`).

A case is a folder below ``cases/`` beside the notebook, as ``./course exam start`` makes it. So a kernel may end at any time:
the next call finds the folder, and what was handed in is kept with the progress. No code of a case runs in the kernel.
"""

from __future__ import annotations

from pathlib import Path

from dcplab import settings
from dcplab.course.seeded import fresh_seed
from dcplab.errors import CourseError
from dcplab.exam import sittings, taking, tickets
from dcplab.exam.desk import CaseDesk
from dcplab.present.display import Shown

BEGIN = (
    f"Not begun. Two cases of different kinds, 100 points, {sittings.MINUTES} minutes, {sittings.HAND_INS} hand-ins a case.\n"
    "The clock does not stop when you close the notebook. exam.examination(begin=True) begins it."
)


class Sitting:
    """An examination. Displayed, it is a table of its cases and the time that is left at that moment, or what it will be."""

    def __init__(self, folder: Path):
        self.folder = folder

    def status(self) -> Shown:
        """Show the cases, and how much time is left."""
        return taking.standing(tickets.read(self.folder)) if _begun(self.folder) else Shown(BEGIN)

    def __repr__(self) -> str:
        return self.status().text

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    def case(self, number: int) -> CaseDesk | Shown:
        """Return case 1 or 2; before the examination is begun, only what it will be."""
        if not _begun(self.folder):
            return self.status()
        if number not in range(1, len(tickets.read(self.folder).seals) + 1):
            raise CourseError(f"There is no case {number!r}: this examination has 1 and 2.")
        return CaseDesk(self.folder, number)


def guided() -> CaseDesk:
    """Return the case that lab 08 works through; the first call makes its folder. It counts for nothing."""
    return CaseDesk(_made("guided", "guided", 0), 1)


def practice(seed: int) -> CaseDesk:
    """Return the practice case of a seed; the first call makes its folder. Neighbouring seeds have faults of other kinds."""
    return CaseDesk(_made(f"practice_{seed}", "practice", seed), 1)


def examination(begin: bool = False) -> Sitting:
    """Return the examination, begun or not. ``begin``: begin it if it was not; its time runs from then on."""
    return Sitting(_made("examination", "examination", fresh_seed()) if begin else _home() / "examination")


def _home() -> Path:
    return settings.cases() or Path.cwd() / "cases"


def _begun(folder: Path) -> bool:
    return (folder / tickets.FILE).is_file()


def _made(name: str, sort: str, seed: int) -> Path:
    folder = _home() / name
    if not _begun(folder):
        taking.start(folder, sort, seed, None)
    return folder
