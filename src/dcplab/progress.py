"""Keeps a learner's progress: one JSON file, written whole or not at all, shared by notebooks that are open at once.

The file is ``progress.json`` in the state folder. Its last good copy and a lock lie beside it. A damaged file is moved aside
with a date, the last good copy takes its place, and one sentence tells the learner once. If the folder cannot be written,
progress lasts as long as this process.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcplab import files, paths

if TYPE_CHECKING:
    from dcplab.course.catalog import Lab
    from dcplab.course.model import CheckResult, HandIn

VERSION = 1
SOLVED_SEED = 36886  # seed of the own cases of labs 01 and 05 in the solved notebooks, which everybody can read
_unsaved: dict[str, Any] | None = None


def record(result: CheckResult) -> None:
    """Record one check: one more attempt, its outcome, and the best points so far."""

    def note(part: dict[str, Any]) -> None:
        if result.outcome == "passed" and part.get("outcome") != "passed":
            part.setdefault("passed_at", _now())
        if result.outcome not in ("not_attempted", "error"):
            part["attempts"] = _number(part.get("attempts")) + 1
        part["best"] = max(_number(part.get("best")), result.points)
        part |= {
            "outcome": result.outcome,
            "diagnosis": result.diagnosis,
            "seed": result.seed,
            "mode": result.mode,
            "at": _now(),
        }
        if result.handed:
            part["handed"] = _dict(part.get("handed")) | {h.case: _noted(_dict(part.get("handed")), h) for h in result.handed}

    change(result.lab, result.part, note)


def _noted(earlier: dict[str, Any], now: HandIn) -> dict[str, Any]:
    """Add a hand-in to those of its case: the first is kept, and of the others that there were some."""
    first = _dict(earlier.get(now.case)) or {"answer": now.answer, "right": now.right, "of": now.of, "others": False}
    return first | {"others": bool(first.get("others")) or first.get("answer") != now.answer}


def hand_ins(lab: str, identity: str) -> dict[str, Any]:
    """Return a part's hand-ins by case: the first one's ``answer`` (a digest), ``right`` and ``of``, and whether there were
    ``others``."""
    return {case: entry for case, entry in _dict(part(lab, identity).get("handed")).items() if isinstance(entry, dict)}


def predict(lab: str, part: str, answer: str, right: bool) -> None:
    """Record a prediction. The first one counts; a later one is kept beside it."""

    def note(entry: dict[str, Any]) -> None:
        made = {"answer": answer, "right": right, "at": _now()}
        entry["prediction"] = entry.get("prediction") or made
        entry["last_prediction"] = made

    change(lab, part, note)


def use_hint(lab: str, part: str, tier: int | None, tiers: int) -> int:
    """Record that a hint was shown, and return its tier: the one asked for, else the one after those seen, from 1 to
    ``tiers``."""
    shown = 1

    def note(entry: dict[str, Any]) -> None:
        nonlocal shown
        seen = int(_number(entry.get("hints")))
        shown = min(seen + 1, tiers) if tier is None else tier
        entry["hints"] = max(seen, shown)

    change(lab, part, note)
    return shown


def forget(lab: str, part: str | None = None) -> None:
    """Drop the record of a part, or of a whole lab."""

    def edit(data: dict[str, Any]) -> None:
        if part is None:
            data["labs"].pop(lab, None)
        else:
            data["labs"].get(lab, {}).pop(part, None)

    _update(edit)


def part(lab: str, identity: str) -> dict[str, Any]:
    """Return a part's record: ``attempts``, ``best``, ``outcome``, ``diagnosis``, ``seed``, ``hints``, ``prediction``."""
    return _dict(_dict(read()["labs"].get(lab)).get(identity))


def points(lab: Lab) -> float:
    """Return the sum of the best points of a lab's parts."""
    return sum(min(_number(part(lab.name, p.id).get("best")), p.points) for p in lab.listed)


def finished(lab: Lab) -> bool:
    """Return True if every part of a lab has its full points."""
    return bool(lab.listed) and points(lab) >= lab.points


def change(lab: str, identity: str, note: Callable[[dict[str, Any]], None]) -> None:
    """Edit one part's record under the lock."""

    def edit(data: dict[str, Any]) -> None:
        labs = data["labs"]
        labs[lab] = _dict(labs.get(lab))
        labs[lab][identity] = _dict(labs[lab].get(identity))
        note(labs[lab][identity])

    _update(edit)


def read() -> dict[str, Any]:
    """Return all records: ``{"version": 1, "labs": {lab: {part: {...}}}}``."""
    if _unsaved is not None:
        return _unsaved
    path = _path()
    if not path.exists() and not _backup().exists():
        return _empty()
    try:
        with _locked():
            return _load()
    except OSError:  # a read-only folder: no lock, nothing to repair
        return _parse(path) or _empty()


def _update(edit: Callable[[dict[str, Any]], None]) -> None:
    global _unsaved
    try:
        with _locked():
            data = _load()
            edit(data)
            _write(_path(), data)
            _write(_backup(), data)
            _unsaved = None
    except OSError as e:
        if _unsaved is None:
            _say(f"Progress cannot be saved in {paths.state_dir()} ({e.strerror or e}); it lasts as long as this session.")
            _unsaved = read() if e.filename is None else (_parse(_path()) or _empty())
        edit(_unsaved)


def _load() -> dict[str, Any]:
    path = _path()
    if (found := _parse(path)) is not None:
        return found
    copy = _parse(_backup())
    if path.exists():
        aside = path.with_name(f"{path.stem}-damaged-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}")
        os.replace(path, aside)
        rest = "its last good copy is used" if copy else "a new one is begun"
        _say(f"The progress file was damaged; it was moved to {aside.name} and {rest}.")
        _write(path, copy or _empty())
    return copy or _empty()


def _parse(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("labs"), dict):
        return None
    return data


def _write(path: Path, data: dict[str, Any]) -> None:
    files.replace(path, json.dumps(data, indent=1, sort_keys=True), private=True)


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    from filelock import UnixFileLock  # a tenth of a second to import, which a command that reads no progress need not wait

    folder = paths.state_dir()
    folder.mkdir(parents=True, exist_ok=True)
    with UnixFileLock(folder / "progress.lock", mode=0o644):
        yield


def _path() -> Path:
    return paths.state_dir() / "progress.json"


def _backup() -> Path:
    return paths.state_dir() / "progress.last.json"


def _empty() -> dict[str, Any]:
    return {"version": VERSION, "labs": {}}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float:
    """Return a number from the file, 0 if it holds something else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value == value else 0


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _say(sentence: str) -> None:
    print(sentence)  # to stdout: in a graded cell nbgrader takes any word on stderr for a failure
