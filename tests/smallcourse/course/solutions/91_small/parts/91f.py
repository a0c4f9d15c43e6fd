from dcplab.course.model import Case, Part

from . import HINTS


def _pages(draw):
    return [Case((8, 4), label="divides"), Case((9, 4), label="does not divide", size=1, raises="ValueError")]


PART = Part("91f", "pages", "An error", 10, 1, _pages, "What is 9 / 4?", HINTS)
