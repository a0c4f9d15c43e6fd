"""Writes an examination's folder: what a learner gets. Nothing in it tells a fault from another but the report and the bug."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dcplab.errors import CourseError
from dcplab.exam import answers, marking, tickets
from dcplab.exam.tickets import ExamTicket
from dcplab.field import checkout, drive, faults, outcome
from dcplab.field.faults import PlantedFault

TITLES = {"examination": "the examination", "practice": "practice", "guided": "the case that lab 08 solves"}
_HERE = Path(__file__).parent


def make(folder: Path, ticket: ExamTicket, drawn: Sequence[PlantedFault], key: bytes, rules: str) -> None:
    """Write a folder, whole or not at all. ``rules``: what its README says of time and hand-ins. Raises CourseError if
    something is there already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is not empty: give a new folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", dir=folder.parent))
    try:
        for number, (seal, fault) in enumerate(zip(ticket.seals, drawn, strict=True), 1):
            _case(made / f"case_{number}", fault, marking.secret_seeds(key, seal))
        (made / "README.md").write_text(_readme(ticket, rules), encoding="utf-8")
        (made / tickets.FILE).write_text(ticket.to_json(), encoding="utf-8")
        made.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        os.replace(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _case(folder: Path, fault: PlantedFault, secret: marking.Secret) -> None:
    faults.plant(fault, folder / answers.CHECKOUT)
    marking.showing(fault, secret, "unseen", marking.UNSEEN)  # or it could not be marked
    (shown,) = marking.showing(fault, secret, "seen", 1)
    right = outcome.right(fault.house, shown)
    complaints = marking.complained(fault, shown)
    config = ", ".join(f"{name}={value}" for name, value in shown["config"].items())
    said = "\n".join(f"- {one}" for one in complaints)
    report = f"# Bug report\n\n{fault.report}\n\nServer: `{config}`. On the traffic attached (`traffic.json`):\n\n{said}\n"
    checkout.write(
        {
            "REPORT.md": report,
            "traffic.json": json.dumps(
                {"house": fault.house, "traffic": shown, "right": {"words": right.words, "counts": dict(right.counts)}}
            ),
            "serve.py": Path(drive.__file__).read_text(encoding="utf-8"),
            "reproduce.py": (_HERE / "reproduce.py").read_text(encoding="utf-8"),
            answers.ANSWER: answers.ANSWER_STARTER,
            f"{answers.CHECKOUT}/{answers.TEST}": answers.TEST_STARTER,
        },
        folder,
    )


def _readme(ticket: ExamTicket, rules: str) -> str:
    count = len(ticket.seals)
    return (
        (_HERE / "handed_out.md")
        .read_text(encoding="utf-8")
        .format(
            title=TITLES[ticket.sort],
            cases=f"{count} case{'s' * (count > 1)}",
            rules=rules,
            spaces="\n".join(f"| `{word}` | {meaning} |" for word, meaning in faults.spaces().items()),
            **marking.POINTS,
        )
    )
