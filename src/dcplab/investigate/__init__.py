"""Gives lab 05 its investigation: hidden cases with tools to solve them, the incident record, the isolation matrix, and the
incident at the report's own size. Gives labs 01 to 04 the snippets of *Name the space*."""

from __future__ import annotations

from dcplab.investigate import hidden_cases as _cases
from dcplab.investigate.incidents import Incident, replay
from dcplab.investigate.isolation import MatrixRow, Result, Score, matrix, matrix_rows, run_matrix, score
from dcplab.investigate.nights import Night
from dcplab.investigate.records import CheckedFigure, template, verify
from dcplab.investigate.report_size_button import at_scale
from dcplab.investigate.tools import HiddenCase
from dcplab.name_the_space import shown
from dcplab.present.display import Shown


def seed() -> int:
    """Return the learner's own seed. The first call makes it and keeps it with the progress."""
    return _cases.learner_seed()


def case(n: int, seed: int | None = None) -> HiddenCase:
    """Return case 1, 2 or 3 of a seed, by default of the learner's own. Displayed, a case is its symptom; its methods are the
    tools."""
    return HiddenCase(n, _cases.learner_seed() if seed is None else seed)


def snippets(part: str, seed: int | None = None) -> Shown:
    """Return the eight snippets of a part *Name the space*, such as "1i", of a seed, by default of the learner's own."""
    return shown.snippets(part, _cases.learner_seed() if seed is None else seed)


def night(defect: str = "none") -> Night:
    """Play the night of lab 06 on a server with a defect of its retraction ("none", "index_k_stale", ...), every access
    recorded. Its methods are ``trace`` and ``identity``."""
    return Night(defect)


def incident(seed: int | None = None) -> Incident:
    """Run the unpatched server of a seed (by default the learner's), and the same server with every patch. A record is about
    this run."""
    return replay(_cases.learner_seed() if seed is None else seed)


__all__ = [
    "CheckedFigure",
    "HiddenCase",
    "Incident",
    "MatrixRow",
    "Night",
    "Result",
    "Score",
    "at_scale",
    "case",
    "incident",
    "matrix",
    "matrix_rows",
    "night",
    "run_matrix",
    "score",
    "seed",
    "snippets",
    "template",
    "verify",
]
