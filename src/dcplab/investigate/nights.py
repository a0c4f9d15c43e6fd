"""Shows lab 06's night with every access recorded: a request is retracted, and returns to pages that were another's."""

from __future__ import annotations

import functools

from dcplab.engine import defects as switches
from dcplab.engine import retraction
from dcplab.engine.retraction import Episode
from dcplab.engine.threads import one_thread
from dcplab.errors import CourseError
from dcplab.investigate import identity, trace_filters
from dcplab.investigate.access_list import Recorder, SeenAccess
from dcplab.investigate.trace_filters import Span
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Words

KINDS = ("none", *(d.name for d in switches.ALL if d.retracts))


class Night(Words):
    """One night of a server with a defect. Displayed, it says what mine was told, and what the typed spaces said."""

    def __init__(self, defect: str):
        if defect not in KINDS:
            raise CourseError(f"There is no night {defect!r}; there are {', '.join(KINDS)}.")
        self.defect = defect
        night, typed, self._seen = _played(defect)
        end = night.got if not night.why else f"nothing: {night.why}"
        mark = "right" if night.right else "WRONG"
        super().__init__(
            f"[CPU, torch] A night with {defect}: D 4, P 4\nmine is told:  {mark}  {end}\n"
            f"typed spaces:  {typed.why or 'nothing was refused'}"
        )

    def trace(self, start: int | None = None, count: int = trace_filters.LISTED, **asked: Span | str) -> Shown:
        """Show the accesses that match, as the trace of lab 05's cases does."""
        return trace_filters.answer("[CPU, torch] trace", self._seen, _known(asked), start, count)

    def identity(self, loc: Span | None = None, **asked: Span | str) -> Shown:
        """Say of the slots that were read whether what lay there was put there for that token, as that of lab 05's cases."""
        wanted = ({} if loc is None else {"loc": loc}) | _known(asked)
        return identity.answer("[CPU, torch] identity", self._seen, wanted)


def _known(asked: dict[str, Span | str]) -> dict[str, Span | str]:
    names = (*trace_filters.BY, "loc", "row")
    if other := next((name for name in asked if name not in names), None):
        raise CourseError(f"Nothing is asked by {other!r}; there are {', '.join(names)}.")
    return {name: value for name, value in asked.items() if value is not None}


@functools.lru_cache(maxsize=len(KINDS))
def _played(defect: str) -> tuple[Episode, Episode, tuple[SeenAccess, ...]]:
    """Play a night twice: recorded, and with typed spaces."""
    recorder = Recorder()
    with one_thread():
        return retraction.episode(defect, attach=recorder.attach), retraction.episode(defect, typed=True), tuple(recorder.seen)
