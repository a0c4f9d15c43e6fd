"""Runs a small isolation matrix: some subsets of the five patches of #36989 at some watermarks, predicted, run, and explained.

`docs/isolation.md` has all 32 subsets. This module has the ones that teach something, on a server small enough for a notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplab.engine import incident_report, scenario
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.defects import PATCHES
from dcplab.engine.scheduler import Engine
from dcplab.engine.threads import one_thread
from dcplab.errors import CourseError
from dcplab.investigate.isolation_explained import because

if TYPE_CHECKING:
    from dcplab.viz import MatrixTable, Picture

VERDICTS = ("right", "silent", "alarm", "crash")
MEANS = {
    "right": "every answer is right",
    "silent": "a wrong answer, and no error",
    "alarm": "a check stops the server, on a legal loc",
    "crash": "memory that is not mapped is touched",
}
SERVER = ServerConfig(size=scenario.default_size(4, 2), page_size=4, dcp_size=2, layers=3, topk=scenario.TOPK)

_LOW_HIGH, _ALL = ("below", "above"), ("below", "above", "full")
_SUBSETS: tuple[tuple[str, frozenset[str], tuple[str, ...]], ...] = (
    ("none", frozenset(), _LOW_HIGH),
    ("size", frozenset({"index_k_size"}), _LOW_HIGH),
    ("write", frozenset({"ckv_write"}), _LOW_HIGH),
    ("extend", frozenset({"extend"}), _LOW_HIGH),
    ("write+read", frozenset({"ckv_write", "read"}), _LOW_HIGH),
    ("all but size", frozenset(PATCHES) - {"index_k_size"}, _ALL),
    ("all but assert", frozenset(PATCHES) - {"assert"}, _ALL),
    ("all", frozenset(PATCHES), _LOW_HIGH),
)


@dataclass(frozen=True)
class MatrixRow:
    """One server to run: its ``patches``, by name, and how far the long requests push its watermark."""

    subset: str
    patches: frozenset[str]
    level: str

    @property
    def id(self) -> str:
        """Name the row as predictions do, as in ``"write+read, above"``."""
        return f"{self.subset}, {self.level}"


@dataclass(frozen=True)
class Result:
    """The result of a row's server. ``fresh``, ``long``, ``again``: right answers of those given, as "3/3", or "-"."""

    row: MatrixRow
    verdict: str
    fresh: str
    long: str
    again: str
    largest_loc: int
    keys: str
    because: str


@dataclass(frozen=True)
class Score:
    """Predictions compared with a run. ``surprises``: (the prediction, the result) where they differ."""

    agreed: int
    of: int
    surprises: tuple[tuple[str, Result], ...]

    @property
    def fraction(self) -> float:
        return self.agreed / self.of if self.of else 0.0


def matrix_rows() -> tuple[MatrixRow, ...]:
    """Return the rows, in order."""
    return tuple(MatrixRow(name, patches, level) for name, patches, levels in _SUBSETS for level in levels)


