"""Shows the instructor's board: each learner's part, who is stuck, and which misconceptions occur. Reads files and runs
nothing."""

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
from dcplab.present.strangers import on_a_line
from dcplab.present.table import columns

STUCK_AFTER = 3  # failed checks of one part
TOP = 5  # misconceptions on the board


@dataclass(frozen=True)
class Learner:
    """One learner's records. For each part of a lab: ``outcome``, ``attempts``, ``best``, ``diagnosis``. For a notebook that
    could not be graded: its status from ``dcplab.grade.read``."""

    name: str
    labs: Mapping[str, Mapping[str, Mapping]]
    ungraded: Mapping[str, str] = field(default_factory=dict)


def find(folder: Path) -> list[Learner]:
    """Find the learners below a folder: in ``progress.json`` files (state folders), and in files that ``grade --json`` wrote.

    A learner is named by the folder that holds the state folder. ``.dcplab``, ``dcplab``, ``.local/state`` and the ``course``
    that a hub makes in a home are skipped on the way up. Other files are skipped.
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
                if why in UNGRADED:  # show no text that a learner could have put into a file
                    ungraded.setdefault(name, {})[lab] = why
                for part, record in parts.items():
                    known = found.setdefault(name, {}).setdefault(lab, {})
                    known[part] = _later(known.get(part), record)
            found.setdefault(name, {})
    return [Learner(name, found[name], ungraded.get(name, {})) for name in sorted(found)]


def board(learners: Sequence[Learner], labs: Sequence[Lab], anonymous: bool = False) -> str:
    """Return the board of every lab that somebody has begun, as text."""
    begun = [lab for lab in labs if any(lab.name in learner.labs for learner in learners)]
    if not begun:
        return f"{len(learners)} learners, and nobody has checked anything yet."
    return "\n\n".join(_lab_board(lab, learners, anonymous) for lab in begun)


def _lab_board(lab: Lab, learners: Sequence[Learner], anonymous: bool) -> str:
    """Return one lab's board: a line for each learner who has begun it and one line for all others, so that five labs fit on a
    screen."""
    rows, stuck, ideas, idle = [], Counter[str](), Counter[str](), []
    says = {wrong.id: wrong.says for wrong in lab.wrong}  # show no text that a learner could have put into a file
    for number, learner in enumerate(learners, 1):
        name = f"learner {number}" if anonymous else learner.name
        if lab.name not in learner.labs:
            idle.append(name)
            continue
        parts = learner.labs[lab.name]
        done = [part.id for part in lab.listed if _number(parts.get(part.id, {}).get("best")) >= part.points]
        points = sum(min(_number(parts.get(part.id, {}).get("best")), part.points) for part in lab.listed)
        now = next((part.id for part in lab.listed if part.id not in done), None)
        record = parts.get(now, {}) if now else {}
        attempts = int(_number(record.get("attempts")))
        begun = next((word for word in OUTCOMES if word == record.get("outcome")), "not begun")
        outcome = learner.ungraded.get(lab.name, begun) if not parts else begun
        state = "finished" if now is None else outcome.replace("_", " ")
        if now and attempts >= STUCK_AFTER:
            stuck[now] += 1
            state = f"STUCK, {state}"
        ideas.update({str(part.get("diagnosis")) for part in parts.values()} & says.keys())
        rows.append((name, f"{len(done)} of {len(lab.listed)}", f"{points:g}", now or "", str(attempts or ""), state))
    lines = [f"{lab.name}: {len(rows)} of {len(learners)} learners"]
    lines += columns([("learner", "parts", "points", "now at", "tries", ""), *rows])
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
        if home.parts[-2:] == (".local", "state"):  # the state of a learner who may not write to the checkout
            home = home.parent.parent
        if home.name == "course" and home.parent != folder and home.parent.is_relative_to(folder):  # a hub's checkout
            home = home.parent
        name = home.relative_to(folder).as_posix() if home != folder and home.is_relative_to(folder) else home.name
        yield on_a_line(name), {lab: _records(parts) for lab, parts in data["labs"].items() if isinstance(parts, dict)}, None
    elif isinstance(data, list):  # rows of `grade --json`
        rows = [r for r in data if isinstance(r, dict) and isinstance(r.get("parts"), list) and isinstance(r.get("lab"), str)]
        names = _by_path({str(row.get("path")): row["lab"] for row in rows if not row.get("student")})
        for row in rows:
            who = on_a_line(str(row.get("student") or names[str(row.get("path"))]))
            yield who, {row["lab"]: _graded(row["parts"])}, row.get("status")


def _by_path(labs: Mapping[str, str]) -> dict[str, str]:
    """Name a learner for each path, given with its lab, that nothing else names: the path without the folders that all paths
    share.

    The file's name alone would not do: every notebook has its lab's name, so two learners would look like one.
    """
    stems = {path: os.path.splitext(path)[0] for path in labs}
    folders = [os.path.dirname(stem) for stem in stems.values()]
    if len({os.path.isabs(folder) for folder in folders}) != 1:
        return stems
    shared = os.path.commonpath(folders)
    if any(os.path.basename(stem) == labs[path] and os.path.dirname(stem) == shared for path, stem in stems.items()):
        shared = os.path.dirname(shared)  # a lone notebook is named by its folder
    return {path: os.path.relpath(stem, shared or ".") for path, stem in stems.items()}


def _records(parts: Mapping) -> dict[str, Mapping]:
    return {name: record for name, record in parts.items() if isinstance(record, dict)}


def _graded(parts: Iterable) -> dict[str, Mapping]:
    """Turn graded parts into records: one attempt each, none for a part that was not attempted."""
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
    """Return the better of two records of one part: more points first, then more attempts."""
    key = ("best", "attempts")
    return max((other, one or {}), key=lambda record: [_number(record.get(name)) for name in key])


def _json_files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in (".git", ".venv", "node_modules", "backups", "jupyter"))
        yield from (Path(here, name) for name in sorted(files) if name.endswith(".json") and name != "progress.last.json")


def _number(value) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else 0
