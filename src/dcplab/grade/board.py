"""The instructor's board: who is at which part, who is stuck, and which misconceptions are about. Reads files, runs nothing."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dcplab.course.catalog import Lab
from dcplab.course.model import OUTCOMES
from dcplab.grade.read import UNGRADED

STUCK_AFTER = 3  # failed checks of one part
TOP = 5  # misconceptions shown


@dataclass(frozen=True)
class Learner:
    """What is known of one learner: of each part of a lab its record (``outcome``, ``attempts``, ``best``, ``diagnosis``), and
    why a notebook of a lab could not be graded (a status of ``dcplab.grade.read``)."""

    name: str
    labs: Mapping[str, Mapping[str, Mapping]]
    ungraded: Mapping[str, str] = field(default_factory=dict)


def find(folder: Path) -> list[Learner]:
    """The learners below a folder: from ``progress.json`` files (state folders), and from what ``grade --json`` wrote.

    A state folder's learner is called as the folder that holds it; ``.dcplab``, ``dcplab``, ``.local/state`` and the ``course``
    that a hub makes in a home are looked through. A file that is neither is passed over.
    """
    found: dict[str, dict] = {}
    ungraded: dict[str, dict[str, str]] = {}
    for path in _json_files(folder):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        for name, labs, why in _learners(path, folder, data):
            for lab, parts in labs.items():
                found.setdefault(name, {}).setdefault(lab, {})
                if why in UNGRADED:  # nothing is shown that a learner could have put into a file
                    ungraded.setdefault(name, {})[lab] = why
                for part, record in parts.items():
                    known = found.setdefault(name, {}).setdefault(lab, {})
                    known[part] = _later(known.get(part), record)
            found.setdefault(name, {})
    return [Learner(name, found[name], ungraded.get(name, {})) for name in sorted(found)]


def board(learners: Sequence[Learner], labs: Sequence[Lab], anonymous: bool = False) -> str:
    """The board of every lab that anybody has begun, as text."""
    begun = [lab for lab in labs if any(lab.name in learner.labs for learner in learners)]
    if not begun:
        return f"{len(learners)} learners, and nobody has checked anything yet."
    return "\n\n".join(_lab_board(lab, learners, anonymous) for lab in begun)


def _lab_board(lab: Lab, learners: Sequence[Learner], anonymous: bool) -> str:
    """One lab: a line for each learner who has begun it, and one for all the others, so that five labs fit on a screen."""
    rows, stuck, ideas, idle = [], Counter(), Counter(), []
    says = {wrong.id: wrong.says for wrong in lab.wrong}  # nothing is shown that a learner could have put into a file
    for number, learner in enumerate(learners, 1):
        name = f"learner {number}" if anonymous else learner.name
        if lab.name not in learner.labs:
            idle.append(name)
            continue
        parts = learner.labs[lab.name]
        done = [part.id for part in lab.parts if _number(parts.get(part.id, {}).get("best")) >= part.points]
        points = sum(min(_number(parts.get(part.id, {}).get("best")), part.points) for part in lab.parts)
        now = next((part.id for part in lab.parts if part.id not in done), None)
        record = parts.get(now, {})
        attempts = int(_number(record.get("attempts")))
        begun = next((word for word in OUTCOMES if word == record.get("outcome")), "not begun")
        outcome = learner.ungraded.get(lab.name, begun) if not parts else begun
        state = "finished" if now is None else outcome.replace("_", " ")
        if now and attempts >= STUCK_AFTER:
            stuck[now] += 1
            state = f"STUCK, {state}"
        ideas.update({str(part.get("diagnosis")) for part in parts.values()} & says.keys())
        rows.append((name, f"{len(done)} of {len(lab.parts)}", f"{points:g}", now or "", str(attempts or ""), state))
    lines = [f"{lab.name}: {len(rows)} of {len(learners)} learners"]
    lines += _aligned([("learner", "parts", "points", "now at", "tries", ""), *rows])
    if idle:
        lines += [f"Not begun: {len(idle) if anonymous else ', '.join(idle)}"]
    if stuck:
        lines += ["", "Stuck: " + ", ".join(f"{n} at {part}" for part, n in sorted(stuck.items()))]
    if ideas:
        lines += ["", "Misconceptions:", *(f"{n:4d}  {idea}  {says[idea]}" for idea, n in ideas.most_common(TOP))]
    return "\n".join(lines)


def _learners(path: Path, folder: Path, data) -> Iterator[tuple[str, dict, str | None]]:
    if path.name == "progress.json" and isinstance(data, dict) and isinstance(data.get("labs"), dict):
        home = path.parent if path.parent.name not in (".dcplab", "dcplab") else path.parent.parent
        if home.parts[-2:] == (".local", "state"):  # of a learner who may not write to the checkout
            home = home.parent.parent
        if home.name == "course" and home.parent != folder and home.parent.is_relative_to(folder):  # a hub's checkout
            home = home.parent
        name = home.relative_to(folder).as_posix() if home != folder and home.is_relative_to(folder) else home.name
        yield _printable(name), {lab: _records(parts) for lab, parts in data["labs"].items() if isinstance(parts, dict)}, None
    elif isinstance(data, list):  # rows of `grade --json`
        rows = [r for r in data if isinstance(r, dict) and isinstance(r.get("parts"), list) and isinstance(r.get("lab"), str)]
        names = _by_path({str(row.get("path")): row["lab"] for row in rows if not row.get("student")})
        for row in rows:
            who = _printable(row.get("student") or names[str(row.get("path"))])
            yield who, {row["lab"]: _graded(row["parts"])}, row.get("status")


def _by_path(labs: Mapping[str, str]) -> dict[str, str]:
    """A learner's name for each path (given with its lab) where nothing else tells it: the path without what all share.

    Not the file's name alone: everybody's notebook is called like the lab, and two learners would be shown as one.
    """
    stems = {path: os.path.splitext(path)[0] for path in labs}
    folders = [os.path.dirname(stem) for stem in stems.values()]
    if len({os.path.isabs(folder) for folder in folders}) != 1:
        return stems
    shared = os.path.commonpath(folders)
    if any(os.path.basename(stem) == labs[path] and os.path.dirname(stem) == shared for path, stem in stems.items()):
        shared = os.path.dirname(shared)  # of a lone notebook the folder says whose it is
    return {path: os.path.relpath(stem, shared or ".") for path, stem in stems.items()}


def _printable(name) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(name))


def _records(parts: Mapping) -> dict[str, Mapping]:
    return {name: record for name, record in parts.items() if isinstance(record, dict)}


def _graded(parts: Iterable) -> dict[str, Mapping]:
    """Graded parts as records: one attempt each, where there was one."""
    return {
        part["part"]: {
            **part,
            "best": part.get("points"),
            "attempts": int(part.get("outcome") not in ("not_attempted", "error")),
        }
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("part"), str)
    }


def _later(one: Mapping | None, other: Mapping) -> Mapping:
    """Of two records of one part the one with more points, then with more attempts."""
    key = ("best", "attempts")
    return max((other, one or {}), key=lambda record: [_number(record.get(name)) for name in key])


def _json_files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in (".git", ".venv", "node_modules", "backups", "jupyter"))
        yield from (Path(here, name) for name in sorted(files) if name.endswith(".json") and name != "progress.last.json")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _number(value) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else 0
