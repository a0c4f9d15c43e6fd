"""Lab 05's investigation: hidden cases and the tools to solve them, the incident record, the isolation matrix, the report's own
size."""

from __future__ import annotations

from collections.abc import Mapping

from dcplab.investigate import cases as _cases
from dcplab.investigate import records as _records
from dcplab.investigate.incidents import Incident, replay
from dcplab.investigate.isolation import Result, Row, Score, matrix, matrix_rows, run_matrix, score
from dcplab.investigate.records import Finding, template
from dcplab.investigate.scale import at_scale
from dcplab.investigate.tools import Case


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


def incident(seed: int | None = None) -> Incident:
    """The unpatched server of a seed (by default the learner's), and the same with every patch: what a record is about."""
    return replay(_cases.learner_seed() if seed is None else seed)


def record(run: Incident | Case) -> str:
    """The incident record of a run, filled in."""
    return _records.filled(_incident(run))


def figures(run: Incident | Case) -> dict:
    """The same as a dict."""
    return _records.figures(_incident(run))


def verify(text_or_dict: str | Mapping[str, object], run: Incident | Case) -> list[Finding]:
    """A record held against its run: one finding a figure, in the record's order."""
    return _records.verify(text_or_dict, _incident(run))


def _incident(run: Incident | Case) -> Incident:
    return run.incident() if isinstance(run, Case) else run


__all__ = [
    "Case",
    "Finding",
    "Incident",
    "Result",
    "Row",
    "Score",
    "at_scale",
    "case",
    "figures",
    "incident",
    "matrix",
    "matrix_rows",
    "record",
    "run_matrix",
    "score",
    "seed",
    "template",
    "truth",
    "verify",
]
