"""Binds the seed of a learner's own cases to the learner, so that a copied answer is wrong and not only flagged.

An instructor gives each learner a number: from a table, or made of the learner's id and a key that only the instructor has.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import unicodedata
from collections.abc import Callable
from pathlib import Path

from dcplab.errors import CourseError

Bound = Callable[[str | None], int | None]  # a student's id -> the seed of their own cases, or None where none is bound
KEY_BYTES = 16  # a shorter key can be found by trying
SEEDS = 10**8  # short enough to be typed


def of_nobody(student: str | None) -> int | None:
    """Bind no seed."""
    return None


def bound(table: Path | None = None, key: Path | None = None) -> Bound:
    """Return who has which seed: by a CSV with the columns ``student`` and ``seed``, else by the key in a file. Raises
    CourseError for files that do not say so."""
    seeds = _table(table) if table else {}
    secret = read_key(key) if key else b""
    if not seeds and not secret:
        return of_nobody

    def seed_of(student: str | None) -> int | None:
        if student is None:
            return None
        own = seeds.get(_id(student))
        return made_of(secret, student) if own is None and secret else own

    return seed_of


def own_seed(bound: Bound, account: str | None, student: str | None) -> int | None:
    """Return the seed bound to a student: by their account, which the hub and `workshop seeds` go by, else by a roster's id."""
    own = bound(account)
    return bound(student) if own is None else own


def made_of(key: bytes, student: str) -> int:
    """Make a learner's seed: HMAC-SHA256 of their id. Who has not the key cannot make another's."""
    return int.from_bytes(hmac.digest(key, _id(student).encode(), hashlib.sha256)[:8], "big") % SEEDS


def _id(student: str) -> str:
    """Return an id as a table and a folder agree on it: a file system may hold `ann ` or another form of `ü`."""
    return unicodedata.normalize("NFC", student).strip()


def read_key(path: Path) -> bytes:
    """Read an instructor's key from a file. Raises CourseError if it cannot be read, or is so short that it can be found."""
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise CourseError(f"{path} cannot be read ({error.strerror or error}).") from error
    if len(key) < KEY_BYTES:
        raise CourseError(f"{path} has {len(key)} bytes; a key has {KEY_BYTES} or more: head -c 32 /dev/urandom > {path}")
    return key


def _table(path: Path) -> dict[str, int]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as f:
            rows = list(csv.DictReader(f))
        found = {_id(row["student"]): int(row["seed"]) for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path} cannot be read ({error}).") from error
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise CourseError(f"{path} is no table of seeds: it needs the columns student and seed, a whole number.") from error
    if len(found) != len(rows):
        raise CourseError(f"{path} names a student twice.")
    if bad := next((name for name, seed in found.items() if not 0 <= seed < 2**63), None):
        raise CourseError(f"{path}: the seed of {bad} is not in 0 to 2^63 - 1.")
    return found
