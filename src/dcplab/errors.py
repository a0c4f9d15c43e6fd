"""Defines the one error that the user can mend: bad input, told in a sentence. Commands print it and exit with status 2."""


class CourseError(Exception):
    """``str(error)`` is one sentence for a person: the value given, and the value needed."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows (IPython calls this): the sentence, without a traceback."""
        return [str(self)]
