"""Reads what the benches measured, ``bench/results/*.json``, so that no page and no picture types a figure of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcplab import paths
from dcplab.errors import CourseError

KERNELS = "copy_GBps"  # a record that has it is one of `bench/harness.py`: timed kernels, and the card's roofs in the same run


def results() -> Path:
    """Return the folder of the benches' records."""
    return paths.root() / "bench" / "results"


def record(name: str) -> dict[str, Any] | None:
    """Return what a bench wrote last, or None where it has not run: ``name`` of ``bench/results/NAME.json``."""
    path = results() / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def kernels() -> list[dict[str, Any]]:
    """Return the records that time kernels beside the card's own rates, by name."""
    found = [record(path.stem) for path in sorted(results().glob("*.json"))]
    return [one for one in found if one and KERNELS in one]


def measured(name: str, row: str | None = None, field: str = "ms", **where: Any) -> Any:
    """Return one figure of ``bench/results/NAME.json``, as it was measured.

    ``row``: the ``case`` of one of its rows; or ``where``, fields that one row alone has, as ``what="gather", tokens=32768``.
    Without either ``field`` is one of the record's own. ``field`` may go down by dots: ``"ms.two streams"``. Raises CourseError
    where the record, the row or the field is missing, or where several rows fit.
    """
    found: Any = record(name)
    if found is None:
        raise CourseError(f"Nothing was measured as {name!r}: there is no bench/results/{name}.json.")
    where = {**where, **({} if row is None else {"case": row})}
    if where:
        rows = [r for r in found.get("rows", ()) if all(r.get(key) == value for key, value in where.items())]
        if len(rows) != 1:
            raise CourseError(f"{len(rows)} rows of bench/results/{name}.json have {where}; one is needed.")
        found = rows[0]
    for part in field.split("."):
        if not isinstance(found, dict) or part not in found:
            raise CourseError(f"bench/results/{name}.json has no {field!r} there.")
        found = found[part]
    return found
