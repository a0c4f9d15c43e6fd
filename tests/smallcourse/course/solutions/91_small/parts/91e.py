from dcplab.course.model import Case, Part

from . import HINTS


def _counter(draw):
    return [Case((draw.int(2, 9),), label="a counter")]


def _drive_counter(entry, steps):
    made = []
    counter = entry(lambda: made.append(1))
    for _ in range(steps):
        counter.step()
    return counter.steps, len(made)


PART = Part("91e", "Counter", "A class", 10, 1, _counter, "How often?", HINTS, drive=_drive_counter)
