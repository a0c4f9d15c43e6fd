"""The minutes that a lab states: they leave time to read, to type and to think, and the plans of a workshop hold them."""

import re
from itertools import pairwise

import pytest

from dcplab import paths
from dcplab.author import lint
from dcplab.course import catalog, lab_source

LABS = {lab.number: lab for lab in catalog.checked()}
PARTS = [(number, part) for number, lab in LABS.items() for part in lab.parts]
WORDS_A_MINUTE, SIGNS_A_MINUTE, LEAST_TO_THINK = 200, 150, 1.0
FOLDED = re.compile(r"<details>.*?</details>", re.S)
HEADING = re.compile(r"^## (?:(\w+) · )?", re.M)
SYLLABUS = (paths.root() / "workshop" / "syllabus.md").read_text(encoding="utf-8")


def sections(lab):
    """The words of a lab's visible text and docstrings by part; "" is what belongs to none, lab 02's last section apart."""
    found, here = {}, ""
    for cell in lab_source.read(paths.solutions() / lab.name / f"{lab.name}.py"):
        if cell.kind == "code":
            text = " ".join(re.findall(r'"""(.*?)"""', cell.source, re.S))
        else:
            text = FOLDED.sub("", cell.source)
            if head := HEADING.search(text):
                here = head[1] or ("beyond" if "another half hour" in text else "")
        found[here] = found.get(here, 0) + len(text.split())
    return found


@pytest.mark.parametrize(("number", "part"), PARTS, ids=[part.id for _, part in PARTS])
def test_a_part_leaves_time_to_read_to_type_and_to_think(number, part):
    lab = LABS[number]
    asked = part.prediction.question if part.prediction else ""
    read = (sections(lab)[part.id] + len(asked.split())) / WORDS_A_MINUTE
    (answer,) = [c.source for c in lab.cells if c.part == part.id and c.role == "answer"]
    solved = re.findall(r"### BEGIN SOLUTION(.*?)### END", answer, re.S)
    typed = sum(len(re.sub(r"\s+", " ", text)) for text in solved) / SIGNS_A_MINUTE if not part.seed_of else 1.0
    assert part.minutes - read - typed >= LEAST_TO_THINK, f"{read:.1f} to read, {typed:.1f} to type"


@pytest.mark.parametrize("number", LABS)
def test_a_lab_states_its_parts_and_what_stands_between_them(number):
    lab = LABS[number]
    parts, waits = sum(part.minutes for part in lab.parts), sum(part.minutes for part in lab.parts if part.can_wait)
    assert lab.minutes - parts >= sections(lab)[""] / WORDS_A_MINUTE
    head = next(cell.source for cell in lab_source.read(paths.solutions() / lab.name / f"{lab.name}.py"))
    short = f", {lab.minutes - waits} without what can wait" if waits else ""
    assert f"100 points, about {lab.minutes} minutes{short}" in " ".join(head.split())


def test_every_heading_states_what_its_part_is_worth():
    for lab in LABS.values():
        text = (paths.solutions() / lab.name / f"{lab.name}.py").read_text(encoding="utf-8")
        for part in lab.parts:
            assert f"# ## {part.id} · {part.title}\n#\n# *{lint.worth(part)}*\n" in text, part.id


def test_what_is_said_of_all_labs_is_the_range_of_theirs():
    minutes = [lab.minutes for lab in LABS.values()]
    readme = (paths.root() / "README.md").read_text(encoding="utf-8")
    assert f"A lab takes {min(minutes)} to {max(minutes)} minutes" in " ".join(readme.split())
    assert f"100 points and {min(minutes)} to {max(minutes)} minutes of work each" in SYLLABUS


def plans():
    """The plans that have a clock: name, and each line's minutes and text."""
    for section in SYLLABUS.split("\n## ")[1:]:
        name, _, body = section.partition("\n")
        if lines := [*re.findall(r"^\| (\d+) to (\d+) \| (.*) \|$", body, re.M)]:
            yield name, [(int(a), int(b), text) for a, b, text in lines]
        elif lines := [*re.findall(r"^\| (\d+):(\d\d) to (\d+):(\d\d) \| (.*) \|$", body, re.M)]:
            yield name, [(int(a) * 60 + int(b), int(c) * 60 + int(d), text) for a, b, c, d, text in lines]


def test_the_plans_have_no_gap_and_hold_their_parts_and_reach_the_incident():
    minutes = {part.id: part.minutes for _, part in PARTS}
    order = list(minutes)
    found = dict(plans())
    assert len(found) == 3
    for name, lines in found.items():
        for (_, end, _), (start, _, _) in pairwise(lines):
            assert end == start, f"{name}: a gap at {end}"
        for start, end, text in lines:
            named = text
            for first, last in re.findall(r"\b(\d[a-i]) to (\d[a-i])\b", text):
                named += " " + " ".join(order[order.index(first) : order.index(last) + 1])
            parts = set(re.findall(r"\b\d[a-i]\b", named))
            assert sum(minutes[part] for part in parts) <= end - start, f"{name}: {text}"
        assert any("incident" in text for *_, text in lines), name
    assert "90 minutes" in next(iter(found)) and found["90 minutes, together"][-1][1] == 90
