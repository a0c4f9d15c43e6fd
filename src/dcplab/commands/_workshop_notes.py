"""`./course workshop notes`: a sheet for who teaches a lab, made of the parts themselves: what to ask, what goes wrong, what to
reveal and when. It holds answers, so it is not for the projector."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplab.course.catalog import Lab
    from dcplab.course.model import Part, Wrong

MISTAKES = 4  # of each part
WIDTH = 100


def arguments(actions: argparse._SubParsersAction) -> None:
    notes = actions.add_parser("notes", help="a teacher's sheet of a lab: what to ask, what goes wrong, what to reveal")
    notes.add_argument("labs", metavar="NN", nargs="*", help="labs (default: all)")


def run(args: argparse.Namespace) -> int:
    from dcplab.course import catalog

    labs = [catalog.lab(name) for name in args.labs] or catalog.labs()
    print("\n\n".join("\n".join(_lab(lab)) for lab in labs))
    return 0


def _lab(lab: Lab) -> Iterator[str]:
    yield f"# {lab.number} {lab.title}: {lab.minutes} minutes"
    for part in lab.parts:
        yield from _part(part, [wrong for wrong in lab.wrong if wrong.part == part.id])


def _part(part: Part, wrong: Sequence[Wrong]) -> Iterator[str]:
    waits = ", can wait" if part.can_wait else ""
    yield f"\n## {part.id} {part.title} ({part.points:g} points, {part.minutes} minutes{waits})"
    if part.prediction:
        yield from _lines("Ask first: ", part.prediction.question)
        yield from _lines("Answer: ", f"{part.prediction.answer}. {part.prediction.because}")
    for one in _kinds(wrong):
        yield from _lines("Goes wrong: ", f"{one.says} Ask: {one.asks}")
    when = ("after a third of the minutes", "after two thirds", "when the part should end")
    for time, hint in zip(when, part.hints, strict=True):
        yield from _lines(f"Reveal {time}: ", hint)


def _kinds(wrong: Sequence[Wrong]) -> list[Wrong]:
    """Return mistakes of different families, in the bank's order: an author puts first what people write first."""
    first = list({one.family or one.says: one for one in reversed(wrong)}.values())[::-1]
    return first[:MISTAKES]


def _lines(label: str, text: str) -> list[str]:
    return textwrap.wrap(f"{label}{text}", WIDTH, subsequent_indent="  ", initial_indent="* ")