def run_matrix(
    rows: Sequence[MatrixRow] | None = None,
    progress: Callable[[int, int, Result | None], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> list[Result]:
    """Run rows (all, by default) one after another, and return their results.

    ``progress(done, of, result)`` is called before the first row and after each. No further row begins once ``stop()`` is true.
    A row that this process has run already is not run again.
    """
    wanted = matrix_rows() if rows is None else tuple(rows)
    results: list[Result] = []
    if progress:
        progress(0, len(wanted), None)
    for row in wanted:
        if stop():
            break
        results.append(ran(row))
        if progress:
            progress(len(results), len(wanted), results[-1])
    return results


def ran(row: MatrixRow) -> Result:
    """Run one row on a fresh server. The long requests store their bodies and extend their last pages."""
    if row not in _ran:
        _ran[row] = _run(row)
    return _ran[row]


def short_verdict(text: str) -> str:
    """Return a verdict in the matrix's words. The reports write "silent corruption" for its "silent"."""
    word = " ".join(text.lower().split())
    return "silent" if word == "silent corruption" else word


def known(rows: Sequence[MatrixRow]) -> list[Result]:
    """Return the results of those rows that this process has run."""
    return [_ran[row] for row in rows if row in _ran]


_ran: dict[MatrixRow, Result] = {}


def _run(row: MatrixRow) -> Result:
    with one_thread():
        engine = Engine(SERVER, frozenset(PATCHES) - row.patches, Local(SERVER.dcp_size))
        out = scenario.story(engine, row.level, stored=True)
    fresh, long, again = (incident_report.counts(out, act) for act in ("fresh", "long", "again"))
    verdict = short_verdict(out.verdict)
    keys = f"{out.monitor.valid / out.monitor.selected:.2f}" if out.monitor.selected else "-"
    why = because(row.patches, verdict, out.largest_loc, SERVER.size + SERVER.page_size, fresh)
    return Result(row, verdict, fresh, long, again, out.largest_loc, keys, why)


def matrix(predictions: Mapping[str, str] | None = None) -> MatrixTable | Picture:
    """Show the table of all rows with your predictions (``{row id: verdict}``), buttons to run and to stop, and, after a run,
    which predictions agreed and why the others did not.

    Rows that this process has run already are filled in. Impossible predictions are told in a sentence and raise nothing, so
    that the notebook goes on.
    """
    from dcplab.viz.core.picture import notice
    from dcplab.viz.views.matrix import live as matrix_live  # imported here, so that a grader needs no plotly
    from dcplab.viz.views.matrix.state import MatrixCell

    try:
        predicted = checked({} if predictions is None else predictions)
    except CourseError as error:
        return notice(str(error))
    done = {r.row: _as_cell(r) for r in known(matrix_rows())}
    cells = []
    for row in matrix_rows():
        has = tuple(name in row.patches for name in PATCHES)
        cells.append(MatrixCell(row.id, row.subset, row.level, has, predicted.get(row.id, ""), *done.get(row, ("",) * 4)[1:]))
    return matrix_live.matrix(PATCHES, tuple(cells), _run_some)


def _as_cell(r: Result) -> tuple[str, str, str, str]:
    return r.row.id, r.verdict, f"{r.fresh}, {r.long}, {r.again}", r.because


def _run_some(todo, starts, result, stop) -> None:
    rows = {row.id: row for row in matrix_rows()}
    failed = None
    for id in todo:
        if stop():
            return
        starts(id)
        try:
            result(_as_cell(ran(rows[id])))
        except Exception as error:  # a failure costs its own row only
            failed = failed or CourseError(f"{id}: {type(error).__name__}: {error}")
    if failed:
        raise failed


def score(predictions: Mapping[str, str], results: Sequence[Result]) -> Score:
    """Score results row by row. A row without a prediction counts as not agreed."""
    predicted = checked(predictions)
    surprises = tuple((predicted.get(r.row.id, "nothing"), r) for r in results if predicted.get(r.row.id) != r.verdict)
    return Score(len(results) - len(surprises), len(results), surprises)


def checked(predictions: Mapping[str, str]) -> dict[str, str]:
    """Return predictions by row id, in the words of `VERDICTS`. Raises CourseError for an unknown row or verdict."""
    if not isinstance(predictions, Mapping):
        raise CourseError(f"Predictions are a dict of row and verdict, not {type(predictions).__name__}.")
    ids = {row.id for row in matrix_rows()}
    predicted = {str(k).strip(): short_verdict(str(v)) for k, v in predictions.items() if v is not None}
    for row, verdict in predicted.items():
        if row not in ids:
            raise CourseError(f"The matrix has no row {row!r}; its rows are: {'; '.join(sorted(ids))}.")
        if verdict not in VERDICTS:
            raise CourseError(f"{verdict!r} (for {row!r}) is no verdict; there are {', '.join(VERDICTS)}.")
    return predicted
