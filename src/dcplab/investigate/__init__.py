"""Lab 05's investigation: hidden cases and the tools to solve them, the incident record, the isolation matrix, the report's own
size."""

from __future__ import annotations

from dcplab.investigate import cases as _cases
from dcplab.investigate.case import Case


def seed() -> int:
    """The learner's own seed: made once, kept with the progress."""
    return _cases.learner_seed()


def case(n: int, seed: int | None = None) -> Case:
    """Case 1, 2 or 3 of a seed, by default of the learner's own: shown, it is the symptom; its methods are the tools."""
    return Case(n, _cases.learner_seed() if seed is None else seed)


def truth(n: int, seed: int) -> dict:
    """For a grader: ``buffer``, ``op``, ``rank``, ``loc``, ``row``, ``rows_available`` of the first wrong operation, and the
    ``defect``. Runs the case's server, as its watcher is who knows."""
    return _cases.truth_of(_cases.found(n, seed))


__all__ = ["Case", "case", "seed", "truth"]
