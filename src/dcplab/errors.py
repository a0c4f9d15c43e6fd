"""The one error that is the user's to mend: bad input, said in a sentence. Commands print it and exit with status 2."""


class CourseError(Exception):
    """``str(error)`` is one sentence for a person: what was given, what is needed."""
