"""The documents that fix the course's words: their numbers are what their command prints, their families are the banks'."""

import contextlib
import io
import re

from dcplab import paths
from dcplab.course import catalog

VOCABULARY = paths.root() / "docs" / "vocabulary.md"
MISCONCEPTIONS = paths.root() / "docs" / "misconceptions.md"


def test_the_worked_numbers_are_what_the_command_under_them_prints():
    text = VOCABULARY.read_text(encoding="utf-8")
    command = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(command, {})
    section = text[text.index("## Worked numbers") : text.index("```python")]
    table = [line.strip("| ").replace(" | ", " ") for line in section.splitlines() if re.match(r"\| \d", line)]
    assert table == printed.getvalue().splitlines()
    assert len(table) >= 4


def test_every_family_of_a_bank_is_described():
    described = re.findall(r"^\| (M\d+) \|", MISCONCEPTIONS.read_text(encoding="utf-8"), re.MULTILINE)
    assert described == [f"M{i}" for i in range(1, 17)]
    used = {(wrong.id, wrong.family) for lab in catalog.labs() for wrong in lab.wrong if wrong.family}
    assert not {pair for pair in used if pair[1] not in described}
    assert {family for _, family in used} >= {"M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9", "M14", "M15", "M16"}
