"""Holds who should hand in: a CSV with a line a student, as a course system exports it or as one types it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplab.errors import CourseError

# The column of the id: the first of these that there is, else the first column. Compared without case, spaces and `_`.
ID_COLUMNS = "studentid username user sisloginid loginid login idnumber sisuserid id emailaddress email".split()
NO_STUDENTS = ("pointspossible", "studenttest", "teststudent")  # lines of a Canvas export
MAX_BYTES = 4_000_000
SHORTEST = 3  # letters and digits of a name that is no id: `A` may be a group


@dataclass(frozen=True)
class Roster:
    """``columns`` and ``lines``: the table as it was given. ``ids``: the id of each line, in order."""

    columns: tuple[str, ...]
    lines: tuple[Mapping[str, str], ...]
    ids: tuple[str, ...]
    names: Mapping[str, str]  # each way to write a student that is one student's alone -> the id

    def who(self, names: Sequence[str]) -> str | None:
        """Return the id of the first of these names that is somebody's."""
        exact = {unicodedata.normalize("NFC", of).strip(): of for of in self.ids}
        for name in names:
            found = exact.get(unicodedata.normalize("NFC", name).strip()) or self.names.get(plain(name))
            if found:
                return found
        return None


def plain(name: str) -> str:
    """Return a name as names are compared: without case, accents' form, and all but letters and digits."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).casefold())


def read(path: Path) -> Roster:
    """Read a roster. Raises CourseError if it is no table, or names a student twice."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CourseError(f"{path} is too big for a roster.")
        text = path.read_text(encoding="utf-8-sig")
        head = text.split("\n", 1)[0]
        mark = max(",;\t", key=head.count)
        rows = [
            line for line in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if any(cell.strip() for cell in line)
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path} cannot be read as a roster ({error}): it is a CSV in UTF-8.") from error
    if len(rows) < 2:
        raise CourseError(f"{path} is no roster: it needs a line of column names, and a line a student.")
    columns = tuple(name.strip() for name in rows[0])
    if len(set(columns)) != len(columns):
        raise CourseError(f"{path} has two columns of one name.")
    lines = tuple(dict(zip(columns, (*row, *[""] * len(columns)), strict=False)) for row in rows[1:])
    lines = tuple(line for line in lines if plain(line[columns[0]]) not in NO_STUDENTS)
    column = _id_column(columns, lines)
    ids = tuple(line[column].strip() for line in lines)
    if not all(ids):
        raise CourseError(f"{path}: a line has nothing in the column {column}, which names the student.")
    if twice := [name for name, n in Counter(ids).items() if n > 1]:
        raise CourseError(f"{path}: `{twice[0]}` stands twice in the column {column}, which names the student.")
    return Roster(columns, lines, ids, _names(lines, ids))


def _id_column(columns: Sequence[str], lines: Sequence[Mapping[str, str]]) -> str:
    """Return the first column of ids that has one in every line; a course system leaves some empty."""
    by_name = {plain(name): name for name in columns if all(line[name].strip() for line in lines)}
    wanted = ("student", *ID_COLUMNS) if "student" in columns else ID_COLUMNS
    return next((by_name[name] for name in wanted if name in by_name), columns[0])


def _names(lines: Sequence[Mapping[str, str]], ids: Sequence[str]) -> dict[str, str]:
    """Return each way to write a student: any cell of the line, an address without its domain, names in either order."""
    found: dict[str, set[str]] = {}
    for line, of in zip(lines, ids, strict=True):
        for way in {key for cell in _ways(line) if len(key := plain(cell)) >= SHORTEST}:
            found.setdefault(way, set()).add(of)
    unique = {way: next(iter(of)) for way, of in found.items() if len(of) == 1}
    keys = Counter(map(plain, ids))  # an id is its student's, whatever stands in another's line
    return unique | {key: of for of in ids if keys[key := plain(of)] == 1}


def _ways(line: Mapping[str, str]) -> Iterator[str]:
    cells = [cell.strip() for cell in line.values()]
    yield from cells
    yield from (cell.split("@")[0] for cell in cells if cell.count("@") == 1)
    for cell in cells:
        if cell.count(",") == 1:  # Doe, Jane
            last, first = cell.split(",")
            yield f"{first} {last}"
    by_name = {plain(name): cell.strip() for name, cell in line.items()}
    first = by_name.get("firstname") or by_name.get("givenname") or ""
    last = by_name.get("lastname") or by_name.get("surname") or by_name.get("familyname") or ""
    if first and last:
        yield f"{first} {last}"
        yield f"{last} {first}"
