"""Which faults an examination is about: sealed, so that who has no key cannot tell, and who has it finds them again.

A ticket holds a seed, and for each case a seal: a keyed digest of the fault's id and of the checkout that was handed out. The
seed alone says nothing, since the fault is drawn from a keyed digest of it. The catalogue may grow under a running examination:
a fault is found by its seal, and not drawn anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplab import paths
from dcplab.errors import CourseError
from dcplab.exam import strangers_files
from dcplab.field import checkout, faults
from dcplab.field.faults import PlantedFault
from dcplab.grade.seeds import SEEDS, read_key

FILE = "exam.json"
CASES = {"examination": 2, "practice": 1, "guided": 1}
GUIDED = "quay-owner-by-token"  # lab 08 works it through: no examination is about its kind


@dataclass(frozen=True)
class ExamTicket:
    """What a folder says of itself. ``sort``: of `CASES`. ``seals``: one a case, in hexadecimal digits."""

    sort: str
    seed: int
    seals: tuple[str, ...]

    @property
    def id(self) -> str:
        """The name of its sitting: another key, seed or sort has another."""
        return hashlib.sha256(" ".join(self.seals).encode()).hexdigest()[:16]

    def to_json(self) -> str:
        return json.dumps({"sort": self.sort, "seed": self.seed, "seals": self.seals}, indent=1) + "\n"


def issue(key: bytes, sort: str, seed: int) -> tuple[ExamTicket, list[PlantedFault]]:
    """Draw the faults of a seed, and seal them. An examination's are of two kinds; a neighbour's are of others."""
    drawn = [_draw(key, sort, seed, case) for case in range(CASES[sort])]
    return ExamTicket(sort, seed, tuple(_seal(key, sort, seed, i, fault) for i, fault in enumerate(drawn))), drawn


def faults_of(key: bytes, ticket: ExamTicket) -> list[PlantedFault]:
    """Find the sealed faults. Raises CourseError if this key, or this course, did not seal them."""
    found = []
    for number, seal in enumerate(ticket.seals):
        same = [f for f in faults.every() if hmac.compare_digest(_seal(key, ticket.sort, ticket.seed, number, f), seal)]
        if not same:
            raise CourseError(
                "This examination was made with another key, or with another version of the course: it can be handed in and "
                "graded where it was made. Keep the folder as it is."
            )
        found += same
    return found


def read(folder: Path) -> ExamTicket:
    """Read a folder's ticket. Raises CourseError if there is none."""
    text = strangers_files.text(folder / FILE)
    if text is None:
        raise CourseError(f"{folder} is no examination: it has no {FILE}. Begin one: ./course exam start DIR")
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        said = json.loads(text)
        sort, seed, seals = said["sort"], said["seed"], tuple(said["seals"])
        if sort in CASES and type(seed) is int and len(seals) == CASES[sort] and all(_is_seal(seal) for seal in seals):
            return ExamTicket(sort, seed, seals)
    raise CourseError(f"{folder / FILE} was changed: it is no longer a ticket.")


def key(path: Path | None = None) -> bytes:
    """Return the key in a file; without one this user's own, which is made when it is first asked for."""
    if path is not None:
        return read_key(path)
    own = state_dir() / "key"
    if not own.exists():
        own.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(dir=own.parent)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):  # somebody was quicker: theirs is the key
            os.link(made, own)
        os.unlink(made)
    return read_key(own)


def state_dir() -> Path:
    """Return the folder of the key and of the sittings."""
    return paths.state_dir() / "exam"


def keyed_number(key: bytes, *words: object) -> int:
    """Make a number of words that nobody can make without the key."""
    said = json.dumps([str(word) for word in words]).encode()
    return int.from_bytes(hmac.digest(key, said, hashlib.sha256)[:8], "big") % SEEDS


def _draw(key: bytes, sort: str, seed: int, case: int) -> PlantedFault:
    """Draw a fault: its kind from an order that the key makes, a step a seed, so that neighbours differ; then one of it."""
    guided = faults.named(GUIDED)
    if sort == "guided":
        return guided
    drawn_from = [
        fault
        for fault in faults.every()
        if (fault != guided if sort == "practice" else fault.kind != guided.kind and same_kind(fault))
    ]
    order = sorted({fault.kind for fault in drawn_from}, key=lambda kind: keyed_number(key, sort, kind))
    kind = order[(seed + case * (len(order) // 2)) % len(order)]
    group = [fault for fault in drawn_from if fault.kind == kind]
    return group[keyed_number(key, sort, seed, case) % len(group)]


def same_kind(fault: PlantedFault) -> list[PlantedFault]:
    """Return the other faults of a kind in the same server. An examination is about faults that have some, since a regression
    test is held against them; practice is about all."""
    return [one for one in faults.every() if (one.kind, one.house) == (fault.kind, fault.house) and one.id != fault.id]


def _seal(key: bytes, sort: str, seed: int, case: int, fault: PlantedFault) -> str:
    planted = fault.edit.made(checkout.files(fault.house))
    said: Sequence[object] = (sort, seed, case, fault.id, sorted(planted.items()))
    return hmac.digest(key, json.dumps(said).encode(), hashlib.sha256).hex()


def _is_seal(text: object) -> bool:
    return isinstance(text, str) and len(text) == 64 and text.isascii()
