"""Defines the one error that the user can mend: bad input, told in a sentence. Commands print it and exit with status 2."""

import sys
from types import TracebackType


class CourseError(Exception):
    """``str(error)`` is one sentence for a person: the value given, and the value needed."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows (IPython calls this): the sentence, without a traceback."""
        return [str(self)]


def without_traceback() -> None:
    """Let a script that a CourseError ends say its sentence alone, as a notebook and a command do."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, CourseError):
            print(error, file=sys.stderr)
        else:
            before(kind, error, trace)

    sys.excepthook = hook
