"""5e: The incident record"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course import own_cases
from dcplab.course.cells import DrawnCase, Groups
from dcplab.course.model import Case, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells


def _record_cases(draw: Draw) -> list[Case]:
    from dcplab.investigate.records import HEADINGS

    asked = draw.shuffled(HEADINGS)
    return [Case((heading,), label=f"under {heading!r}", size=HEADINGS.index(heading)) for heading in asked]


def written(entry, heading):
    """The seed and the text of a record. All of it travels, whichever heading is asked for."""
    seed, text = entry()
    return {"seed": seed, "text": text}


def _held(case: Case, got: Any):
    """What the checker finds under a case's heading, the run's own figures, and its writes outside by buffer."""
    from dcplab.investigate import diagnose_by_rule, incidents, records

    earlier = records.is_earlier(got["text"])
    run = incidents.replay(got["seed"], unpatched=True) if earlier else incidents.replay(got["seed"])
    keys = [key for key in diagnose_by_rule.figures_under(case.args[0]) if not (earlier and key in records.NEW)]
    return [f for f in records.verify(got["text"], run) if f.key in keys], records.figures(run), run.writes_outside


def _misrecorded(case: Case, got: Any) -> str | None:
    from dcplab.investigate import diagnose_by_rule

    if not isinstance(got["text"], str):
        return f"The record is a {type(got['text']).__name__}; it is a text, as the template is."
    return diagnose_by_rule.figure_of_the_mistake(*_held(case, got))


def _record_table(case: Case, got: Any) -> Table:
    from dcplab.investigate import diagnose_by_rule

    header = ("figure", "your record", "")
    if not isinstance(got["text"], str):
        return Table(header, ())
    found, *_ = _held(case, got)
    rows = tuple((f.key, f.written or "nothing", "right" if diagnose_by_rule.as_elsewhere(f) else f.outcome) for f in found)
    return Table(header, rows, f"The run of seed {got['seed']}.")


def _cells(tried: Sequence[DrawnCase]) -> Groups:
    """A line for each heading with its figures as they were written; those that the run does not show are outlined."""
    from dcplab.investigate import diagnose_by_rule

    groups = []
    for one in sorted(tried, key=lambda t: t.case.size):
        found, *_ = _held(one.case, one.got)
        wrong = [f.key for f in found if f.outcome != "right" and not diagnose_by_rule.as_elsewhere(f)]
        groups.append(grid_cells.entries(one.case.args[0].partition(",")[0], {f.key: f.written or None for f in found}, wrong))
    return tuple(groups)


PART = own_cases.part(
    _misrecorded,
    _record_table,
    id="5e",
    entry="incident_record",
    title="The incident record",
    points=15,
    minutes=16,
    cases=_record_cases,
    drive=written,
    timeout_s=60.0,
    picture=Shows(whole=_cells, title="Your record"),
    question="Where in the run does this figure stand, and what does it count?",
    hints=(
        "Every figure stands in what investigate.incident() shows, or follows from D, P and C, or from what 5c found: "
        "which of the five defects shows in this run, and which would have shown and does not?",
        "Keep three things apart: what was used, what there is, and what there should be. Largest loc used; slots "
        "there are; slots needed for every legal loc.",
        "smallest_loc is P * D; largest_legal_loc is (C // P + 1) * P * D - 1; bytes_outside is the sum over the "
        "buffers of places times bytes, from the last lines of the run.",
    ),
    prediction=Prediction(
        question=(
            "A server has none of the five patches. Its first wrong word comes in the long requests. In which step is the "
            "first operation wrong?"
        ),
        answer="in step 1",
        because=(
            "The write of the very first prompt uses locs as rows. It stays inside its buffer, and the reads look in "
            "the same wrong places, so for a while nobody can tell."
        ),
        choices=(
            "in step 1",
            "in the first long request",
            "in the step of the wrong word",
            "in the step of the first overflow",
        ),
    ),
)
