"""The one error that is the user's to mend: bad input, said in a sentence. Commands print it and exit with status 2."""


class CourseError(Exception):
    """``str(error)`` is one sentence for a person: what was given, what is needed."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of it (IPython asks for this): the sentence, without a traceback."""
        return [str(self)]
