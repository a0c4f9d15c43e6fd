"""5c: Which patch fixes which symptom?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course.cells import DrawnCase, Groups
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells

MATRIX = (
    *(f"{subset}, {level}" for subset in ("none", "size", "write", "extend", "write+read") for level in ("below", "above")),
    *(f"{subset}, {level}" for subset in ("all but size", "all but assert") for level in ("below", "above", "full")),
    "all, below",
    "all, above",
)


def _matrix_cases(draw: Draw) -> list[Case]:
    return [Case((row,), label=f"the row {row!r}", size=MATRIX.index(row)) for row in draw.shuffled(MATRIX)]


def look_up(entry, row=None):
    """The verdict that a table of predictions has for a row; the whole table for none."""
    table = entry()
    if not isinstance(table, dict):
        raise TypeError(f"isolation returns a dict of verdicts, not a {type(table).__name__}.")
    return table if row is None else table.get(row)


def _ran(row: str) -> str:
    from dcplab import investigate

    wanted = next(r for r in investigate.matrix_rows() if r.id == row)
    return investigate.run_matrix([wanted])[0].verdict


def _other_verdict(case: Case, got: Any, expected: str) -> str | None:
    from dcplab.investigate.isolation import VERDICTS, short_verdict

    said, row = short_verdict(str(got)), case.args[0]
    if said == expected:
        return None
    if got is None:
        return f"The row {row!r} has no verdict yet."
    if said not in VERDICTS:
        return f"{got!r} is no verdict; there are {', '.join(VERDICTS)}."
    why = _why_not(row, said, expected)
    return f"The row {row!r} is not {said}{': ' + why if why else ''}."


def _why_not(row: str, said: str, verdict: str) -> str:
    """Say why a row is not what was said of it: which rule was overlooked. Nothing where no rule is known."""
    patches, level = row.split(", ")
    whole = patches.startswith("all")
    match said, verdict:
        case "alarm", _ if not whole and "extend" not in patches:
            return "the old assert needs the table that only a gathering extend makes"
        case "alarm", _ if patches in ("all", "all but size"):
            return "the assert holds locs against the number of locs, and no legal loc is beyond that"
        case "alarm", _ if level == "below":
            return "below the line no loc reaches the old bound"
        case "crash", "alarm":
            return "the old assert stops it before any memory is touched"
        case "crash", _ if level == "below":
            return "below the line everything that is touched is mapped"
        case "crash", "silent":
            return "just above the line an overflow meets a neighbour in mapped memory"
        case _, "crash":
            return "with a full pool the last layer's overflow meets memory that is not mapped"
        case _, "alarm":
            return "the old assert holds locs against rows, and stops a legal loc above the line"
        case "silent", "right" if patches in ("none", "size"):
            return "below the line one wrong rule that all three c-KV places keep gives right words"
        case "right", "silent" if patches in ("none", "size"):
            return "above the line c-KV is written at rows that are locs, and spoils its neighbours"
        case "right", "silent" if not whole:
            return "one or two of the three c-KV patches break the rule that all three places kept"
        case "right", "silent":
            return "index-K has one rank's slots, and above the line keys are lost"
    return ""


def _matrix_table(case: Case, got: Any, expected: str) -> Table:
    from dcplab import investigate

    result = investigate.run_matrix([r for r in investigate.matrix_rows() if r.id == case.args[0]])[0]
    header = ("row", "you said", "it is", "fresh", "long", "again")
    row = (case.args[0], "nothing" if got is None else str(got), expected, result.fresh, result.long, result.again)
    return Table(header, (row,), result.because)


def _place(case: Case) -> tuple[str, str]:
    patches, level = case.args[0].split(", ")
    return patches, level


def _cells(tried: Sequence[DrawnCase]) -> Groups:
    """Outlines what is not right, and does not say what would be: the matrix does."""
    return (grid_cells.grid("patches", sorted(tried, key=lambda t: t.case.size), _place, tells=False),)


PART = Part(
    id="5c",
    entry="isolation",
    title="Which patch fixes which symptom?",
    points=15,
    minutes=14,
    cases=_matrix_cases,
    drive=look_up,
    oracle=_ran,
    compare=_other_verdict,
    rows=_matrix_table,
    by_case=True,
    picture=Shows(whole=_cells, title="What you say of each server"),
    timeout_s=60.0,
    question="Do write, decode and extend keep to one rule on this server, and does every loc that is used fit?",
    hints=(
        "Ask two questions of each row. Do the three c-KV places keep to one rule, whichever? And does what is used "
        "fit into what there is?",
        "If the three places disagree, the answers are wrong below the line too. If they agree, the watermark decides. "
        "Below it nothing overflows, whatever the sizes are.",
        "alarm needs the old assert and an extend that gathers, above the line. crash needs a full pool: just above "
        "the line an overflow only hits a neighbour, so it is silent.",
    ),
    prediction=Prediction(
        question=(
            "Three patches concern c-KV: write, read, extend. Below the watermark, how many of their eight "
            "combinations give right answers?"
        ),
        answer="2",
        because=(
            "All three or none. Whoever applies one or two of them makes a server that is wrong from its first requests or "
            "the first cached prefix on, where the bug needed a watermark."
        ),
        choices=("1", "2", "4", "8"),
    ),
)
