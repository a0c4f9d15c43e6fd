"""One case on a learner's desk: what they look at, what they change, what they hand in. All of it lies in the case's folder.

Each call is a process of its own (`reproduce`, `run`, `unit_tests`), so it always meets the checkout as it lies there now, and
nothing of it stays in the kernel.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dcplab import files
from dcplab.errors import CourseError
from dcplab.exam import answers, strangers_files, taking, tickets
from dcplab.exam.answers import ANSWER, CHECKOUT, FIELDS, TEST
from dcplab.field import checkout
from dcplab.field.faults import PlantedFault
from dcplab.present import progress_line
from dcplab.present.display import Shown

WIDTH, LIMIT_S, MOST_LINES = 88, 300, 60
Change = tuple[str, str, str]
UNFINISHED = "It is not written yet: it still ends in `raise NotImplementedError`."


class CaseDesk(Shown):
    """A case. Displayed, it is its report."""

    def __init__(self, sitting: Path, number: int):
        self.sitting, self.number = sitting, number
        self.folder = sitting / f"case_{number}"
        self.house = str(json.loads((self.folder / "traffic.json").read_text(encoding="utf-8"))["house"])
        report = (self.folder / "REPORT.md").read_text(encoding="utf-8").removeprefix("# Bug report\n\n")
        told = (textwrap.fill(line, WIDTH, subsequent_indent="  " * (line[:2] == "- ")) for line in report.splitlines())
        where = os.path.relpath(self.folder / CHECKOUT)
        place = f"{CHECKOUT}/" if where.startswith("..") else f"{where}/"
        super().__init__("\n".join(told) + f"\n\nIts server lies in {place}{self.house}, its own tests in {place}tests.")

    def report(self) -> Shown:
        """Show the bug report, and where its server lies."""
        return Shown(self.text)

    def reproduce(self, **config: Any) -> Shown:
        """Serve the report's traffic with the checkout as it is now. ``config``: sizes that are other than the report's, as
        ``cp_size=1``."""
        words = (f"{name}={json.dumps(value)}" for name, value in config.items())
        return self._python(str(self.folder / "reproduce.py"), *words)

    def read(self, file: str, first: int = 1, last: int = 0) -> Shown:
        """Show lines of a file, as "quay/layout.py", numbered from 1; all of them if no last line is given."""
        lines = self._text(file).splitlines()
        chosen = enumerate(lines[first - 1 : last or len(lines)], first)
        return Shown("\n".join(f"{number:4d}  {line}" for number, line in chosen))

    def find(self, text: str) -> Shown:
        """Show the lines of the server that hold a text."""
        found = [
            f"{name}:{number}: {line.strip()}"
            for name, source in self._sources().items()
            if not name.startswith("tests/")
            for number, line in enumerate(source.splitlines(), 1)
            if text in line
        ]
        more = [f"and {len(found) - MOST_LINES} more"] if len(found) > MOST_LINES else []
        return Shown("\n".join([*found[:MOST_LINES], *more]) or f"{text!r} does not stand in it.")

    def run(self, code: str) -> Shown:
        """Run lines of Python beside the checkout, which imports by its own name, as ``from quay import layout``."""
        return self._python("-c", textwrap.dedent(code))

    def unit_tests(self) -> Shown:
        """Run the server's own tests, and yours."""
        return self._python("-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "tests")

    def patch(self, change: Change | Callable[[], Change]) -> Shown:
        """Change a text that stands once in a file: (file, text before, text after), or a function that returns these. An
        editor does as well: the file lies in ``checkout/``."""
        try:
            file, before, after = change() if callable(change) else change
        except NotImplementedError:
            return Shown(UNFINISHED)
        source = self._text(file)
        if after in source and before not in source:
            return self.changes()
        if (times := source.count(before)) != 1:
            raise CourseError(f"{file} holds that {times} times: give a text that stands there once.")
        (self.folder / CHECKOUT / file).write_text(source.replace(before, after), encoding="utf-8")
        return self.changes()

    def changes(self) -> Shown:
        """Show what is other in the checkout than it was handed out: your patch."""
        given, now = answers.given(self._fault()), answers.read(self.folder, self.house).server
        lines: list[str] = []
        for name in sorted({*given, *now}):
            was, new = given.get(name, "").splitlines(), now.get(name, "").splitlines()
            lines += difflib.unified_diff(was, new, f"{name} as you got it", name, n=1, lineterm="")
        return Shown("\n".join(lines) or "The server is as you got it.")

    def diagnose(self, said: Mapping[str, Any] | Callable[[], Mapping[str, Any]]) -> Shown:
        """Write a diagnosis into ``answer.toml``: ``file``, ``line``, ``index``, ``was``, ``expected``; or a function that
        returns these."""
        try:
            fields = said() if callable(said) else said
        except NotImplementedError:
            return Shown(UNFINISHED)
        if set(fields) != set(FIELDS):
            raise CourseError(f"A diagnosis says {', '.join(FIELDS)}.")
        lines = [f"{name} = {json.dumps(fields[name])}" for name in FIELDS]
        (self.folder / ANSWER).write_text("\n".join(lines) + "\n", encoding="utf-8")
        slip = answers.unfinished(answers.read(self.folder, self.house), self._fault())
        return Shown(slip or f"{ANSWER} says:\n" + "\n".join(lines))

    def test(self, *functions: Callable[[], None]) -> Shown:
        """Write functions ``test_*`` of this notebook into ``checkout/tests/test_regression.py``, then say what it is on the
        server as you got it, and on yours. Without a function: the file as it is. Imports stand inside the functions."""
        if functions:
            source = "\n\n".join(textwrap.dedent(inspect.getsource(one)) for one in functions)
            if "raise NotImplementedError" in source:
                return Shown(UNFINISHED)
            (self.folder / CHECKOUT / TEST).write_text(f"{answers.TEST_STARTER}\n\n{source}", encoding="utf-8")
        test = self._text(TEST)
        given = self._tested({**answers.given(self._fault()), TEST: test})
        mine = self._tested({**answers.read(self.folder, self.house).server, TEST: test})
        return Shown(f"On the server as you got it: {given}\nOn yours: {mine}")

    def hint(self) -> Shown:
        """Ask a question, for points: a question, never a place."""
        return _said(lambda: taking.hint(self.sitting, self.number))

    def complete(self) -> bool:
        """Return True if all three parts are there: a whole diagnosis, a changed server, a test."""
        fault, handed = self._fault(), answers.read(self.folder, self.house)
        told = handed.diagnosis is not None and all(handed.diagnosis.values()) and not answers.unfinished(handed, fault)
        return told and handed.server != answers.given(fault) and answers.tested(handed.test)

    def hand_in(self, sure: bool = False) -> Shown:
        """Hand in what lies in the folder: diagnosis, patch and test together. Without ``sure`` it only says what is left."""
        if not sure:
            return Shown(f"Not handed in; sure=True does it. A hand-in takes all three parts.\n{taking.status(self.sitting)}")
        with progress_line.line("marking") as say:
            return _said(lambda: taking.hand_in(self.sitting, self.number, say))

    def status(self) -> Shown:
        """Show hand-ins, hints and points."""
        return taking.standing(tickets.read(self.sitting))

    def spaces(self) -> Shown:
        """Show the words of a diagnosis: the spaces that ``was`` and ``expected`` may name."""
        text = (self.sitting / "README.md").read_text(encoding="utf-8").partition("## Spaces")[2]
        rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
        return Shown("\n".join(f"{word.strip('`'):<12}{meaning}" for word, meaning in rows))

    def _fault(self) -> PlantedFault:
        return tickets.faults_of(tickets.key(), tickets.read(self.sitting))[self.number - 1]

    def _sources(self) -> dict[str, str]:
        return strangers_files.sources(self.folder / CHECKOUT)

    def _text(self, file: str) -> str:
        found = self._sources()
        if file not in found:
            raise CourseError(f"There is no {file}; there are {', '.join(name for name in found if '__' not in name)}.")
        return found[file]

    def _tested(self, contents: Mapping[str, str]) -> str:
        with files.scratch("desk") as place:
            checkout.write(contents, Path(place))
            said = self._python("-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", TEST, folder=Path(place)).text
        return said.strip().splitlines()[-1] if said.strip() else "nothing came back"

    def _python(self, *words: str, folder: Path | None = None) -> Shown:
        """Run this Python in the checkout, and return what it printed."""
        where = folder or self.folder / CHECKOUT
        env = {**os.environ, "PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                [sys.executable, *words], cwd=where, env=env, capture_output=True, text=True, errors="replace", timeout=LIMIT_S
            )
        except subprocess.TimeoutExpired:
            return Shown(f"Stopped: it was not done after {LIMIT_S} s.")
        return Shown((done.stdout + done.stderr).replace(f"{self.folder}/", "").strip())


def _said(does: Callable[[], str]) -> Shown:
    """Return what a call says, or why it does nothing: a cell that is run twice stops no Run All."""
    try:
        return Shown(does())
    except CourseError as problem:
        return Shown(str(problem))
